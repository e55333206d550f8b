// Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
//
// pack-stores: narrows words that are stored as bytes by x86's saturating
// packs.
#include "Dialect/Tile/IR/Targets.h"
#include "Transforms/FloatBounds.h"
#include "Transforms/Passes.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/Matchers.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

using namespace mlir;

namespace adze {
#define GEN_PASS_DEF_PACKSTORES
#include "Transforms/Passes.h.inc"

namespace {
/// A store of rounded floats, plus an integer, as bytes.
struct NarrowStore {
  vector::StoreOp store;
  Value x;                // before the rounding
  FloatBounds bounds;     // of x
  int64_t shift = 0;      // the integer
  bool isUnsigned = true; // the type that holds all values
  Value base;             // the last index, without `offset`; null: zero
  int64_t offset = 0;
};

/// Stores of vectors that are adjacent in memory.
using Run = SmallVector<NarrowStore *, 4>;

struct PackStoresPass final : impl::PackStoresBase<PackStoresPass> {
  void runOnOperation() override;
};

/// Narrows words by AVX2 or AVX-512BW.
class Packer {
public:
  Packer(OpBuilder &b, Location loc, int64_t vectorBytes)
      : b(b), loc(loc), bytes(vectorBytes) {}

  /// Stores the bytes of up to four vectors of words in one register: a run of
  /// four or two vectors, or two runs of two.
  void store(ArrayRef<Run> runs);

private:
  Value call(const Twine &name, Type type, ValueRange operands) {
    return LLVM::CallIntrinsicOp::create(
               b, loc, type, b.getStringAttr("llvm.x86." + name), operands)
        .getResult(0);
  }
  VectorType vectorOf(unsigned bits) {
    return VectorType::get(bytes * 8 / bits, b.getIntegerType(bits));
  }
  Value round(const NarrowStore &narrow);
  Value packHalves(const NarrowStore &low, const NarrowStore &high);

