// Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
//
// Sliding windows: the taps in bounds, and their positions.
#include "KernelLowering.h"

using namespace mlir;
using namespace adze::graph;

SmallVector<Value> ImageDims::order(Value batch, Value channel,
                                    ValueRange spatial) const {
  SmallVector<Value> result = {batch};
  if (!channelsLast)
    result.push_back(channel);
  llvm::append_range(result, spatial);
  if (channelsLast)
    result.push_back(channel);
  return result;
}

Value adze::graph::getPosition(KernelLowering &k, WindowDim window, Value out,
                               Value tap) {
  return k.add(k.add(k.mul(out, window.stride), k.mul(tap, window.dilation)),
               -window.low);
}

KernelLowering::Range adze::graph::getTaps(KernelLowering &k, WindowDim window,
                                           Value out, Value taps, Value size,
                                           bool padded) {
  Value start = k.add(k.mul(out, window.stride), -window.low);
  // The condition is first <= start + tap * dilation < last.
  Value first = k.index(padded ? -window.low : 0);
  Value last = padded ? k.add(size, window.high) : size;
  int64_t d = window.dilation;
  Value low = k.floorDiv(k.add(k.sub(first, start), d - 1), d);
  Value high = k.floorDiv(k.add(k.sub(last, start), d - 1), d);
  Value zero = k.index(0);
  return {k.max(low, zero), k.min(high, taps)};
}

KernelLowering::Range adze::graph::getOutputs(KernelLowering &k,
                                              WindowDim window, Value tap,
                                              Value size, Value outputs) {
  // The condition is 0 <= out * stride + offset < size.
  Value offset = k.add(k.mul(tap, window.dilation), -window.low);
  int64_t s = window.stride;
  Value low = k.floorDiv(k.add(k.sub(k.index(0), offset), s - 1), s);
  Value high = k.floorDiv(k.add(k.sub(size, offset), s - 1), s);
  return {k.max(low, k.index(0)), k.min(high, outputs)};
}
