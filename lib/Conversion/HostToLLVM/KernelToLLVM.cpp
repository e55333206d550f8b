// Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
//
// Kernels: the module's calling convention, and the last dialects to LLVM.
#include "Conversion/Passes.h"
#include "Dialect/Host/IR/Host.h"
#include "Dialect/Tile/IR/Targets.h"
#include "Formula.h"
#include "KernelScratch.h"
#include "mlir/Conversion/ArithToLLVM/ArithToLLVM.h"
#include "mlir/Conversion/ControlFlowToLLVM/ControlFlowToLLVM.h"
#include "mlir/Conversion/FuncToLLVM/ConvertFuncToLLVM.h"
#include "mlir/Conversion/IndexToLLVM/IndexToLLVM.h"
#include "mlir/Conversion/LLVMCommon/ConversionTarget.h"
#include "mlir/Conversion/LLVMCommon/TypeConverter.h"
#include "mlir/Conversion/MemRefToLLVM/MemRefToLLVM.h"
#include "mlir/Conversion/ReconcileUnrealizedCasts/ReconcileUnrealizedCasts.h"
#include "mlir/Conversion/UBToLLVM/UBToLLVM.h"
#include "mlir/Conversion/VectorToLLVM/ConvertVectorToLLVM.h"

using namespace mlir;

