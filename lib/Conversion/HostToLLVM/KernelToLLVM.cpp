// Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
//
// Kernels: the module's calling convention, and the last dialects to LLVM.
#include "Conversion/HostToLLVM/FaultRecords.h"
#include "Conversion/HostToLLVM/KernelMemory.h"
#include "Conversion/Passes.h"
#include "Dialect/Host/IR/Host.h"
#include "Dialect/Tile/IR/Faults.h"
#include "Dialect/Tile/IR/Targets.h"
#include "KernelPrints.h"
#include "KernelScratch.h"
#include "Support/LoopAnnotation.h"
#include "adze_module.h"
#include "mlir/Analysis/CFGLoopInfo.h"
#include "mlir/Conversion/AffineToStandard/AffineToStandard.h"
#include "mlir/Conversion/ArithToLLVM/ArithToLLVM.h"
#include "mlir/Conversion/ControlFlowToLLVM/ControlFlowToLLVM.h"
#include "mlir/Conversion/FuncToLLVM/ConvertFuncToLLVM.h"
#include "mlir/Conversion/IndexToLLVM/IndexToLLVM.h"
#include "mlir/Conversion/LLVMCommon/ConversionTarget.h"
#include "mlir/Conversion/LLVMCommon/TypeConverter.h"
#include "mlir/Conversion/MathToLLVM/MathToLLVM.h"
#include "mlir/Conversion/MathToLibm/MathToLibm.h"
#include "mlir/Conversion/MemRefToLLVM/MemRefToLLVM.h"
#include "mlir/Conversion/ReconcileUnrealizedCasts/ReconcileUnrealizedCasts.h"
#include "mlir/Conversion/UBToLLVM/UBToLLVM.h"
#include "mlir/Conversion/VectorToLLVM/ConvertVectorToLLVM.h"
#include "mlir/Dialect/AMX/Transforms.h"
#include "mlir/Dialect/ControlFlow/IR/ControlFlowOps.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;

namespace adze {
#define GEN_PASS_DEF_CONVERTKERNELTOLLVM
#include "Conversion/Passes.h.inc"

namespace {
/// The pointers and symbols that a kernel function receives instead of memrefs.
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

/// Replaces the memref arguments of `function` by memrefs built from `frame`,
/// whose sizes are the maps in `dims`.
static LogicalResult replaceMemRefArguments(func::FuncOp function,
                                            ArrayRef<AffineMap> dims,
                                            Frame frame,
                                            LLVMTypeConverter &types) {
  Block &entry = function.front();
  OpBuilder builder = OpBuilder::atBlockBegin(&entry);
  for (unsigned index = 0; index < dims.size(); ++index) {
    BlockArgument argument = entry.getArgument(index);
    auto type = cast<MemRefType>(argument.getType());
    Formula formula(builder, argument.getLoc(), frame.symbols);
    FailureOr<Value> place =
        buildMemRef(builder, argument.getLoc(), type, frame.pointers[index],
                    dims[index], formula, types);
    if (failed(place))
      return function.emitError("expected 'adze.dims' on dynamic argument ")
             << index << " of type " << type;
    argument.replaceAllUsesWith(*place);
  }
  return success();
}

/// Lowers sizes that no argument has to expressions of the symbols.
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

namespace {
/// The greatest position of all checks of one fault, and its bound. It is an
/// alloca that LLVM promotes to registers, so that the structure of loops with
/// checks does not change.
class GreatestPosition {
public:
  GreatestPosition(func::FuncOp kernel, tile::CheckOp check);

  /// Replaces the check by an update.
  void update(tile::CheckOp check);
  /// Stores the fault record (adze_module.h) if the greatest position is out of
  /// range.
  void finish(func::FuncOp kernel, Value faults);

private:
  Value makePlace(OpBuilder &at, Type type, int64_t content);

