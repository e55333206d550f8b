// Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
//
// Dims of types, and the shape rules of several ops.
#include "Dialect/Graph/IR/Shape.h"
#include "Dialect/Graph/IR/Broadcast.h"
#include "Dialect/Graph/IR/Clamp.h"
#include "mlir/IR/AffineMap.h"
#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/TypeRange.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/raw_ostream.h"

using namespace mlir;
using namespace adze::graph;

void adze::graph::forEachSymbol(AffineExpr expr,
                                function_ref<void(unsigned)> visit) {
  if (expr)
    expr.walk([&](AffineExpr part) {
      if (auto symbol = dyn_cast<AffineSymbolExpr>(part))
        visit(symbol.getPosition());
    });
}

void adze::graph::forEachSymbol(Type type, function_ref<void(unsigned)> visit) {
  for (AffineExpr dim : getDims(type))
    forEachSymbol(dim, visit);
}

unsigned adze::graph::countSymbols(ArrayRef<AffineExpr> exprs) {
  unsigned count = 0;
  for (AffineExpr expr : exprs)
    forEachSymbol(
        expr, [&](unsigned symbol) { count = std::max(count, symbol + 1); });
  return count;
}

unsigned adze::graph::countTerms(AffineExpr expr) {
  unsigned count = 1;
  for (; expr && expr.getKind() == AffineExprKind::Add; ++count)
    expr = cast<AffineBinaryOpExpr>(expr).getLHS();
  return count;
}

Dims adze::graph::getDims(Type type) {
  auto tensor = dyn_cast<RankedTensorType>(type);
  if (!tensor)
    return {};
  Dims dims(tensor.getRank());
  auto encoding = dyn_cast_or_null<AffineMapAttr>(tensor.getEncoding());
  AffineMap map = encoding ? encoding.getValue() : AffineMap();
  if (map && (map.getNumDims() != 0 ||
              map.getNumResults() != unsigned(tensor.getRank())))
    map = AffineMap();
  for (auto [i, size] : llvm::enumerate(tensor.getShape())) {
    if (!ShapedType::isDynamic(size))
      dims[i] = getAffineConstantExpr(size, type.getContext());
    else if (map)
      dims[i] = normalize(map.getResult(i));
  }
  return dims;
}

Dims adze::graph::getDims(Value value) { return getDims(value.getType()); }

RankedTensorType adze::graph::makeType(Type elementType,
                                       ArrayRef<AffineExpr> dims) {
  SmallVector<int64_t> shape;
  SmallVector<AffineExpr> exprs;
  bool known = true;
  for (AffineExpr dim : dims) {
    AffineExpr expr = normalize(dim);
    exprs.push_back(expr);
    shape.push_back(getConstant(expr).value_or(ShapedType::kDynamic));
    known &= bool(expr);
  }
  Attribute encoding;
  if (known && ShapedType::isDynamicShape(shape))
    encoding = AffineMapAttr::get(AffineMap::get(0, countSymbols(exprs), exprs,
                                                 elementType.getContext()));
  return RankedTensorType::get(shape, elementType, encoding);
}

Dims adze::graph::makeDims(MLIRContext *context, ArrayRef<int64_t> sizes) {
  return llvm::map_to_vector<4>(sizes, [&](int64_t size) {
    return getAffineConstantExpr(size, context);
  });
}

bool adze::graph::areCompatible(TypeRange lhs, TypeRange rhs) {
  if (lhs.size() != rhs.size())
    return false;
  for (auto [l, r] : llvm::zip_equal(lhs, rhs)) {
    auto left = dyn_cast<RankedTensorType>(l);
    auto right = dyn_cast<RankedTensorType>(r);
    if (!left || !right || left.getElementType() != right.getElementType() ||
        left.getRank() != right.getRank())
      return false;
    for (auto [a, b] : llvm::zip_equal(getDims(left), getDims(right)))
      if (areDifferent(a, b))
        return false;
  }
  return true;
}

std::string adze::graph::toString(ArrayRef<AffineExpr> dims) {
  std::string text;
  llvm::raw_string_ostream os(text);
  os << '[';
  llvm::interleaveComma(dims, os, [&](AffineExpr dim) {
    if (dim)
      os << dim;
    else
      os << '?';
  });
  os << ']';
  return text;
}

