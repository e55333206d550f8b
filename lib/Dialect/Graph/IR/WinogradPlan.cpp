// Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
//
// The cost of a Winograd convolution, and its tiling into programs.
#include "Dialect/Graph/IR/Shape.h"
#include "Dialect/Graph/IR/Winograd.h"
#include "Support/LargestDivisor.h"
#include "llvm/Support/MathExtras.h"
#include <algorithm>
#include <optional>

using namespace mlir;
using namespace adze;
using namespace adze::graph;

namespace {

/// The rates of a core, in cycles and bytes.
struct Core {
  static constexpr double lanes = 16, multiplyAdds = 2;
  static constexpr int64_t floatBytes = 4;
  /// The cost of a weight of this many bytes: read from memory for the first
  /// time, as far as multiplications do not hide it; and again, in parallel to
  /// multiplications, from the last-level cache, or from memory if it was
  /// evicted.
  static constexpr double coldWeight = 0.6, weightFromL3 = 4.0 / 18,
                          weightFromMemory = 1.0;
  /// The rows of a register block; fewer leave multipliers idle.
  static constexpr int64_t rows = 8, leastRows = 4;
  /// The number of cores: larger numbers of programs should be a multiple of
  /// it.
  static constexpr int64_t count = 4;
  static constexpr double programCycles = 2000;
};

/// The cycles to transform one patch of a vector of channels, in both
/// directions, in memory near the core; measured in whole kernels, on a core
/// whose multiplications run at their peak.
struct Transforms {
  double input, output;
  explicit Transforms(int64_t tile)
      : input(tile == 2 ? 48 : 205), output(tile == 2 ? 41 : 155) {}
};

/// Returns the multiply-adds of a lane in a cycle.
double getRate(const WinogradSizes &sizes) {
  return Core::multiplyAdds * sizes.group;
}

/// Returns the cost of reading `matrices` matrices of weights for the first
/// time.
double getColdCost(const WinogradSizes &sizes, int64_t matrices,
                   int64_t outputs) {
  return double(matrices) * sizes.inputs * outputs * Core::coldWeight *
         sizes.filterBytes / Core::floatBytes;
}

/// The work of one candidate plan.
class Candidate {
public:
  Candidate(const WinogradSizes &sizes, int64_t tile, const WinogradPlan &plan,
            tile::CpuTargetAttr target)
      : sizes(sizes), plan(plan), transforms(tile), target(target),
        products((tile + 2) * (tile + 2)),
        patchRows(sizes.batch * llvm::divideCeil(sizes.rows, tile)),
        patchColumns(llvm::divideCeil(sizes.columns, tile)) {}

  int64_t inputBytes() const {
    return products * patches() * sizes.inputs * sizes.patchBytes;
  }
  int64_t productBytes() const {
    return products * patches() * plan.outputs * Core::floatBytes;
  }

  double getCost() const {
    int64_t channels = plan.outputs * plan.steps;
    double blocks = double(llvm::divideCeil(patchRows, plan.rows)) *
                    llvm::divideCeil(patchColumns, plan.columns);
    double programs = blocks * llvm::divideCeil(sizes.outputs, channels);
    double program = getProgramCost(channels, blocks > 1);
    // The time is between that of one core and that of several.
    double rounds = std::ceil(programs / Core::count) * Core::count;
    return program * (programs + rounds) / 2 +
           getColdCost(sizes, products, sizes.outputs);
  }

private:
  int64_t patches() const { return plan.rows * plan.columns; }

  double getProgramCost(int64_t channels, bool readsWeightsAgain) const {
    int64_t blocks = llvm::divideCeil(patches(), Core::rows);
    double rows = double(blocks) * std::max(llvm::divideCeil(patches(), blocks),
                                            uint64_t(Core::leastRows));
    double vectors = llvm::divideCeil(channels, int64_t(Core::lanes));
    double weights = double(products) * sizes.inputs * channels;
    double multiply = products * rows * sizes.inputs * vectors / getRate(sizes);
    bool fitsCache =
        weights * sizes.filterBytes + inputBytes() + productBytes() <=
        target.getL2Bytes();
    // Patches are processed one after the other for the same channels. Half of
    // the last-level cache is assumed to be available, as other programs and
    // processes use it, too.
    double again = weights * sizes.filterBytes <= target.getL3Bytes() / 2
                       ? Core::weightFromL3
                       : Core::weightFromMemory;
    if (readsWeightsAgain && !fitsCache)
      multiply = std::max(multiply, weights * again * sizes.filterBytes /
                                        Core::floatBytes);
    double moved = llvm::divideCeil(sizes.inputs, int64_t(Core::lanes)) *
                       transforms.input +
                   vectors * transforms.output;
    return Core::programCycles + multiply + patches() * moved;
  }

  const WinogradSizes &sizes;
  const WinogradPlan &plan;
  Transforms transforms;
  tile::CpuTargetAttr target;
  int64_t products, patchRows, patchColumns;
};

} // namespace