  Location loc;
  uint64_t fault;
  bool isAbsolute;
  Type type; // of positions, of i64
  Value greatest, extent;
};
} // namespace

GreatestPosition::GreatestPosition(func::FuncOp kernel, tile::CheckOp check)
    : loc(check.getLoc()), fault(check.getFault()),
      isAbsolute(check.getAbsolute()) {
  OpBuilder at = OpBuilder::atBlockBegin(&kernel.front());
  Type i64 = at.getI64Type();
  auto vector = dyn_cast<VectorType>(check.getPositions().getType());
  type = vector ? Type(vector.clone(i64)) : i64;
  greatest = makePlace(at, type, 0);
  extent = makePlace(at, i64, 1);
}

Value GreatestPosition::makePlace(OpBuilder &at, Type type, int64_t content) {
  Value one = LLVM::ConstantOp::create(at, loc, at.getI64IntegerAttr(1));
  Value place = LLVM::AllocaOp::create(
      at, loc, LLVM::LLVMPointerType::get(at.getContext()), type, one);
  TypedAttr number = at.getI64IntegerAttr(content);
  if (auto vector = dyn_cast<VectorType>(type))
    number = SplatElementsAttr::get(vector, number);
  LLVM::StoreOp::create(at, loc, LLVM::ConstantOp::create(at, loc, number),
                        place);
  return place;
}

void GreatestPosition::update(tile::CheckOp check) {
  OpBuilder b(check);
  Value position =
      arith::IndexCastOp::create(b, loc, type, check.getPositions());
  Value before = LLVM::LoadOp::create(b, loc, type, greatest);
  Value after = arith::MaxUIOp::create(b, loc, before, position);
  LLVM::StoreOp::create(b, loc, after, greatest);
  Value limit =
      arith::IndexCastOp::create(b, loc, b.getI64Type(), check.getExtent());
  LLVM::StoreOp::create(b, loc, limit, extent);
  check.erase();
}

void GreatestPosition::finish(func::FuncOp kernel, Value faults) {
  Operation *end = kernel.back().getTerminator();
  OpBuilder b(end);
  Value position = LLVM::LoadOp::create(b, loc, type, greatest),
        high = LLVM::LoadOp::create(b, loc, b.getI64Type(), extent);
  auto vector = dyn_cast<VectorType>(type);
  Value limit =
      vector ? vector::BroadcastOp::create(b, loc, type, high).getResult()
             : high;
  Value isOutside =
      arith::CmpIOp::create(b, loc, arith::CmpIPredicate::uge, position, limit);
  if (vector)
    isOutside = vector::ReductionOp::create(b, loc, vector::CombiningKind::OR,
                                            isOutside);
  Block *last = end->getBlock(), *done = last->splitBlock(end);
  Block *outside = b.createBlock(done);
  b.setInsertionPointToEnd(last);
  cf::CondBranchOp::create(b, loc, isOutside, outside, done);
  b.setInsertionPointToEnd(outside);
  if (vector)
    position = vector::ReductionOp::create(b, loc, vector::CombiningKind::MAXUI,
                                           position);
  storeFault(b, loc, faults, fault, isAbsolute, position, high);
  cf::BranchOp::create(b, loc, done);
}

/// Loops that LLVM vectorises keep one vector of greatest positions, as loops
/// without checks have one vector in a step. LLVM would interleave several for
/// a reduction, and gathers at the end of a long step would wait for each
/// other.
static void disableInterleaving(func::FuncOp kernel,
                                ArrayRef<tile::CheckOp> checks) {
  if (kernel.getBody().hasOneBlock())
    return;
  MLIRContext *context = kernel.getContext();
  auto one = LLVM::LoopInterleaveAttr::get(
      context, IntegerAttr::get(IntegerType::get(context, 32), 1));
  auto annotation = getLoopAnnotation(context, one, /*unroll=*/nullptr);
  DominanceInfo dominance(kernel);
  CFGLoopInfo loops(dominance.getDomTree(&kernel.getBody()));
  for (tile::CheckOp check : checks) {
    CFGLoop *loop = loops.getLoopFor(check->getBlock());
    Block *latch = loop ? loop->getLoopLatch() : nullptr;
    if (latch && !latch->getTerminator()->hasAttr(kLoopAnnotation))
      latch->getTerminator()->setAttr(kLoopAnnotation, annotation);
  }
}

/// Positions of one type and fault share one greatest position.
static void lowerChecks(func::FuncOp kernel, ArrayRef<tile::CheckOp> checks,
                        Value faults) {
  using Key = std::pair<Type, uint64_t>;
  SmallVector<std::pair<Key, GreatestPosition>> all;
  for (tile::CheckOp check : checks) {
    Key key{check.getPositions().getType(), check.getFault()};
    auto same = llvm::find_if(
        all, [&](const auto &entry) { return entry.first == key; });
    if (same == all.end()) {
      all.push_back({key, GreatestPosition(kernel, check)});
      same = std::prev(all.end());
    }
    same->second.update(check);
  }
  for (auto &[key, greatest] : all)
    greatest.finish(kernel, faults);
}

/// Creates @k_programs(%syms) from @k_programs(memrefs..), or one that returns
/// 1.
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
  // The number of programs depends on sizes only.
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

/// Creates @k(%ptrs, %syms, %lo, %hi, %scratch), which calls @k.body; with
/// checks, %faults follows. `numPointers` includes the print function, if the
/// kernel prints.
static void createEntryPoint(func::FuncOp body, StringRef name,
                             unsigned numPointers, bool hasRange,
                             bool hasChecks, SymbolTable &symbols) {
  Location loc = body.getLoc();
  OpBuilder builder(body.getContext());
  auto pointer = LLVM::LLVMPointerType::get(body.getContext());
  Type i64 = builder.getI64Type();
  SmallVector<Type> types{pointer, pointer, i64, i64, pointer};
  if (hasChecks)
    types.push_back(pointer);
  auto entry =
      func::FuncOp::create(loc, name, builder.getFunctionType(types, {}));
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
  llvm::append_range(operands, block->getArguments().drop_front(4));
  func::CallOp::create(builder, loc, body, operands);
  func::ReturnOp::create(builder, loc);
}

/// Returns the arguments of a kernel that may be the memory of others.
static llvm::SmallDenseSet<unsigned> getInPlace(func::FuncOp kernel) {
  llvm::SmallDenseSet<unsigned> found;
  for (unsigned i = 0; i < kernel.getNumArguments(); ++i)
    if (auto operand =
            kernel.getArgAttrOfType<IntegerAttr>(i, host::inPlaceAttr))
      found.insert_range(ArrayRef{i, unsigned(operand.getInt())});
  return found;
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

  // New arguments are added after the old ones, and then the memrefs are
  // erased.
  Block &entry = kernel.front();
  Frame frame;
  SmallVector<Type> argumentTypes;
  for (unsigned index = 0; index < dims.size(); ++index) {
    frame.pointers.push_back(
        entry.insertArgument(dims.size() + index, pointer, loc));
    argumentTypes.push_back(pointer);
  }
  bool prints = tile::hasPrints(kernel);
  if (prints) {
    lowerPrints(kernel, entry.insertArgument(2 * dims.size(), pointer, loc));
    argumentTypes.push_back(pointer);
  }
  argumentTypes.append(numRange, builder.getIndexType());
  frame.symbols = entry.addArgument(pointer, loc);
  Value scratch = entry.addArgument(pointer, loc);
  argumentTypes.append(2, pointer);
  SmallVector<tile::CheckOp> checks;
  kernel.walk([&](tile::CheckOp check) { checks.push_back(check); });
  if (!checks.empty()) {
    argumentTypes.push_back(pointer);
    disableInterleaving(kernel, checks);
    lowerChecks(kernel, checks, entry.addArgument(pointer, loc));
  }

  FailureOr<unsigned> moved = moveAllocationsToScratch(
      kernel, name, dims, frame.symbols, scratch, symbols, types);
  if (failed(moved))
    return failure();
  numScratch += *moved;
  lowerSizes(kernel, frame.symbols);
  if (failed(replaceMemRefArguments(kernel, dims, frame, types)))
    return failure();
  entry.eraseArguments(0, dims.size());

  llvm::SmallDenseSet<unsigned> inPlace = getInPlace(kernel);
  kernel.removeArgAttrsAttr();
  kernel.setType(builder.getFunctionType(argumentTypes, {}));
  for (auto [index, type] : llvm::enumerate(argumentTypes))
    if (isa<LLVM::LLVMPointerType>(type) && !inPlace.contains(index))
      kernel.setArgAttr(index, LLVM::LLVMDialect::getNoAliasAttrName(),
                        builder.getUnitAttr());
  kernel->removeAttr(host::kernelAttr);
  symbols.remove(kernel);
  kernel.setName(name + ".body");
  symbols.insert(kernel);
  kernel.setPrivate();
  createEntryPoint(kernel, name, dims.size() + prints, numRange != 0,
                   /*hasChecks=*/!checks.empty(), symbols);
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
  populateVectorToLLVMConversionPatterns(types, patterns,
                                         /*reassociateFPReductions=*/true);
  // Functions of math become intrinsics if LLVM has one (fma, sqrt), and calls
  // otherwise.
  populateMathToLLVMConversionPatterns(types, patterns);
  populateMathToLibmConversionPatterns(patterns, /*benefit=*/0);
  populateAffineToStdConversionPatterns(patterns);
  populateAMXLegalizeForLLVMExportPatterns(types, patterns);
  populateFinalizeMemRefToLLVMConversionPatterns(types, patterns);
  populateFuncToLLVMConversionPatterns(types, patterns);

  LLVMConversionTarget target(getContext());
  target.addLegalDialect<host::HostDialect>();
  target.addLegalOp<ModuleOp>();
  // Another pass lowers the host program.
  auto isHost = [](func::FuncOp function) {
    return function->hasAttr(host::numInputsAttr);
  };
  target.addDynamicallyLegalOp<func::FuncOp>(isHost);
  target.markOpRecursivelyLegal<func::FuncOp>(isHost);
  // No pattern fails after it changed the IR, so changes are made at once.
  ConversionConfig config;
  config.allowPatternRollback = false;
  return applyFullConversion(getOperation(), target, std::move(patterns),
                             config);
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
      // Inlining would lose the attributes of its arguments.
      function.setNoInline(true);
    }
  // Upstream tools read the text from here on.
  module->removeAttr(tile::kTargetsAttribute);
}

} // namespace adze