  OpBuilder &b;
  Location loc;
  int64_t bytes;
};
} // namespace

/// Returns the smallest and largest value of a byte.
static FloatBounds getRange(bool isUnsigned) {
  return isUnsigned ? FloatBounds{0, 255} : FloatBounds{-128, 127};
}

/// Returns the integer that a word is the sum of, and removes it from the word.
static int64_t takeShift(Value &word) {
  APInt number;
  auto sum = word.getDefiningOp<arith::AddIOp>();
  if (!sum || !matchPattern(sum.getRhs(), m_ConstantInt(&number)))
    return 0;
  word = sum.getLhs();
  return number.getSExtValue();
}

static std::optional<NarrowStore> match(vector::StoreOp store,
                                        int64_t vectorBytes) {
  constexpr int64_t wordBytes = 4, greatest = 1 << 10;
  auto type = store.getVectorType();
  auto narrow = store.getValueToStore().getDefiningOp<arith::TruncIOp>();
  if (!narrow || type.getRank() != 1 ||
      type.getNumElements() * wordBytes != vectorBytes ||
      !type.getElementType().isInteger(8) ||
      !getElementTypeOrSelf(narrow.getIn()).isInteger(8 * wordBytes))
    return std::nullopt;
  NarrowStore result;
  result.store = store;
  Value word = narrow.getIn();
  result.shift = takeShift(word);
  auto rounded = word.getDefiningOp<LLVM::LrintOp>();
  if (!rounded || std::abs(result.shift) > greatest)
    return std::nullopt;
  result.x = rounded.getVal();
  result.bounds = getFloatBounds(result.x);
  double low = result.bounds.low + result.shift,
         high = result.bounds.high + result.shift;
  result.isUnsigned = low >= 0;
  FloatBounds range = getRange(result.isUnsigned);
  if (!(low >= range.low && high <= range.high) || store.getIndices().empty())
    return std::nullopt;
  Value last = store.getIndices().back();
  APInt number;
  if (matchPattern(last, m_ConstantInt(&number))) {
    result.offset = number.getSExtValue();
    return result;
  }
  result.base = last;
  if (auto sum = last.getDefiningOp<arith::AddIOp>();
      sum && matchPattern(sum.getRhs(), m_ConstantInt(&number))) {
    result.base = sum.getLhs();
    result.offset = number.getSExtValue();
  }
  return result;
}

/// Returns true if the second store begins where the first one ends.
static bool isAdjacent(NarrowStore &first, NarrowStore &second) {
  vector::StoreOp one = first.store, other = second.store;
  return one.getBase() == other.getBase() && first.base == second.base &&
         first.offset + one.getVectorType().getNumElements() == second.offset &&
         one.getIndices().drop_back() == other.getIndices().drop_back();
}

/// Returns true if one sequence of instructions narrows both.
static bool isAlike(const NarrowStore &one, const NarrowStore &other) {
  return one.isUnsigned == other.isUnsigned && one.shift == other.shift;
}

/// Returns the words of the value. Bounds that are the least and the greatest
/// byte are omitted, since the packs saturate; the upper one only if the value
/// fits a word otherwise, as the conversion gives the least word if it does
/// not.
Value Packer::round(const NarrowStore &narrow) {
  constexpr double mostWord = 1 << 30;
  Value x = narrow.x;
  FloatBounds range = getRange(narrow.isUnsigned);
  auto least = x.getDefiningOp<arith::MinimumFOp>();
  auto most =
      least ? least.getLhs().getDefiningOp<arith::MaximumFOp>() : nullptr;
  if (most && matchPattern(most.getRhs(), m_Constant()) &&
      narrow.bounds.low + narrow.shift == range.low) {
    x = most.getLhs();
    if (!(narrow.bounds.high + narrow.shift == range.high &&
          getFloatBounds(x).high <= mostWord))
      x = arith::MinimumFOp::create(b, loc, x, least.getRhs());
  }
  constexpr unsigned wordBits = 32;
  VectorType words = vectorOf(wordBits);
  if (bytes != 64)
    return call("avx.cvt.ps2dq.256", words, x);
  constexpr int32_t currentRounding = 4;
  Value mask =
      arith::ConstantOp::create(b, loc, b.getIntegerAttr(b.getI16Type(), -1));
  Value rounding =
      arith::ConstantOp::create(b, loc, b.getI32IntegerAttr(currentRounding));
  Value none = arith::ConstantOp::create(b, loc, b.getZeroAttr(words));
  return call("avx512.mask.cvtps2dq.512", words, {x, none, mask, rounding});
}

/// Returns the halves of words of two vectors: those of each 16 bytes of the
/// first vector, and then those of the second one.
Value Packer::packHalves(const NarrowStore &low, const NarrowStore &high) {
  constexpr unsigned halfBits = 16;
  VectorType halves = vectorOf(halfBits);
  Value packed = call(bytes == 64 ? "avx512.packssdw.512" : "avx2.packssdw",
                      halves, {round(low), round(high)});
  if (low.shift == 0)
    return packed;
  Value shift = createSplat(
      b, loc, halves, b.getIntegerAttr(halves.getElementType(), low.shift));
  return LLVM::SAddSat::create(b, loc, packed, shift);
}

void Packer::store(ArrayRef<Run> runs) {
  constexpr unsigned byteBits = 8, wordBits = 32;
  constexpr int64_t partBytes = 16, perPart = 4; // of a register
  SmallVector<NarrowStore *, 4> all;
  for (const Run &run : runs)
    all.append(run.begin(), run.end());
  Value first = packHalves(*all[0], *all[1]);
  Value second = all.size() == 4 ? packHalves(*all[2], *all[3]) : first;
  std::string name = bytes == 64 ? "avx512" : "avx2";
  name += all.front()->isUnsigned ? ".packuswb" : ".packsswb";
  Value packed = call(bytes == 64 ? name + ".512" : name, vectorOf(byteBits),
                      {first, second});
  // A part of the register has four bytes of each vector.
  Value words = vector::BitCastOp::create(b, loc, vectorOf(wordBits), packed);
  SmallVector<int64_t> order;
  for (int64_t vector = 0; vector < int64_t(all.size()); ++vector)
    for (int64_t part = 0; part < bytes / partBytes; ++part)
      order.push_back(part * perPart + vector);
  words = vector::ShuffleOp::create(b, loc, words, words, order);
  int64_t perRun = order.size() / runs.size();
  for (auto [i, run] : llvm::enumerate(runs)) {
    Value own = words;
    if (runs.size() > 1)
      own = vector::ExtractStridedSliceOp::create(
          b, loc, words, int64_t(i) * perRun, perRun, int64_t(1));
    own = vector::BitCastOp::create(
        b, loc, VectorType::get(perRun * wordBits / byteBits, b.getI8Type()),
        own);
    vector::StoreOp at = run.front()->store;
    vector::StoreOp::create(b, loc, own, at.getBase(), at.getIndices());
  }
}

/// Combines stores between which no op accesses memory. Returns the number of
/// stores that are combined.
static unsigned combine(MutableArrayRef<NarrowStore> stores,
                        int64_t vectorBytes) {
  SmallVector<Run> pairs;
  SmallPtrSet<NarrowStore *, 8> taken;
  for (NarrowStore &first : stores)
    for (NarrowStore &second : stores)
      if (!taken.contains(&first) && !taken.contains(&second) &&
          isAlike(first, second) && isAdjacent(first, second)) {
        taken.insert_range(ArrayRef<NarrowStore *>{&first, &second});
        pairs.push_back({&first, &second});
      }
  if (pairs.empty())
    return 0;
  OpBuilder b(stores.back().store);
  for (size_t i = 0; i < pairs.size(); ++i) {
    Run &pair = pairs[i];
    Packer packer(b, pair.front()->store.getLoc(), vectorBytes);
    if (i + 1 == pairs.size() || !isAlike(*pair.front(), *pairs[i + 1][0])) {
      packer.store(pair);
      continue;
    }
    Run &next = pairs[++i];
    if (isAdjacent(*pair.back(), *next.front()))
      packer.store(Run{pair[0], pair[1], next[0], next[1]});
    else
      packer.store({pair, next});
  }
  for (NarrowStore *store : taken)
    store->store.erase();
  return taken.size();
}

void PackStoresPass::runOnOperation() {
  constexpr int64_t avx2 = 32, avx512 = 64;
  tile::CpuTargetAttr target = tile::findCpuTarget(getOperation());
  if (!target || !target.has(tile::CpuFeature::lane_permute))
    return;
  int64_t bytes = target.getVectorBytes();
  // CPUs that multiply bytes have AVX-512BW.
  if (bytes != avx2 && (bytes != avx512 || target.getUnits().empty()))
    return;
  getOperation().walk([&](Block *block) {
    SmallVector<NarrowStore> stores;
    auto flush = [&] {
      numPacked += combine(stores, bytes);
      stores.clear();
    };
    for (Operation &op : llvm::make_early_inc_range(*block)) {
      auto store = dyn_cast<vector::StoreOp>(op);
      std::optional<NarrowStore> narrow =
          store ? match(store, bytes) : std::nullopt;
      if (narrow)
        stores.push_back(*narrow);
      else if (!isMemoryEffectFree(&op))
        flush();
    }
    flush();
  });
}
} // namespace adze
