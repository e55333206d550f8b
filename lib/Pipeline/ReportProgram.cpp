// Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
//
// The report of a planned host program: launches, memory, weights.
#include "Describe.h"
#include "Dialect/Tile/IR/Streams.h"
#include "Dialect/Tile/IR/Tile.h"
#include "Report.h"
#include "Transforms/ArenaFormula.h"
#include "llvm/ADT/StringExtras.h"

using namespace mlir;

namespace adze {

static void addParameters(Operation *kernel, StringRef name,
                          std::vector<std::pair<std::string, int64_t>> &list) {
  if (auto dictionary = kernel->getAttrOfType<DictionaryAttr>(name))
    for (NamedAttribute entry : dictionary)
      if (auto value = dyn_cast<IntegerAttr>(entry.getValue()))
        list.push_back({entry.getName().str(), value.getInt()});
}

/// Returns the place that a place is a view of.
static Value getWholePlace(Value place) {
  for (;;) {
    if (auto view = place.getDefiningOp<host::ViewOp>())
      place = view.getSource();
    else if (auto output = place.getDefiningOp<host::OutputOp>())
      place = output.getArgument();
    else
      return place;
  }
}

namespace {
/// Collects the launches of one program.
class ReportBuilder {
public:
  ReportBuilder(ModuleOp module, func::FuncOp program, Report &report)
      : symbolTable(module), program(program), report(report),
        values(getTypicalSymbols(program)) {}

  void build();

private:
  int64_t evaluateBytes(Attribute attr) {
    return evaluate(host::getBytesExpr(attr, program.getContext()), values);
  }
  void addLaunch(host::LaunchOp launch);
  void addPlaces(host::LaunchOp launch, ReportKernel &kernel);
  ReportTensor describePlace(Value place);
  void addFunction(Operation *callee);
  void addSlot(host::SlotOp slot);
  void addReaders(Value place, ReportWeight &weight);
  void addWeight(host::ConstantOp constant);
  void setLife(Value place, Block *block, ReportSlot &slot);
  void describeSymbols();

