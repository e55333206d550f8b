// Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
//
// Lowers the ops of the host program: calls through the host table, branches
// and loops.
#include "Broadcasts.h"
#include "Dialect/Graph/IR/Graph.h"
#include "Dialect/Host/IR/External.h"
#include "Dialect/Tile/IR/Faults.h"
#include "HostLowering.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;

namespace adze {

//===----------------------------------------------------------------------===//
// Pieces
//===----------------------------------------------------------------------===//

Value HostLowering::i32Constant(Location loc, int32_t value) {
  return LLVM::ConstantOp::create(builder, loc, i32,
                                  builder.getI32IntegerAttr(value));
}

Value HostLowering::i64Constant(Location loc, int64_t value) {
  return LLVM::ConstantOp::create(builder, loc, i64,
                                  builder.getI64IntegerAttr(value));
}

Value HostLowering::offsetPointer(Location loc, Value base, Value bytes) {
  return LLVM::GEPOp::create(builder, loc, pointer, builder.getI8Type(), base,
                             ArrayRef<LLVM::GEPArg>{bytes});
}

Value HostLowering::element(Location loc, Value array, int32_t index) {
  return LLVM::GEPOp::create(builder, loc, pointer, pointer, array,
                             ArrayRef<LLVM::GEPArg>{index});
}

Block *HostLowering::addBlock(TypeRange types) {
  auto *block = new Block();
  block->insertBefore(errorExit);
  for (Type type : types)
    block->addArgument(type, program.getLoc());
  return block;
}

Value HostLowering::loadFunction(Location loc, HostTableField field) {
  SmallVector<Type> fields(NumHostTableFields, pointer);
  fields[0] = fields[1] = i32;
  auto table = LLVM::LLVMStructType::getLiteral(context, fields);
  Value place = LLVM::GEPOp::create(builder, loc, pointer, table,
                                    arguments[RunArgument::Table],
                                    ArrayRef<LLVM::GEPArg>{0, int32_t(field)});
  return LLVM::LoadOp::create(builder, loc, pointer, place);
}

void HostLowering::returnUnless(Location loc, Value condition, Value code) {
  Block *next = addBlock();
  LLVM::CondBrOp::create(builder, loc, condition, next, ValueRange(), errorExit,
                         ValueRange{code});
  builder.setInsertionPointToEnd(next);
}

Value HostLowering::callTable(Location loc, HostTableField field, Type result,
                              ValueRange operands) {
  SmallVector<Value> all{loadFunction(loc, field),
                         arguments[RunArgument::Exec]};
  llvm::append_range(all, operands);
  auto type = LLVM::LLVMFunctionType::get(
      result, llvm::to_vector(ValueRange(all).drop_front().getTypes()));
  return LLVM::CallOp::create(builder, loc, type, all).getResult();
}

void HostLowering::call(Location loc, HostTableField field,
                        ValueRange operands) {
  Value code = callTable(loc, field, i32, operands);
  Value failed = LLVM::ICmpOp::create(builder, loc, LLVM::ICmpPredicate::ne,
                                      code, i32Constant(loc, 0));
  Block *next = addBlock();
  LLVM::CondBrOp::create(builder, loc, failed, errorExit, ValueRange{code},
                         next, ValueRange());
  builder.setInsertionPointToEnd(next);
}

Value HostLowering::callForMemory(Location loc, HostTableField field,
                                  ValueRange operands) {
  Value memory = callTable(loc, field, pointer, operands);
  Value null = LLVM::ZeroOp::create(builder, loc, pointer);
  Value isThere =
      LLVM::ICmpOp::create(builder, loc, LLVM::ICmpPredicate::ne, memory, null);
  // The run time holds the reason; any code other than 0 ends the run.
  returnUnless(loc, isThere, i32Constant(loc, 1));
  return memory;
}

/// The table of an older run time has fewer functions than this program calls.
void HostLowering::checkTable(Location loc, HostTableField last) {
  constexpr int32_t unsupported = 3; // ADZE_UNSUPPORTED
  int64_t bytes = 8 + 8 * (last - 1);
  Value size =
      LLVM::LoadOp::create(builder, loc, i32, arguments[RunArgument::Table]);
  Value isThere = LLVM::ICmpOp::create(builder, loc, LLVM::ICmpPredicate::uge,
                                       size, i32Constant(loc, bytes));
  returnUnless(loc, isThere, i32Constant(loc, unsupported));
}

Value HostLowering::getText(Location loc, StringRef text) {
  auto module = program->getParentOfType<ModuleOp>();
  std::string name;
  for (unsigned number = 0;; ++number) {
    name = "adze_text." + std::to_string(number);
    auto global = module.lookupSymbol<LLVM::GlobalOp>(name);
    if (!global)
      break;
    auto value = cast<StringAttr>(global.getValueOrNull());
    if (value.getValue().drop_back() == text)
      return LLVM::AddressOfOp::create(builder, loc, pointer,
                                       global.getSymName());
  }
  return LLVM::createGlobalString(
      loc, builder, name, (text + Twine('\0')).str(), LLVM::Linkage::Private);
}

Value HostLowering::getNodeName(Location loc) {
  StringRef name;
  loc->walk([&](Location part) {
    auto named = dyn_cast<NameLoc>(part);
    // Names without a location in the model are those of initialisers.
    if (named && name.empty() && isa<FileLineColLoc>(named.getChildLoc()))
      name = named.getName().getValue();
    return WalkResult::advance();
  });
  return getText(loc, name);
}

//===----------------------------------------------------------------------===//
// Places
//===----------------------------------------------------------------------===//

LogicalResult HostLowering::lowerWeights(Operation *op, Value base,
                                         IntegerAttr offset) {
  if (!offset)
    return op->emitOpError("expected an offset from plan-memory");
  places[op->getResult(0)] =
      offsetPointer(op->getLoc(), base, bytes(op->getLoc(), offset));
  return success();
}

void HostLowering::lowerBox(host::SlotOp op) {
  Location loc = op.getLoc();
  places[op.getResult()] = callForMemory(loc, Reserve,
                                         {i32Constant(loc, *op.getBox()),
                                          bytes(loc, op.getSizeAttr()),
                                          bytes(loc, op.getKeepAttr())});
}

LogicalResult HostLowering::lower(host::SlotOp op) {
  if (op.getBox()) {
    lowerBox(op);
    return success();
  }
  if (!op.getOffsetAttr() && op.getAfter().empty())
    return op.emitOpError("expected an offset from plan-memory");
  Formula formula(builder, op.getLoc(), arguments[RunArgument::Symbols]);
  Value offset = emitOffset(formula, op, slotEnds);
  if (llvm::any_of(op->getUsers(), llvm::IsaPred<host::SlotOp>))
    slotEnds[op.getResult()] = emitEnd(formula, op, offset);
  places[op.getResult()] =
      offsetPointer(op.getLoc(), arguments[RunArgument::Arena], offset);
  return success();
}

void HostLowering::lower(host::ViewOp op) {
  Value base = places.lookup(op.getSource());
  places[op.getResult()] =
      op.getOffsetAttr() ? offsetPointer(op.getLoc(), base,
                                         bytes(op.getLoc(), op.getOffsetAttr()))
                         : base;
}

void HostLowering::lower(host::OutputOp op) {
  Location loc = op.getLoc();
  unsigned index = cast<BlockArgument>(op.getArgument()).getArgNumber();
  auto type = cast<MemRefType>(op.getArgument().getType());
  auto map = program.getArgAttrOfType<AffineMapAttr>(index, host::dimsAttr);
  Formula formula(builder, loc, arguments[RunArgument::Symbols]);
  for (int64_t dim = 0; dim < type.getRank(); ++dim) {
    Value size = map ? formula.emit(map.getValue().getResult(dim))
                     : i64Constant(loc, type.getDimSize(dim));
    storeNumber(loc, dim, size);
  }
  auto numInputs =
      program->getAttrOfType<IntegerAttr>(host::numInputsAttr).getInt();
  places[op.getResult()] = callForMemory(
      loc, Output, {i32Constant(loc, index - numInputs), hostNumbers});
}

/// The run time binds the pitch.
void HostLowering::lower(host::StateOp op) {
  Location loc = op.getLoc();
  places[op.getResult()] =
      callForMemory(loc, State, {i32Constant(loc, op.getState())});
}

//===----------------------------------------------------------------------===//
// Calls
//===----------------------------------------------------------------------===//

void HostLowering::lower(host::LaunchOp op) {
  Location loc = op.getLoc();
  for (auto [index, operand] : llvm::enumerate(op.getOperands()))
    LLVM::StoreOp::create(builder, loc, places.lookup(operand),
                          element(loc, launchOperands, index));
  if (op->hasAttr(tile::printsAttr))
    LLVM::StoreOp::create(builder, loc, loadFunction(loc, Print),
                          element(loc, launchOperands, op.getNumOperands()));
  SmallVector<Value> operands{i32Constant(loc, launchNumbers.lookup(op)),
                              launchOperands};
  for (Attribute count : {op.getStepsAttr(), op.getGroupsAttr()})
    if (count)
      operands.push_back(bytes(loc, count));
  call(loc,
       op.getGroupsAttr()  ? LaunchGroups
       : op.getStepsAttr() ? LaunchSteps
                           : Launch,
       operands);
}

void HostLowering::lower(host::CopyOp op) {
  Location loc = op.getLoc();
  call(loc, Copy,
       {places.lookup(op.getTarget()), places.lookup(op.getSource()),
        bytes(loc, op.getSizeAttr())});
}

Value HostLowering::numberPlace(Location loc, int32_t index) {
  return LLVM::GEPOp::create(builder, loc, pointer, i64, hostNumbers,
                             ArrayRef<LLVM::GEPArg>{index});
}

void HostLowering::storeNumber(Location loc, int32_t index, Value value) {
  LLVM::StoreOp::create(builder, loc, value, numberPlace(loc, index));
}

/// Passes the values of symbols, which are in hostNumbers from `first` on, to
/// the run time.
void HostLowering::bindSymbols(Location loc, ArrayRef<int64_t> symbols,
                               int32_t first) {
  for (auto [index, symbol] : llvm::enumerate(symbols)) {
    Value place = LLVM::GEPOp::create(builder, loc, pointer, i64, hostSymbols,
                                      ArrayRef<LLVM::GEPArg>{int32_t(index)});
    LLVM::StoreOp::create(builder, loc, i64Constant(loc, symbol), place);
  }
  call(loc, Bind,
       {getNodeName(loc), numberPlace(loc, first), hostSymbols,
        i32Constant(loc, symbols.size())});
}

/// Returns the count of numbers that describe the values of a call.
static size_t countNumbers(host::CallOp op) {
  return 2 * op.getRanks().size() + op.getSymbols().size();
}

void HostLowering::lower(host::CallOp op) {
  Location loc = op.getLoc();
  for (auto [index, input] : llvm::enumerate(op.getInputs()))
    LLVM::StoreOp::create(builder, loc, places.lookup(input),
                          element(loc, launchOperands, index));
  Formula formula(builder, loc, arguments[RunArgument::Symbols]);
  ArrayRef<AffineExpr> dims = op.getDims().getResults();
  ArrayRef<int64_t> symbols = op.getSymbols();
  SmallVector<std::pair<int32_t, ArrayRef<int64_t>>> bound;
  int32_t at = 0;
  for (auto [type, rank] : llvm::zip_equal(op.getTypes(), op.getRanks())) {
    Type element = cast<TypeAttr>(type).getValue();
    graph::Dtype dtype = graph::getDtype(element).value_or(graph::Dtype{0, 0});
    int64_t word = dtype.code | int64_t(dtype.bits) << 8 |
                   int64_t(graph::getKind(element)) << 16;
    storeNumber(loc, at++, i64Constant(loc, word));
    storeNumber(loc, at++, i64Constant(loc, rank));
    ArrayRef<int64_t> mine = symbols.take_front(rank);
    if (llvm::any_of(mine, [](int64_t symbol) { return symbol >= 0; }))
      bound.push_back({at, mine});
    for (auto [dim, symbol] : llvm::zip(dims.take_front(rank), mine))
      storeNumber(loc, at++,
                  symbol >= 0 ? i64Constant(loc, -1) : formula.emit(dim));
    dims = dims.drop_front(rank);
    symbols = symbols.drop_front(rank);
  }
  size_t numInputs = op.getInputs().size();
  auto number = operatorNumbers.find(op);
  std::string function = number == operatorNumbers.end()
                             ? op.getFunction().str()
                             : "@" + std::to_string(number->second);
  call(loc, Call,
       {getNodeName(loc), getText(loc, function), launchOperands,
        i32Constant(loc, numInputs),
        i32Constant(loc, op.getRanks().size() - numInputs), hostNumbers});
  for (auto [first, values] : bound)
    bindSymbols(loc, values, first);
}

void HostLowering::lower(host::FetchOp op) {
  Location loc = op.getLoc();
  call(loc, Fetch,
       {i32Constant(loc, op.getIndex()), places.lookup(op.getTarget()),
        bytes(loc, op.getSizeAttr())});
}

void HostLowering::lower(host::BindOp op) {
  Location loc = op.getLoc();
  call(loc, Read,
       {hostNumbers, places.lookup(op.getSource()),
        i64Constant(loc, op.getSymbols().size() * sizeof(int64_t))});
  bindSymbols(loc, op.getSymbols());
}

void HostLowering::lower(host::AssignOp op) {
  Location loc = op.getLoc();
  Formula formula(builder, loc, arguments[RunArgument::Symbols]);
  for (auto [index, expr] : llvm::enumerate(op.getValues().getResults())) {
    storeNumber(loc, index, formula.emit(expr));
  }
  bindSymbols(loc, op.getSymbols());
}

void HostLowering::lower(host::ReadOp op) {
  Location loc = op.getLoc();
  Type type = op.getResult().getType();
  bool isFlag = type.isInteger(1);
  call(loc, Read,
       {hostNumbers, places.lookup(op.getSource()),
        i64Constant(loc, isFlag ? 1 : sizeof(int64_t))});
  Value value = LLVM::LoadOp::create(
      builder, loc, isFlag ? builder.getI8Type() : i64, hostNumbers);
  if (isFlag) {
    Value zero = LLVM::ConstantOp::create(builder, loc, builder.getI8Type(),
                                          builder.getI8IntegerAttr(0));
    value = LLVM::ICmpOp::create(builder, loc, LLVM::ICmpPredicate::ne, value,
                                 zero);
  }
  numbers[op.getResult()] = value;
}

void HostLowering::lower(host::WriteOp op) {
  Location loc = op.getLoc();
  LLVM::StoreOp::create(builder, loc, numbers.lookup(op.getValue()),
                        hostNumbers);
  call(loc, Write,
       {places.lookup(op.getTarget()), hostNumbers,
        i64Constant(loc, sizeof(int64_t))});
}

void HostLowering::lower(host::HoldsOp op) {
  Value bad = emitSizeViolation(builder, op, arguments[RunArgument::Symbols]);
  Value yes =
      LLVM::ConstantOp::create(builder, op.getLoc(), builder.getBoolAttr(true));
  numbers[op.getResult()] =
      bad ? LLVM::XOrOp::create(builder, op.getLoc(), bad, yes).getResult()
          : yes;
}

void HostLowering::lower(host::CheckOp op) {
  Location loc = op.getLoc();
  Block *wrong = addBlock(), *next = addBlock();
  LLVM::CondBrOp::create(builder, loc, numbers.lookup(op.getCondition()), next,
                         wrong);
  builder.setInsertionPointToEnd(wrong);
  SmallVector<Value> operands{loadFunction(loc, Fail),
                              arguments[RunArgument::Exec], getNodeName(loc),
                              getText(loc, op.getMessage())};
  auto type = LLVM::LLVMFunctionType::get(i32, {pointer, pointer, pointer});
  Value code = LLVM::CallOp::create(builder, loc, type, operands).getResult();
  LLVM::BrOp::create(builder, loc, ValueRange{code}, errorExit);
  builder.setInsertionPointToEnd(next);
}

void HostLowering::lower(host::CheckRangeOp op) {
  Location loc = op.getLoc();
  Type element = cast<MemRefType>(op.getLeast().getType()).getElementType();
  Formula formula(builder, loc, arguments[RunArgument::Symbols]);
  Value low = formula.emit(op.getRange().getResult(0)),
        high = formula.emit(op.getRange().getResult(1));
  call(loc, CheckRange,
       {i32Constant(loc, faultNumbers.lookup(op)), places.lookup(op.getLeast()),
        places.lookup(op.getGreatest()),
        i32Constant(loc, element.getIntOrFloatBitWidth() / 8), low, high});
}

//===----------------------------------------------------------------------===//
// Branches and loops
//===----------------------------------------------------------------------===//

LogicalResult HostLowering::lower(scf::IfOp op) {
  Location loc = op.getLoc();
  Block *thenBlock = addBlock(), *elseBlock = addBlock(), *next = addBlock();
  LLVM::CondBrOp::create(builder, loc, numbers.lookup(op.getCondition()),
                         thenBlock, elseBlock);
  builder.setInsertionPointToEnd(thenBlock);
  if (failed(lower(op.getThenRegion().front())))
    return failure();
  LLVM::BrOp::create(builder, loc, next);
  builder.setInsertionPointToEnd(elseBlock);
  if (!op.getElseRegion().empty() && failed(lower(op.getElseRegion().front())))
    return failure();
  LLVM::BrOp::create(builder, loc, next);
  builder.setInsertionPointToEnd(next);
  return success();
}

LogicalResult HostLowering::lower(scf::WhileOp op) {
  Location loc = op.getLoc();
  auto lookup = [&](ValueRange values) {
    return llvm::map_to_vector(
        values, [&](Value value) { return numbers.lookup(value); });
  };
  Block *before = addBlock(op.getInits().getTypes());
  Block *after = addBlock(op.getResultTypes());
  Block *next = addBlock(op.getResultTypes());
  for (auto [from, to] :
       llvm::zip_equal(op.getBeforeArguments(), before->getArguments()))
    numbers[from] = to;
  for (auto [from, to] :
       llvm::zip_equal(op.getAfterArguments(), after->getArguments()))
    numbers[from] = to;
  for (auto [from, to] : llvm::zip_equal(op.getResults(), next->getArguments()))
    numbers[from] = to;
  LLVM::BrOp::create(builder, loc, lookup(op.getInits()), before);
  builder.setInsertionPointToEnd(before);
  if (failed(lower(op.getBefore().front())))
    return failure();
  scf::ConditionOp condition = op.getConditionOp();
  SmallVector<Value> values = lookup(condition.getArgs());
  LLVM::CondBrOp::create(builder, loc, numbers.lookup(condition.getCondition()),
                         after, values, next, values);
  builder.setInsertionPointToEnd(after);
  if (failed(lower(op.getAfter().front())))
    return failure();
  LLVM::BrOp::create(builder, loc, lookup(op.getYieldOp().getResults()),
                     before);
  builder.setInsertionPointToEnd(next);
  return success();
}

/// Lowers the arithmetic of loops.
LogicalResult HostLowering::lowerArith(Operation *op) {
  Location loc = op->getLoc();
  auto x = [&](unsigned i) { return numbers.lookup(op->getOperand(i)); };
  Value result;
  if (auto constant = dyn_cast<arith::ConstantOp>(op))
    result = LLVM::ConstantOp::create(builder, loc, constant.getType(),
                                      constant.getValue());
  else if (isa<arith::AddIOp>(op))
    result = LLVM::AddOp::create(builder, loc, x(0), x(1));
  else if (isa<arith::AndIOp>(op))
    result = LLVM::AndOp::create(builder, loc, x(0), x(1));
  else if (auto compare = dyn_cast<arith::CmpIOp>(op))
    result = LLVM::ICmpOp::create(
        builder, loc, LLVM::ICmpPredicate(compare.getPredicate()), x(0), x(1));
  else
    return op->emitOpError("expected an op of the host program");
  numbers[op->getResult(0)] = result;
  return success();
}

//===----------------------------------------------------------------------===//
// The program
//===----------------------------------------------------------------------===//

void HostLowering::lower(func::ReturnOp op) {
  LLVM::ReturnOp::create(builder, op.getLoc(), i32Constant(op.getLoc(), 0));
}

LogicalResult HostLowering::lower(Operation *op) {
  return llvm::TypeSwitch<Operation *, LogicalResult>(op)
      .Case<host::LaunchOp, host::CallOp, host::FetchOp, host::CopyOp,
            host::ViewOp, host::OutputOp, host::StateOp, host::BindOp,
            host::AssignOp, host::ReadOp, host::WriteOp, host::HoldsOp,
            host::CheckOp, host::CheckRangeOp, func::ReturnOp>([&](auto op) {
        lower(op);
        return success();
      })
      .Case<host::SlotOp, scf::IfOp, scf::WhileOp>(
          [&](auto op) { return lower(op); })
      .Case([&](host::ConstantOp op) {
        return lowerWeights(op, arguments[RunArgument::Weights],
                            op.getOffsetAttr());
      })
      .Case([&](host::TransformOp op) {
        return lowerWeights(op, computed, op.getOffsetAttr());
      })
      .Case<scf::YieldOp, scf::ConditionOp>([](auto) { return success(); })
      .Case<arith::ConstantOp, arith::AddIOp, arith::AndIOp, arith::CmpIOp>(
          [&](auto op) { return lowerArith(op); })
      .Default([](Operation *op) {
        return op->emitOpError("expected an op of the host program");
      });
}

LogicalResult HostLowering::lower(Block &block) {
  for (Operation &op : block)
    if (failed(lower(&op)))
      return failure();
  return success();
}

/// Arrays for operands of calls are allocated once for a run, so that loops do
/// not grow the stack.
void HostLowering::allocateArrays() {
  Location loc = program.getLoc();
  size_t maxOperands = 0, maxNumbers = 0;
  program.walk([&](Operation *op) {
    if (auto launch = dyn_cast<host::LaunchOp>(op))
      maxOperands =
          std::max<size_t>(maxOperands, launch.getNumOperands() +
                                            launch->hasAttr(tile::printsAttr));
    if (auto call = dyn_cast<host::CallOp>(op)) {
      maxOperands = std::max<size_t>(maxOperands, call.getInputs().size());
      maxNumbers = std::max(maxNumbers, countNumbers(call));
    }
    if (auto bind = dyn_cast<host::BindOp>(op))
      maxNumbers = std::max(maxNumbers, bind.getSymbols().size());
    if (auto assign = dyn_cast<host::AssignOp>(op))
      maxNumbers = std::max(maxNumbers, assign.getSymbols().size());
    if (isa<host::ReadOp, host::WriteOp>(op))
      maxNumbers = std::max<size_t>(maxNumbers, 1);
    if (auto output = dyn_cast<host::OutputOp>(op))
      maxNumbers = std::max<size_t>(
          {maxNumbers, 1,
           size_t(cast<MemRefType>(output.getArgument().getType()).getRank())});
  });
  launchOperands = LLVM::AllocaOp::create(builder, loc, pointer, pointer,
                                          i64Constant(loc, maxOperands));
  if (maxNumbers == 0)
    return;
  Value count = i64Constant(loc, maxNumbers);
  hostNumbers = LLVM::AllocaOp::create(builder, loc, pointer, i64, count);
  hostSymbols = LLVM::AllocaOp::create(builder, loc, pointer, i64, count);
}

LogicalResult HostLowering::lowerProgram(LLVM::LLVMFuncOp run) {
  arguments = run.getArguments();
  Location loc = program.getLoc();
  auto numInputs =
      program->getAttrOfType<IntegerAttr>(host::numInputsAttr).getInt();
  errorExit = new Block();
  run.getBody().push_back(errorExit);
  {
    OpBuilder::InsertionGuard guard(builder);
    builder.setInsertionPointToEnd(errorExit);
    LLVM::ReturnOp::create(builder, loc, errorExit->addArgument(i32, loc));
  }
  allocateArrays();
  bool usesBoxes = false;
  program.walk([&](host::SlotOp slot) { usesBoxes |= bool(slot.getBox()); });
  bool hasStates = false;
  program.walk([&](host::StateOp) { hasStates = true; });
  bool calls = false, checks = false, hasSteps = false, hasGroups = false,
       prints = false;
  program.walk([&](host::CallOp call) {
    calls = true;
    if (call->hasAttr(host::operatorAttr))
      operatorNumbers.try_emplace(call, operatorNumbers.size());
  });
  program.walk([&](host::CheckOp) { checks = true; });
  program.walk([&](host::LaunchOp launch) {
    hasSteps |= launch.getStepsAttr() != nullptr;
    hasGroups |= launch.getGroupsAttr() != nullptr;
    prints |= launch->hasAttr(tile::printsAttr);
  });
  program.walk([&](host::CheckRangeOp check) {
    faultNumbers.try_emplace(check, faultNumbers.size());
  });
  bool computes = program->hasAttr(host::computedBytesAttr);
  if (calls || checks || usesBoxes || hostNumbers || hasSteps || hasStates ||
      prints || computes || !faultNumbers.empty())
    checkTable(loc, computes                ? Computed
                    : prints                ? Print
                    : hasStates             ? State
                    : !faultNumbers.empty() ? CheckRange
                    : hasGroups             ? LaunchGroups
                    : hasSteps              ? LaunchSteps
                    : calls                 ? Fetch
                                            : Output);
  if (computes)
    computed = callForMemory(loc, Computed, {});
  for (BlockArgument argument : program.getArguments()) {
    int64_t index = argument.getArgNumber();
    Value array = arguments[index < numInputs ? RunArgument::Inputs
                                              : RunArgument::Outputs];
    places[argument] = LLVM::LoadOp::create(
        builder, loc, pointer,
        element(loc, array, index < numInputs ? index : index - numInputs));
  }
  return lower(program.front());
}

} // namespace adze
