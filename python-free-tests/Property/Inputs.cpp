// Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
//
// Sizes and data for random graphs.
#include "Inputs.h"
#include "Dialect/Graph/IR/Broadcast.h"
#include "Generate.h"
#include <cmath>

using namespace mlir;
using namespace adze::graph;

namespace property {

static int64_t evaluate(AffineExpr expr, ArrayRef<int64_t> symbols) {
  SmallVector<AffineExpr> values;
  for (int64_t symbol : symbols)
    values.push_back(getAffineConstantExpr(symbol, expr.getContext()));
  return getConstant(normalize(expr.replaceSymbols(values))).value_or(-1);
}

/// Returns true if these sizes satisfy the assumptions of the function's ops.
static bool agree(func::FuncOp function, ArrayRef<int64_t> symbols) {
  for (StringRef name : {broadcastsAttr, equalitiesAttr, boundsAttr}) {
    auto maps = function->getAttrOfType<ArrayAttr>(name);
    if (!maps)
      continue;
    for (auto map : maps.getAsRange<AffineMapAttr>()) {
      SmallVector<int64_t> sizes;
      for (AffineExpr size : map.getValue().getResults())
        sizes.push_back(evaluate(size, symbols));
      if (name == broadcastsAttr)
        llvm::erase(sizes, 1);
      if (name == boundsAttr ? sizes[0] < 0 : !llvm::all_equal(sizes))
        return false;
    }
  }
  return true;
}

/// Only in ops that always run, as sizes within branches need not fit.
static bool makeSense(func::FuncOp function, ArrayRef<int64_t> symbols,
                      bool inside) {
  bool sane = true;
  auto check = [&](mlir::Value value) {
    int64_t count = 1;
    for (AffineExpr dim : getDims(value)) {
      int64_t size = dim ? evaluate(dim, symbols) : -1;
      sane &= size >= 0;
      count *= std::max<int64_t>(size, 1);
    }
    sane &= count <= 400000;
  };
  for (BlockArgument argument : function.getArguments())
    check(argument);
  function.walk([&](Operation *op) {
    if (inside || op->getParentOp() == function)
      for (mlir::Value result : op->getResults())
        check(result);
  });
  return sane;
}

std::optional<std::vector<int64_t>> findSymbols(func::FuncOp fit,
                                                func::FuncOp misfit,
                                                uint64_t seed,
                                                int emptyPercent) {
  for (uint64_t attempt = 0; attempt < 60; ++attempt) {
    std::vector<int64_t> symbols = generateSymbols(
        fit ? fit : misfit, seed + attempt * 1000003, emptyPercent);
    if ((!fit || (agree(fit, symbols) && makeSense(fit, symbols, !misfit))) &&
        (!misfit || !agree(misfit, symbols)))
      return symbols;
  }
  return std::nullopt;
}

template <typename T>
static void store(Tensor &tensor, int64_t i, T value) {
  std::memcpy(tensor.bytes.data() + static_cast<size_t>(i) * sizeof(T), &value,
              sizeof(T));
}

static void storeFloat(Tensor &tensor, int64_t i, double value) {
  if (tensor.dtype.code == kDLBfloat)
    store(tensor, i, adze::run::toBfloat(value));
  else if (tensor.dtype.bits == 16)
    store(tensor, i, adze::run::toHalf(value));
  else if (tensor.dtype.bits == 32)
    store(tensor, i, static_cast<float>(value));
  else
    store(tensor, i, value);
}

static double randomNumber(Random &random, bool tame) {
  static constexpr double specials[] = {NAN,   INFINITY, -INFINITY, 0.0, -0.0,
                                        1e-42, -1e-42,   1e-6,      300, -300};
  if (!tame && random.chance(15))
    return random.pick<double>(specials);
  return random.uniform(-2, 2) * (random.chance(10) ? 3 : 1);
}

static Tensor makeTensor(Type type, StringRef kind, ArrayRef<int64_t> symbols,
                         Random &random) {
  Type element = cast<RankedTensorType>(type).getElementType();
  Tensor tensor;
  uint8_t bits =
      static_cast<uint8_t>(std::max(8u, element.getIntOrFloatBitWidth()));
  if (element.isInteger(1))
    tensor.dtype = {kDLBool, 8, 1};
  else if (isa<FloatType>(element))
    tensor.dtype = {
        static_cast<uint8_t>(element.isBF16() ? kDLBfloat : kDLFloat), bits, 1};
  else
    tensor.dtype = {
        static_cast<uint8_t>(element.isUnsignedInteger() ? kDLUInt : kDLInt),
        bits, 1};
  for (AffineExpr dim : getDims(type))
    tensor.dims.push_back(evaluate(dim, symbols));
  tensor.resize();
  int64_t bound = 8, size = -1;
  if (kind.consume_front("index"))
    kind.getAsInteger(10, bound);
  if (kind.consume_front("size"))
    kind.getAsInteger(10, size);
  for (int64_t i = 0, end = tensor.elements(); i < end; ++i) {
    if (isa<FloatType>(element)) {
      storeFloat(tensor, i, randomNumber(random, kind != "any"));
      continue;
    }
    int64_t number = element.isInteger(1) ? random.below(2)
                     : element.isUnsignedInteger()
                         ? random.below(bound)
                         : random.between(-bound, bound - 1);
    if (size >= 0)
      number = random.chance(70) ? size : random.below(2 * size + 1);
    std::memcpy(tensor.bytes.data() + i * (bits / 8), &number, bits / 8);
  }
  return tensor;
}

Tensor toF64(const Tensor &tensor) {
  if (!tensor.isFloat())
    return tensor;
  Tensor wide;
  wide.dtype = {kDLFloat, 64, 1};
  wide.dims = tensor.dims;
  wide.resize();
  for (int64_t i = 0, end = tensor.elements(); i < end; ++i)
    storeFloat(wide, i, *tensor.number(i));
  return wide;
}

std::vector<Tensor> makeInputs(func::FuncOp function, ArrayRef<int64_t> symbols,
                               uint64_t seed) {
  Random random(seed);
  std::vector<Tensor> inputs;
  for (BlockArgument argument : function.getArguments()) {
    auto kind = function.getArgAttrOfType<StringAttr>(argument.getArgNumber(),
                                                      "graph.test_data");
    inputs.push_back(makeTensor(
        argument.getType(), kind ? kind.getValue() : "tame", symbols, random));
  }
  return inputs;
}

} // namespace property
