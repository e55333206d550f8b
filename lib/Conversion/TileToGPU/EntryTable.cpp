// Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
//
// The entry points of a module's device kernels.
#include "Conversion/TileToGPU/EntryTable.h"
#include "Dialect/Graph/IR/Weights.h"
#include "Dialect/Host/IR/Host.h"
#include "Dialect/Tile/IR/Faults.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;

namespace adze::togpu {

int64_t countNamedSymbols(FunctionOpInterface kernel) {
  int64_t count = 0;
  kernel.walk([&](host::SizeOp op) {
    count = std::max<int64_t>(count, op.getValue().getNumSymbols());
  });
  for (unsigned i = 0; i < kernel.getNumArguments(); ++i)
    if (auto map = kernel.getArgAttrOfType<AffineMapAttr>(i, host::dimsAttr))
      count = std::max<int64_t>(count, map.getValue().getNumSymbols());
  return count;
}

bool raisesFaults(Operation *kernel) {
  return kernel->walk([](tile::CheckOp) { return WalkResult::interrupt(); })
      .wasInterrupted();
}

Value makeFaults(OpBuilder &at, LLVM::LLVMFuncOp entry) {
  return LLVM::IntToPtrOp::create(
      at, entry.getLoc(), LLVM::LLVMPointerType::get(at.getContext(), 1),
      entry.getArguments().back());
}

void setAccuracy(Operation *function, bool isNarrow) {
  using arith::FastMathFlags;
  llvm::TypeSwitch<Operation *>(function)
      .Case<math::ExpOp, math::Exp2Op, math::TanhOp, math::ErfOp,
            arith::DivFOp>([&](auto op) {
        op.setFastmath(isNarrow ? FastMathFlags::afn
                                : op.getFastmath() & graph::isAtMostOne);
      });
}

EntryTable::EntryTable(ModuleOp module)
    : module(module), b(module.getContext()) {
  for (auto existing : module.getOps<gpu::GPUModuleOp>())
    gpuModule = existing;
}

std::string EntryTable::chooseName(StringRef kernel) {
  std::string name;
  for (char c : kernel)
    name += llvm::isAlnum(c) ? c : '_';
  if (!llvm::isAlpha(name.front()))
    name = "k_" + name;
  std::string entry = name;
  for (int64_t i = 1; gpuModule && gpuModule.lookupSymbol(entry); ++i)
    entry = name + "_" + std::to_string(i);
  return entry;
}

/// Adds the arguments of tensor maps: each is passed by value, and used by its
/// address.
static void addMapArguments(OpBuilder &b, LLVM::LLVMFuncOp function,
                            unsigned first) {
  constexpr int64_t mapBytes = 128, mapAlign = 64;
  for (unsigned i = first, e = function.getNumArguments(); i < e; ++i) {
    function.setArgAttr(
        i, LLVM::LLVMDialect::getByValAttrName(),
        TypeAttr::get(LLVM::LLVMArrayType::get(b.getI8Type(), mapBytes)));
    function.setArgAttr(i, LLVM::LLVMDialect::getAlignAttrName(),
                        b.getI64IntegerAttr(mapAlign));
    function.setArgAttr(i, NVVM::NVVMDialect::getGridConstantAttrName(),
                        b.getUnitAttr());
  }
}

LLVM::LLVMFuncOp EntryTable::make(FunctionOpInterface kernel, StringRef name,
                                  EntrySignature signature) {
  bool hasFaults = raisesFaults(kernel);
  if (!gpuModule) {
    b.setInsertionPointToEnd(module.getBody());
    gpuModule = gpu::GPUModuleOp::create(b, module.getLoc(), "cuda_kernels");
    module->setAttr(gpu::GPUDialect::getContainerModuleAttrName(),
                    b.getUnitAttr());
  }
  b.setInsertionPointToEnd(gpuModule.getBody());
  MLIRContext *context = b.getContext();
  SmallVector<Type> types(kernel.getNumArguments(),
                          LLVM::LLVMPointerType::get(context, 1));
  types.append(signature.numSymbols + 1, b.getI64Type());
  unsigned firstMap = types.size() + 1;
  if (signature.numMaps || hasFaults) {
    types.push_back(b.getI64Type()); // the records of faults
    types.append(signature.numMaps, LLVM::LLVMPointerType::get(context));
  }
  auto function = LLVM::LLVMFuncOp::create(
      b, kernel.getLoc(), name,
      LLVM::LLVMFunctionType::get(LLVM::LLVMVoidType::get(context), types));
  function->setAttr(gpu::GPUDialect::getKernelFuncAttrName(), b.getUnitAttr());
  function->setAttr(NVVM::NVVMDialect::getKernelFuncAttrName(),
                    b.getUnitAttr());
  function->setAttr(
      NVVM::NVVMDialect::getMaxntidAttrName(),
      b.getDenseI32ArrayAttr({int32_t(signature.blockThreads), 1, 1}));
  function->setAttr(NVVM::NVVMDialect::getMinctasmAttrName(),
                    b.getI32IntegerAttr(1));
  function->setAttr("adze.kernel", b.getStringAttr(kernel.getName()));
  function->setAttr("adze.threads",
                    b.getI64IntegerAttr(signature.blockThreads));
  function->setAttr("adze.symbols", b.getI64IntegerAttr(signature.numSymbols));
  if (hasFaults)
    function->setAttr("adze.raises_faults", b.getUnitAttr());
  if (signature.numMaps)
    addMapArguments(b, function, firstMap);
  return function;
}

void EntryTable::addShared(LLVM::LLVMFuncOp entry, StringRef symbol,
                           int64_t align) {
  b.setInsertionPoint(entry);
  LLVM::GlobalOp::create(b, module.getLoc(),
                         LLVM::LLVMArrayType::get(b.getI8Type(), 0),
                         /*isConstant=*/false, LLVM::Linkage::External, symbol,
                         Attribute(), align, /*addrSpace=*/3);
}

LLVM::LLVMFuncOp EntryTable::makePrograms(Location loc, StringRef kernel) {
  b.setInsertionPointToEnd(module.getBody());
  auto pointer = LLVM::LLVMPointerType::get(b.getContext());
  return LLVM::LLVMFuncOp::create(
      b, loc, getProgramsName(kernel),
      LLVM::LLVMFunctionType::get(b.getI64Type(), {pointer}));
}

void EntryTable::finish() {
  if (gpuModule && gpuModule.getBody()->empty())
    gpuModule.erase();
}

} // namespace adze::togpu
