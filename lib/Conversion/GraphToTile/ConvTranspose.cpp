// Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
//
// Transposed convolutions. With stride s, the outputs y with equal (y + pad)
// mod s, a phase, are a convolution of stride 1 by a subset of the taps. Each
// program computes runs of pixels of one phase, s apart, and multiplies no
// inserted zeros.
#include "Convolution.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include <numeric>

using namespace mlir;
using namespace adze;
using namespace adze::graph;

using Carried = KernelEmitter::Carried;

namespace {

/// A spatial dim. Output y uses tap k of input x where y + pad = stride * x +
/// dilation * k.
struct Dim {
  int64_t stride, dilation, pad, taps;
  /// The distance of consecutive taps of a phase, and that of the inputs that
  /// they read.
  int64_t period, step;
  AffineExpr input, result;
  bool inside; // every phase has taps, all in bounds
};

/// The taps of a phase: tap `first + period * j` reads input `start - step *
/// j`, for j in [0, count).
struct PhaseTaps {
  Value first, start, count;
};

/// One tap of the window: its position in the filter, and its input.
struct Tap {
  SmallVector<Value> filter;
  DimRanges input; // batch and spatial dims of the pixels of a program
};

class ConvTransposeEmitter {
public:
  ConvTransposeEmitter(KernelEmitter &e, ConvTransposeOp op);

  LogicalResult run();

private:
  using TapBody = function_ref<FailureOr<Carried>(ValueRange)>;

  bool isDepthwise() const {
    return groups > 1 && groupInputs == 1 && groupOutputs == 1;
  }
  LogicalResult setTiling();
  LogicalResult emitPhase(Value phase);
  bool hasTaps(Value phase);
  PhaseTaps getTaps(const Dim &dim, Value quotient, Value remainder);
  FailureOr<Carried> loopWindow(Value phase, ValueRange carried, TapBody body);
  FailureOr<Carried>
  loopPoint(const Dim &dim, Value at, ValueRange carried,
            function_ref<FailureOr<Carried>(Value, Value, ValueRange)> body);
  FailureOr<Carried>
  loopRow(const Dim &dim, Value phase, ValueRange carried,
          function_ref<FailureOr<Carried>(Value, Value, ValueRange)> body);
  FailureOr<Carried> addTap(ValueRange carried);

  KernelEmitter &e;
  ConvTransposeOp op;
  Dims filter, result;
  SmallVector<Dim> dims;
  int64_t groups, groupInputs, groupOutputs;
  int64_t phases; // unrolled phases; 1: the phase is part of the program id
  Value blockK, phaseId;
  Value firstInput;  // of the group
  Value firstOutput; // of the block, within the group
  ConvProgram program;
  Tap tap;
};

} // namespace

/// Returns x with `value` * x = 1 modulo `modulus`, for coprime numbers.
static int64_t getInverse(int64_t value, int64_t modulus) {
  int64_t inverse = 0;
  while (modulus > 1 && value * inverse % modulus != 1)
    ++inverse;
  return inverse;
}

ConvTransposeEmitter::ConvTransposeEmitter(KernelEmitter &e, ConvTransposeOp op)
    : e(e), op(op), filter(getDims(op.getFilter())),
      result(getDims(op.getResult())), groups(op.getGroup()) {
  groupInputs = getKnown(filter[0]) / std::max<int64_t>(groups, 1);
  groupOutputs = getKnown(filter[1]);
  Dims input = getDims(op.getInput());
  unsigned spatial = input.size() - 2;
  for (unsigned d = 0; d < spatial; ++d) {
    Dim dim{op.getStrides()[d],
            op.getDilations()[d],
            op.getPads()[d],
            getKnown(filter[d + 2]),
            1,
            1,
            input[d + 1],
            result[d + 1],
            false};
    int64_t common = std::gcd(dim.stride, dim.dilation);
    dim.period = dim.stride / common;
    dim.step = dim.dilation / common;
    // Each phase has one tap, and the last output is before the end of the
    // window of the last input. This is true for all sizes.
    int64_t reach = dim.dilation * (dim.taps - 1);
    int64_t after =
        op.getOutputPadding()[d] + reach - op.getPads()[d + spatial];
    dim.inside = common == 1 && dim.taps == dim.period && reach < dim.stride &&
                 after < dim.stride;
    dims.push_back(dim);
  }
}

