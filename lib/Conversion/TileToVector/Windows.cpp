// Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
//
// The memory that loads and stores access, and the memory dimensions of each
// tile dimension.
#include "KernelLowering.h"

using namespace mlir;
using namespace adze::tile;

static SmallVector<SmallVector<Digit, 1>> digitsOf(ArrayRef<int64_t> dims,
                                                   ArrayRef<int64_t> steps,
                                                   ArrayRef<int64_t> shape) {
  SmallVector<SmallVector<Digit, 1>> digits;
  for (auto [dim, step, size] : llvm::zip_equal(dims, steps, shape))
    digits.push_back({Digit{dim, size, step}});
  return digits;
}

static TypedAttr padOf(std::optional<TypedAttr> pad, Value memref) {
  Type element = cast<MemRefType>(memref.getType()).getElementType();
  return pad ? *pad
             : cast<TypedAttr>(
                   Builder(memref.getContext()).getZeroAttr(element));
}

Window KernelLowering::window(LoadOp load) {
  return {load,
          load.getMemref(),
          load.getResult(),
          load.getMixedOffsets(),
          digitsOf(load.getMemDims(), load.getSteps(),
                   tileType(load.getResult()).getShape()),
          padOf(load.getPad(), load.getMemref()),
          {},
          -1};
}

Window KernelLowering::window(StoreOp store) {
  return {store,
          store.getMemref(),
          store.getValue(),
          store.getMixedOffsets(),
          digitsOf(store.getMemDims(), store.getSteps(),
                   tileType(store.getValue()).getShape()),
          {},
          {},
          -1};
}

Window KernelLowering::window(GatherOp gather) {
  Window result{gather,
                gather.getMemref(),
                gather.getResult(),
                gather.getMixedOffsets(),
                {},
                padOf(gather.getPad(), gather.getMemref()),
                gather.getIndices(),
                (int64_t)gather.getAlong()};
  for (auto [dim, size, step] :
       llvm::zip(gather.getDims(), tileType(gather.getResult()).getShape(),
                 gather.getSteps())) {
    result.dims.emplace_back();
    if (dim >= 0)
      result.dims.back().push_back({dim, size, step});
  }
  return result;
}

/// Returns the window of a loaded tile with another shape: each result
/// dimension covers whole source dimensions or a part of one.
Window KernelLowering::window(ReshapeOp reshape) {
  Window source = window(reshape.getSource().getDefiningOp<LoadOp>());
  Window result = source;
  result.tile = reshape.getResult();
  result.dims.clear();
  // Iterates over both shapes from the fastest dimension, and splits digits if
  // necessary.
  SmallVector<Digit> rest;
  for (const SmallVector<Digit, 1> &digits : source.dims)
    rest.push_back(digits.front());
  for (int64_t size : llvm::reverse(tileType(result.tile).getShape())) {
    SmallVector<Digit, 1> digits;
    while (size > 1 && !rest.empty()) {
      Digit last = rest.pop_back_val();
      if (last.size == 1)
        continue;
      if (size % last.size == 0) {
        digits.insert(digits.begin(), last);
        size /= last.size;
        continue;
      }
      // The dimension is a part of the source dimension, whose remainder is a
      // digit with a larger stride.
      if (last.size % size != 0) {
        fail(reshape, "expected a reshape that splits or merges whole dims");
        return result;
      }
      digits.insert(digits.begin(), {last.dim, size, last.step});
      rest.push_back({last.dim, last.size / size, last.step * size});
      size = 1;
    }
    result.dims.insert(result.dims.begin(), digits);
  }
  return result;
}

std::optional<Window> KernelLowering::windowOf(Operation *op) {
  if (auto load = dyn_cast<LoadOp>(op))
    return window(load);
  if (auto store = dyn_cast<StoreOp>(op))
    return window(store);
  if (auto gather = dyn_cast<GatherOp>(op))
    return window(gather);
  auto reshape = dyn_cast<ReshapeOp>(op);
  if (reshape && reshape.getSource().getDefiningOp<LoadOp>())
    return window(reshape);
  return std::nullopt;
}
