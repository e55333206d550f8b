// Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
//
// The host program: straight-line launches to calls through the host table.
#include "Broadcasts.h"
#include "Conversion/Passes.h"
#include "Dialect/Host/IR/Host.h"
#include "Formula.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;

namespace adze {
#define GEN_PASS_DEF_CONVERTHOSTTOLLVM
#include "Conversion/Passes.h.inc"

namespace {
/// Fields of adze_host_table, as indices of its LLVM struct.
enum HostTableField : int32_t { Launch = 2, Copy = 3, Alloc = 4, Fail = 5 };

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

class ConvertHostToLLVMPass final
    : public impl::ConvertHostToLLVMBase<ConvertHostToLLVMPass> {
public:
  void runOnOperation() override;
};

/// Lowers one host program, op by op.
class HostLowering {
public:
  explicit HostLowering(func::FuncOp program)
      : program(program), context(program.getContext()), builder(context),
        pointer(LLVM::LLVMPointerType::get(context)), i32(builder.getI32Type()),
        i64(builder.getI64Type()) {}

  LogicalResult run();
  unsigned launches() const { return numLaunches; }

private:
  LLVM::LLVMFuncOp createFunction(StringRef name, Type result,
                                  ArrayRef<Type> arguments);
  LLVM::LLVMFuncOp createFormula(StringRef name, StringRef attribute);
  void addSlotsBehindOthers(LLVM::LLVMFuncOp arenaBytes);
  Value emitOffset(Formula &formula, host::SlotOp op,
                   const llvm::DenseMap<Value, Value> &ends);
  Value emitEnd(Formula &formula, host::SlotOp op, Value offset);
  void createFormula(const Twine &name, AffineExpr expr);
  void createCosts();
  LogicalResult createInfer();
  LogicalResult lowerProgram(LLVM::LLVMFuncOp run);
  void checkSizes();
  LogicalResult lower(Operation *op);
  void lower(host::LaunchOp op);
  void lower(host::CopyOp op);
  LogicalResult lower(host::ConstantOp op);
  LogicalResult lower(host::SlotOp op);

  Value offsetPointer(Location loc, Value base, Value bytes);
  Value element(Location loc, Value array, int32_t index);
  Value tableField(Location loc, HostTableField field);
  void returnIfError(Location loc, Value code);
  /// A formula that emits at the current place; symbols are loaded anew, which
  /// LLVM merges.
  Value bytes(Location loc, Attribute attr) {
    return Formula(builder, loc, arguments[RunArgument::Symbols])
        .emit(host::getBytesExpr(attr, context));
  }

