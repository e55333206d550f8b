// Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
//
// Creates the description of a module from a planned host program.
#include "Describe.h"
#include "Dialect/Graph/IR/Checks.h"
#include "Dialect/Graph/IR/States.h"
#include "Dialect/Host/IR/External.h"
#include "Dialect/Host/IR/LastRows.h"
#include "Support/NodeName.h"
#include "adze_module.h"
#include "llvm/ADT/SetVector.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/TypeSwitch.h"
#include <map>

using namespace mlir;

namespace adze {

FailureOr<func::FuncOp> findHostProgram(ModuleOp module) {
  func::FuncOp program;
  for (auto function : module.getOps<func::FuncOp>()) {
    if (!function->hasAttr(host::numInputsAttr))
      continue;
    if (program)
      return function.emitError("unsupported: expected one host program, but "
                                "got '")
             << program.getName() << "' and '" << function.getName() << "'";
    program = function;
  }
  if (!program)
    return module.emitError("expected a function that is not private and no "
                            "kernel: the host program");
  return program;
}

SmallVector<host::LaunchOp> getLaunches(func::FuncOp program) {
  SmallVector<host::LaunchOp> launches;
  program.walk([&](host::LaunchOp launch) { launches.push_back(launch); });
  return launches;
}

static LogicalResult describeValue(func::FuncOp program, unsigned index,
                                   bool isInput, package::Value &value) {
  auto type = cast<MemRefType>(program.getArgument(index).getType());
  auto attr = [&](StringRef name) { return program.getArgAttr(index, name); };
  if (auto name = dyn_cast_if_present<StringAttr>(attr(host::nameAttr)))
    value.name = name.getValue().str();
  else
    value.name = (isInput ? "input" : "output") + std::to_string(index);
  Type element = type.getElementType();
  if (auto dtype = dyn_cast_if_present<TypeAttr>(attr(host::dtypeAttr)))
    element = dtype.getValue();
  auto dtype = graph::getDtype(element);
  if (!dtype)
    return program.emitError("unsupported: element type ")
           << element << " of '" << value.name << "' in the signature";
  value.dtypeCode = dtype->code;
  value.dtypeBits = dtype->bits;
  value.kind = graph::getKind(element);
  if (graph::isContainer(element))
    value.type = graph::getTypeName(graph::makeHandleType(element));

  auto map = dyn_cast_if_present<AffineMapAttr>(attr(host::dimsAttr));
  for (int64_t dim = 0; dim < type.getRank(); ++dim) {
    if (!type.isDynamicDim(dim)) {
      value.dims.push_back({type.getDimSize(dim), -1});
      continue;
    }
    AffineExpr expr = map ? map.getValue().getResult(dim) : AffineExpr();
    auto symbol = dyn_cast_if_present<AffineSymbolExpr>(expr);
    if (isInput && !symbol)
      return program.emitError("unsupported: dim ")
             << dim << " of input '" << value.name << "' is not a symbol";
    value.dims.push_back({-1, isInput ? int32_t(symbol.getPosition()) : -1});
  }
  return success();
}

/// Returns the symbols that the program binds while it runs.
static llvm::BitVector getBoundSymbols(func::FuncOp program, size_t count) {
  llvm::BitVector bound(count);
  program.walk([&](Operation *op) {
    ArrayRef<int64_t> symbols;
    if (auto bind = dyn_cast<host::BindOp>(op))
      symbols = bind.getSymbols();
    else if (auto call = dyn_cast<host::CallOp>(op))
      symbols = call.getSymbols();
    else if (auto state = dyn_cast<host::StateOp>(op))
      bound.set(state.getPitch());
    else if (auto assign = dyn_cast<host::AssignOp>(op))
      symbols = assign.getSymbols();
    for (int64_t symbol : symbols)
      if (symbol >= 0 && symbol < int64_t(count))
        bound.set(symbol);
  });
  return bound;
}

/// Returns true if all symbols of the map are bound when it is evaluated.
static bool isBound(AffineMap map, const llvm::BitVector &bound) {
  for (AffineExpr expr : map.getResults())
    for (unsigned s = 0; s < map.getNumSymbols(); ++s)
      if (expr.isFunctionOfSymbol(s) && (s >= bound.size() || !bound[s]))
        return false;
  return true;
}

/// Fails if a size depends on a symbol that is never bound.
static LogicalResult checkSizes(func::FuncOp program,
                                const llvm::BitVector &bound) {
  for (unsigned index = 0; index < program.getNumArguments(); ++index) {
    auto map = dyn_cast_if_present<AffineMapAttr>(
        program.getArgAttr(index, host::dimsAttr));
    if (map && !isBound(map.getValue(), bound))
      return program.emitError("unsupported: the shape of argument ")
             << index << " depends on the values of a tensor";
  }
  WalkResult result = program.walk([&](Operation *op) {
    for (NamedAttribute attr : op->getAttrs()) {
      auto map = dyn_cast<AffineMapAttr>(attr.getValue());
      if (!map || op == program.getOperation() ||
          isBound(map.getValue(), bound))
        continue;
      op->emitError("unsupported: a size that depends on the values of a "
                    "tensor");
      return WalkResult::interrupt();
    }
    return WalkResult::advance();
  });
  return failure(result.wasInterrupted());
}

/// Describes the symbols of input shapes, then those that the program binds.
static LogicalResult describeSymbols(func::FuncOp program,
                                     package::ModuleDescription &description) {
  unsigned numInputSymbols = host::getNumInputSymbols(program);
  auto names = program->getAttrOfType<ArrayAttr>(host::symbolsAttr);
  auto ranges = program->getAttrOfType<ArrayAttr>(host::symbolRangesAttr);
  unsigned count =
      std::max<unsigned>(numInputSymbols, names ? names.size() : 0);
  llvm::BitVector bound = getBoundSymbols(program, count);
  bound.set(0, numInputSymbols);
  if (failed(checkSizes(program, bound)))
    return failure();
  count = bound.find_last() + 1;
  for (unsigned index = 0; index < count; ++index) {
    package::Symbol symbol;
    if (names && index < names.size())
      symbol.name = cast<StringAttr>(names[index]).getValue().str();
    if (ranges && index < ranges.size()) {
      auto range = cast<DenseI64ArrayAttr>(ranges[index]);
      symbol.min = std::max<int64_t>(range[0], 0);
      symbol.max = range[1];
    }
    description.symbols.push_back(symbol);
  }
  description.numDataSymbols = count - numInputSymbols;
  auto boxes = program->getAttrOfType<IntegerAttr>(host::numBoxesAttr);
  description.numBoxes = boxes ? boxes.getInt() : 0;
  return success();
}

static void describeStates(func::FuncOp program,
                           package::ModuleDescription &description) {
  auto states = program->getAttrOfType<ArrayAttr>(graph::statesAttr);
  if (!states)
    return;
  for (auto [number, state] :
       llvm::enumerate(states.getAsRange<graph::StateAttr>())) {
    package::State row;
    row.input = state.getInput();
    row.output = state.getOutput();
    row.kind = uint32_t(state.getKind());
    row.axis = state.getAxis();
    row.flags = state.getZeroed() ? ADZE_STATE_ZEROED : 0;
    row.pitchSymbol = state.getPitch();
    if (state.getKind() == graph::StateKind::Rows) {
      row.rows = host::stateRowsFunction.str() + std::to_string(number);
      row.drop = host::stateDropFunction.str() + std::to_string(number);
    }
    description.states.push_back(row);
  }
}

static void describeLastRows(func::FuncOp program,
                             package::ModuleDescription &description) {
  for (host::LastRows rows : host::getLastRows(program))
    description.lastRows.push_back(
        {rows.output, rows.dim, int32_t(rows.all), int32_t(rows.symbol)});
}

static package::Attribute describeAttribute(NamedAttribute attribute) {
  package::Attribute row;
  row.name = attribute.getName().str();
  llvm::TypeSwitch<mlir::Attribute>(attribute.getValue())
      .Case([&](IntegerAttr value) {
        row.kind = package::AttributeKind::Int;
        row.ints = {value.getInt()};
      })
      .Case([&](FloatAttr value) {
        row.kind = package::AttributeKind::Float;
        row.floats = {value.getValue().convertToFloat()};
      })
      .Case([&](StringAttr value) {
        row.kind = package::AttributeKind::String;
        row.strings = {value.getValue().str()};
      })
      .Case([&](DenseI64ArrayAttr values) {
        row.kind = package::AttributeKind::Ints;
        row.ints = values.asArrayRef();
      })
      .Case([&](DenseF32ArrayAttr values) {
        row.kind = package::AttributeKind::Floats;
        row.floats = values.asArrayRef();
      })
      .Case([&](ArrayAttr values) {
        row.kind = package::AttributeKind::Strings;
        for (auto text : values.getAsRange<StringAttr>())
          row.strings.push_back(text.getValue().str());
      });
  return row;
}

static void describeOperators(func::FuncOp program,
                              package::ModuleDescription &description) {
  program.walk([&](host::CallOp call) {
    auto own = call->getAttrOfType<DictionaryAttr>(host::operatorAttr);
    if (!own)
      return;
    package::Operator &row = description.operators.emplace_back();
    row.name = call.getFunction().str();
    row.node = llvm::join(getNodeNames(call.getLoc()), "\n");
    auto inputs = own.getAs<DenseI64ArrayAttr>(host::operatorInputs);
    row.inputs.assign(inputs.asArrayRef().begin(), inputs.asArrayRef().end());
    for (NamedAttribute attribute :
         own.getAs<DictionaryAttr>(host::operatorAttributes))
      row.attributes.push_back(describeAttribute(attribute));
  });
}

/// The last inputs have defaults.
static void describeDefaults(func::FuncOp program,
                             package::ModuleDescription &description) {
  std::map<int64_t, package::Default> defaults; // by input
  program.walk([&](host::ConstantOp constant) {
    if (auto of = constant->getAttrOfType<IntegerAttr>(host::defaultOfAttr))
      defaults[of.getInt()] = {uint64_t(*constant.getOffset()),
                               constant.getValue().getShapedType().getShape()};
  });
  for (auto &[input, value] : defaults)
    description.defaults.push_back(std::move(value));
}

/// Several ops may have one offset.
static void describeTransforms(func::FuncOp program,
                               package::ModuleDescription &description) {
  auto getOffset = [](Value constant) {
    return uint64_t(*constant.getDefiningOp<host::ConstantOp>().getOffset());
  };
  std::map<int64_t, package::Transform> transforms; // by offset
  program.walk([&](host::TransformOp op) {
    auto filter = cast<MemRefType>(op.getFilter().getType()),
         matrix = cast<MemRefType>(op.getMatrix().getType());
    package::Transform row;
    row.filter = getOffset(op.getFilter());
    row.matrix = getOffset(op.getMatrix());
    row.result = *op.getOffset();
    row.outputs = filter.getDimSize(0);
    row.inputs = filter.getDimSize(1);
    row.rows = matrix.getDimSize(0);
    row.window = matrix.getDimSize(1);
    std::tie(row.panel, row.group) = op.getPanelAndGroup();
    auto dtype = graph::getDtype(filter.getElementType());
    row.dtypeCode = dtype->code;
    row.dtypeBits = dtype->bits;
    transforms[row.result] = row;
  });
  for (auto &[offset, row] : transforms)
    description.transforms.push_back(row);
  auto bytes = program->getAttrOfType<IntegerAttr>(host::computedBytesAttr);
  description.computedSize = bytes ? bytes.getInt() : 0;
}

/// Describes the faults of the kernel of a launch.
static void describeChecks(host::LaunchOp launch, package::Kernel &kernel,
                           std::vector<package::Fault> &faults) {
  auto checks = launch->getAttrOfType<ArrayAttr>(graph::checksAttr);
  if (!checks)
    return;
  kernel.firstFault = faults.size();
  kernel.numFaults = checks.size();
  for (auto check : checks.getAsRange<ArrayAttr>())
    faults.push_back({cast<StringAttr>(check[0]).getValue().str(),
                      cast<StringAttr>(check[1]).getValue().str()});
}

LogicalResult describe(func::FuncOp program,
                       package::ModuleDescription &description) {
  description.producer = "adze " ADZE_VERSION;
  auto numInputs =
      program->getAttrOfType<IntegerAttr>(host::numInputsAttr).getInt();
  for (unsigned index = 0; index < program.getNumArguments(); ++index) {
    bool isInput = index < numInputs;
    auto &list = isInput ? description.inputs : description.outputs;
    if (failed(describeValue(program, index, isInput, list.emplace_back())))
      return failure();
  }
  if (failed(describeSymbols(program, description)))
    return failure();

  describeStates(program, description);
  describeLastRows(program, description);
  describeOperators(program, description);
  describeDefaults(program, description);
  describeTransforms(program, description);

  // The host program numbers its range checks from 0.
  program.walk([&](host::CheckRangeOp check) {
    description.faults.push_back(
        {llvm::join(getNodeNames(check.getLoc()), "\n"),
         check.getMessage().str()});
  });

  llvm::StringMap<unsigned> uses;
  for (host::LaunchOp launch : getLaunches(program)) {
    package::Kernel kernel;
    kernel.name = launch.getCallee().str();
    if (unsigned use = uses[launch.getCallee()]++)
      kernel.name += "." + std::to_string(use);
    kernel.nodes = llvm::join(getNodeNames(launch.getLoc()), "\n");
    kernel.numPointers = launch.getNumOperands();
    kernel.numOutputs = launch.getNumOutputs();
    std::string number = std::to_string(description.kernels.size());
    kernel.bytesRead = host::bytesReadFunction.str() + number;
    kernel.bytesWritten = host::bytesWrittenFunction.str() + number;
    if (launch->hasAttr(host::flopsAttr))
      kernel.flops = host::flopsFunction.str() + number;
    describeChecks(launch, kernel, description.faults);
    description.kernels.push_back(kernel);
  }
  if (auto strings = program->getAttrOfType<ArrayAttr>(host::stringsAttr))
    for (auto text : strings.getAsRange<StringAttr>())
      description.strings.push_back(text.getValue().str());
  description.run = "adze_run";
  description.infer = "adze_infer";
  description.arenaBytes = "adze_arena_bytes";
  description.arenaLowerBound = "adze_arena_lower_bound";
  auto weights = program->getAttrOfType<IntegerAttr>(host::weightsBytesAttr);
  description.weightsSize = weights ? weights.getInt() : 0;
  return success();
}

} // namespace adze
