// Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
//
// Merges sums of convolutions of one input into a convolution by the sum of
// their filters, as for blocks with several branches in training (RepVGG, Ding
// et al., 2021; MobileOne, Vasu et al., 2023).
#include "LinearFolds.h"

using namespace mlir;
using namespace adze::graph;

/// Returns, for each spatial dim, the tap of `outer` at which the window of
/// `inner` begins, if all taps of `inner` are inside.
static std::optional<SmallVector<int64_t>> getPlace(ConvOp inner,
                                                    ConvOp outer) {
  Dims own = getDims(inner.getFilter()), all = getDims(outer.getFilter());
  SmallVector<int64_t> place;
  for (size_t d = 0, spatial = own.size() - 2; d < spatial; ++d) {
    auto taps = getConstant(own[d + 2]), extent = getConstant(all[d + 2]);
    int64_t dilation = outer.getDilations()[d],
            offset = outer.getPads()[d] - inner.getPads()[d];
    if (!taps || !extent || offset < 0 || offset % dilation != 0 ||
        offset / dilation + *taps > *extent ||
        (*taps > 1 && inner.getDilations()[d] != dilation))
      return std::nullopt;
    place.push_back(offset / dilation);
  }
  return place;
}

/// Returns a convolution by constants whose only user is a sum.
static ConvOp getSummand(Value value) {
  auto conv = value.getDefiningOp<ConvOp>();
  bool folds = conv && conv->hasOneUse() && isConstant(conv.getFilter()) &&
               (!conv.getBias() || isConstant(conv.getBias())) &&
               isa<FloatType>(getElementTypeOrSelf(conv.getFilter()));
  return folds ? conv : ConvOp();
}

static bool areAlike(ConvOp lhs, ConvOp rhs) {
  return lhs.getInput() == rhs.getInput() && lhs.getType() == rhs.getType() &&
         lhs.getFilter().getType().getElementType() ==
             rhs.getFilter().getType().getElementType() &&
         lhs.getStrides() == rhs.getStrides() &&
         lhs.getGroup() == rhs.getGroup() && lhs.getLayout() == rhs.getLayout();
}

/// Returns the filter of `outer` plus that of `inner`, padded with zeros.
static Value sumFilters(RewriterBase &rewriter, ConvOp outer, ConvOp inner,
                        ArrayRef<int64_t> place) {
  Location loc = rewriter.getFusedLoc({outer.getLoc(), inner.getLoc()});
  Value filter = inner.getFilter(), bias = outer.getBias();
  if (getDims(filter) != getDims(outer.getFilter())) {
    SmallVector<int64_t> low{0, 0}, high{0, 0};
    Dims own = getDims(filter), all = getDims(outer.getFilter());
    for (auto [d, at] : llvm::enumerate(place)) {
      low.push_back(at);
      high.push_back(*getConstant(all[d + 2]) - at - *getConstant(own[d + 2]));
    }
    filter = PadOp::create(rewriter, loc, filter, Value(), low, high);
  }
  filter = AddOp::create(rewriter, loc, outer.getFilter(), filter);
  if (bias && inner.getBias())
    bias = AddOp::create(rewriter, loc, bias, inner.getBias());
  else if (!bias)
    bias = inner.getBias();
  auto sum = cast<ConvOp>(rewriter.clone(*outer));
  sum->setLoc(loc);
  sum.getFilterMutable().assign(filter);
  if (bias)
    sum.getBiasMutable().assign(bias);
  return sum;
}

namespace {
/// conv(x, v) + .. + conv(x, w) -> conv(x, v + w) + ..: the smaller filter is
/// padded with zeros.
class SumConvolutions final : public OpRewritePattern<AddOp> {
public:
  SumConvolutions(MLIRContext *context, Pass::Statistic &folded)
      : OpRewritePattern(context), folded(folded) {}

  LogicalResult matchAndRewrite(AddOp add,
                                PatternRewriter &rewriter) const override {
    constexpr size_t most = 16;
    SmallVector<Value> summands{add.getLhs(), add.getRhs()};
    for (size_t i = 0; i < summands.size() && summands.size() < most;) {
      auto inner = summands[i].getDefiningOp<AddOp>();
      if (!inner || !inner->hasOneUse() || inner.getType() != add.getType()) {
        ++i;
        continue;
      }
      summands[i] = inner.getLhs();
      summands.insert(summands.begin() + i + 1, inner.getRhs());
    }
    if (!joinTwo(summands, rewriter))
      return rewriter.notifyMatchFailure(add, "no two summands can be joined");
    Value sum = summands.front();
    for (Value summand : llvm::drop_begin(summands))
      sum = AddOp::create(rewriter, add.getLoc(), sum, summand);
    rewriter.replaceOp(add, sum);
    ++folded;
    return success();
  }

private:
  static bool joinTwo(SmallVectorImpl<Value> &summands,
                      PatternRewriter &rewriter) {
    auto convs = llvm::map_to_vector(summands, getSummand);
    for (auto [i, outer] : llvm::enumerate(convs))
      for (auto [k, inner] : llvm::enumerate(convs)) {
        if (i == k || !outer || !inner || !areAlike(outer, inner))
          continue;
        if (auto place = getPlace(inner, outer)) {
          summands[i] = sumFilters(rewriter, outer, inner, *place);
          summands.erase(summands.begin() + k);
          return true;
        }
      }
    return false;
  }

  Pass::Statistic &folded;
};
} // namespace

void adze::graph::addSumFolds(RewritePatternSet &patterns,
                              Pass::Statistic &folded) {
  patterns.add<SumConvolutions>(patterns.getContext(), folded);
}
