// Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
//
// Determinants, and entropy.
#include "KernelLowering.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"

using namespace mlir;
using namespace adze::graph;

namespace {

/// Gaussian elimination of one matrix in `scratch`, which computes its
/// determinant.
class Elimination {
public:
  Elimination(KernelLowering &k, Type type, Value scratch, Value size)
      : k(k), type(type), scratch(scratch), size(size) {}

  Value run() {
    Value one = k.number(type, 1);
    return k.fold({{k.index(0), size}}, one, [&](ValueRange step, Value det) {
      Value i = step[0];
      Value row = findPivot(i);
      Value isSame = k.compare(arith::CmpIPredicate::eq, row, i);
      Value negated = arith::NegFOp::create(k.builder, k.loc, det);
      det = k.select(isSame, det, negated);
      swap(i, row);
      Value pivot = k.load(scratch, {i, i});
      eliminate(i, pivot);
      return k.mulNum(det, pivot);
    });
  }

private:
  /// Returns the row from `i` on with the greatest element in column `i`.
  Value findPivot(Value i) {
    Value first = magnitude(i, i);
    return k
        .fold({{k.add(i, 1), size}}, ValueRange{first, i},
              [&](ValueRange at, ValueRange best) {
                Value x = magnitude(at[0], i);
                Value greater = arith::CmpFOp::create(
                    k.builder, k.loc, arith::CmpFPredicate::OGT, x, best[0]);
                return SmallVector<Value>{k.select(greater, x, best[0]),
                                          k.select(greater, at[0], best[1])};
              })
        .back();
  }
  Value magnitude(Value row, Value column) {
    return math::AbsFOp::create(k.builder, k.loc,
                                k.load(scratch, {row, column}));
  }
  void swap(Value lhs, Value rhs) {
    k.forEach(size, [&](ValueRange at) {
      Value x = k.load(scratch, {lhs, at[0]}),
            y = k.load(scratch, {rhs, at[0]});
      k.store(y, scratch, {lhs, at[0]});
      k.store(x, scratch, {rhs, at[0]});
    });
  }
  /// Eliminates column `i` below its pivot; a pivot of 0 changes nothing.
  void eliminate(Value i, Value pivot) {
    Value zero = k.number(type, 0);
    Value isZero = arith::CmpFOp::create(
        k.builder, k.loc, arith::CmpFPredicate::OEQ, pivot, zero);
    Value divisor = k.select(isZero, k.number(type, 1), pivot);
    KernelLowering::Range below{k.add(i, 1), size};
    k.fold({below}, ValueRange(), [&](ValueRange row, ValueRange) {
      Value factor = k.divNum(k.load(scratch, {row[0], i}), divisor);
      k.fold({below}, ValueRange(), [&](ValueRange column, ValueRange) {
        Value x = k.load(scratch, {row[0], column[0]});
        Value y = k.load(scratch, {i, column[0]});
        k.store(k.subNum(x, k.mulNum(factor, y)), scratch, {row[0], column[0]});
        return SmallVector<Value>();
      });
      return SmallVector<Value>();
    });
  }

  KernelLowering &k;
  Type type;
  Value scratch, size;
};

LogicalResult lowerDet(DetOp op, KernelLowering &k) {
  Value input = k.get(op.getInput()), output = k.getOutput(op.getResult());
  Type type =
      getAccumulatorType(cast<MemRefType>(output.getType()).getElementType());
  Value size = k.getSizes(op.getInput()).back();
  auto constant = getConstantIntValue(size);
  SmallVector<int64_t> shape(2, constant.value_or(ShapedType::kDynamic));
  SmallVector<Value> dynamic(constant ? 0 : 2, size);
  Value scratch =
      memref::AllocOp::create(k.builder, k.loc, MemRefType::get(shape, type),
                              dynamic, k.builder.getI64IntegerAttr(64));
  k.forEach(k.getSizes(op.getResult()), [&](ValueRange out) {
    k.forEach({size, size}, [&](ValueRange at) {
      SmallVector<Value> from(out);
      llvm::append_range(from, at);
      k.store(k.loadWide(input, from), scratch, at);
    });
    k.storeWide(Elimination(k, type, scratch, size).run(), output, out);
  });
  return success();
}

/// Reads the cycle counter of the processor, which never repeats a value.
LogicalResult lowerEntropy(EntropyOp op, KernelLowering &k) {
  auto call = LLVM::CallIntrinsicOp::create(
      k.builder, k.loc, k.builder.getI64Type(),
      k.builder.getStringAttr("llvm.readcyclecounter"), ValueRange());
  k.store(call.getResult(0), k.getOutput(op.getResult()), {});
  return success();
}

} // namespace

FamilyResult adze::graph::lowerMatrix(Operation *op, KernelLowering &k) {
  if (auto det = dyn_cast<DetOp>(op))
    return lowerDet(det, k);
  if (auto entropy = dyn_cast<EntropyOp>(op))
    return lowerEntropy(entropy, k);
  return std::nullopt;
}
