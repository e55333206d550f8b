// Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
//
// Builds the scalars and the synchronisation of device code.
#ifndef ADZE_LIB_CONVERSION_TILETOGPU_DEVICEBUILDER_H
#define ADZE_LIB_CONVERSION_TILETOGPU_DEVICEBUILDER_H

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/Builders.h"

namespace adze::togpu {

/// A builder at a location. Values are i32 unless stated otherwise; pointers
/// are to shared memory.
class DeviceBuilder {
public:
  DeviceBuilder(mlir::OpBuilder &b, mlir::Location loc) : b(b), loc(loc) {}

  template <typename Op, typename... Args>
  auto create(Args &&...args) {
    return Op::create(b, loc, std::forward<Args>(args)...);
  }

  mlir::Value i32(int64_t v) { return constant(b.getI32Type(), v); }
  mlir::Value i64(int64_t v) { return constant(b.getI64Type(), v); }
  mlir::Value index(int64_t v) {
    return mlir::arith::ConstantIndexOp::create(b, loc, v);
  }
  template <typename Op>
  mlir::Value fold(mlir::Value x, mlir::Value y) {
    return b.createOrFold<Op>(loc, x, y);
  }
  mlir::Value add(mlir::Value x, mlir::Value y) {
    return fold<mlir::arith::AddIOp>(x, y);
  }
  mlir::Value add(mlir::Value x, int64_t y) {
    return y ? add(x, constant(x.getType(), y)) : x;
  }
  mlir::Value mul(mlir::Value x, int64_t y) {
    return y == 1 ? x : fold<mlir::arith::MulIOp>(x, constant(x.getType(), y));
  }
  mlir::Value equal(mlir::Value x, int64_t y) {
    return mlir::arith::CmpIOp::create(b, loc, mlir::arith::CmpIPredicate::eq,
                                       x, constant(x.getType(), y));
  }
  mlir::Value select(mlir::Value c, mlir::Value x, mlir::Value y) {
    return mlir::arith::SelectOp::create(b, loc, c, x, y);
  }
  /// Return the stage of a ring after this one, or before it.
  mlir::Value getNext(mlir::Value stage, int64_t stages) {
    return wrap(stage, stages - 1, 0, 1);
  }
  mlir::Value getPrevious(mlir::Value stage, int64_t stages) {
    return wrap(stage, 0, stages - 1, -1);
  }
  mlir::Value toI32(mlir::Value index) {
    return mlir::arith::IndexCastOp::create(b, loc, b.getI32Type(), index);
  }
  mlir::Value toIndex(mlir::Value v) {
    return mlir::arith::IndexCastUIOp::create(b, loc, b.getIndexType(), v);
  }

  /// Returns the elements as a vector.
  mlir::Value makeVector(llvm::ArrayRef<mlir::Value> elements);
  /// Emits PTX that LLVM does not move or remove. Returns its result, if it has
  /// one.
  mlir::Value assemble(mlir::Type result, mlir::ValueRange operands,
                       llvm::StringRef text, llvm::StringRef constraints);
  /// Returns the f32 value, computed here. LLVM would move the operations that
  /// compute it into a later branch, if that has its only use.
  mlir::Value keepHere(mlir::Value value) {
    return assemble(value.getType(), value, "", "=f,0");
  }
  /// Returns the number of iterations of a loop.
  mlir::Value countTrips(mlir::Value lower, mlir::Value upper,
                         mlir::Value step) {
    return fold<mlir::arith::CeilDivUIOp>(
        fold<mlir::arith::SubIOp>(upper, lower), step);
  }

  /// Returns a pointer into shared memory, advanced by a number of bytes.
  mlir::Value at(mlir::Value pointer, mlir::Value bytes);
  mlir::Value at(mlir::Value pointer, int64_t bytes);

  /// Emits `body` for the threads for which the condition holds, and
  /// `otherwise`, if there is one, for the others.
  void when(mlir::Value condition, llvm::function_ref<void()> body,
            llvm::function_ref<void()> otherwise = {});

  // Barriers in shared memory. `bar` is the first of an array, `stage` the
  // index.
  void waitBarrier(mlir::Value bar, mlir::Value stage, mlir::Value phase);
  void arrive(mlir::Value bar, mlir::Value stage);
  mlir::Value barrierAt(mlir::Value bar, mlir::Value stage);
  /// Returns the next stage of a ring, and the phase of its barriers there.
  std::pair<mlir::Value, mlir::Value>
  advance(mlir::Value stage, mlir::Value phase, int64_t stages);
  /// The same for a number of stages ahead.
  std::pair<mlir::Value, mlir::Value> advance(mlir::Value stage,
                                              mlir::Value phase, int64_t stages,
                                              mlir::Value number);
  /// Orders stores to shared memory before the accesses of units that read it:
  /// matrix instructions, and copies by tensor maps.
  void fenceShared();
  /// Waits at a named barrier until this many threads have arrived.
  void waitNamed(mlir::Value number, int64_t threads);
  /// Waits for the threads of one warpgroup.
  void waitWarpgroup(mlir::Value number);

  mlir::OpBuilder &b;
  mlir::Location loc;

private:
  /// Returns `first` after the last stage, and otherwise stage + step.
  mlir::Value wrap(mlir::Value stage, int64_t last, int64_t first,
                   int64_t step) {
    return select(equal(stage, last), constant(stage.getType(), first),
                  add(stage, step));
  }
  mlir::Value constant(mlir::Type type, int64_t v) {
    return mlir::arith::ConstantOp::create(b, loc, b.getIntegerAttr(type, v));
  }
};

/// Returns true if all that a kernel writes is f16 or bf16.
bool storesNarrow(mlir::Operation *kernel);

} // namespace adze::togpu

#endif // ADZE_LIB_CONVERSION_TILETOGPU_DEVICEBUILDER_H