/// Chooses blocks and program ids. A program computes all phases of its pixels
/// if there are few, else one.
LogicalResult ConvTransposeEmitter::setTiling() {
  constexpr int64_t mostPhases = 4, usualRow = 56;
  const Dim &last = dims.back();
  phases = last.stride <= mostPhases ? last.stride : 1;
  bool isNumber = phases != last.stride;
  AffineExpr width = last.result.ceilDiv(last.stride);
  RowBlock row = chooseRowBlock(width, isDepthwise() ? 16 : usualRow);
  row.unrolls = isDepthwise() || groupInputs > 8;
  e.setAxis(M, getSize(e, row));
  Value block, blocks;
  MLIRContext *context = op.getContext();
  if (isDepthwise()) {
    block = e.param("BLOCK_N", chooseLanes(groups, 128));
    e.pack(op.getFilter(), getFilterMap(context, filter.size(), 0));
  } else {
    int64_t panel = groups > 1           ? largestDivisor(groupOutputs, 32)
                    : groupOutputs <= 16 ? 16
                                         : 32;
    // Groups divide the channels, so their blocks are constants, not
    // parameters.
    block = groups > 1 ? e.index(panel) : e.param("BLOCK_N", panel);
    blockK = groups > 1 ? e.index(largestDivisor(groupInputs, 512))
                        : e.param("BLOCK_C", chooseBlock(groupInputs, 512));
    e.setAxis(K, blockK);
    e.pack(op.getFilter(), getFilterMap(context, filter.size(), panel,
                                        /*inputsFirst=*/true));
  }
  e.setAxis(N, block);
  Value channels = e.size(result.back());
  if (!channels)
    return failure();
  blocks = e.ceilDiv(channels, block);
  Value count = isNumber ? e.mul(blocks, e.index(last.stride)) : blocks;
  auto made = makeProgram(e, result, width, row, block, count);
  if (failed(made))
    return failure();
  program = *made;
  if (isNumber) { // phases of one panel of the filter in turn
    phaseId = e.rem(program.group, e.index(last.stride));
    program.group = e.div(program.group, e.index(last.stride));
    program.channel = e.mul(program.group, block);
    program.ranges.back().offset = program.channel;
  }
  firstInput = e.index(0);
  firstOutput = program.channel;
  if (groups > 1 && !isDepthwise()) {
    Value perGroup = e.div(e.index(groupOutputs), block);
    firstInput = e.mul(e.div(program.group, perGroup), e.index(groupInputs));
    firstOutput = e.mul(e.rem(program.group, perGroup), block);
  }
  return success();
}

/// Returns the taps of outputs with y + pad = `stride * quotient + remainder`.
PhaseTaps ConvTransposeEmitter::getTaps(const Dim &dim, Value quotient,
                                        Value remainder) {
  auto index = [&](int64_t value) { return e.index(value); };
  int64_t common = dim.stride / dim.period;
  PhaseTaps taps;
  Value phase = e.div(remainder, index(common));
  taps.first = e.rem(e.mul(phase, index(getInverse(dim.step, dim.period))),
                     index(dim.period));
  // The first tap reads the input this far before the quotient.
  Value back = e.div(e.mul(taps.first, index(dim.dilation)), index(dim.stride));
  taps.start = e.sub(quotient, back);
  taps.count =
      dim.taps % dim.period == 0
          ? index(dim.taps / dim.period)
          : e.div(e.add(e.max(e.sub(index(dim.taps), taps.first), index(0)),
                        index(dim.period - 1)),
                  index(dim.period));
  if (common > 1) { // other phases have no taps
    Value beside = e.min(e.rem(remainder, index(common)), index(1));
    taps.count = e.mul(taps.count, e.sub(index(1), beside));
  }
  return taps;
}

