// Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
//
// graph-band-groups: gives adjacent groups of a convolution one set of input
// channels, so that matrix units multiply them.
#include "Dialect/Graph/IR/Graph.h"
#include "Dialect/Graph/IR/Precision.h"
#include "Dialect/Graph/Transforms/Passes.h"
#include "Dialect/Tile/IR/Units.h"
#include "LinearFolds.h"
#include "Matching.h"

namespace adze::graph {
#define GEN_PASS_DEF_BANDGROUPSPASS
#include "Dialect/Graph/Transforms/Passes.h.inc"
} // namespace adze::graph

using namespace mlir;
using namespace adze;
using namespace adze::graph;

namespace {

/// Runs of `outputs` channels of a result, which read `inputs` channels each.
struct Band {
  int64_t outputs, inputs;
};

/// The static sizes of a convolution with groups.
struct Groups {
  int64_t outputs, channels;       ///< of the result, of the input
  int64_t perOutputs, perChannels; ///< of a group

  explicit Groups(ConvOp op, int64_t outputs, int64_t perChannels)
      : outputs(outputs), channels(perChannels * int64_t(op.getGroup())),
        perOutputs(outputs / int64_t(op.getGroup())), perChannels(perChannels) {
  }

  /// Returns the first channel that a run of outputs reads.
  int64_t getFirst(int64_t output) const {
    return output / perOutputs * perChannels;
  }
  /// Returns the band whose runs have this many outputs.
  Band getBand(int64_t size) const {
    Band band{size, 0};
    for (int64_t at = 0; at < outputs; at += size) {
      int64_t last = std::min(at + size, outputs) - 1;
      band.inputs =
          std::max(band.inputs, getFirst(last) + perChannels - getFirst(at));
    }
    return band;
  }
};

/// Returns the size of elements that the matrix units of all targets, which are
/// GPUs, multiply; otherwise 0.
int64_t getUnitBytes(Operation *op, Type element) {
  int64_t bytes = 0;
  for (Attribute target : tile::getTargets(op)) {
    auto gpu = dyn_cast<tile::CudaTargetAttr>(target);
    auto unit =
        gpu ? gpu.findUnit(element, element, Float32Type::get(op->getContext()))
            : tile::TargetUnitAttr();
    if (!unit)
      return 0;
    bytes = tile::getElementBytes(unit);
  }
  return bytes;
}

/// Returns the band of least products, padding included. Returns none if the
/// copies of a kernel cannot read it, or if threads that multiply no zeros are
/// likely to take less time than matrix units.
std::optional<Band> chooseBand(ConvOp op, Type element) {
  constexpr int64_t copyBytes = 16, depthStep = 32, leastColumns = 64;
  constexpr int64_t mostZeros = 16; ///< products for one with a channel
  int64_t bytes = getUnitBytes(op, element);
  Dims filter = getDims(op.getFilter());
  auto outputs = getConstant(filter[0]), perChannels = getConstant(filter[1]);
  if (!bytes || op.getGroup() == 1 || op.getBand() || filter.size() != 4 ||
      !outputs || !perChannels || !isConstant(op.getFilter()))
    return std::nullopt;
  Groups groups(op, *outputs, *perChannels);
  auto isCopied = [&](int64_t channels) {
    return channels * bytes % copyBytes == 0;
  };
  if (!isCopied(groups.channels))
    return std::nullopt;
  std::optional<Band> best;
  int64_t least = mostZeros * *perChannels * *outputs;
  for (int64_t size = leastColumns; size <= 4 * leastColumns; size *= 2) {
    Band band = groups.getBand(size);
    bool isWhole = size % groups.perOutputs == 0;
    int64_t step = isWhole ? groups.getFirst(size) : *perChannels;
    int64_t products =
        llvm::alignTo(band.inputs, depthStep) * llvm::alignTo(*outputs, size);
    if (products <= least && isCopied(step)) {
      least = products;
      best = band;
    }
  }
  return best;
}

class BandGroupsPass final
    : public adze::graph::impl::BandGroupsPassBase<BandGroupsPass> {
public:
  using BandGroupsPassBase::BandGroupsPassBase;

  void runOnOperation() override {
    getOperation().walk([&](ConvOp op) {
      Type element = getPrecision(op).value_or(getElement(op.getFilter()));
      if (getElement(op.getInput()) != getElement(op.getFilter()))
        return;
      if (auto band = chooseBand(op, element)) {
        rewrite(op, *band);
        ++rewritten;
      }
    });
  }

private:
  /// Replaces the filter [outputs, channels of a group, window..] by the one of
  /// the band: channel c of the band is channel c % perChannels of a group.
  void rewrite(ConvOp op, Band band) {
    OpBuilder b(op);
    Location loc = op.getLoc();
    Value filter = op.getFilter();
    Dims dims = getDims(filter);
    Groups groups(op, *getConstant(dims[0]), *getConstant(dims[1]));
    op.setBand(band.outputs);
    SmallVector<bool> reads;
    for (int64_t output = 0; output < groups.outputs; ++output) {
      int64_t first = groups.getFirst(output / band.outputs * band.outputs);
      for (int64_t channel = 0; channel < band.inputs; ++channel)
        reads.push_back((first + channel) / groups.perChannels ==
                        output / groups.perOutputs);
    }
    if (llvm::all_of(reads, [](bool isRead) { return isRead; }))
      return;
    SmallVector<Value> copies(llvm::divideCeil(band.inputs, groups.perChannels),
                              filter);
    Value repeated = copies.size() == 1
                         ? filter
                         : ConcatOp::create(b, loc, copies, /*axis=*/1);
    dims[1] = getAffineConstantExpr(band.inputs, b.getContext());
    auto type = makeType(getElement(filter), dims);
    int64_t starts[] = {0, 0, 0, 0}, steps[] = {1, 1, 1, 1};
    repeated = SliceOp::create(b, loc, type, repeated, ArrayRef(starts), steps);
    auto maskType = RankedTensorType::get({groups.outputs, band.inputs, 1, 1},
                                          b.getI1Type());
    Value mask =
        ConstantOp::create(b, loc, DenseElementsAttr::get(maskType, reads));
    auto scalar = RankedTensorType::get({}, getElement(filter));
    Value zero = ConstantOp::create(
        b, loc,
        DenseElementsAttr::get(scalar, b.getZeroAttr(getElement(filter))));
    op.getFilterMutable().assign(
        SelectOp::create(b, loc, type, mask, repeated, zero));
  }
};

} // namespace

bool adze::graph::formsBand(ConvOp op, Type element) {
  return chooseBand(op, element).has_value();
}