/// Returns the size of a result dim whose operands have the sizes `lhs` and
/// `rhs`.
static FailureOr<AffineExpr> broadcastDim(AffineExpr lhs, AffineExpr rhs) {
  std::optional<int64_t> l = getConstant(lhs), r = getConstant(rhs);
  if (l == 1)
    return rhs;
  if (r == 1 || areEqual(lhs, rhs))
    return lhs;
  if (l && r)
    return failure();
  // A constant size other than 1 is the result: the other size can only be 1 or
  // equal.
  if (l)
    return lhs;
  if (r)
    return rhs;
  if (AffineExpr size = spreadFirst(lhs, rhs))
    return size;
  if (auto meeting = meet(lhs, rhs))
    return meeting->size;
  return broadcastExprs(lhs, rhs);
}

FailureOr<Dims> adze::graph::broadcastDims(ArrayRef<Dims> shapes,
                                           std::string &error) {
  Dims result;
  bool first = true;
  for (const Dims &shape : shapes) {
    if (std::exchange(first, false)) {
      result = shape;
      continue;
    }
    Dims longer = result, shorter = shape;
    if (longer.size() < shorter.size())
      std::swap(longer, shorter);
    size_t offset = longer.size() - shorter.size();
    for (size_t i = 0; i < shorter.size(); ++i) {
      auto dim = broadcastDim(longer[offset + i], shorter[i]);
      if (failed(dim)) {
        error = "expected shapes that broadcast, but got " + toString(result) +
                " and " + toString(shape);
        return failure();
      }
      longer[offset + i] = *dim;
    }
    result = longer;
  }
  return result;
}

/// Returns the size that -1 stands for: the number of elements of the input
/// divided by that of the other dims. Equal dims of both sides cancel first,
/// even if they are unknown or zero.
static AffineExpr inferDim(Dims input, Dims others, MLIRContext *context) {
  auto isZero = [](AffineExpr dim) { return getConstant(dim) == 0; };
  for (auto zero = llvm::find_if(others, isZero); zero != others.end();
       zero = llvm::find_if(others, isZero)) {
    auto same = llvm::find_if(input, isZero);
    if (same == input.end())
      return {};
    input.erase(same);
    others.erase(zero);
  }
  AffineExpr total = product(context, input), rest = product(context, others);
  if (getConstant(rest) == 0)
    return {};
  if (AffineExpr exact = divideExactly(total, rest))
    return exact;
  return floorDivExprs(total, rest);
}

FailureOr<Dims> adze::graph::reshapeDims(ArrayRef<AffineExpr> input,
                                         ArrayRef<AffineExpr> shape,
                                         bool allowZero, std::string &error) {
  auto fail = [&](const Twine &what) -> FailureOr<Dims> {
    error = (what + ": input " + toString(input) + ", shape " + toString(shape))
                .str();
    return failure();
  };
  Dims result;
  std::optional<size_t> inferred;
  bool hasZero = false;
  for (auto [i, dim] : llvm::enumerate(shape)) {
    std::optional<int64_t> constant = getConstant(dim);
    hasZero |= constant == 0;
    if (constant == 0 && !allowZero) {
      if (i >= input.size())
        return fail("expected at most as many zeros as input dims");
      result.push_back(input[i]);
    } else if (constant == -1) {
      if (inferred)
        return fail("expected at most one -1");
      inferred = i;
      result.push_back(AffineExpr());
    } else if (constant && *constant < -1) {
      return fail("expected sizes of at least -1");
    } else {
      result.push_back(dim);
    }
  }
  if (allowZero && hasZero && inferred)
    return fail("expected no -1 together with a size of 0");
  if (shape.empty() && input.empty())
    return result;
  MLIRContext *context = nullptr;
  for (ArrayRef<AffineExpr> dims : {input, shape})
    for (AffineExpr dim : dims)
      context = dim ? dim.getContext() : context;
  if (!context)
    return result;
  if (inferred) {
    Dims others(result);
    others.erase(others.begin() + *inferred);
    result[*inferred] = inferDim(Dims(input), others, context);
  }
  if (areDifferent(product(context, input), product(context, result)))
    return fail("expected equal numbers of elements");
  return result;
}
