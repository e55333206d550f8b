// Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
//
// Lowers the host program to the LLVM dialect.
#ifndef ADZE_LIB_CONVERSION_HOSTTOLLVM_HOSTLOWERING_H
#define ADZE_LIB_CONVERSION_HOSTTOLLVM_HOSTLOWERING_H

#include "Conversion/HostToLLVM/Formula.h"
#include "Dialect/Host/IR/Host.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

namespace adze {

/// Fields of adze_host_table, as indices of its LLVM struct.
enum HostTableField : int32_t {
  Launch = 2,
  Copy,
  Alloc,
  Fail,
  Read,
  Write,
  Bind,
  Reserve,
  Output,
  Call,
  Fetch,
  LaunchSteps,
  LaunchGroups,
  CheckRange,
  State,
  Print,
  Computed,
  NumHostTableFields
};

/// Arguments of adze_run_fn.
enum RunArgument : unsigned {
  Table,
  Exec,
  Inputs,
  Outputs,
  Arena,
  Weights,
  Symbols,
  NumRunArguments
};

/// Lowers one host program, op by op.
class HostLowering {
public:
  explicit HostLowering(mlir::func::FuncOp program)
      : program(program), context(program.getContext()), builder(context),
        pointer(mlir::LLVM::LLVMPointerType::get(context)),
        i32(builder.getI32Type()), i64(builder.getI64Type()) {}

  mlir::LogicalResult run();
  unsigned launches() const { return launchNumbers.size(); }

private:
  mlir::LLVM::LLVMFuncOp createFunction(llvm::StringRef name, mlir::Type result,
                                        llvm::ArrayRef<mlir::Type> arguments);
  mlir::LLVM::LLVMFuncOp createFormula(llvm::StringRef name,
                                       llvm::StringRef attribute);
  void addSlotsBehindOthers(mlir::LLVM::LLVMFuncOp arenaBytes);
  mlir::Value emitOffset(Formula &formula, host::SlotOp op,
                         const llvm::DenseMap<mlir::Value, mlir::Value> &ends);
  mlir::Value emitEnd(Formula &formula, host::SlotOp op, mlir::Value offset);
  void createFormula(const llvm::Twine &name, mlir::AffineExpr expr);
  void createCost(const llvm::Twine &name, mlir::AffineExpr expr);
  void createCosts();
  void createPlaces(host::LaunchOp launch, unsigned number);
  void createStates();
  mlir::LogicalResult createInfer();
  mlir::LogicalResult lowerProgram(mlir::LLVM::LLVMFuncOp run);
  void allocateArrays();
  void refuseSizes(mlir::LLVM::LLVMFuncOp arenaBytes);
  mlir::LogicalResult lower(mlir::Block &block);
  mlir::LogicalResult lower(mlir::Operation *op);
  void lower(host::LaunchOp op);
  void lower(host::CallOp op);
  void lower(host::FetchOp op);
  void lower(host::CopyOp op);
  void lower(host::OutputOp op);
  void lower(host::StateOp op);
  void lower(host::BindOp op);
  void lower(host::AssignOp op);
  void lower(host::ReadOp op);
  void lower(host::WriteOp op);
  void lower(host::HoldsOp op);
  void lower(host::CheckOp op);
  void lower(host::CheckRangeOp op);
  void lower(host::ViewOp op);
  void lower(mlir::func::ReturnOp op);
  mlir::LogicalResult lowerWeights(mlir::Operation *op, mlir::Value base,
                                   mlir::IntegerAttr offset);
  mlir::LogicalResult lower(host::SlotOp op);
  void lowerBox(host::SlotOp op);
  mlir::LogicalResult lower(mlir::scf::IfOp op);
  mlir::LogicalResult lower(mlir::scf::WhileOp op);
  mlir::LogicalResult lowerArith(mlir::Operation *op);

  mlir::Value offsetPointer(mlir::Location loc, mlir::Value base,
                            mlir::Value bytes);
  mlir::Value element(mlir::Location loc, mlir::Value array, int32_t index);
  mlir::Value i32Constant(mlir::Location loc, int32_t value);
  mlir::Value i64Constant(mlir::Location loc, int64_t value);
  /// Emits a call of a function of the run time, and returns its result.
  mlir::Value callTable(mlir::Location loc, HostTableField field,
                        mlir::Type result, mlir::ValueRange operands);
  /// Emits a call of a function of the table; the run ends if it returns an
  /// error.
  void call(mlir::Location loc, HostTableField field,
            mlir::ValueRange operands);
  /// Emits a call of a function that returns memory, or null on error.
  mlir::Value callForMemory(mlir::Location loc, HostTableField field,
                            mlir::ValueRange operands);
  mlir::Value loadFunction(mlir::Location loc, HostTableField field);
  void returnUnless(mlir::Location loc, mlir::Value condition,
                    mlir::Value code);
  void checkTable(mlir::Location loc, HostTableField last);
  mlir::Block *addBlock(mlir::TypeRange arguments = {});
  /// Returns the name of the node, for messages.
  mlir::Value getNodeName(mlir::Location loc);
  mlir::Value getText(mlir::Location loc, llvm::StringRef text);
  mlir::Value numberPlace(mlir::Location loc, int32_t index);
  void storeNumber(mlir::Location loc, int32_t index, mlir::Value value);
  void bindSymbols(mlir::Location loc, llvm::ArrayRef<int64_t> symbols,
                   int32_t first = 0);
  /// Returns a formula that emits at the insertion point. Symbols are loaded
  /// again, which LLVM merges.
  mlir::Value bytes(mlir::Location loc, mlir::Attribute attr) {
    return Formula(builder, loc, arguments[RunArgument::Symbols],
                   /*saturating=*/true)
        .emit(host::getBytesExpr(attr, context));
  }

  mlir::func::FuncOp program;
  mlir::MLIRContext *context;
  mlir::OpBuilder builder;
  mlir::LLVM::LLVMPointerType pointer;
  mlir::Type i32, i64;
  mlir::ValueRange arguments;
  mlir::Value launchOperands;       // one array for all launches
  mlir::Block *errorExit = nullptr; // returns its argument
  llvm::DenseMap<mlir::Value, mlir::Value> places;
  llvm::DenseMap<mlir::Value, mlir::Value>
      slotEnds; // of slots that other slots follow
  /// Results of ops on integers.
  llvm::DenseMap<mlir::Value, mlir::Value> numbers;
  llvm::DenseMap<mlir::Operation *, unsigned> launchNumbers;
  llvm::DenseMap<mlir::AffineExpr, mlir::LLVM::LLVMFuncOp> costs;
  llvm::DenseMap<mlir::Operation *, unsigned> faultNumbers;
  /// The rows of the operators that calls run.
  llvm::DenseMap<mlir::Operation *, unsigned> operatorNumbers;
  /// Values passed to the run time, and the symbols that they are bound to.
  mlir::Value hostNumbers, hostSymbols;
  mlir::Value computed; // the weights that the run time computes
};

} // namespace adze

#endif // ADZE_LIB_CONVERSION_HOSTTOLLVM_HOSTLOWERING_H
