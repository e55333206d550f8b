// Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
//
// Emits the formulas of the host program: sizes, costs and shapes of outputs.
#include "Broadcasts.h"
#include "Conversion/Passes.h"
#include "Dialect/Graph/IR/Graph.h"
#include "Dialect/Graph/IR/Shape.h"
#include "Dialect/Graph/IR/States.h"
#include "HostLowering.h"

using namespace mlir;

namespace adze {
#define GEN_PASS_DEF_CONVERTHOSTTOLLVM
#include "Conversion/Passes.h.inc"

namespace {
class ConvertHostToLLVMPass final
    : public impl::ConvertHostToLLVMBase<ConvertHostToLLVMPass> {
public:
  void runOnOperation() override;
};
} // namespace

LLVM::LLVMFuncOp HostLowering::createFunction(StringRef name, Type result,
                                              ArrayRef<Type> types) {
  builder.setInsertionPoint(program);
  auto function =
      LLVM::LLVMFuncOp::create(builder, program.getLoc(), name,
                               LLVM::LLVMFunctionType::get(result, types));
  builder.setInsertionPointToStart(function.addEntryBlock(builder));
  return function;
}

LLVM::LLVMFuncOp HostLowering::createFormula(StringRef name,
                                             StringRef attribute) {
  auto function = createFunction(name, i64, {pointer});
  auto map = program->getAttrOfType<AffineMapAttr>(attribute);
  Formula formula(builder, program.getLoc(), function.getArgument(0),
                  /*saturating=*/true);
  Value result =
      formula.emitMax(map ? map.getValue() : AffineMap::get(context));
  LLVM::ReturnOp::create(builder, program.getLoc(), result);
  return function;
}

/// Returns the offset of the slot; `ends` are the ends of the slots that it
/// follows.
Value HostLowering::emitOffset(Formula &formula, host::SlotOp op,
                               const llvm::DenseMap<Value, Value> &ends) {
  if (op.getAfter().empty())
    return formula.emit(host::getBytesExpr(op.getOffsetAttr(), context));
  Value offset;
  for (Value other : op.getAfter()) {
    Value end = ends.lookup(other);
    offset = offset ? LLVM::SMaxOp::create(builder, op.getLoc(), offset, end)
                          .getResult()
                    : end;
  }
  return offset;
}

Value HostLowering::emitEnd(Formula &formula, host::SlotOp op, Value offset) {
  AffineExpr bytes = host::getBytesExpr(op.getSize(), context);
  AffineExpr aligned =
      bytes.ceilDiv(host::placeAlignment) * host::placeAlignment;
  return formula.emitSum(offset, formula.emit(aligned));
}

/// The arena includes the ends of these slots.
void HostLowering::addSlotsBehindOthers(LLVM::LLVMFuncOp arenaBytes) {
  auto returned =
      cast<LLVM::ReturnOp>(arenaBytes.getBody().front().getTerminator());
  builder.setInsertionPoint(returned);
  Formula formula(builder, program.getLoc(), arenaBytes.getArgument(0),
                  /*saturating=*/true);
  llvm::DenseMap<Value, Value> ends;
  Value total = returned.getArg();
  for (auto slot : program.front().getOps<host::SlotOp>()) {
    bool isBelow = llvm::any_of(slot->getUsers(), llvm::IsaPred<host::SlotOp>);
    if (slot.getAfter().empty() && !isBelow)
      continue;
    Value end = emitEnd(formula, slot, emitOffset(formula, slot, ends));
    ends[slot.getResult()] = end;
    if (!isBelow)
      total = LLVM::SMaxOp::create(builder, slot.getLoc(), total, end);
  }
  returned.getArgMutable().assign(total);
}

/// If operators of the model reject the combination of sizes, the arena size is
/// a negative code, which the run time tests before it allocates memory.
void HostLowering::refuseSizes(LLVM::LLVMFuncOp arenaBytes) {
  auto returned =
      cast<LLVM::ReturnOp>(arenaBytes.getBody().front().getTerminator());
  builder.setInsertionPoint(returned);
  returned.getArgMutable().assign(emitUnlessMisfit(
      builder, program, arenaBytes.getArgument(0), returned.getArg()));
}

void HostLowering::createFormula(const Twine &name, AffineExpr expr) {
  auto function = createFunction(name.str(), i64, {pointer});
  Formula formula(builder, program.getLoc(), function.getArgument(0));
  LLVM::ReturnOp::create(builder, program.getLoc(), formula.emit(expr));
}

/// Creates a formula that only profiles evaluate, so its code is not
/// optimized. Launches of equal cost share it.
void HostLowering::createCost(const Twine &name, AffineExpr expr) {
  auto function = createFunction(name.str(), i64, {pointer});
  function.setOptimizeNone(true);
  function.setNoInline(true);
  Location loc = program.getLoc();
  LLVM::LLVMFuncOp &first = costs[expr];
  Value result;
  if (first) {
    result = LLVM::CallOp::create(builder, loc, first, function.getArgument(0))
                 .getResult();
  } else {
    first = function;
    result = Formula(builder, loc, function.getArgument(0)).emit(expr);
  }
  LLVM::ReturnOp::create(builder, loc, result);
}

/// Writes the bytes of each place of a launch, for copies of them. The run time
/// knows those of states.
void HostLowering::createPlaces(host::LaunchOp launch, unsigned number) {
  auto function =
      createFunction((host::placesFunction + Twine(number)).str(),
                     LLVM::LLVMVoidType::get(context), {pointer, pointer});
  Location loc = launch.getLoc();
  Formula formula(builder, loc, function.getArgument(0));
  for (auto [index, place] : llvm::enumerate(launch.getOperands())) {
    AffineExpr bytes = host::getBytesToEnd(place);
    if (!bytes)
      continue;
    Value value = formula.emit(bytes);
    Value to =
        LLVM::GEPOp::create(builder, loc, pointer, i64, function.getArgument(1),
                            ArrayRef<LLVM::GEPArg>{int32_t(index)});
    LLVM::StoreOp::create(builder, loc, value, to);
  }
  LLVM::ReturnOp::create(builder, loc, ValueRange());
}

/// Creates the costs of launches that profiles report, and the bytes of copied
/// places.
void HostLowering::createCosts() {
  program.walk([&](host::LaunchOp launch) {
    unsigned number = launchNumbers.size();
    launchNumbers[launch] = number;
    AffineExpr read = getAffineConstantExpr(0, context), written = read;
    size_t numInputs = launch.getNumOperands() - launch.getNumOutputs();
    for (auto [index, place] : llvm::enumerate(launch.getOperands())) {
      AffineExpr &sum = index < numInputs ? read : written;
      sum = sum + host::getPlaceBytes(place);
    }
    if (Attribute part = launch->getAttr(host::bytesReadAttr))
      read = host::getBytesExpr(part, context);
    if (Attribute part = launch->getAttr(host::bytesWrittenAttr))
      written = host::getBytesExpr(part, context);
    createCost(host::bytesReadFunction + Twine(number), read);
    createCost(host::bytesWrittenFunction + Twine(number), written);
    if (Attribute flops = launch->getAttr(host::flopsAttr))
      createCost(host::flopsFunction + Twine(number),
                 host::getBytesExpr(flops, context));
    if (launch->hasAttr(host::hostFallbackAttr))
      createPlaces(launch, number);
  });
}

/// Creates the numbers of rows in the buffer of each state, and of those that
/// the output does not have.
void HostLowering::createStates() {
  auto states = program->getAttrOfType<ArrayAttr>(graph::statesAttr);
  if (!states)
    return;
  for (auto [number, state] :
       llvm::enumerate(states.getAsRange<graph::StateAttr>())) {
    if (state.getKind() != graph::StateKind::Rows)
      continue;
    createFormula(host::stateRowsFunction + Twine(number),
                  state.getRows().getValue().getResult(0));
    createFormula(host::stateDropFunction + Twine(number),
                  state.getDrop().getValue().getResult(0));
  }
}

LogicalResult HostLowering::createInfer() {
  auto function = createFunction("adze_infer", LLVM::LLVMVoidType::get(context),
                                 {pointer, pointer});
  Location loc = program.getLoc();
  Formula formula(builder, loc, function.getArgument(0));
  auto numInputs =
      program->getAttrOfType<IntegerAttr>(host::numInputsAttr).getInt();
  unsigned numInputSymbols = host::getNumInputSymbols(program);
  AffineExpr minusOne = getAffineConstantExpr(-1, context);
  int32_t position = 0;
  for (unsigned index = numInputs; index < program.getNumArguments(); ++index) {
    auto type = cast<MemRefType>(program.getArgument(index).getType());
    auto map = program.getArgAttrOfType<AffineMapAttr>(index, host::dimsAttr);
    if (!map && !type.hasStaticShape())
      return program.emitError("expected '")
             << host::dimsAttr << "' on dynamic argument " << index;
    for (int64_t dim = 0; dim < type.getRank(); ++dim) {
      AffineExpr expr =
          type.isDynamicDim(dim)
              ? map.getValue().getResult(dim)
              : getAffineConstantExpr(type.getDimSize(dim), context);
      // -1 is a data-dependent size, so negative sizes are decremented by one.
      bool isKnown = host::getNumSymbolsUsed(expr) <= numInputSymbols;
      Value size = formula.emit(isKnown ? expr : minusOne);
      if (isKnown && !graph::isNonNegative(expr))
        size = LLVM::SelectOp::create(
            builder, loc,
            LLVM::ICmpOp::create(builder, loc, LLVM::ICmpPredicate::slt, size,
                                 formula.constant(0)),
            formula.emit(expr - 1), size);
      Value place = LLVM::GEPOp::create(builder, loc, pointer, i64,
                                        function.getArgument(1),
                                        ArrayRef<LLVM::GEPArg>{position++});
      LLVM::StoreOp::create(builder, loc, size, place);
    }
  }
  LLVM::ReturnOp::create(builder, loc, ValueRange());
  return success();
}

LogicalResult HostLowering::run() {
  if (!program.getBody().hasOneBlock())
    return program.emitError("expected a host program of one block");
  LLVM::LLVMFuncOp arenaBytes =
      createFormula("adze_arena_bytes", host::arenaBytesAttr);
  addSlotsBehindOthers(arenaBytes);
  refuseSizes(arenaBytes);
  createFormula("adze_arena_lower_bound", host::arenaLowerBoundAttr);
  if (failed(createInfer()))
    return failure();
  createCosts();
  createStates();
  SmallVector<Type> types(RunArgument::NumRunArguments, pointer);
  if (failed(lowerProgram(createFunction("adze_run", i32, types))))
    return failure();
  program.erase();
  return success();
}

void ConvertHostToLLVMPass::runOnOperation() {
  unsigned numPrograms = 0;
  for (auto function :
       llvm::make_early_inc_range(getOperation().getOps<func::FuncOp>())) {
    if (!function->hasAttr(host::numInputsAttr))
      continue;
    if (numPrograms++) {
      function.emitError("expected one host program in the module");
      return signalPassFailure();
    }
    if (function->hasAttr(host::loweredAttr)) {
      function.erase();
      continue;
    }
    HostLowering lowering(function);
    if (failed(lowering.run()))
      return signalPassFailure();
    numLaunches += lowering.launches();
  }
}

} // namespace adze
