// Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
#include "SharedKernels.h"
#include "Conversion/HostToLLVM/Formula.h"
#include "Describe.h"
#include "Dialect/Host/IR/Host.h"
#include "EqualKernels.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "llvm/ADT/SetVector.h"

using namespace mlir;

namespace adze {

/// Returns the names of the kernels that the host program launches.
static llvm::SetVector<StringRef> findLaunched(ModuleOp module) {
  llvm::SetVector<StringRef> names;
  for (auto function : module.getOps<func::FuncOp>())
    if (function->hasAttr(host::numInputsAttr))
      for (host::LaunchOp launch : getLaunches(function))
        names.insert(launch.getCallee());
  return names;
}

static AffineMap makeMap(ArrayRef<AffineExpr> values, MLIRContext *context) {
  return AffineMap::inferFromExprList({values}, context).front();
}

SharedKernels::SharedKernels(ModuleOp module) {
  MLIRContext *context = module.getContext();
  llvm::SetVector<StringRef> launched = findLaunched(module);
  EqualKernels equal = findEqualKernels(module, launched.getArrayRef());
  SymbolTable table(module);
  for (StringRef name : equal.different)
    if (Operation *kernel = table.lookup(name))
      if (auto own = takeOwnSymbols(kernel))
        symbols[name] = makeMap(*own, context);
  for (const KernelAlias &alias : equal.aliases) {
    // The symbols of the other kernel have been renumbered.
    SmallVector<AffineExpr> values;
    for (AffineExpr of : symbols.at(alias.of).getResults())
      values.push_back(alias.getValue(of));
    symbols[alias.name] = makeMap(values, context);
    erased.push_back({alias.name.str(), alias.of.str()});
  }
  for (const auto &[name, of] : erased)
    table.erase(table.lookup(name));
}

void SharedKernels::addErased(cuda::CompiledImage &image) const {
  llvm::StringMap<cuda::CompiledKernel> compiled;
  for (const cuda::CompiledKernel &kernel : image.kernels)
    compiled[kernel.kernel] = kernel;
  for (const auto &[name, of] : erased) {
    if (auto refusal = image.refused.find(of); refusal != image.refused.end())
      image.refused[name] = refusal->second;
    auto found = compiled.find(of);
    if (found == compiled.end())
      continue;
    image.kernels.push_back(found->second);
    image.kernels.back().kernel = name;
  }
}

StringRef SharedKernels::getCompiled(StringRef kernel) const {
  for (const auto &[name, of] : erased)
    if (name == kernel)
      return of;
  return "";
}

AffineMap SharedKernels::getSymbols(const cuda::CompiledKernel &kernel,
                                    MLIRContext *context) const {
  // Passes may have removed the uses of the last symbols.
  if (AffineMap values = symbols.lookup(kernel.kernel))
    return makeMap(values.getResults().take_front(kernel.numSymbols), context);
  SmallVector<AffineExpr> same;
  for (unsigned i = 0; i < kernel.numSymbols; ++i)
    same.push_back(getAffineSymbolExpr(i, context));
  return makeMap(same, context);
}

/// Returns a name for the values, such as "bind_s3_s5".
static std::string getBindingName(AffineMap values, StringRef suffix) {
  std::string name = "bind";
  llvm::raw_string_ostream os(name);
  for (AffineExpr value : values.getResults())
    os << "_" << value;
  os << "_" << suffix;
  return name;
}

std::string SharedKernels::bindSymbols(ModuleOp helpers,
                                       const cuda::CompiledKernel &kernel,
                                       StringRef suffix) const {
  MLIRContext *context = helpers.getContext();
  AffineMap values = getSymbols(kernel, context);
  std::string name = getBindingName(values, suffix);
  if (helpers.lookupSymbol(name))
    return name;
  Location loc = helpers.getLoc();
  OpBuilder b = OpBuilder::atBlockEnd(helpers.getBody());
  auto pointer = LLVM::LLVMPointerType::get(context);
  auto function = LLVM::LLVMFuncOp::create(
      b, loc, name,
      LLVM::LLVMFunctionType::get(LLVM::LLVMVoidType::get(context),
                                  {pointer, pointer}));
  Block *entry = function.addEntryBlock(b);
  b.setInsertionPointToStart(entry);
  storeSymbols(b, loc, values.getResults(), entry->getArgument(0),
               entry->getArgument(1));
  LLVM::ReturnOp::create(b, loc, ValueRange());
  return name;
}

} // namespace adze
