// Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
//
// Detection of post-processing has a class after the other: the same kernels,
// each time for as many boxes as that class has.
#include "EqualKernels.h"
#include "Dialect/Graph/IR/Shape.h"
#include "Dialect/Host/IR/Host.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/IR/SymbolTable.h"
#include "mlir/Interfaces/FunctionInterfaces.h"

using namespace mlir;

namespace adze {

//===----------------------------------------------------------------------===//
// Which are equal
//===----------------------------------------------------------------------===//

/// Whether the kernel is the only thing that its functions are made of.
static bool isAlone(Operation *kernel, SymbolTable &symbols, StringRef name) {
  auto uses = SymbolTable::getSymbolUses(kernel);
  return uses && uses->empty() && !symbols.lookup((name + "_programs").str());
}

namespace {
/// The symbols of a kernel by their first appearance.
class SymbolOrder {
public:
  /// Gives the clone's symbols these numbers.
  void renumber(Operation *clone);
  ArrayRef<unsigned> get() const { return order; }

private:
  AffineMapAttr renumber(AffineMapAttr attr);

  SmallVector<unsigned> order;
};
} // namespace

AffineMapAttr SymbolOrder::renumber(AffineMapAttr attr) {
  AffineMap map = attr.getValue();
  for (AffineExpr result : map.getResults())
    if (result)
      result.walk([&](AffineExpr part) {
        auto symbol = dyn_cast<AffineSymbolExpr>(part);
        if (symbol && !llvm::is_contained(order, symbol.getPosition()))
          order.push_back(symbol.getPosition());
      });
  MLIRContext *context = attr.getContext();
  SmallVector<AffineExpr> numbers(map.getNumSymbols(),
                                  getAffineConstantExpr(0, context));
  for (auto [number, symbol] : llvm::enumerate(order))
    if (symbol < numbers.size())
      numbers[symbol] = getAffineSymbolExpr(number, context);
  SmallVector<AffineExpr> results;
  for (AffineExpr result : map.getResults())
    results.push_back(result.replaceSymbols(numbers));
  return AffineMapAttr::get(AffineMap::get(0, order.size(), results, context));
}

void SymbolOrder::renumber(Operation *clone) {
  auto function = cast<FunctionOpInterface>(clone);
  for (unsigned i = 0; i < function.getNumArguments(); ++i)
    if (auto dims = function.getArgAttrOfType<AffineMapAttr>(i, host::dimsAttr))
      function.setArgAttr(i, host::dimsAttr, renumber(dims));
  clone->walk(
      [&](host::SizeOp op) { op.setValueAttr(renumber(op.getValueAttr())); });
}

EqualKernels findEqualKernels(ModuleOp module, ArrayRef<StringRef> names) {
  struct First {
    StringRef name;
    SmallVector<unsigned> symbols;
  };
  SymbolTable symbols(module);
  llvm::StringMap<First> firsts; // by text
  EqualKernels result;
  for (StringRef name : names) {
    Operation *kernel = symbols.lookup(name);
    if (!kernel || !isa<FunctionOpInterface>(kernel) ||
        !isAlone(kernel, symbols, name)) {
      result.different.push_back(name);
      continue;
    }
    Operation *clone = kernel->clone();
    SymbolOrder order;
    order.renumber(clone);
    bool isNew = true;
    // Without symbols the graph was compared before.
    if (!order.get().empty()) {
      SymbolTable::setSymbolName(clone, "kernel");
      std::string text;
      llvm::raw_string_ostream os(text);
      clone->print(os, OpPrintingFlags().useLocalScope());
      auto [found, inserted] = firsts.try_emplace(text);
      isNew = inserted;
      if (inserted) {
        found->second = {name, SmallVector<unsigned>(order.get())};
      } else {
        KernelTwin twin{name, found->second.name, {}};
        for (auto pair : llvm::zip_equal(found->second.symbols, order.get()))
          twin.symbols.push_back({std::get<0>(pair), std::get<1>(pair)});
        result.twins.push_back(std::move(twin));
      }
    }
    clone->erase();
    if (isNew)
      result.different.push_back(name);
  }
  return result;
}

//===----------------------------------------------------------------------===//
// Functions that call others
//===----------------------------------------------------------------------===//

namespace {
class TwinMaker {
public:
  TwinMaker(ModuleOp module)
      : builder(OpBuilder::atBlockEnd(module.getBody())), loc(module.getLoc()),
        pointer(LLVM::LLVMPointerType::get(module.getContext())) {}

  /// `name`, which calls `of` with the symbols that this one reads.
  void make(StringRef name, StringRef of, const KernelTwin &twin,
            bool isFormula);

private:
  Value renumber(Value symbols, const KernelTwin &twin);

  OpBuilder builder;
  Location loc;
  Type pointer;
  llvm::StringMap<LLVM::LLVMFuncOp> declared;
};
} // namespace

/// The values of the own symbols at the places of the other's.
Value TwinMaker::renumber(Value symbols, const KernelTwin &twin) {
  Type i64 = builder.getI64Type();
  unsigned count = 0;
  for (auto [other, own] : twin.symbols)
    count = std::max(count, other + 1);
  Value size = LLVM::ConstantOp::create(builder, loc, i64,
                                        builder.getI64IntegerAttr(count));
  Value array = LLVM::AllocaOp::create(builder, loc, pointer, i64, size);
  auto at = [&](Value base, unsigned index) -> Value {
    return LLVM::GEPOp::create(builder, loc, pointer, i64, base,
                               ArrayRef<LLVM::GEPArg>{int32_t(index)});
  };
  for (auto [other, own] : twin.symbols) {
    Value value = LLVM::LoadOp::create(builder, loc, i64, at(symbols, own));
    LLVM::StoreOp::create(builder, loc, value, at(array, other));
  }
  return array;
}

void TwinMaker::make(StringRef name, StringRef of, const KernelTwin &twin,
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
  symbols = renumber(symbols, twin);
  auto call = LLVM::CallOp::create(builder, loc, callee, operands);
  LLVM::ReturnOp::create(builder, loc, call.getResults());
}

OwningOpRef<ModuleOp> makeTwins(MLIRContext &context,
                                ArrayRef<KernelTwin> twins, StringRef prefix,
                                llvm::StringMap<KernelSymbols> &compiled) {
  context.getOrLoadDialect<LLVM::LLVMDialect>();
  OwningOpRef<ModuleOp> module = ModuleOp::create(UnknownLoc::get(&context));
  TwinMaker maker(*module);
  for (const KernelTwin &twin : twins) {
    KernelSymbols of = compiled.lookup(twin.of);
    KernelSymbols own;
    own.body = (prefix + twin.name).str();
    own.programs = own.body + "_programs";
    maker.make(own.body, of.body, twin, /*isFormula=*/false);
    maker.make(own.programs, of.programs, twin, /*isFormula=*/true);
    if (!of.scratchBytes.empty()) {
      own.scratchBytes = own.body + "_scratch";
      maker.make(own.scratchBytes, of.scratchBytes, twin, /*isFormula=*/true);
    }
    compiled[twin.name] = own;
  }
  return module;
}

} // namespace adze
