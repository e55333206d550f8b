// Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
//
// Where results of a kernel go: into memory of their own, or into a part of an
// operand's memory.
#include "Dialect/Host/IR/Host.h"
#include "KernelEmitter.h"

using namespace mlir;
using namespace adze;
using namespace adze::graph;

/// A result that is an insertion of one value is stored as that value.
void KernelEmitter::setOutputs(ValueRange memory) {
  for (auto [i, result] : llvm::enumerate(getResults())) {
    Output output;
    output.memory = memory[i];
    outputValues.push_back(result);
    auto insert = result.getDefiningOp<InsertSliceOp>();
    auto dest = insert ? dyn_cast<BlockArgument>(insert.getDest()) : nullptr;
    if (dest) {
      kernel.setArgAttr(source.getNumArguments() + i, host::tiedAttr,
                        b.getI64IntegerAttr(dest.getArgNumber()));
      if (insert.getSources().size() == 1) {
        outputValues.back() = insert.getSources().front();
        output.axis = insert.getAxis();
        output.offset = insert.getOffset(0);
      }
    }
    outputs.push_back(output);
  }
}

/// A part is stored to a view of it, whose bounds drop what hangs over.
LogicalResult KernelEmitter::storeOutput(const Emitted &tile, unsigned i,
                                         ArrayRef<Place> places) {
  const Output &output = outputs[i];
  if (output.axis < 0)
    return store(tile, output.memory, places);
  unsigned axis = output.axis;
  Dims dims = getDims(outputValues[i]);
  auto aligned = alignPlaces(places, outputValues[i], {axis});
  if (failed(aligned))
    return failure();
  SmallVector<OpFoldResult> offsets, sizes;
  std::vector<int64_t> spans;
  unsigned dim = 0;
  for (Place &place : *aligned) {
    bool isCut = dim <= axis && axis < dim + place.span;
    ArrayRef<AffineExpr> own(dims);
    own = own.slice(dim, place.span);
    Value extent = size(product(b.getContext(), own));
    Value inner = isCut ? size(product(b.getContext(), own.drop_front()))
                        : index(1);
    Value offset = isCut ? size(output.offset) : index(0);
    if (!extent || !inner || !offset)
      return failure();
    Value start = atTop([&] { return mul(offset, inner); });
    offsets.push_back(getAsOpFoldResult(start));
    sizes.push_back(getAsOpFoldResult(extent));
    spans.push_back(place.span);
    dim += place.span;
  }
  Value whole = view(output.memory, *aligned);
  Value &part = parts[{output.memory.getAsOpaquePointer(), spans}];
  if (!part)
    part = atTop([&]() -> Value {
      SmallVector<OpFoldResult> steps(sizes.size(), b.getIndexAttr(1));
      return memref::SubViewOp::create(b, location, whole, offsets, sizes,
                                       steps);
    });
  for (Place &place : *aligned)
    place.span = 1;
  return store(tile, part, *aligned);
}
