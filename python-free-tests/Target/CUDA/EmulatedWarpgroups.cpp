// Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
//
// Matrix instructions of warpgroups. Results are computed when an instruction
// is issued, but its operands are in use until it has been waited for.
#include "EmulatedCluster.h"
#include "EmulatedCopies.h"
#include "EmulatedElements.h"

namespace adze::test {

static constexpr unsigned kThreads = 128, kRows = 64, kDepthBytes = 32,
                          kWarpRows = 16;

namespace {

/// A matrix in shared memory of `count` rows, or columns, and 32 bytes along k.
class SharedOperand {
public:
  SharedOperand(uint64_t descriptor, Element element, bool alongDepth,
                unsigned count)
      : element(element), alongDepth(alongDepth), count(count) {
    constexpr uint64_t mask = 0x3fff, unit = 16;
    auto memory = reinterpret_cast<uint64_t>(cluster->getShared(0));
    start = memory + (descriptor & mask) * unit;
    leading = (descriptor >> 16 & mask) * unit;
    stride = (descriptor >> 32 & mask) * unit;
    // The modes 1, 2 and 3 swizzle rows of 128, 64 and 32 bytes.
    rowBytes = 256 >> (descriptor >> 62);
  }

  const char *getPlace(unsigned row, unsigned k) const {
    constexpr unsigned coreRows = 8;
    unsigned bytes = getBytes(element);
    // The index of a row of memory, and the bytes in it.
    unsigned line = alongDepth ? row : k;
    uint64_t inLine = (alongDepth ? k : row) * bytes;
    uint64_t address = start + line / coreRows * stride +
                       line % coreRows * rowBytes +
                       inLine / rowBytes * leading + inLine % rowBytes;
    return reinterpret_cast<const char *>(swizzle(address, rowBytes));
  }

  /// Returns the values, k innermost.
  std::vector<double> decode() const {
    std::vector<double> values;
    for (unsigned row = 0; row < count; ++row)
      for (unsigned k = 0; k < kDepthBytes / getBytes(element); ++k)
        values.push_back(decodeElement(getPlace(row, k), 0, element));
    return values;
  }