  func::FuncOp program;
  MLIRContext *context;
  OpBuilder builder;
  LLVM::LLVMPointerType pointer;
  Type i32, i64;
  ValueRange arguments;
  Value launchOperands;       // one array for all launches
  Block *errorExit = nullptr; // returns its argument
  llvm::DenseMap<Value, Value> places;
  llvm::DenseMap<Value, Value> slotEnds; // of those that others lie behind
  unsigned numLaunches = 0;
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
  Formula formula(builder, program.getLoc(), function.getArgument(0));
  Value result =
      formula.emitMax(map ? map.getValue() : AffineMap::get(context));
  LLVM::ReturnOp::create(builder, program.getLoc(), result);
  return function;
}

/// Where the slot begins; `ends` are those of the slots before it.
Value HostLowering::emitOffset(Formula &formula, host::SlotOp op,
                               const llvm::DenseMap<Value, Value> &ends) {
  if (op.getBehind().empty())
    return formula.emit(host::getBytesExpr(op.getOffsetAttr(), context));
  Value offset;
  for (Value other : op.getBehind()) {
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
  return LLVM::AddOp::create(builder, op.getLoc(), offset,
                             formula.emit(aligned));
}

/// The arena reaches to their ends as well.
void HostLowering::addSlotsBehindOthers(LLVM::LLVMFuncOp arenaBytes) {
  auto returned =
      cast<LLVM::ReturnOp>(arenaBytes.getBody().front().getTerminator());
  builder.setInsertionPoint(returned);
  Formula formula(builder, program.getLoc(), arenaBytes.getArgument(0));
  llvm::DenseMap<Value, Value> ends;
  Value total = returned.getArg();
  for (auto slot : program.front().getOps<host::SlotOp>()) {
    bool isBelow = llvm::any_of(slot->getUsers(), llvm::IsaPred<host::SlotOp>);
    if (slot.getBehind().empty() && !isBelow)
      continue;
    Value end = emitEnd(formula, slot, emitOffset(formula, slot, ends));
    ends[slot.getResult()] = end;
    if (!isBelow)
      total = LLVM::SMaxOp::create(builder, slot.getLoc(), total, end);
  }
  returned.getArgMutable().assign(total);
}

void HostLowering::createFormula(const Twine &name, AffineExpr expr) {
  auto function = createFunction(name.str(), i64, {pointer});
  Formula formula(builder, program.getLoc(), function.getArgument(0));
  LLVM::ReturnOp::create(builder, program.getLoc(), formula.emit(expr));
}

/// What profiles say of each launch.
void HostLowering::createCosts() {
  unsigned number = 0;
  for (auto launch : program.getOps<host::LaunchOp>()) {
    AffineExpr read = getAffineConstantExpr(0, context), written = read;
    size_t numInputs = launch.getNumOperands() - launch.getNumOutputs();
    for (auto [index, place] : llvm::enumerate(launch.getOperands())) {
      AffineExpr &sum = index < numInputs ? read : written;
      sum = sum + host::getPlaceBytes(place);
    }
    createFormula(host::bytesReadFunction + Twine(number), read);
    createFormula(host::bytesWrittenFunction + Twine(number), written);
    if (Attribute flops = launch->getAttr(host::flopsAttr))
      createFormula(host::flopsFunction + Twine(number),
                    host::getBytesExpr(flops, context));
    ++number;
  }
}

LogicalResult HostLowering::createInfer() {
  auto function = createFunction("adze_infer", LLVM::LLVMVoidType::get(context),
                                 {pointer, pointer});
  Location loc = program.getLoc();
  Formula formula(builder, loc, function.getArgument(0));
  auto numInputs =
      program->getAttrOfType<IntegerAttr>(host::numInputsAttr).getInt();
  int32_t position = 0;
  for (unsigned index = numInputs; index < program.getNumArguments(); ++index) {
    auto type = cast<MemRefType>(program.getArgument(index).getType());
    auto map = program.getArgAttrOfType<AffineMapAttr>(index, host::dimsAttr);
    if (!map && !type.hasStaticShape())
      return program.emitError("expected '")
             << host::dimsAttr << "' on dynamic argument " << index;
    for (int64_t dim = 0; dim < type.getRank(); ++dim) {
      Value size = type.isDynamicDim(dim)
                       ? formula.emit(map.getValue().getResult(dim))
                       : formula.constant(type.getDimSize(dim));
      Value place = LLVM::GEPOp::create(builder, loc, pointer, i64,
                                        function.getArgument(1),
                                        ArrayRef<LLVM::GEPArg>{position++});
      LLVM::StoreOp::create(builder, loc, size, place);
    }
  }
  LLVM::ReturnOp::create(builder, loc, ValueRange());
  return success();
}

Value HostLowering::offsetPointer(Location loc, Value base, Value bytes) {
  return LLVM::GEPOp::create(builder, loc, pointer, builder.getI8Type(), base,
                             ArrayRef<LLVM::GEPArg>{bytes});
}

Value HostLowering::element(Location loc, Value array, int32_t index) {
  return LLVM::GEPOp::create(builder, loc, pointer, pointer, array,
                             ArrayRef<LLVM::GEPArg>{index});
}

Value HostLowering::tableField(Location loc, HostTableField field) {
  auto table = LLVM::LLVMStructType::getLiteral(
      context, {i32, i32, pointer, pointer, pointer, pointer});
  Value place = LLVM::GEPOp::create(builder, loc, pointer, table,
                                    arguments[RunArgument::Table],
                                    ArrayRef<LLVM::GEPArg>{0, int32_t(field)});
  return LLVM::LoadOp::create(builder, loc, pointer, place);
}

void HostLowering::returnIfError(Location loc, Value code) {
  Value zero =
      LLVM::ConstantOp::create(builder, loc, i32, builder.getI32IntegerAttr(0));
  Value failed =
      LLVM::ICmpOp::create(builder, loc, LLVM::ICmpPredicate::ne, code, zero);
  auto *next = new Block();
  next->insertBefore(errorExit);
  LLVM::CondBrOp::create(builder, loc, failed, errorExit, ValueRange{code},
                         next, ValueRange());
  builder.setInsertionPointToEnd(next);
}

/// Ends the run where sizes do not agree as the model takes for granted.
void HostLowering::checkSizes() {
  Location loc = program.getLoc();
  Value bad =
      emitSizeViolation(builder, program, arguments[RunArgument::Symbols]);
  if (!bad)
    return;
  auto *report = new Block(), *next = new Block();
  report->insertBefore(errorExit);
  next->insertBefore(errorExit);
  LLVM::CondBrOp::create(builder, loc, bad, report, ValueRange(), next,
                         ValueRange());
  builder.setInsertionPointToEnd(report);
  Value node = createText(builder, program, "adze_no_node", "");
  Value message = createText(
      builder, program, "adze_sizes_message",
      "the inputs' shapes do not agree as the model's operators need them to");
  auto type = LLVM::LLVMFunctionType::get(i32, {pointer, pointer, pointer});
  auto call = LLVM::CallOp::create(
      builder, loc, type,
      ValueRange{tableField(loc, HostTableField::Fail),
                 arguments[RunArgument::Exec], node, message});
  LLVM::BrOp::create(builder, loc, ValueRange{call.getResult()}, errorExit);
  builder.setInsertionPointToEnd(next);
}

void HostLowering::lower(host::LaunchOp op) {
  Location loc = op.getLoc();
  for (auto [index, operand] : llvm::enumerate(op.getOperands()))
    LLVM::StoreOp::create(builder, loc, places.lookup(operand),
                          element(loc, launchOperands, index));
  Value number = LLVM::ConstantOp::create(
      builder, loc, i32, builder.getI32IntegerAttr(numLaunches++));
  auto type = LLVM::LLVMFunctionType::get(i32, {pointer, i32, pointer});
  auto call = LLVM::CallOp::create(
      builder, loc, type,
      ValueRange{tableField(loc, HostTableField::Launch),
                 arguments[RunArgument::Exec], number, launchOperands});
  returnIfError(loc, call.getResult());
}

void HostLowering::lower(host::CopyOp op) {
  Location loc = op.getLoc();
  auto type =
      LLVM::LLVMFunctionType::get(i32, {pointer, pointer, pointer, i64});
  auto call = LLVM::CallOp::create(
      builder, loc, type,
      ValueRange{tableField(loc, HostTableField::Copy),
                 arguments[RunArgument::Exec], places.lookup(op.getTarget()),
                 places.lookup(op.getSource()), bytes(loc, op.getSizeAttr())});
  returnIfError(loc, call.getResult());
}

LogicalResult HostLowering::lower(host::ConstantOp op) {
  if (!op.getOffset())
    return op.emitOpError("expected an offset from plan-memory");
  places[op.getResult()] =
      offsetPointer(op.getLoc(), arguments[RunArgument::Weights],
                    bytes(op.getLoc(), op.getOffsetAttr()));
  return success();
}

LogicalResult HostLowering::lower(host::SlotOp op) {
  if (!op.getOffsetAttr() && op.getBehind().empty())
    return op.emitOpError("expected an offset from plan-memory");
  Formula formula(builder, op.getLoc(), arguments[RunArgument::Symbols]);
  Value offset = emitOffset(formula, op, slotEnds);
  if (llvm::any_of(op->getUsers(), llvm::IsaPred<host::SlotOp>))
    slotEnds[op.getResult()] = emitEnd(formula, op, offset);
  places[op.getResult()] =
      offsetPointer(op.getLoc(), arguments[RunArgument::Arena], offset);
  return success();
}

LogicalResult HostLowering::lower(Operation *op) {
  return llvm::TypeSwitch<Operation *, LogicalResult>(op)
      .Case<host::LaunchOp, host::CopyOp>([&](auto op) {
        lower(op);
        return success();
      })
      .Case<host::ConstantOp, host::SlotOp>([&](auto op) { return lower(op); })
      .Case([&](host::ViewOp op) {
        Value base = places.lookup(op.getSource());
        places[op.getResult()] =
            op.getOffsetAttr()
                ? offsetPointer(op.getLoc(), base,
                                bytes(op.getLoc(), op.getOffsetAttr()))
                : base;
        return success();
      })
      .Case([&](func::ReturnOp op) {
        Value zero = LLVM::ConstantOp::create(builder, op.getLoc(), i32,
                                              builder.getI32IntegerAttr(0));
        LLVM::ReturnOp::create(builder, op.getLoc(), zero);
        return success();
      })
      .Default([](Operation *op) {
        return op->emitOpError("expected an op of the host program");
      });
}

LogicalResult HostLowering::lowerProgram(LLVM::LLVMFuncOp run) {
  arguments = run.getArguments();
  Location loc = program.getLoc();
  auto numInputs =
      program->getAttrOfType<IntegerAttr>(host::numInputsAttr).getInt();
  unsigned maxOperands = 0;
  program.walk([&](host::LaunchOp op) {
    maxOperands = std::max(maxOperands, op.getNumOperands());
  });
  Value count = LLVM::ConstantOp::create(
      builder, loc, i64, builder.getI64IntegerAttr(maxOperands));
  launchOperands =
      LLVM::AllocaOp::create(builder, loc, pointer, pointer, count);
  for (BlockArgument argument : program.getArguments()) {
    int64_t index = argument.getArgNumber();
    Value array = arguments[index < numInputs ? RunArgument::Inputs
                                              : RunArgument::Outputs];
    places[argument] = LLVM::LoadOp::create(
        builder, loc, pointer,
        element(loc, array, index < numInputs ? index : index - numInputs));
  }
  errorExit = new Block();
  run.getBody().push_back(errorExit);
  {
    OpBuilder::InsertionGuard guard(builder);
    builder.setInsertionPointToEnd(errorExit);
    LLVM::ReturnOp::create(builder, loc, errorExit->addArgument(i32, loc));
  }
  checkSizes();
  for (Operation &op : program.front())
    if (failed(lower(&op)))
      return failure();
  return success();
}

LogicalResult HostLowering::run() {
  if (!program.getBody().hasOneBlock())
    return program.emitError("expected a host program of one block");
  addSlotsBehindOthers(createFormula("adze_arena_bytes", host::arenaBytesAttr));
  createFormula("adze_arena_lower_bound", host::arenaLowerBoundAttr);
  if (failed(createInfer()))
    return failure();
  createCosts();
  SmallVector<Type> types(RunArgument::NumRunArguments, pointer);
  if (failed(lowerProgram(createFunction("adze_run", i32, types))))
    return failure();
  program.erase();
  return success();
}

void ConvertHostToLLVMPass::runOnOperation() {
  for (auto function :
       llvm::make_early_inc_range(getOperation().getOps<func::FuncOp>())) {
    if (!function->hasAttr(host::numInputsAttr))
      continue;
    HostLowering lowering(function);
    if (failed(lowering.run()))
      return signalPassFailure();
    numLaunches += lowering.launches();
  }
}

} // namespace adze