  SymbolTable symbolTable;
  func::FuncOp program;
  Report &report;
  SmallVector<int64_t> values;
  llvm::StringMap<unsigned> uses;
  llvm::DenseMap<Operation *, unsigned> numLaunchesBefore;
  unsigned lastLaunch = 0;
  llvm::DenseMap<Value, unsigned> slots;
  llvm::DenseMap<Value, int64_t> slotEnds;
  llvm::DenseMap<Value, std::vector<unsigned>> writers; // of whole places
  llvm::DenseMap<int64_t, size_t> weights;              // indices by offset
};
} // namespace

ReportTensor ReportBuilder::describePlace(Value place) {
  ReportTensor tensor;
  tensor.type = describeType(place.getType());
  tensor.bytes = evaluate(host::getPlaceBytes(place), values);
  Value whole = getWholePlace(place);
  if (auto argument = dyn_cast<BlockArgument>(whole)) {
    auto count = program->getAttrOfType<IntegerAttr>(host::numInputsAttr);
    tensor.place =
        argument.getArgNumber() < count.getInt() ? "input" : "output";
    if (auto name = program.getArgAttrOfType<StringAttr>(
            argument.getArgNumber(), host::nameAttr))
      tensor.name = name.str();
  } else if (whole.getDefiningOp<host::ConstantOp>()) {
    tensor.place = "weights";
  } else if (auto slot = slots.find(whole); slot != slots.end()) {
    tensor.place = "arena";
    tensor.slot = slot->second;
  } else {
    tensor.place = "box";
  }
  return tensor;
}

void ReportBuilder::addPlaces(host::LaunchOp launch, ReportKernel &kernel) {
  size_t numInputs = launch.getNumOperands() - launch.getNumOutputs();
  for (auto [index, place] : llvm::enumerate(launch.getOperands())) {
    ReportTensor tensor = describePlace(place);
    bool isInput = index < numInputs;
    if (isInput)
      tensor.from = writers.lookup(getWholePlace(place));
    (isInput ? kernel.bytesRead : kernel.bytesWritten) += tensor.bytes;
    (isInput ? kernel.inputs : kernel.outputs).push_back(std::move(tensor));
  }
  // A launch that replaces a part of its operand represents all earlier
  // writers.
  unsigned number = report.kernels.size();
  auto operands = launch.getOperands();
  for (Value place : operands.drop_front(numInputs)) {
    Value whole = getWholePlace(place);
    bool reads = llvm::any_of(operands.take_front(numInputs), [&](Value input) {
      return getWholePlace(input) == whole;
    });
    std::vector<unsigned> &all = writers[whole];
    if (reads)
      all.clear();
    if (all.empty() || all.back() != number)
      all.push_back(number);
  }
}

void ReportBuilder::addFunction(Operation *callee) {
  ReportFunction function;
  function.name = SymbolTable::getSymbolName(callee).str();
  llvm::raw_string_ostream os(function.text);
  callee->print(os, OpPrintingFlags().useLocalScope().elideLargeElementsAttrs(
                        /*largeElementLimit=*/16));
  report.functions.push_back(std::move(function));
}

void ReportBuilder::addLaunch(host::LaunchOp launch) {
  ReportKernel kernel;
  kernel.function = launch.getCallee().str();
  kernel.name = kernel.function;
  unsigned use = uses[launch.getCallee()]++;
  if (use)
    kernel.name += "." + std::to_string(use);
  for (StringRef node : getNodeNames(launch.getLoc()))
    kernel.nodes.push_back(node.str());
  kernel.isOtherVersion = launch->hasAttr(host::otherVersionAttr);
  addPlaces(launch, kernel);
  if (Attribute part = launch->getAttr(host::bytesReadAttr))
    kernel.bytesRead = evaluateBytes(part);
  if (Attribute part = launch->getAttr(host::bytesWrittenAttr))
    kernel.bytesWritten = evaluateBytes(part);
  kernel.flops = evaluateBytes(launch->getAttr(host::flopsAttr));
  kernel.bytesSaved = evaluateBytes(launch->getAttr(host::bytesSavedAttr));
  if (Operation *callee = symbolTable.lookup(launch.getCallee())) {
    kernel.isTile = isa<tile::KernelOp>(callee);
    addParameters(callee, "tile.params", kernel.parameters);
    addParameters(callee, "tile.params.cuda", kernel.cudaParameters);
    if (auto bytes = callee->getAttrOfType<IntegerAttr>(tile::streamBytesAttr))
      kernel.parameters.push_back({"STREAM_BYTES", bytes.getInt()});
    if (auto reason = callee->getAttrOfType<StringAttr>(host::refusalAttr))
      kernel.refusal = reason.str();
    if (!use)
      addFunction(callee);
  }
  for (auto [name, count] :
       {std::pair<StringRef, Attribute>{"STEPS", launch.getStepsAttr()},
        {"GROUPS", launch.getGroupsAttr()}})
    if (count)
      kernel.parameters.push_back({name.str(), evaluateBytes(count)});
  report.kernels.push_back(std::move(kernel));
}

void ReportBuilder::describeSymbols() {
  auto names = program->getAttrOfType<ArrayAttr>(host::symbolsAttr);
  for (auto [index, value] : llvm::enumerate(values)) {
    StringRef name = cast<StringAttr>(names[index]).getValue();
    report.symbols.push_back(
        {name.empty() ? "s" + std::to_string(index) : name.str(), value});
  }
}

/// Extends the live range of the slot to the uses of a view of it. A use within
/// a loop extends it to the whole loop; one between two launches ends it with
/// the first of them, or begins it with the second.
void ReportBuilder::setLife(Value place, Block *block, ReportSlot &slot) {
  for (Operation *user : place.getUsers()) {
    if (auto view = dyn_cast<host::ViewOp>(user)) {
      setLife(view.getResult(), block, slot);
      continue;
    }
    Operation *outer = block->findAncestorOpInBlock(*user);
    if (!outer || isa<host::SlotOp>(user))
      continue;
    unsigned numWithin = 0;
    outer->walk([&](host::LaunchOp) { ++numWithin; });
    unsigned first = numLaunchesBefore[outer];
    slot.first = std::min(slot.first, first);
    if (first + numWithin > 0)
      slot.last = std::max(slot.last, first + numWithin - 1);
  }
}

void ReportBuilder::addSlot(host::SlotOp slot) {
  if (slot.getBox())
    return; // not in the arena
  ReportSlot entry;
  entry.type = describeType(slot.getType());
  entry.bytes = evaluateBytes(slot.getSize());
  entry.offset = evaluateBytes(slot.getOffsetAttr());
  for (Value other : slot.getAfter())
    entry.offset = std::max(entry.offset, slotEnds.lookup(other));
  slotEnds[slot.getResult()] =
      entry.offset + int64_t(llvm::alignTo(entry.bytes, host::placeAlignment));
  entry.first = UINT_MAX;
  setLife(slot.getResult(), slot->getBlock(), entry);
  if (entry.first == UINT_MAX)
    entry.first = 0; // without a use
  entry.last = std::min(std::max(entry.first, entry.last), lastLaunch);
  entry.first = std::min(entry.first, entry.last);
  slots[slot.getResult()] = report.slots.size();
  report.slots.push_back(std::move(entry));
}

/// Adds the launches that read a place or a view of it.
void ReportBuilder::addReaders(Value place, ReportWeight &weight) {
  for (Operation *user : place.getUsers()) {
    if (auto view = dyn_cast<host::ViewOp>(user))
      addReaders(view.getResult(), weight);
    else if (auto transform = dyn_cast<host::TransformOp>(user))
      addReaders(transform.getResult(), weight);
    else if (isa<host::LaunchOp>(user))
      weight.kernels.push_back(numLaunchesBefore[user]);
  }
}

void ReportBuilder::addWeight(host::ConstantOp constant) {
  if (!constant.getStoredBytes() || !constant.getOffset())
    return;
  // Equal constants have one offset.
  auto [number, isNew] =
      weights.insert({*constant.getOffset(), report.weights.size()});
  if (isNew)
    report.weights.push_back({describeType(constant.getValue().getType()),
                              constant.getStoredBytes(),
                              {}});
  std::vector<unsigned> &readers = report.weights[number->second].kernels;
  addReaders(constant.getResult(), report.weights[number->second]);
  llvm::sort(readers);
  readers.erase(llvm::unique(readers), readers.end());
}

void ReportBuilder::build() {
  describeSymbols();
  ArenaSize arena = getArenaSize(program, values);
  report.arenaBytes = arena.bytes;
  report.arenaLowerBoundBytes = arena.lowerBound;
  if (auto bytes = program->getAttrOfType<IntegerAttr>(host::weightsBytesAttr))
    report.weightsBytes = bytes.getInt();
  unsigned count = 0;
  program.walk<WalkOrder::PreOrder>([&](Operation *op) {
    numLaunchesBefore[op] = count;
    count += isa<host::LaunchOp>(op);
  });
  lastLaunch = count ? count - 1 : 0;
  program.walk<WalkOrder::PreOrder>([&](Operation *op) {
    if (auto slot = dyn_cast<host::SlotOp>(op))
      addSlot(slot);
    else if (auto constant = dyn_cast<host::ConstantOp>(op))
      addWeight(constant);
    else if (auto copy = dyn_cast<host::CopyOp>(op))
      llvm::append_range(writers[getWholePlace(copy.getTarget())],
                         std::vector<unsigned>(
                             writers.lookup(getWholePlace(copy.getSource()))));
    else if (auto launch = dyn_cast<host::LaunchOp>(op))
      addLaunch(launch);
  });
}

LogicalResult gatherReport(ModuleOp module, Report &report) {
  FailureOr<func::FuncOp> program = findHostProgram(module);
  if (failed(program))
    return failure();
  ReportBuilder(module, *program, report).build();
  return success();
}

} // namespace adze