/// Emits the taps of one output that are in bounds of the input.
FailureOr<Carried> ConvTransposeEmitter::loopPoint(
    const Dim &dim, Value at, ValueRange carried,
    function_ref<FailureOr<Carried>(Value, Value, ValueRange)> body) {
  OpBuilder &b = e.builder();
  Value y = e.add(at, e.index(dim.pad)), stride = e.index(dim.stride);
  Value extent = e.size(dim.input);
  if (!extent)
    return failure();
  // The clamps have no effect, but give bounds to range analysis.
  auto clamp = [&](Value value, Value size) {
    return e.min(e.max(value, e.index(0)), e.sub(size, e.index(1)));
  };
  PhaseTaps taps = getTaps(dim, e.div(y, stride), e.rem(y, stride));
  if (dim.inside)
    return body(clamp(taps.first, e.index(dim.taps)), clamp(taps.start, extent),
                carried);
  // This solves 0 <= start - step * j < extent for j in [begin, end).
  Value begin = e.add(e.sub(taps.start, extent), e.index(1)), end = taps.start;
  if (dim.step != 1) {
    Value step = e.index(dim.step);
    begin = arith::CeilDivSIOp::create(b, e.loc(), begin, step);
    end = arith::FloorDivSIOp::create(b, e.loc(), end, step);
  }
  begin = e.max(begin, e.index(0));
  end = e.min(e.add(end, e.index(1)), taps.count);
  Value count = e.max(e.sub(end, begin), e.index(0));
  return e.loop(count, e.index(1), carried, [&](Value i, ValueRange inner) {
    Value j = e.add(begin, i);
    Value k = e.add(taps.first, e.mul(j, e.index(dim.period)));
    Value x = e.sub(taps.start, e.mul(j, e.index(dim.step)));
    return body(clamp(k, e.index(dim.taps)), clamp(x, extent), inner);
  });
}

/// Emits the taps of a run of pixels of one phase; pixels out of bounds are
/// padding.
FailureOr<Carried> ConvTransposeEmitter::loopRow(
    const Dim &dim, Value phase, ValueRange carried,
    function_ref<FailureOr<Carried>(Value, Value, ValueRange)> body) {
  Value y = e.add(phase, e.index(dim.pad)), stride = e.index(dim.stride);
  PhaseTaps taps =
      getTaps(dim, e.add(program.pixel, e.div(y, stride)), e.rem(y, stride));
  auto count = getConstantIntValue(taps.count);
  auto first = getConstantIntValue(taps.first);
  auto tapOf = [&](Value j) {
    Value k = e.add(taps.first, e.mul(j, e.index(dim.period)));
    return getConstantIntValue(k) ? k : e.min(k, e.index(dim.taps - 1));
  };
  if (!count || !first)
    return e.loop(taps.count, e.index(1), carried,
                  [&](Value j, ValueRange inner) {
                    Value x = e.sub(taps.start, e.mul(j, e.index(dim.step)));
                    return body(tapOf(j), x, inner);
                  });
  WindowDim window{taps.start, {}, *count, -dim.step, false};
  return loopAllTaps(e, window, unrollsTaps(program.row, *count), carried,
                     [&](Value j, Value position, ValueRange inner) {
                       return body(tapOf(j), position, inner);
                     });
}

/// Emits loops over the taps of the window around `body`.
FailureOr<Carried> ConvTransposeEmitter::loopWindow(Value phase,
                                                    ValueRange carried,
                                                    TapBody body) {
  unsigned d = tap.filter.size();
  if (d == dims.size())
    return body(carried);
  if (d == 0)
    tap.input.assign(1, {program.point[0], -1, 1, 1});
  bool last = d + 1 == dims.size();
  auto inner = [&](Value k, Value position, ValueRange carried) {
    tap.filter.push_back(k);
    tap.input.push_back({position, last ? M : -1, 1, 1});
    auto next = loopWindow(phase, carried, body);
    tap.filter.pop_back();
    tap.input.pop_back();
    return next;
  };
  return last ? loopRow(dims[d], phase, carried, inner)
              : loopPoint(dims[d], program.point[d + 1], carried, inner);
}

