// Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
//
// Default bindings of kernel parameters. They are the starting point of the
// autotuner and may be changed in the text; results depend on them only by
// rounding.
#include "Families.h"

using namespace mlir;
using namespace adze;

int64_t adze::getKnown(AffineExpr size) {
  return size ? graph::getConstant(size).value_or(-1) : -1;
}

int64_t adze::chooseBlock(int64_t n, int64_t target) {
  if (n < 0)
    return target;
  if (n <= target)
    return std::max<int64_t>(n, 1);
  int64_t divisor = largestDivisor(n, target);
  return 2 * divisor >= target ? divisor : target;
}

int64_t adze::chooseLanes(int64_t n, int64_t target) {
  constexpr int64_t lanes = 16;
  if (n >= 0 && n <= target)
    return std::max<int64_t>(n, 1);
  if (n < 0 || n % lanes != 0)
    return target;
  int64_t block = lanes * largestDivisor(n / lanes, target / lanes);
  return 2 * block >= target ? block : target;
}

int64_t adze::chooseRowsAtOnce(int64_t rows, int64_t length, bool whole) {
  constexpr int64_t elements = 4096, usualLength = 128, enoughPrograms = 8;
  if (whole)
    return std::clamp<int64_t>(elements / length, 1, 16);
  // Rows may be long, so a program has a few, or one if there are few.
  int64_t together =
      std::clamp<int64_t>(elements / std::max(length, usualLength), 1, 4);
  while (together > 1 && rows >= 0 && rows < together * enoughPrograms)
    together /= 2;
  return together;
}

WalkedRows adze::chooseWalkedRows(const KernelEmitter &e, int64_t rows,
                                  int64_t length) {
  constexpr int64_t lanes = 16, sums = 8; // as many vectors of accumulators
  if (e.gpu)
    return {1, deviceChunk, deviceChunk};
  int64_t together = std::max<int64_t>(chooseRowsAtOnce(rows, -1, false), 1),
          chunk = std::min<int64_t>(sums / together, 4) * lanes;
  return {together, length >= 0 && length < chunk ? lanes : chunk, lanes};
}

namespace {
/// The parts of the second-level cache of a core that a contraction uses.
struct CacheShares {
  explicit CacheShares(tile::CpuTargetAttr target)
      : stage(target.getL2Bytes() / 4), program(target.getL2Bytes() / 4) {}
  int64_t stage;   // the panels of a copied right operand
  int64_t program; // the data that a program streams
};
} // namespace

static int64_t ceilDiv(int64_t a, int64_t b) { return (a + b - 1) / b; }

/// Divides n into equal parts of at most `most`, in multiples of `step` if
/// there are several.
static int64_t equalParts(int64_t n, int64_t most, int64_t step) {
  if (n < 0)
    return most;
  int64_t parts = ceilDiv(std::max<int64_t>(n, 1), most);
  int64_t part = ceilDiv(std::max<int64_t>(n, 1), parts);
  return parts == 1 ? part : ceilDiv(part, step) * step;
}

/// The most rows of a program with packed panels.
constexpr int64_t maxRows = 128;

/// Returns true if programs have all rows although these are more than usual: a
/// matrix unit multiplies half of them so fast that programs of half the rows,
/// which read all panels as well, take longer.
static bool takesAllRows(int64_t m, bool hasMatrixUnit) {
  return hasMatrixUnit && m > maxRows && m <= 2 * maxRows;
}

/// The right operand is in panels. A program multiplies up to 128 rows of A, in
/// equal parts, since each program reads all panels. k is divided above 1024,
/// since each part reads and writes the result again.
static ContractionBlocks
choosePackedBlocks(int64_t m, int64_t k, bool tilesEvenly, bool hasMatrixUnit) {
  constexpr int64_t usualRows = 64, maxColumns = 256, maxDepth = 1024;
  ContractionBlocks blocks;
  blocks.k = chooseBlock(k, maxDepth);
  blocks.m = m >= 0        ? chooseBlock(m, maxRows)
             : tilesEvenly ? maxRows
                           : usualRows;
  if (m > maxRows && blocks.m % rowGranule != 0)
    blocks.m = equalParts(m, maxRows, rowGranule);
  if (takesAllRows(m, hasMatrixUnit))
    blocks.m = m;
  blocks.n = maxColumns;
  return blocks;
}

