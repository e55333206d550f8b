// Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
//
// The interpreter's memory, and its arithmetic on scalars.
#include "TileInterpreter.h"
#include "llvm/ADT/bit.h"
#include <cmath>

using namespace mlir;

namespace adze::test {

int64_t Memory::size() const {
  int64_t n = 1;
  for (int64_t s : physical)
    n *= s;
  return n;
}

int64_t Memory::locate(ArrayRef<int64_t> logical) const {
  for (auto [i, extent] : llvm::zip_equal(logical, shape))
    if (i < 0 || i >= extent)
      return -1;
  SmallVector<int64_t> at(logical);
  if (map) {
    Builder b(map.getContext());
    SmallVector<Attribute> dims, results;
    for (int64_t i : logical)
      dims.push_back(b.getIndexAttr(i));
    (void)map.constantFold(dims, results);
    at.clear();
    for (Attribute a : results)
      at.push_back(cast<IntegerAttr>(a).getInt());
  }
  int64_t linear = 0;
  for (auto [i, extent] : llvm::zip_equal(at, physical))
    linear = linear * extent + i;
  return linear;
}

bool compute(Operation &op, ArrayRef<double> f, ArrayRef<int64_t> i, double &rf,
             int64_t &ri) {
  auto bitsOf = [](Value v) {
    Type t = getElementTypeOrSelf(v.getType());
    return isa<IndexType>(t) ? 64u : t.getIntOrFloatBitWidth();
  };
  unsigned bits = bitsOf(op.getOperand(0));
  StringRef name = op.getName().getStringRef();
  auto u = [&](int k) { return unsignedOf(i[k], bitsOf(op.getOperand(k))); };
  auto nan = [&] { return std::isnan(f[0]) || std::isnan(f[1]); };
  if (auto cmp = dyn_cast<arith::CmpIOp>(op)) {
    ri = -int64_t(arith::applyCmpPredicate(cmp.getPredicate(),
                                           APInt(64, i[0], true, true),
                                           APInt(64, i[1], true, true)));
    if (cmp.getPredicate() >= arith::CmpIPredicate::ult)
      ri = -int64_t(arith::applyCmpPredicate(cmp.getPredicate(),
                                             APInt(64, u(0)), APInt(64, u(1))));
    return true;
  }
  if (auto cmp = dyn_cast<arith::CmpFOp>(op)) {
    ri = -int64_t(arith::applyCmpPredicate(cmp.getPredicate(), APFloat(f[0]),
                                           APFloat(f[1])));
    return true;
  }
  if (isa<arith::SelectOp>(op)) {
    rf = i[0] & 1 ? f[1] : f[2];
    ri = i[0] & 1 ? i[1] : i[2];
    return true;
  }
  if (isa<arith::BitcastOp>(op) && bits == 32) {
    if (isa<FloatType>(getElementTypeOrSelf(op.getOperand(0).getType())))
      ri = llvm::bit_cast<int32_t>(float(f[0]));
    else
      rf = llvm::bit_cast<float>(int32_t(i[0]));
    return true;
  }
  struct F {
    const char *name;
    double value;
  };
  double x = f[0], y = f.size() > 1 ? f[1] : 0, z = f.size() > 2 ? f[2] : 0;
  const F floats[] = {{"arith.addf", x + y},
                      {"arith.subf", x - y},
                      {"arith.mulf", x * y},
                      {"arith.divf", x / y},
                      {"arith.negf", -x},
                      {"math.fma", x * y + z},
                      {"math.exp", std::exp(x)},
                      {"math.exp2", std::exp2(x)},
                      {"math.log", std::log(x)},
                      {"math.erf", std::erf(x)},
                      {"math.tanh", std::tanh(x)},
                      {"math.sqrt", std::sqrt(x)},
                      {"math.rsqrt", 1 / std::sqrt(x)},
                      {"math.absf", std::fabs(x)},
                      {"math.floor", std::floor(x)},
                      {"math.ceil", std::ceil(x)},
                      {"math.sin", std::sin(x)},
                      {"math.cos", std::cos(x)},
                      {"math.powf", std::pow(x, y)},
                      {"arith.extf", x},
                      {"arith.truncf", x},
                      {"math.roundeven", std::nearbyint(x)},
                      {"arith.sitofp", double(i[0])},
                      {"arith.uitofp", double(u(0))}};
  for (const F &entry : floats)
    if (name == entry.name)
      return rf = entry.value, true;
  if (isa<arith::MaximumFOp>(op) || isa<arith::MinimumFOp>(op)) {
    rf = nan()                        ? NAN
         : isa<arith::MaximumFOp>(op) ? std::max(x, y)
                                      : std::min(x, y);
    return true;
  }
  if (isa<arith::MaxNumFOp>(op) || isa<arith::MinNumFOp>(op))
    return rf = isa<arith::MaxNumFOp>(op) ? std::fmax(x, y) : std::fmin(x, y),
           true;
  int64_t a = i[0], b = i.size() > 1 ? i[1] : 1;
  uint64_t ua = u(0), ub = i.size() > 1 ? u(1) : 1;
  // The least number has no quotient by -1.
  bool isDivisor = b && !(b == -1 && a == std::numeric_limits<int64_t>::min());
  struct I {
    const char *name;
    int64_t value;
  };
  const I ints[] = {{"arith.addi", a + b},
                    {"arith.subi", a - b},
                    {"arith.muli", a * b},
                    {"arith.andi", a & b},
                    {"arith.ori", a | b},
                    {"arith.xori", a ^ b},
                    {"arith.maxsi", std::max(a, b)},
                    {"arith.minsi", std::min(a, b)},
                    {"arith.divsi", isDivisor ? a / b : 0},
                    {"arith.remsi", isDivisor ? a % b : 0},
                    {"arith.divui", int64_t(ub ? ua / ub : 0)},
                    {"arith.remui", int64_t(ub ? ua % ub : 0)},
                    {"arith.ceildivui", int64_t(ub ? (ua + ub - 1) / ub : 0)},
                    {"arith.ceildivsi", isDivisor ? (a + b - 1) / b : 0},
                    {"arith.maxui", int64_t(std::max(ua, ub))},
                    {"arith.minui", int64_t(std::min(ua, ub))},
                    {"arith.extui", int64_t(ua)},
                    {"arith.extsi", a},
                    {"arith.trunci", a},
                    {"arith.index_cast", a},
                    {"arith.index_castui", int64_t(ua)},
                    {"arith.fptosi", std::isfinite(x) ? int64_t(x) : 0},
                    {"arith.fptoui", std::isfinite(x) ? int64_t(x) : 0},
                    {"arith.shli", ub < 64 ? a << ub : 0},
                    {"arith.shrui", int64_t(ub < 64 ? ua >> ub : 0)},
                    {"arith.shrsi", a >> (ub & 63)},
                    {"math.absi", std::abs(a)}};
  (void)bits;
  for (const I &entry : ints)
    if (name == entry.name)
      return ri = entry.value, true;
  return false;
}

} // namespace adze::test