/// Adds the products of one tap to the sum.
FailureOr<Carried> ConvTransposeEmitter::addTap(ValueRange carried) {
  auto filterRanges = [&](DimRange input, DimRange output) {
    DimRanges ranges{input, output};
    for (Value k : tap.filter)
      ranges.push_back({k, -1, 1, 1});
    return ranges;
  };
  if (isDepthwise()) {
    DimRange channel{program.channel, N, 1, 1};
    DimRanges input = tap.input;
    input.push_back(channel);
    auto x = e.emit(op.getInput(), input);
    auto w =
        e.emit(op.getFilter(), filterRanges(channel, {e.index(0), -1, 1, 1}));
    if (failed(x) || failed(w))
      return failure();
    return Carried{multiplyAdd(e, *x, *w, carried[0], {M, N})};
  }
  auto sum = accumulate(
      e, e.index(groupInputs), blockK, carried[0], op.getInput(),
      op.getFilter(),
      [&](Value c) {
        DimRanges ranges = tap.input;
        ranges.push_back({e.add(firstInput, c), K, 1, 1});
        return ranges;
      },
      [&](Value c) {
        return filterRanges({e.add(firstInput, c), K, 1, 1},
                            {firstOutput, N, 1, 1});
      });
  if (failed(sum))
    return failure();
  return Carried{*sum};
}

/// Returns true if an output of a phase of the rows has taps.
bool ConvTransposeEmitter::hasTaps(Value phase) {
  const Dim &last = dims.back();
  auto number = getConstantIntValue(phase);
  if (!number)
    return true;
  int64_t remainder = (*number + last.pad) % last.stride;
  for (int64_t k = 0; k < last.taps; ++k)
    if (k * last.dilation % last.stride == remainder)
      return true;
  return false;
}

LogicalResult ConvTransposeEmitter::emitPhase(Value phase) {
  Type element = getSignlessType(getElementTypeOrSelf(op.getResult()));
  Type type = getAccumulatorType(element);
  Value zero =
      e.constant(cast<TypedAttr>(e.builder().getZeroAttr(type)), {M, N});
  FailureOr<Carried> sum = Carried{zero};
  if (hasTaps(phase))
    sum = loopWindow(phase, zero,
                     [&](ValueRange carried) { return addTap(carried); });
  if (failed(sum))
    return failure();
  DimRanges ranges = program.ranges;
  DimRange &pixel = ranges[ranges.size() - 2];
  int64_t stride = dims.back().stride;
  pixel.offset = e.add(e.mul(pixel.offset, e.index(stride)), phase);
  pixel.stride = stride;
  return finishConv(e, op.getResult(), op.getBias(), (*sum)[0], {M, N}, ranges);
}

LogicalResult ConvTransposeEmitter::run() {
  if (failed(setTiling()))
    return failure();
  if (phaseId || phases == 1)
    return emitPhase(phaseId ? phaseId : e.index(0));
  for (int64_t phase = 0; phase < phases; ++phase)
    if (failed(e.phase([&] { return emitPhase(e.index(phase)); })))
      return failure();
  return success();
}

LogicalResult adze::emitConvTranspose(KernelEmitter &e, ConvTransposeOp op,
                                      Tiling tiling) {
  if (op.getLayout() != Layout::NHWC)
    return e.fail("only channels-last convolutions have a tile form");
  if (tiling != Tiling::Dims)
    return e.fail("a transposed convolution has a tiling by dims only");
  if (llvm::any_of(getDims(op.getFilter()),
                   [](AffineExpr size) { return getKnown(size) <= 0; }))
    return e.fail("the filter has a dynamic size");
  return ConvTransposeEmitter(e, op).run();
}