/// Returns a number of rows that divides `rows` into several blocks with almost
/// no remainder, close to a register block. Returns 0 if there is none. The
/// remainder is computed as a full block.
static int64_t chooseEvenRows(int64_t rows) {
  // The remainder may add at most one row in 16.
  constexpr int64_t fewest = 5, most = 12, overhang = 16;
  int64_t best = 0, bestOver = rows / overhang + 1;
  for (int64_t block = fewest; block <= most && block < rows; ++block) {
    int64_t over = ceilDiv(rows, block) * block - rows;
    if (over < bestOver ||
        (over == bestOver && best &&
         std::abs(block - rowGranule) <= std::abs(best - rowGranule))) {
      best = block;
      bestOver = over;
    }
  }
  return best;
}

/// Threads that share a step synchronize after it, and fetch the results of
/// other threads. Threads that keep their rows for all steps do neither, but
/// each reads all weights in each step, so these have to fit into its
/// second-level cache. Each program copies the state of its rows, a cost that a
/// few more columns amortize. With few rows, reading the weights dominates, and
/// all threads share it, so blocks have few columns. If the number of rows is
/// dynamic, half a register block is computed for one row.
RecurrentBlocks adze::chooseRecurrentBlocks(tile::CpuTargetAttr target,
                                            int64_t rows, int64_t units,
                                            int64_t gates, int64_t bytes) {
  constexpr int64_t mostRows = 32, usualRows = 4, fewRows = 4,
                    enoughPrograms = 8;
  RecurrentBlocks blocks;
  blocks.panel = units <= 16 ? 16 : 32;
  int64_t padded = ceilDiv(units, blocks.panel) * blocks.panel;
  int64_t even = rows < 0 ? usualRows : chooseEvenRows(rows);
  blocks.keepsRows =
      even > 0 && gates * units * padded * bytes <= target.getL2Bytes();
  blocks.rows = blocks.keepsRows || rows < 0
                    ? even
                    : equalParts(rows, mostRows, rowGranule);
  bool few = rows >= 0 && rows <= fewRows;
  blocks.units = std::min<int64_t>(padded, few ? 64 : 128);
  auto programs = [&] {
    return ceilDiv(std::max<int64_t>(rows, 1), blocks.rows) *
           ceilDiv(padded, blocks.units);
  };
  while (blocks.units > blocks.panel && programs() < enoughPrograms)
    blocks.units = std::max(blocks.units / 2, blocks.panel);
  return blocks;
}

int64_t adze::chooseGroupPanel(int64_t outputs) {
  constexpr int64_t lanes = 16, usual = 2 * lanes, most = 8 * lanes;
  if (outputs % usual == 0)
    return usual;
  auto vectors = [&](int64_t panel) { // of all panels of the group
    return outputs / panel * ceilDiv(panel, lanes);
  };
  int64_t best = 1;
  for (int64_t panel = 1; panel <= std::min(outputs, most); ++panel)
    if (outputs % panel == 0 && vectors(panel) <= vectors(best))
      best = panel;
  return best;
}

int64_t adze::chooseKeys(int64_t keys, bool hasUnit) {
  constexpr int64_t usual = 64, most = 100, depth = 32, registers = 4;
  if (hasUnit) {
    int64_t all = keys < 0 ? registers : llvm::divideCeil(keys, depth);
    return depth * llvm::divideCeil(all, llvm::divideCeil(all, registers));
  }
  int64_t block = chooseBlock(keys, usual);
  return keys < 0 || keys % block == 0 ? block : equalParts(keys, most, 1);
}

/// Each program copies the right operand. A row of the copy costs about ten
/// cycles, and a block of 8 rows that uses it eight; so 256 rows or more
/// amortize it. Rows are prefetched a block ahead (Prefetch.cpp), so they need
/// not stay in the cache, and few columns leave room for a long part of the
/// contracted dim.
static ContractionBlocks chooseCopiedBlocks(int64_t m, int64_t k,
                                            const CacheShares &shares) {
  constexpr int64_t columns = 64, floatBytes = 4, usualRows = 256,
                    maxRows = 512;
  ContractionBlocks blocks;
  blocks.k = equalParts(k, shares.stage / floatBytes / columns, 4);
  blocks.m = equalParts(m, m < 0 ? usualRows : maxRows, 8);
  blocks.n = columns;
  return blocks;
}

