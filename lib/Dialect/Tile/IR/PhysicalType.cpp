// Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
//
// The physical memory of kernel arguments: layout maps applied.
#include "Dialect/Tile/IR/PhysicalType.h"
#include "mlir/IR/Builders.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;

/// Returns C of `d mod C`.
static std::optional<int64_t> getModulus(AffineExpr expr) {
  auto binary = dyn_cast<AffineBinaryOpExpr>(expr);
  if (!binary || binary.getKind() != AffineExprKind::Mod)
    return std::nullopt;
  auto modulus = dyn_cast<AffineConstantExpr>(binary.getRHS());
  return modulus ? std::optional(modulus.getValue()) : std::nullopt;
}

/// Returns the number of values of a result of a map, independent of the
/// extents: C for `d mod C`, C / G for `(d mod C) floordiv G`.
static std::optional<int64_t> getSpan(AffineExpr expr) {
  auto binary = dyn_cast<AffineBinaryOpExpr>(expr);
  if (binary && binary.getKind() == AffineExprKind::FloorDiv) {
    std::optional<int64_t> modulus = getModulus(binary.getLHS());
    auto divisor = dyn_cast<AffineConstantExpr>(binary.getRHS());
    if (modulus && divisor)
      return llvm::divideCeil(*modulus, divisor.getValue());
  }
  return getModulus(expr);
}

AffineMap adze::tile::getPhysicalMap(MemRefType type) {
  if (isa<StridedLayoutAttr>(type.getLayout()))
    return AffineMap::getMultiDimIdentityMap(type.getRank(), type.getContext());
  return type.getLayout().getAffineMap();
}

int64_t adze::tile::getGroup(MemRefType type) {
  if (type.getLayout().isIdentity() || isa<StridedLayoutAttr>(type.getLayout()))
    return 1;
  ArrayRef<AffineExpr> results = type.getLayout().getAffineMap().getResults();
  if (results.size() < 2 || !getModulus(results[results.size() - 2]))
    return 1;
  return getModulus(results.back()).value_or(1);
}

std::optional<unsigned> adze::tile::getPanelDim(MemRefType type) {
  AffineMap map = type.getLayout().getAffineMap();
  for (auto [dim, expr] : llvm::enumerate(map.getResults().drop_back())) {
    auto binary = dyn_cast<AffineBinaryOpExpr>(expr);
    if (binary && binary.getKind() == AffineExprKind::FloorDiv)
      return dim;
  }
  return std::nullopt;
}

MemRefType adze::tile::getPhysicalType(MemRefType type) {
  Type element = type.getElementType();
  if (element.isInteger(1)) // a bool is a byte
    element = IntegerType::get(type.getContext(), 8);
  if (type.getLayout().isIdentity() || isa<StridedLayoutAttr>(type.getLayout()))
    return MemRefType::get(type.getShape(), element, type.getLayout(),
                           type.getMemorySpace());
  Builder builder(type.getContext());
  SmallVector<Attribute> last, ends;
  for (int64_t size : type.getShape())
    last.push_back(builder.getIndexAttr(size - 1));
  (void)type.getLayout().getAffineMap().constantFold(last, ends);
  // The last element need not have the greatest value of every result: a result
  // `mod C` spans C, whatever its value for the last element is.
  SmallVector<int64_t> shape;
  for (auto [end, expr] :
       llvm::zip(ends, type.getLayout().getAffineMap().getResults())) {
    int64_t size = cast<IntegerAttr>(end).getInt() + 1;
    shape.push_back(getSpan(expr).value_or(size));
  }
  return MemRefType::get(shape, element, MemRefLayoutAttrInterface(),
                         type.getMemorySpace());
}

int64_t adze::tile::getContiguousDim(MemRefType type) {
  if (type.getRank() == 0)
    return -1;
  if (auto strided = dyn_cast<StridedLayoutAttr>(type.getLayout()))
    return strided.getStrides().back() == 1 ? type.getRank() - 1 : -1;
  if (type.getLayout().isIdentity())
    return type.getRank() - 1;
  ArrayRef<AffineExpr> results = type.getLayout().getAffineMap().getResults();
  if (results.empty()) // a view of a scalar
    return -1;
  if (getGroup(type) > 1) // elements of a vector are not adjacent
    return -1;
  AffineExpr last = results.back();
  if (auto binary = dyn_cast<AffineBinaryOpExpr>(last);
      binary && binary.getKind() == AffineExprKind::Mod)
    last = binary.getLHS();
  auto dim = dyn_cast<AffineDimExpr>(last);
  return dim ? dim.getPosition() : -1;
}
