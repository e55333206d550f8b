// Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
//
// Winograd convolution: one patch at a time, for one output channel.
#include "Dialect/Graph/IR/Winograd.h"
#include "KernelLowering.h"

using namespace mlir;
using namespace adze::graph;

namespace {

/// Returns the sum of left[i] * right[j] * element(i, j) over nonzero factors.
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

/// Returns the type in which a result is computed.
Type getSumType(Value result) {
  return getAccumulatorType(getSignlessType(getElementTypeOrSelf(result)));
}

/// Returns the element of the padded image that is element (i, j) of a patch;
/// `at` are the image, and the row and column of the patch.
Value loadPixel(KernelLowering &k, Value tensor, Value memory,
                ArrayRef<int64_t> pads, int64_t tile, ArrayRef<Value> at,
                int64_t i, int64_t j, Value channel, Type type) {
  SmallVector<Value> image = k.getSizes(tensor), from{at[0]};
  Value exists;
  for (unsigned d = 0; d < 2; ++d) {
    from.push_back(k.add(k.mul(at[d + 1], tile), (d ? j : i) - pads[d]));
    for (Value holds :
         {k.compare(arith::CmpIPredicate::sge, from.back(), k.index(0)),
          k.compare(arith::CmpIPredicate::slt, from.back(), image[d + 1])})
      exists = exists ? k.conjunction(exists, holds) : holds;
  }
  from.push_back(channel);
  return k.ifThenElse(
      exists, [&] { return k.loadWide(memory, from); }, k.number(type, 0));
}

/// Writes pixel (i, j) of a patch, if it is in bounds.
void writePixel(KernelLowering &k, Value sum, Value tensor, Value output,
                int64_t tile, ArrayRef<Value> at, int64_t i, int64_t j,
                Value channel) {
  SmallVector<Value> image = k.getSizes(tensor);
  Value y = k.add(k.mul(at[1], tile), i), x = k.add(k.mul(at[2], tile), j);
  Value exists =
      k.conjunction(k.compare(arith::CmpIPredicate::slt, y, image[1]),
                    k.compare(arith::CmpIPredicate::slt, x, image[2]));
  k.ifThenElse(
      exists,
      [&] {
        k.storeWide(sum, output, {at[0], y, x, channel});
        return sum;
      },
      sum);
}

/// Iterates over the patches.
struct Patch {
  KernelLowering &k;
  WinogradConvOp op;
  Winograd winograd;
  Value input, filter, output;
  Type type;
  SmallVector<Value> at; // image, row and column of patches, output channel

  /// Returns the element of the padded image that is element (i, j) of the
  /// patch.
  Value pixel(int64_t i, int64_t j, Value channel) {
    return loadPixel(k, op.getInput(), input, op.getPads(), winograd.tile, at,
                     i, j, channel, type);
  }

  /// Returns the products of all elements of the patch, summed over the
  /// channels.
  SmallVector<Value> multiply() {
    int64_t size = winograd.size;
    SmallVector<Value> zeros(size * size, k.number(type, 0));
    Value channels = k.getSize(op.getFilter(), 1);
    return k.fold(k.getRanges(channels), zeros, [&](auto c, auto sums) {
      SmallVector<Value> pixels, next;
      for (int64_t i = 0; i < size * size; ++i)
        pixels.push_back(pixel(i / size, i % size, c[0]));
      for (int64_t i = 0; i < size * size; ++i) {
        Value left = sumPatch(k, type, winograd.input[i / size],
                              winograd.input[i % size],
                              [&](int64_t row, int64_t column) {
                                return pixels[row * size + column];
                              });
        Value right = k.loadWide(filter, {k.index(i), c[0], at[3]});
        next.push_back(k.addNum(sums[i], k.mulNum(left, right)));
      }
      return next;
    });
  }