namespace adze {
#define GEN_PASS_DEF_CONVERTKERNELTOLLVM
#include "Conversion/Passes.h.inc"

namespace {
/// The pointers and symbols that a kernel function gets instead of memrefs.
struct Frame {
  SmallVector<Value> pointers;
  Value symbols;
};

class ConvertKernelToLLVMPass final
    : public impl::ConvertKernelToLLVMBase<ConvertKernelToLLVMPass> {
public:
  void runOnOperation() override;

private:
  LogicalResult convertSignature(func::FuncOp kernel, SymbolTable &symbols,
                                 LLVMTypeConverter &types);
  LogicalResult convertRest(LLVMTypeConverter &types);
};
} // namespace

/// Replaces the memref arguments of `function` by memrefs built from `frame`;
/// their sizes are the maps in `dims`.
static LogicalResult replaceMemRefArguments(func::FuncOp function,
                                            ArrayRef<AffineMap> dims,
                                            Frame frame,
                                            LLVMTypeConverter &types) {
  Block &entry = function.front();
  OpBuilder builder = OpBuilder::atBlockBegin(&entry);
  for (unsigned index = 0; index < dims.size(); ++index) {
    BlockArgument argument = entry.getArgument(index);
    auto type = cast<MemRefType>(argument.getType());
    FailureOr<Value> place =
        buildMemRef(builder, argument.getLoc(), type, frame.pointers[index],
                    dims[index], frame.symbols, types);
    if (failed(place))
      return function.emitError("expected 'adze.dims' on dynamic argument ")
             << index << " of type " << type;
    argument.replaceAllUsesWith(*place);
  }
  return success();
}

/// Sizes that no argument has, from the symbols.
static void lowerSizes(func::FuncOp function, Value symbols) {
  function.walk([&](host::SizeOp op) {
    OpBuilder builder(op);
    Value size =
        Formula(builder, op.getLoc(), symbols).emit(op.getValue().getResult(0));
    op.replaceAllUsesWith(arith::IndexCastOp::create(builder, op.getLoc(),
                                                     builder.getIndexType(),
                                                     size)
                              .getResult());
    op.erase();
  });
}

/// @k_programs(%syms) from @k_programs(memrefs..), or one that returns 1.
static LogicalResult convertPrograms(StringRef kernel, Location loc,
                                     SymbolTable &symbols,
                                     ArrayRef<AffineMap> dims,
                                     LLVMTypeConverter &types) {
  auto *context = loc.getContext();
  auto pointer = LLVM::LLVMPointerType::get(context);
  std::string name = (kernel + "_programs").str();
  auto function = symbols.lookup<func::FuncOp>(name);
  OpBuilder builder(context);
  if (!function) {
    auto index = builder.getIndexType();
    function = func::FuncOp::create(
        loc, name, builder.getFunctionType({pointer}, {index}));
    symbols.insert(function);
    builder.setInsertionPointToStart(function.addEntryBlock());
    Value one = arith::ConstantIndexOp::create(builder, loc, 1);
    func::ReturnOp::create(builder, loc, one);
    return success();
  }
  if (function.getNumArguments() != dims.size())
    return function.emitError("expected ")
           << dims.size() << " arguments, as the kernel has, but got "
           << function.getNumArguments();
  Block &entry = function.front();
  Frame frame;
  frame.symbols = entry.addArgument(pointer, loc);
  lowerSizes(function, frame.symbols);
  builder.setInsertionPointToStart(&entry);
  // Counting programs reads sizes only.
  Value null = LLVM::ZeroOp::create(builder, loc, pointer);
  frame.pointers.assign(dims.size(), null);
  if (failed(replaceMemRefArguments(function, dims, frame, types)))
    return failure();
  null.getDefiningOp()->moveBefore(&entry, entry.begin());
  entry.eraseArguments(0, dims.size());
  function.removeArgAttrsAttr();
  function.setType(builder.getFunctionType(
      {pointer}, function.getFunctionType().getResults()));
  function.setPublic();
  function->removeAttr(host::kernelAttr);
  return success();
}

/// @k(%ptrs, %syms, %lo, %hi, %scratch), calling @k.body.
static void createEntryPoint(func::FuncOp body, StringRef name,
                             unsigned numPointers, bool hasRange,
                             SymbolTable &symbols) {
  Location loc = body.getLoc();
  OpBuilder builder(body.getContext());
  auto pointer = LLVM::LLVMPointerType::get(body.getContext());
  Type i64 = builder.getI64Type();
  auto entry = func::FuncOp::create(
      loc, name,
      builder.getFunctionType({pointer, pointer, i64, i64, pointer}, {}));
  symbols.insert(entry, Block::iterator(body));
  Block *block = entry.addEntryBlock();
  builder.setInsertionPointToStart(block);
  SmallVector<Value> operands;
  for (unsigned index = 0; index < numPointers; ++index) {
    Value place = LLVM::GEPOp::create(builder, loc, pointer, pointer,
                                      block->getArgument(0),
                                      ArrayRef<LLVM::GEPArg>{int32_t(index)});
    operands.push_back(LLVM::LoadOp::create(builder, loc, pointer, place));
  }
  if (hasRange)
    for (unsigned argument : {2, 3})
      operands.push_back(arith::IndexCastOp::create(
          builder, loc, builder.getIndexType(), block->getArgument(argument)));
  operands.push_back(block->getArgument(1));
  operands.push_back(block->getArgument(4));
  func::CallOp::create(builder, loc, body, operands);
  func::ReturnOp::create(builder, loc);
}

LogicalResult ConvertKernelToLLVMPass::convertSignature(
    func::FuncOp kernel, SymbolTable &symbols, LLVMTypeConverter &types) {
  std::string name = kernel.getName().str();
  Location loc = kernel.getLoc();
  OpBuilder builder(&getContext());
  auto pointer = LLVM::LLVMPointerType::get(&getContext());

  SmallVector<AffineMap> dims;
  unsigned numRange = 0;
  for (auto [index, type] : llvm::enumerate(kernel.getArgumentTypes())) {
    if (type.isIndex()) {
      ++numRange;
      continue;
    }
    if (!isa<MemRefType>(type) || numRange)
      return kernel.emitError("expected a kernel on memrefs and at most a "
                              "range of programs, but got ")
             << kernel.getFunctionType();
    auto map = kernel.getArgAttrOfType<AffineMapAttr>(index, host::dimsAttr);
    dims.push_back(map ? map.getValue() : AffineMap());
  }
  if ((numRange != 0 && numRange != 2) || kernel.getNumResults())
    return kernel.emitError("expected a kernel without results and with no or "
                            "two indices, but got ")
           << kernel.getFunctionType();
  if (failed(convertPrograms(name, loc, symbols, dims, types)))
    return failure();

  // New arguments behind the old ones, then the memrefs go.
  Block &entry = kernel.front();
  Frame frame;
  SmallVector<Type> argumentTypes;
  for (unsigned index = 0; index < dims.size(); ++index) {
    frame.pointers.push_back(
        entry.insertArgument(dims.size() + index, pointer, loc));
    argumentTypes.push_back(pointer);
  }
  argumentTypes.append(numRange, builder.getIndexType());
  frame.symbols = entry.addArgument(pointer, loc);
  Value scratch = entry.addArgument(pointer, loc);
  argumentTypes.append(2, pointer);

  FailureOr<unsigned> moved = moveAllocationsToScratch(
      kernel, name, dims, frame.symbols, scratch, symbols, types);
  if (failed(moved))
    return failure();
  numScratch += *moved;
  lowerSizes(kernel, frame.symbols);
  if (failed(replaceMemRefArguments(kernel, dims, frame, types)))
    return failure();
  entry.eraseArguments(0, dims.size());

  kernel.removeArgAttrsAttr();
  kernel.setType(builder.getFunctionType(argumentTypes, {}));
  for (auto [index, type] : llvm::enumerate(argumentTypes))
    if (isa<LLVM::LLVMPointerType>(type))
      kernel.setArgAttr(index, LLVM::LLVMDialect::getNoAliasAttrName(),
                        builder.getUnitAttr());
  kernel->removeAttr(host::kernelAttr);
  symbols.remove(kernel);
  kernel.setName(name + ".body");
  symbols.insert(kernel);
  kernel.setPrivate();
  createEntryPoint(kernel, name, dims.size(), numRange != 0, symbols);
  ++numKernels;
  return success();
}

LogicalResult ConvertKernelToLLVMPass::convertRest(LLVMTypeConverter &types) {
  RewritePatternSet patterns(&getContext());
  arith::populateArithToLLVMConversionPatterns(types, patterns);
  cf::populateControlFlowToLLVMConversionPatterns(types, patterns);
  cf::populateAssertToLLVMConversionPattern(types, patterns);
  index::populateIndexToLLVMConversionPatterns(types, patterns);
  ub::populateUBToLLVMConversionPatterns(types, patterns);
  populateVectorToLLVMConversionPatterns(types, patterns);
  populateFinalizeMemRefToLLVMConversionPatterns(types, patterns);
  populateFuncToLLVMConversionPatterns(types, patterns);

  LLVMConversionTarget target(getContext());
  target.addLegalDialect<host::HostDialect>();
  target.addLegalOp<ModuleOp>();
  // The host program is another pass's.
  auto isHost = [](func::FuncOp function) {
    return function->hasAttr(host::numInputsAttr);
  };
  target.addDynamicallyLegalOp<func::FuncOp>(isHost);
  target.markOpRecursivelyLegal<func::FuncOp>(isHost);
  return applyFullConversion(getOperation(), target, std::move(patterns));
}

void ConvertKernelToLLVMPass::runOnOperation() {
  ModuleOp module = getOperation();
  LowerToLLVMOptions options(&getContext());
  options.overrideIndexBitwidth(64);
  LLVMTypeConverter types(&getContext(), options);
  SymbolTable symbols(module);
  SmallVector<func::FuncOp> kernels;
  for (auto function : module.getOps<func::FuncOp>())
    if (function->hasAttr(host::kernelAttr) && !function.isDeclaration() &&
        !function.getName().ends_with("_programs"))
      kernels.push_back(function);
  for (func::FuncOp kernel : kernels)
    if (failed(convertSignature(kernel, symbols, types)))
      return signalPassFailure();

  if (failed(convertRest(types)))
    return signalPassFailure();
  SmallVector<UnrealizedConversionCastOp> casts;
  module.walk([&](UnrealizedConversionCastOp op) { casts.push_back(op); });
  reconcileUnrealizedCasts(casts);
  for (auto function : module.getOps<LLVM::LLVMFuncOp>())
    if (function.getName().ends_with(".body")) {
      function.setLinkage(LLVM::Linkage::Internal);
      // The facts on its arguments would weaken if it were inlined.
      function.setNoInline(true);
    }
  // Upstream's tools read the text from here on.
  module->removeAttr(tile::kTargetsAttribute);
}

} // namespace adze