/// With few rows, each element of the right operand is used once for each row,
/// so the product is bandwidth-bound and reads it in place. A program reads a
/// contiguous part that is long compared to its startup cost: whole rows of a
/// power of two of vectors, or some columns.
static ContractionBlocks chooseStreamedBlocks(int64_t m, int64_t k,
                                              RightOperand right,
                                              const CacheShares &shares) {
  constexpr int64_t floatBytes = 4, maxDepth = 16384, usualDepth = 1024,
                    widest = 256;
  ContractionBlocks blocks;
  blocks.m = m;
  blocks.k = chooseBlock(k, k < 0 ? usualDepth : maxDepth);
  int64_t columns = shares.program / floatBytes / blocks.k / 16 * 16;
  blocks.n = right == RightOperand::Rows
                 ? widest
                 : std::clamp<int64_t>(columns, 32, widest);
  return blocks;
}

ContractionBlocks
adze::chooseContractionBlocks(tile::CpuTargetAttr target, int64_t m, int64_t n,
                              int64_t k, bool tilesEvenly, RightOperand right,
                              int64_t batch, bool hasMatrixUnit) {
  // An unknown size is assumed to be a common one: small blocks would cost
  // large shapes more than few programs cost small shapes.
  constexpr int64_t usualSize = 256, usualRowBlocks = 4, fewRows = 8,
                    lanes = 16;
  bool isPacked = right == RightOperand::Panels;
  bool streams = right != RightOperand::Panels && m >= 0 && m <= fewRows;
  // Rows of whole vectors are read in place, short parts of them at half the
  // rate of long ones. Others are copied.
  bool hasRows = streams && right == RightOperand::Rows;
  bool readsRows = hasRows && n > 0 && n % lanes == 0;
  int64_t enoughPrograms = readsRows                                   ? 4
                           : streams || takesAllRows(m, hasMatrixUnit) ? 8
                                                                       : 16;
  CacheShares shares(target);
  ContractionBlocks blocks =
      streams ? chooseStreamedBlocks(m, k, right, shares)
      : right == RightOperand::Panels
          ? choosePackedBlocks(m, k, tilesEvenly, hasMatrixUnit)
          : chooseCopiedBlocks(m, k, shares);
  blocks.panel = n > 0 && n <= 16 ? 16 : 32;
  if (n > 0) {
    int64_t padded = ceilDiv(n, blocks.panel) * blocks.panel;
    blocks.n = streams ? std::min(blocks.n, padded)
                       : equalParts(padded, blocks.n, blocks.panel);
  }
  auto programs = [&] {
    return std::max<int64_t>(batch, 1) *
           (m < 0 && isPacked ? usualRowBlocks
                              : ceilDiv(m < 0 ? usualSize : m, blocks.m)) *
           ceilDiv(n < 0 ? usualSize : n, blocks.n);
  };
  bool isKnown = m >= 0 && n >= 0;
  int64_t fewestColumns = readsRows ? 2 * blocks.panel : blocks.panel;
  while (blocks.n > fewestColumns && programs() < enoughPrograms) {
    int64_t half = blocks.n / 2 / blocks.panel * blocks.panel;
    blocks.n = std::max(half, fewestColumns);
  }
  // A last block with a remainder would make every program copy panels, which
  // costs more than the narrowest blocks do.
  if (n > 0 && isPacked)
    blocks.n = blocks.panel * largestDivisor(ceilDiv(n, blocks.panel),
                                             blocks.n / blocks.panel);
  while (isKnown && blocks.m > 32 && programs() < enoughPrograms)
    blocks.m = equalParts(m, (blocks.m / 2 + 7) / 8 * 8, 8);
  if (hasRows && !readsRows) // the copied part has to fit
    blocks.k = chooseBlock(
        k,
        std::min(blocks.k, shares.stage / int64_t(sizeof(double)) / blocks.n));
  return blocks;
}

bool adze::keepsRowsTogether(const KernelEmitter &e, int64_t m, int64_t n,
                             int64_t k, int64_t taps) {
  if (e.gpu || n < 0 || k < 0 || taps < 0)
    return false;
  // The part of the right operand that one block of rows reads is in cache for
  // the next one.
  constexpr int64_t floatBytes = 4;
  int64_t right = taps * k * n;
  return right * floatBytes <= e.target.getL2Bytes() / 2 &&
         (m < 0 || right <= m * (n + k));
}

int64_t adze::chooseStreamBytes(tile::CpuTargetAttr target, bool scattered) {
  int64_t bytes = target.getL3Bytes() / 2; // the other half holds the operands
  // Stores to scattered cache lines are several times slower through the
  // last-level cache.
  constexpr int64_t fewCaches = 8;
  return scattered ? std::min(bytes, fewCaches * target.getL2Bytes()) : bytes;
}
