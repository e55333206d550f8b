// Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
//
// Both ends of Winograd's convolution: each element as a sum over its patch.
#include "Dialect/Graph/IR/Winograd.h"
#include "KernelLowering.h"

using namespace mlir;
using namespace adze::graph;

namespace {

/// `sum of left[i] * right[j] * element(i, j)`, where the factors are not 0.
Value sumPatch(KernelLowering &k, Type type, ArrayRef<double> left,
               ArrayRef<double> right,
               llvm::function_ref<Value(int64_t, int64_t)> element) {
  Value sum = k.number(type, 0);
  for (auto [i, x] : llvm::enumerate(left))
    for (auto [j, y] : llvm::enumerate(right))
      if (x * y != 0)
        sum = k.addNum(sum, k.mulNum(k.number(type, x * y), element(i, j)));
  return sum;
}

LogicalResult lowerInput(WinogradInputOp op, KernelLowering &k) {
  Winograd winograd(op.getTile());
  Value input = k.get(op.getInput()), output = k.getOutput(op.getResult());
  Type type =
      getAccumulatorType(cast<MemRefType>(output.getType()).getElementType());
  SmallVector<Value> image = k.getSizes(op.getInput()),
                     sizes = k.getSizes(op.getResult());
  k.forEach(ArrayRef(sizes).drop_front(), [&](ValueRange at) {
    auto pixel = [&](int64_t i, int64_t j) -> Value {
      SmallVector<Value> from{at[0]};
      Value exists;
      for (unsigned d = 0; d < 2; ++d) {
        from.push_back(k.add(k.mul(at[d + 1], winograd.tile),
                             (d ? j : i) - op.getPads()[d]));
        for (Value holds :
             {k.compare(arith::CmpIPredicate::sge, from.back(), k.index(0)),
              k.compare(arith::CmpIPredicate::slt, from.back(), image[d + 1])})
          exists = exists ? k.conjunction(exists, holds) : holds;
      }
      from.push_back(at[3]);
      return k.ifThenElse(
          exists, [&] { return k.loadWide(input, from); }, k.number(type, 0));
    };
    for (int64_t product = 0; product < winograd.size * winograd.size;
         ++product) {
      Value sum = sumPatch(k, type, winograd.input[product / winograd.size],
                           winograd.input[product % winograd.size], pixel);
      SmallVector<Value> to{k.index(product)};
      llvm::append_range(to, at);
      k.storeWide(sum, output, to);
    }
  });
  return success();
}

LogicalResult lowerOutput(WinogradOutputOp op, KernelLowering &k) {
  Winograd winograd(op.getTile());
  Value input = k.get(op.getInput()), output = k.getOutput(op.getResult());
  Type type =
      getAccumulatorType(cast<MemRefType>(output.getType()).getElementType());
  SmallVector<Value> image = k.getSizes(op.getResult()),
                     sizes = k.getSizes(op.getInput());
  k.forEach(ArrayRef(sizes).drop_front(), [&](ValueRange at) {
    for (int64_t i = 0; i < winograd.tile; ++i)
      for (int64_t j = 0; j < winograd.tile; ++j) {
        Value sum = sumPatch(k, type, winograd.output[i], winograd.output[j],
                             [&](int64_t row, int64_t column) {
                               SmallVector<Value> from{
                                   k.index(row * winograd.size + column)};
                               llvm::append_range(from, at);
                               return k.loadWide(input, from);
                             });
        Value y = k.add(k.mul(at[1], winograd.tile), i),
              x = k.add(k.mul(at[2], winograd.tile), j);
        Value exists =
            k.conjunction(k.compare(arith::CmpIPredicate::slt, y, image[1]),
                          k.compare(arith::CmpIPredicate::slt, x, image[2]));
        k.ifThenElse(
            exists,
            [&] {
              k.storeWide(sum, output, {at[0], y, x, at[3]});
              return sum;
            },
            sum);
      }
  });
  return success();
}

} // namespace

FamilyResult adze::graph::lowerWinograd(Operation *op, KernelLowering &k) {
  if (auto input = dyn_cast<WinogradInputOp>(op))
    return lowerInput(input, k);
  if (auto output = dyn_cast<WinogradOutputOp>(op))
    return lowerOutput(output, k);
  return std::nullopt;
}
