// Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
//
// Arithmetic for the approximations of math functions.
#ifndef ADZE_LIB_TRANSFORMS_MATHARITHMETIC_H
#define ADZE_LIB_TRANSFORMS_MATHARITHMETIC_H

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/Math/IR/Math.h"

namespace adze {

/// Builds arithmetic on values of one shape (scalars or vectors).
struct Arithmetic {
  mlir::OpBuilder &b;
  mlir::Location loc;
  mlir::Type shape; // f32, f64, or a vector of one of them
  /// The bytes of a vector register; 64 implies AVX-512.
  int64_t vectorBytes = 0;

  mlir::Type withElement(mlir::Type element) const {
    if (auto vector = llvm::dyn_cast<mlir::VectorType>(shape))
      return mlir::VectorType::get(vector.getShape(), element);
    return element;
  }
  mlir::Type element() const { return mlir::getElementTypeOrSelf(shape); }
  mlir::Type integer() const {
    return withElement(b.getIntegerType(element().getIntOrFloatBitWidth()));
  }
  mlir::Value constant(mlir::TypedAttr element, mlir::Type type) const {
    if (auto vector = llvm::dyn_cast<mlir::VectorType>(type))
      element = mlir::SplatElementsAttr::get(
          vector, llvm::cast<mlir::Attribute>(element));
    return mlir::arith::ConstantOp::create(b, loc, element);
  }
  mlir::Value real(double x) const {
    return constant(b.getFloatAttr(element(), x), shape);
  }
  mlir::Value bits(uint64_t x) const {
    unsigned width = element().getIntOrFloatBitWidth();
    return constant(b.getIntegerAttr(mlir::getElementTypeOrSelf(integer()),
                                     llvm::APInt(width, x)),
                    integer());
  }
  mlir::Value add(mlir::Value x, mlir::Value y) const {
    return mlir::arith::AddFOp::create(b, loc, x, y);
  }
  mlir::Value sub(mlir::Value x, mlir::Value y) const {
    return mlir::arith::SubFOp::create(b, loc, x, y);
  }
  mlir::Value mul(mlir::Value x, mlir::Value y) const {
    return mlir::arith::MulFOp::create(b, loc, x, y);
  }
  mlir::Value fma(mlir::Value x, mlir::Value y, mlir::Value z) const {
    return mlir::math::FmaOp::create(b, loc, x, y, z);
  }
  mlir::Value div(mlir::Value x, mlir::Value y) const {
    return mlir::arith::DivFOp::create(b, loc, x, y);
  }
  /// Returns the f64 arithmetic of an f32 one. The functions below convert
  /// between them.
  Arithmetic inDouble() const {
    return {b, loc, withElement(b.getF64Type()), vectorBytes};
  }
  mlir::Value widen(mlir::Value x) const {
    return mlir::arith::ExtFOp::create(b, loc, withElement(b.getF64Type()), x);
  }
  mlir::Value narrow(mlir::Value x) const {
    return mlir::arith::TruncFOp::create(b, loc, shape, x);
  }
  mlir::Value asBits(mlir::Value x) const {
    return mlir::arith::BitcastOp::create(b, loc, integer(), x);
  }
  mlir::Value asReal(mlir::Value x) const {
    return mlir::arith::BitcastOp::create(b, loc, shape, x);
  }
  mlir::Value addI(mlir::Value x, mlir::Value y) const {
    return mlir::arith::AddIOp::create(b, loc, x, y);
  }
  mlir::Value subI(mlir::Value x, mlir::Value y) const {
    return mlir::arith::SubIOp::create(b, loc, x, y);
  }
  mlir::Value shl(mlir::Value x, int64_t n) const {
    return mlir::arith::ShLIOp::create(b, loc, x, bits(n));
  }
  mlir::Value sar(mlir::Value x, int64_t n) const {
    return mlir::arith::ShRSIOp::create(b, loc, x, bits(n));
  }
  mlir::Value both(mlir::Value x, mlir::Value y) const {
    return mlir::arith::AndIOp::create(b, loc, x, y);
  }
  mlir::Value either(mlir::Value x, mlir::Value y) const {
    return mlir::arith::XOrIOp::create(b, loc, x, y);
  }
  mlir::Value is(mlir::arith::CmpFPredicate p, mlir::Value x,
                 mlir::Value y) const {
    return mlir::arith::CmpFOp::create(b, loc, p, x, y);
  }
  mlir::Value select(mlir::Value c, mlir::Value x, mlir::Value y) const {
    return mlir::arith::SelectOp::create(b, loc, c, x, y);
  }
  /// Returns |x| with the sign bit of the other value.
  mlir::Value withSign(mlir::Value size, mlir::Value sign) const {
    uint64_t top = uint64_t(1) << (element().getIntOrFloatBitWidth() - 1);
    return asReal(either(asBits(size), both(asBits(sign), bits(top))));
  }
  mlir::Value abs(mlir::Value x) const {
    return mlir::math::AbsFOp::create(b, loc, x);
  }
  /// Returns true if the CPU has instructions for x * 2^n, and for selecting
  /// one of 16 numbers.
  bool hasScale() const {
    auto vector = llvm::dyn_cast<mlir::VectorType>(shape);
    return vectorBytes == 64 && vector && vector.getRank() == 1 &&
           vector.getNumElements() == 16 && element().isF32();
  }
  /// Selects one of 16 numbers by the low four bits of each index: AVX-512
  /// vpermd.
  mlir::Value choose(llvm::ArrayRef<int32_t> numbers, mlir::Value index) const {
    auto type = llvm::cast<mlir::VectorType>(integer());
    mlir::Value table = mlir::arith::ConstantOp::create(
        b, loc, mlir::DenseElementsAttr::get(type, numbers));
    return mlir::LLVM::CallIntrinsicOp::create(
               b, loc, type, b.getStringAttr("llvm.x86.avx512.permvar.si.512"),
               mlir::ValueRange{table, index})
        .getResult(0);
  }
  /// Selects one of 32 numbers by the low five bits of each index: AVX-512
  /// vpermi2d.
  mlir::Value chooseOf32(llvm::ArrayRef<int32_t> numbers,
                         mlir::Value index) const {
    auto type = llvm::cast<mlir::VectorType>(integer());
    auto half = [&](size_t from) -> mlir::Value {
      return mlir::arith::ConstantOp::create(
          b, loc, mlir::DenseElementsAttr::get(type, numbers.slice(from, 16)));
    };
    return mlir::LLVM::CallIntrinsicOp::create(
               b, loc, type,
               b.getStringAttr("llvm.x86.avx512.vpermi2var.d.512"),
               mlir::ValueRange{half(0), index, half(16)})
        .getResult(0);
  }
  /// Returns x * 2^n with n rounded down, rounded once: AVX-512 vscalefps. With
  /// `kept`, lanes outside of this mask are 0.
  mlir::Value scale(mlir::Value x, mlir::Value n, mlir::Value kept = {}) const {
    auto number = [&](mlir::IntegerAttr value) -> mlir::Value {
      return mlir::arith::ConstantOp::create(b, loc, value);
    };
    constexpr int32_t currentRounding = 4;
    mlir::Type lanes = b.getIntegerType(16);
    mlir::Value mask = kept ? mlir::LLVM::BitcastOp::create(b, loc, lanes, kept)
                            : number(b.getIntegerAttr(lanes, -1));
    mlir::Value rounding = number(b.getI32IntegerAttr(currentRounding));
    return mlir::LLVM::CallIntrinsicOp::create(
               b, loc, shape,
               b.getStringAttr("llvm.x86.avx512.mask.scalef.ps.512"),
               mlir::ValueRange{x, n, real(0.0), mask, rounding})
        .getResult(0);
  }
  /// Returns min(high, x); NaN propagates.
  mlir::Value atMost(mlir::Value x, double high) const {
    mlir::Value top = real(high);
    return select(is(mlir::arith::CmpFPredicate::OLT, top, x), top, x);
  }
  /// Returns max(low, x); NaN propagates.
  mlir::Value atLeast(mlir::Value x, double low) const {
    mlir::Value bottom = real(low);
    return select(is(mlir::arith::CmpFPredicate::OGT, bottom, x), bottom, x);
  }
  /// Returns max(low, min(high, x)); NaN propagates. The order of operands is
  /// that of a single instruction on x86.
  mlir::Value clamp(mlir::Value x, double low, double high) const {
    return atLeast(atMost(x, high), low);
  }
  /// Evaluates a polynomial by Horner's rule, with the coefficient of the
  /// highest power first.
  mlir::Value polynomial(mlir::Value x,
                         llvm::ArrayRef<double> coefficients) const {
    mlir::Value sum = real(coefficients.front());
    for (double coefficient : coefficients.drop_front())
      sum = fma(sum, x, real(coefficient));
    return sum;
  }
};

//===--- Powers (MathExp.cpp) ---------------------------------------------===//

/// Known bounds of a power.
enum class PowerSize {
  any,
  small ///< at most 2^127, and at least 2^-126 where it is not 0
};

/// Computes exp of values that are at most 89, with results of at least 2^-150.
mlir::Value expInRange(const Arithmetic &a, mlir::Value x,
                       PowerSize size = PowerSize::any);
/// With `tinyIsZero`, results below the least normal number are 0.
mlir::Value approximateExp(const Arithmetic &a, mlir::Value x, bool tinyIsZero,
                           PowerSize size);
mlir::Value approximateExp2(const Arithmetic &a, mlir::Value x,
                            bool tinyIsZero);

//===--- MathTanh.cpp -----------------------------------------------------===//

mlir::Value approximateTanh(const Arithmetic &a, mlir::Value x);

//===--- f32 functions computed in f64 (MathInDouble.cpp) -----------------===//
// Each is rounded once at the end, from what is off by 2^-28 at most: less than
// .6 ulp.

mlir::Value approximateAtan(const Arithmetic &a, mlir::Value x);
mlir::Value approximateAsin(const Arithmetic &a, mlir::Value x);
mlir::Value approximateAcos(const Arithmetic &a, mlir::Value x);
mlir::Value approximateSinh(const Arithmetic &a, mlir::Value x);
mlir::Value approximateCosh(const Arithmetic &a, mlir::Value x);
mlir::Value approximateAsinh(const Arithmetic &a, mlir::Value x);
mlir::Value approximateAcosh(const Arithmetic &a, mlir::Value x);
mlir::Value approximateAtanh(const Arithmetic &a, mlir::Value x);
/// Computes tan for |x| <= 2^30.
mlir::Value approximateTan(const Arithmetic &a, mlir::Value x);
/// Computes tan of an argument in f64, in the f32 of `a`; -0 becomes 0.
mlir::Value approximateTanOfDouble(const Arithmetic &a, mlir::Value w);
mlir::Value approximatePow(const Arithmetic &a, mlir::Value x, mlir::Value y);

} // namespace adze

#endif // ADZE_LIB_TRANSFORMS_MATHARITHMETIC_H