  ByteRange getRange() const {
    ByteRange range{getPlace(0, 0), getPlace(0, 0)};
    for (unsigned row = 0; row < count; ++row)
      for (unsigned k = 0; k < kDepthBytes / getBytes(element); ++k) {
        range.begin = std::min(range.begin, getPlace(row, k));
        range.end = std::max(range.end, getPlace(row, k) + getBytes(element));
      }
    return range;
  }

private:
  Element element;
  bool alongDepth;
  unsigned count;
  uint64_t start, leading, stride, rowBytes;
};

struct Operands {
  const uint32_t *registers;
  uint32_t *sums;
};

} // namespace

/// Returns the row of 64 of accumulator or register `half` of a thread.
static unsigned getRow(unsigned thread, unsigned half) {
  constexpr unsigned warpThreads = 32;
  return thread / warpThreads * kWarpRows + thread % warpThreads / 4 + 8 * half;
}

/// Returns the left operand, whose elements of 16 bits are in four registers of
/// each thread.
static std::vector<double> decodeRegisters(llvm::ArrayRef<Operands *> threads,
                                           Element element) {
  constexpr unsigned depth = kDepthBytes / 2;
  std::vector<double> values(size_t(kRows) * depth);
  for (unsigned thread = 0; thread < kThreads; ++thread)
    for (unsigned i = 0; i < 4; ++i)
      for (unsigned j = 0; j < 2; ++j) {
        unsigned k = thread % 4 * 2 + i / 2 * 8 + j;
        values[getRow(thread, i % 2) * depth + k] =
            decodeElement(&threads[thread]->registers[i], j, element);
      }
  return values;
}

/// Returns the bytes of a matrix that an instruction reads, which must be
/// complete and visible.
static ByteRange checkOperand(const SharedOperand &operand) {
  ByteRange range = operand.getRange();
  cluster->checkShared(range, "a matrix");
  for (const PendingCopy &copy : cluster->copies)
    if (copy.writesShared && copy.shared.overlaps(range))
      cluster->fail("a matrix instruction reads the target of a copy in "
                    "flight");
  checkVisible(range.begin, range.end);
  return range;
}

static void multiply(const WarpgroupForm &form, llvm::ArrayRef<double> lhs,
                     llvm::ArrayRef<double> rhs,
                     llvm::ArrayRef<Operands *> threads) {
  unsigned depth = kDepthBytes / getBytes(form.lhs);
  for (unsigned thread = 0; thread < kThreads; ++thread)
    for (unsigned i = 0; i < form.columns / 2; ++i) {
      unsigned row = getRow(thread, i / 2 % 2),
               column = i / 4 * 8 + thread % 4 * 2 + i % 2;
      double total = 0;
      for (unsigned k = 0; k < depth; ++k)
        total += lhs[row * depth + k] * rhs[column * depth + k];
      addToSum(threads[thread]->sums[i], total, isInteger(form.lhs));
    }
}

/// Computes the product when all threads have arrived.
static void combine(const WarpgroupForm &form, uint64_t lhs, uint64_t rhs,
                    llvm::ArrayRef<Operands *> threads) {
  bool hasRegisters = threads[0]->registers;
  SharedOperand left(lhs, form.lhs, form.lhsAlongDepth, kRows),
      right(rhs, form.rhs, form.rhsAlongDepth, form.columns);
  PendingProduct product{cluster->getGroup(kThreads),
                         cluster->self().productGroups,
                         {},
                         checkOperand(right)};
  if (!hasRegisters)
    product.lhs = checkOperand(left);
  cluster->products.push_back(product);
  multiply(form,
           hasRegisters ? decodeRegisters(threads, form.lhs) : left.decode(),
           right.decode(), threads);
}

/// Returns the accumulators that the registers have or stand for, and makes the
/// registers stand for the results.
static Accumulators &takeAccumulators(uint32_t *registers, size_t count) {
  constexpr uint32_t nan = 0x7fa00000, numbers = 1 << 20;
  Cluster::Thread &me = cluster->self();
  Accumulators taken{me.productGroups, {registers, registers + count}};
  auto found = me.accumulators.find(registers[0]);
  if (found != me.accumulators.end()) {
    taken.sums = std::move(found->second.sums);
    me.accumulators.erase(found);
  }
  uint32_t name = nan | ++me.numProducts % numbers;
  std::fill_n(registers, count, name);
  return me.accumulators[name] = std::move(taken);
}

uint32_t readAccumulator(uint32_t word, uint32_t number) {
  Cluster::Thread &me = cluster->self();
  auto found = me.accumulators.find(word);
  if (found == me.accumulators.end())
    return word;
  if (found->second.group >= me.productGroupsDone)
    cluster->fail("accumulators are read while their matrix instruction is in "
                  "flight");
  return found->second.sums[number];
}

void multiplyWarpgroup(const WarpgroupForm *form, uint64_t lhs, uint64_t rhs,
                       const uint32_t *registers, uint32_t *sums) {
  if (!cluster->self().isFenced)
    cluster->fail("no fence is between accumulators and a matrix instruction");
  Operands mine{registers,
                takeAccumulators(sums, form->columns / 2).sums.data()};
  cluster->meet<Operands>("wgmma", cluster->getGroup(kThreads), kThreads, mine,
                          [&](llvm::ArrayRef<Operands *> threads) {
                            combine(*form, lhs, rhs, threads);
                          });
}

void fenceProducts() { cluster->self().isFenced = true; }

void commitProducts() { ++cluster->self().productGroups; }

void waitForProducts(uint32_t groups) {
  Cluster::Thread &me = cluster->self();
  int64_t own = cluster->getGroup(kThreads), end = me.productGroups - groups;
  llvm::erase_if(cluster->products, [&](const PendingProduct &product) {
    return product.warpgroup == own && product.group < end;
  });
  me.productGroupsDone = std::max(me.productGroupsDone, end);
  me.isFenced = false;
  cluster->yield();
}

} // namespace adze::test
