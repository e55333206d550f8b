// Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
//
// Functions that call those of an equal kernel.
#include "Conversion/HostToLLVM/Formula.h"
#include "EqualKernels.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"

using namespace mlir;

namespace adze {

void storeSymbols(OpBuilder &builder, Location loc, ArrayRef<AffineExpr> values,
                  Value symbols, Value to) {
  Type pointer = LLVM::LLVMPointerType::get(builder.getContext());
  Formula formula(builder, loc, symbols);
  for (auto [index, value] : llvm::enumerate(values)) {
    if (!value)
      continue;
    Value result = formula.emit(value);
    Value address =
        LLVM::GEPOp::create(builder, loc, pointer, builder.getI64Type(), to,
                            ArrayRef<LLVM::GEPArg>{int32_t(index)});
    LLVM::StoreOp::create(builder, loc, result, address);
  }
}

namespace {
class AliasBuilder {
public:
  AliasBuilder(ModuleOp module)
      : builder(OpBuilder::atBlockEnd(module.getBody())), loc(module.getLoc()),
        pointer(LLVM::LLVMPointerType::get(module.getContext())) {}

  /// Creates `name`, which calls `of` with the symbols that this kernel reads.
  void make(StringRef name, StringRef of, const KernelAlias &alias,
            bool isFormula);

private:
  Value renumber(Value symbols, const KernelAlias &alias);

  OpBuilder builder;
  Location loc;
  Type pointer;
  llvm::StringMap<LLVM::LLVMFuncOp> declared;
};
} // namespace

/// Returns the values of the symbols of the other kernel.
Value AliasBuilder::renumber(Value symbols, const KernelAlias &alias) {
  Type i64 = builder.getI64Type();
  SmallVector<AffineExpr> values;
  for (auto [other, own] : alias.symbols) {
    // Symbols that the other kernel does not read have no value.
    if (values.size() <= other)
      values.resize(other + 1);
    values[other] = own;
  }
  Value size = LLVM::ConstantOp::create(
      builder, loc, i64, builder.getI64IntegerAttr(values.size()));
  Value array = LLVM::AllocaOp::create(builder, loc, pointer, i64, size);
  storeSymbols(builder, loc, values, symbols, array);
  return array;
}

void AliasBuilder::make(StringRef name, StringRef of, const KernelAlias &alias,
                        bool isFormula) {
  Type i64 = builder.getI64Type();
  auto type = isFormula ? LLVM::LLVMFunctionType::get(i64, {pointer})
                        : LLVM::LLVMFunctionType::get(
                              LLVM::LLVMVoidType::get(builder.getContext()),
                              {pointer, pointer, i64, i64, pointer});
  LLVM::LLVMFuncOp &callee = declared[of];
  if (!callee)
    callee = LLVM::LLVMFuncOp::create(builder, loc, of, type);
  auto function = LLVM::LLVMFuncOp::create(builder, loc, name, type);
  OpBuilder::InsertionGuard guard(builder);
  Block *entry = function.addEntryBlock(builder);
  builder.setInsertionPointToStart(entry);
  SmallVector<Value> operands(entry->getArguments());
  Value &symbols = operands[isFormula ? 0 : 1];
  symbols = renumber(symbols, alias);
  auto call = LLVM::CallOp::create(builder, loc, callee, operands);
  LLVM::ReturnOp::create(builder, loc, call.getResults());
}

OwningOpRef<ModuleOp> createAliases(MLIRContext &context,
                                    ArrayRef<KernelAlias> aliases,
                                    StringRef prefix,
                                    llvm::StringMap<KernelSymbols> &compiled) {
  context.getOrLoadDialect<LLVM::LLVMDialect>();
  OwningOpRef<ModuleOp> module = ModuleOp::create(UnknownLoc::get(&context));
  AliasBuilder maker(*module);
  for (const KernelAlias &alias : aliases) {
    KernelSymbols of = compiled.lookup(alias.of);
    KernelSymbols own;
    own.body = (prefix + alias.name).str();
    own.programs = own.body + "_programs";
    maker.make(own.body, of.body, alias, /*isFormula=*/false);
    maker.make(own.programs, of.programs, alias, /*isFormula=*/true);
    if (!of.scratchBytes.empty()) {
      own.scratchBytes = own.body + "_scratch";
      maker.make(own.scratchBytes, of.scratchBytes, alias, /*isFormula=*/true);
    }
    compiled[alias.name] = own;
  }
  return module;
}

} // namespace adze