/// Sets what depends on the type of the elements. Fails if a unit multiplies
/// matrices of them, which takes less time than the transforms, or groups that
/// the channels do not fill.
static LogicalResult setElement(WinogradSizes &sizes, Type element,
                                tile::CpuTargetAttr target) {
  Type f32 = Float32Type::get(element.getContext());
  if (element == f32)
    return success();
  if (!target || !(element.isF16() || element.isBF16()) ||
      target.findMatrixUnit(element, element, f32))
    return failure();
  sizes.filterBytes = element.getIntOrFloatBitWidth() / 8;
  auto unit = target.findUnit(element, element, f32);
  if (!unit)
    return success();
  sizes.patchBytes = sizes.filterBytes;
  sizes.group = unit.getGroup();
  return success(sizes.inputs % sizes.group == 0);
}

std::optional<WinogradSizes>
adze::graph::getWinogradSizes(Value input, Value image,
                              tile::CpuTargetAttr target) {
  Dims result = getDims(image);
  AffineExpr inputs = getDims(input).back();
  // Networks halve the size of images as they double the channels: 64 channels
  // of 112 pixels, 512 of 14, which is twice the size of those in classifiers.
  // Winograd's algorithm loses little on small images, and direct convolution
  // loses much on large ones.
  constexpr int64_t sideTimesChannels = 112 * 64;
  int64_t channels = std::max<int64_t>(getConstant(result[3]).value_or(1), 1);
  int64_t usualSide = std::clamp<int64_t>(sideTimesChannels / channels, 7, 112);
  auto known = [](AffineExpr size, int64_t usual) {
    return getConstant(size).value_or(usual);
  };
  WinogradSizes sizes{known(result[0], 1), known(result[1], usualSide),
                      known(result[2], usualSide), known(inputs, 0),
                      known(result[3], 0)};
  if (sizes.batch < 1 || sizes.rows < 1 || sizes.columns < 1 ||
      sizes.inputs < 1 || sizes.outputs < 1 ||
      failed(setElement(sizes, getElementTypeOrSelf(input), target)))
    return std::nullopt;
  return sizes;
}

WinogradPlan adze::graph::planWinograd(const WinogradSizes &sizes, int64_t tile,
                                       tile::CpuTargetAttr target) {
  constexpr int64_t maxRow = 64, maxDepth = 1024;
  int64_t inputShare = target.getL2Bytes() * 5 / 8,
          productShare = target.getL2Bytes() / 4;
  int64_t patchRows = sizes.batch * llvm::divideCeil(sizes.rows, tile);
  int64_t patchColumns = llvm::divideCeil(sizes.columns, tile);
  std::optional<WinogradPlan> best;
  WinogradPlan plan;
  plan.panel = sizes.outputs <= 16 ? 16 : 32;
  plan.depth = sizes.inputs <= maxDepth
                   ? sizes.inputs
                   : largestDivisor(sizes.inputs, maxDepth);
  int64_t panels = llvm::divideCeil(sizes.outputs, plan.panel);
  auto bytes = [&](auto share) {
    return (Candidate(sizes, tile, plan, target).*share)();
  };
  // A program has a whole row, or as much of it as fits.
  plan.columns = std::min(patchColumns, maxRow);
  plan.outputs = plan.panel;
  while (plan.columns > 1 && (bytes(&Candidate::inputBytes) > inputShare ||
                              bytes(&Candidate::productBytes) > productShare))
    plan.columns = (plan.columns + 1) / 2;
  int64_t mostRows = plan.columns == patchColumns ? patchRows : 1;
  for (plan.rows = 1; plan.rows <= mostRows; ++plan.rows) {
    plan.outputs = plan.panel;
    if (plan.rows > 1 && (bytes(&Candidate::inputBytes) > inputShare ||
                          bytes(&Candidate::productBytes) > productShare))
      break;
    int64_t together = panels;
    while (together > 1) {
      plan.outputs = together * plan.panel;
      if (bytes(&Candidate::productBytes) <= productShare)
        break;
      together = largestDivisor(panels, together - 1);
    }
    // All divisions of the channels are tried, down to one panel.
    for (int64_t part = panels; part >= 1; --part) {
      if (panels % part != 0)
        continue;
      int64_t wide = largestDivisor(part, together);
      plan.outputs = wide * plan.panel;
      plan.steps = part / wide;
      plan.cost = Candidate(sizes, tile, plan, target).getCost();
      if (!best || plan.cost < best->cost)
        best = plan;
    }
  }
  return *best;
}

WinogradLimit adze::graph::getWinogradLimit(const WinogradSizes &sizes,
                                            int64_t tile) {
  // Tenths of cycles for a vector of results and one input.
  constexpr double parts = 10;
  double row = parts / getRate(sizes);
  double weight = parts * Core::lanes * Core::coldWeight * sizes.filterBytes /
                  Core::floatBytes;
  int64_t products = (tile + 2) * (tile + 2);
  Transforms transforms(tile);
  double moved = parts * (transforms.input / sizes.outputs +
                          transforms.output / sizes.inputs);
  return {int64_t(Winograd::window * row), int64_t(products * row + moved),
          int64_t((products - Winograd::window) * weight)};
}

double adze::graph::getDirectCost(const WinogradSizes &sizes) {
  int64_t outputs = llvm::alignTo(sizes.outputs, int64_t(Core::lanes));
  double weights = double(Winograd::window) * sizes.inputs * outputs;
  double pixels = double(sizes.batch) * sizes.rows * sizes.columns;
  return weights * pixels / Core::lanes / getRate(sizes) +
         getColdCost(sizes, Winograd::window, outputs);
}
