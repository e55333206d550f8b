// Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
//
// The memory of the results of a kernel: separate memory, or a part of the
// memory of an operand.
#include "Dialect/Graph/IR/Insertions.h"
#include "Dialect/Host/IR/Host.h"
#include "KernelEmitter.h"

using namespace mlir;
using namespace adze;
using namespace adze::graph;

/// Returns the concatenation of a few operands with one element each in a row
/// of it, such as interleaved pairs. Each operand is stored by vectors that
/// skip the others.
static ConcatOp getInterleaved(Value result) {
  constexpr size_t mostPieces = 4;
  auto concat = result.getDefiningOp<ConcatOp>();
  if (!concat || concat.getInputs().size() > mostPieces)
    return {};
  auto isOne = [](AffineExpr size) { return getConstant(size) == 1; };
  return llvm::all_of(concat.getInputs(),
                      [&](Value piece) {
                        Dims dims = getDims(piece);
                        return llvm::all_of(
                            ArrayRef(dims).drop_front(concat.getAxis()), isOne);
                      })
             ? concat
             : ConcatOp();
}

/// Sets the outputs. A result of insertions of single values is stored as these
/// values, and one of interleaved operands as these operands.
void KernelEmitter::setOutputs(ValueRange memory) {
  SmallVector<std::pair<Value, Output>> further;
  for (auto [i, result] : llvm::enumerate(getResults())) {
    Output output;
    output.memory = memory[i];
    outputValues.push_back(result);
    auto updated = dyn_cast_if_present<BlockArgument>(getUpdated(result));
    if (updated)
      kernel.setArgAttr(source.getNumArguments() + i, host::tiedAttr,
                        b.getI64IntegerAttr(updated.getArgNumber()));
    SmallVector<InsertSliceOp> insertions = getInsertions(result);
    if (updated && !insertions.empty()) {
      auto getPart = [&, range = memory[i]](InsertSliceOp insert) {
        return Output{range, int64_t(insert.getAxis()), insert.getOffset(0)};
      };
      bool areStores = llvm::all_of(insertions, [](InsertSliceOp insert) {
        return insert.getSources().size() == 1;
      });
      if (areStores) {
        outputValues.back() = insertions.front().getSources().front();
        output = getPart(insertions.front());
        for (InsertSliceOp insert : ArrayRef(insertions).drop_front())
          further.push_back({insert.getSources().front(), getPart(insert)});
      }
    }
    if (ConcatOp concat = getInterleaved(result)) {
      AffineExpr offset = b.getAffineConstantExpr(0);
      for (Value piece : concat.getInputs()) {
        Output part{memory[i], int64_t(concat.getAxis()), offset};
        offset = offset + 1;
        if (getConstant(part.offset) == 0) {
          outputValues.back() = piece;
          output = part;
        } else {
          further.push_back({piece, part});
        }
      }
    }
    outputs.push_back(output);
  }
  for (auto &[value, output] : further) {
    outputValues.push_back(value);
    outputs.push_back(output);
  }
}

/// Returns a part of the memory of output i: a view whose bounds drop the
/// remainder. Its dims are merged as those of the ranges, whose boundaries
/// include those of the dims that the part is a slice along.
FailureOr<Value> KernelEmitter::part(unsigned i, ArrayRef<DimRange> aligned) {
  const Output &output = outputs[i];
  unsigned axis = output.axis;
  Dims dims = getDims(outputValues[i]);
  SmallVector<OpFoldResult> offsets, sizes;
  std::vector<int64_t> spans;
  unsigned dim = 0;
  for (const DimRange &range : aligned) {
    bool isTiled = dim <= axis && axis < dim + range.span;
    ArrayRef<AffineExpr> own(dims);
    own = own.slice(dim, range.span);
    Value extent = size(product(b.getContext(), own));
    Value inner =
        isTiled ? size(product(b.getContext(), own.drop_front())) : index(1);
    Value offset = isTiled ? size(output.offset) : index(0);
    if (!extent || !inner || !offset)
      return failure();
    Value start = atTop([&] { return mul(offset, inner); });
    offsets.push_back(getAsOpFoldResult(start));
    sizes.push_back(getAsOpFoldResult(extent));
    spans.push_back(range.span);
    dim += range.span;
  }
  spans.push_back(i); // another part of the memory is another view
  Value whole = view(output.memory, aligned);
  Value &part = parts[{output.memory.getAsOpaquePointer(), spans}];
  if (!part)
    part = atTop([&]() -> Value {
      SmallVector<OpFoldResult> steps(sizes.size(), b.getIndexAttr(1));
      return memref::SubViewOp::create(b, location, whole, offsets, sizes,
                                       steps);
    });
  return part;
}

LogicalResult KernelEmitter::storeOutput(const Emitted &tile, unsigned i,
                                         ArrayRef<DimRange> ranges) {
  if (outputs[i].axis < 0)
    return store(tile, outputs[i].memory, ranges);
  auto aligned =
      alignRanges(ranges, outputValues[i], {unsigned(outputs[i].axis)});
  if (failed(aligned))
    return failure();
  auto part = this->part(i, *aligned);
  if (failed(part))
    return failure();
  for (DimRange &range : *aligned)
    range.span = 1;
  return store(tile, *part, *aligned);
}