  /// Writes pixel (i, j) of the patch, if it is in bounds.
  void write(ArrayRef<Value> products, int64_t i, int64_t j) {
    Value sum = sumPatch(k, type, winograd.output[i], winograd.output[j],
                         [&](int64_t row, int64_t column) {
                           return products[row * winograd.size + column];
                         });
    writePixel(k, sum, op.getResult(), output, winograd.tile, at, i, j, at[3]);
  }
};

LogicalResult lowerConv(WinogradConvOp op, KernelLowering &k) {
  Winograd winograd(op.getTile());
  Value input = k.get(op.getInput()), filter = k.get(op.getFilter()),
        output = k.getOutput(op.getResult());
  Type type = getSumType(op.getResult());
  SmallVector<Value> sizes = k.getSizes(op.getResult());
  for (unsigned dim : {1, 2})
    sizes[dim] =
        k.floorDiv(k.add(sizes[dim], winograd.tile - 1), winograd.tile);
  k.forEach(sizes, [&](ValueRange at) {
    Patch patch{k,      op,     winograd, input,
                filter, output, type,     SmallVector<Value>(at)};
    SmallVector<Value> products = patch.multiply();
    for (int64_t i = 0; i < winograd.tile; ++i)
      for (int64_t j = 0; j < winograd.tile; ++j)
        patch.write(products, i, j);
  });
  return success();
}

LogicalResult lowerInput(WinogradInputOp op, KernelLowering &k) {
  Winograd winograd(op.getTile());
  Value input = k.get(op.getInput()), output = k.getOutput(op.getResult());
  Type type = getSumType(op.getResult());
  ArrayRef<int64_t> pads = op.getPads();
  SmallVector<Value> sizes = k.getSizes(op.getResult());
  k.forEach(ArrayRef(sizes).drop_front(), [&](ValueRange of) {
    SmallVector<Value> at(of);
    SmallVector<Value> pixels;
    for (int64_t i = 0; i < winograd.size * winograd.size; ++i)
      pixels.push_back(loadPixel(k, op.getInput(), input, pads, winograd.tile,
                                 at, i / winograd.size, i % winograd.size,
                                 at[3], type));
    for (int64_t i = 0; i < winograd.size * winograd.size; ++i)
      k.storeWide(sumPatch(k, type, winograd.input[i / winograd.size],
                           winograd.input[i % winograd.size],
                           [&](int64_t row, int64_t column) {
                             return pixels[row * winograd.size + column];
                           }),
                  output, {k.index(i), at[0], at[1], at[2], at[3]});
  });
  return success();
}

LogicalResult lowerFilter(WinogradFilterOp op, KernelLowering &k) {
  Winograd winograd(op.getTile());
  Value filter = k.get(op.getFilter()), output = k.getOutput(op.getResult());
  Type type = getSumType(op.getResult());
  SmallVector<Value> sizes = k.getSizes(op.getFilter());
  k.forEach({sizes[0], sizes[1]}, [&](ValueRange at) {
    for (int64_t i = 0; i < winograd.size * winograd.size; ++i)
      k.storeWide(sumPatch(k, type, winograd.filter[i / winograd.size],
                           winograd.filter[i % winograd.size],
                           [&](int64_t row, int64_t column) {
                             return k.loadWide(
                                 filter,
                                 {at[0], at[1], k.index(row), k.index(column)});
                           }),
                  output, {k.index(i), at[1], at[0]});
  });
  return success();
}

LogicalResult lowerOutput(WinogradOutputOp op, KernelLowering &k) {
  Winograd winograd(op.getTile());
  Value products = k.get(op.getProducts()),
        output = k.getOutput(op.getResult());
  Type type = getSumType(op.getResult());
  SmallVector<Value> sizes = k.getSizes(op.getProducts());
  k.forEach(ArrayRef(sizes).drop_front(), [&](ValueRange of) {
    SmallVector<Value> at(of);
    for (int64_t i = 0; i < winograd.tile * winograd.tile; ++i) {
      int64_t y = i / winograd.tile, x = i % winograd.tile;
      Value sum = sumPatch(
          k, type, winograd.output[y], winograd.output[x],
          [&](int64_t row, int64_t column) {
            return k.loadWide(products, {k.index(row * winograd.size + column),
                                         at[0], at[1], at[2], at[3]});
          });
      writePixel(k, sum, op.getResult(), output, winograd.tile, at, y, x,
                 at[3]);
    }
  });
  return success();
}

} // namespace

FamilyResult adze::graph::lowerWinograd(Operation *op, KernelLowering &k) {
  if (auto conv = dyn_cast<WinogradConvOp>(op))
    return lowerConv(conv, k);
  if (auto input = dyn_cast<WinogradInputOp>(op))
    return lowerInput(input, k);
  if (auto filter = dyn_cast<WinogradFilterOp>(op))
    return lowerFilter(filter, k);
  if (auto output = dyn_cast<WinogradOutputOp>(op))
    return lowerOutput(output, k);
  return std::nullopt;
}
