// Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
//
// If, Loop and Scan.
#include "../OpTable.h"
#include "../Sizes.h"
#include "mlir/IR/Matchers.h"

using namespace adze;
using namespace adze::importer;
using mlir::LogicalResult;
using mlir::Value;
using Values = Binder::Values;

namespace {

/// Converts one element to a scalar of another type.
Value toScalar(Binder &b, Value value, mlir::Type type) {
  return b.reshape(b.cast(value, type), {});
}

//===----------------------------------------------------------------------===//
// If
//===----------------------------------------------------------------------===//

LogicalResult importIf(Binder &b) {
  const Graph *thenGraph = b.getGraph("then_branch");
  const Graph *elseGraph = b.getGraph("else_branch");
  if (!thenGraph || !elseGraph)
    return b.fail("expected both branches, but got one");
  if (auto known = graph::getConstantElements(b.operand(0));
      known && known->size() == 1) {
    Values results;
    if (mlir::failed(b.inlineGraph(known->front() ? *thenGraph : *elseGraph, {},
                                   results)))
      return mlir::failure();
    return b.done(results);
  }
  Value condition = toScalar(b, b.operand(0), b.builder.getI1Type());
  Values results = b.createIf(
      condition,
      [&](Values &values) { return b.inlineGraph(*thenGraph, {}, values); },
      [&](Values &values) { return b.inlineGraph(*elseGraph, {}, values); });
  return b.hasFailed() ? mlir::failure() : b.done(results);
}

//===----------------------------------------------------------------------===//
// Loop
//===----------------------------------------------------------------------===//

bool isTrue(Value condition) {
  auto elements = graph::getConstantElements(condition);
  return elements && elements->size() == 1 && elements->front() != 0;
}

/// Returns `value` with the rank that the graph declares for input `i`.
Value asDeclared(Binder &b, const Graph &graph, size_t i, Value value) {
  if (i >= graph.inputs.size() || !graph.inputs[i].dims)
    return value;
  Dims ones(graph.inputs[i].dims->size(), b.expr(1));
  return b.reshape(value, ones);
}

/// Inlines one iteration, and returns the outputs of the body.
LogicalResult inlineBody(Binder &b, const Graph &body, Value number,
                         mlir::ValueRange carried, Values &outputs) {
  // The body runs because the condition holds.
  Value holds = asDeclared(
      b, body, 1,
      b.constant(mlir::DenseElementsAttr::get(
          mlir::RankedTensorType::get({}, b.builder.getI1Type()), true)));
  Values inputs{asDeclared(b, body, 0, number), holds};
  llvm::append_range(inputs, carried);
  return b.hasFailed() ? mlir::failure() : b.inlineGraph(body, inputs, outputs);
}

/// Returns how many iterations that build a sequence are unrolled: properties
/// of its elements, such as their ranks, would be lost if a loop carried them.
/// graph-simplify-control-flow unrolls loops over tensors.
std::optional<int64_t> countUnrolled(Binder &b, const Graph &body, Value limit,
                                     Value condition, size_t carried) {
  constexpr int64_t mostIterations = 16, mostNodes = 256;
  auto count = limit ? graph::getConstantElements(limit)
                     : std::optional<llvm::SmallVector<int64_t>>();
  auto isHandle = [](Value value) {
    return graph::isHandle(llvm::cast<mlir::TensorType>(value.getType()));
  };
  if (!count || condition || body.outputs.size() != carried + 1 ||
      llvm::none_of(b.getOperands().take_back(carried), isHandle))
    return std::nullopt;
  int64_t iterations = std::max<int64_t>(count->front(), 0);
  if (iterations > mostIterations ||
      iterations * int64_t(body.nodes.size()) > mostNodes)
    return std::nullopt;
  return iterations;
}

/// Returns the values after this many iterations, or after the one whose
/// condition is false. Returns nothing if a condition is unknown; the ops
/// created until then are dead.
std::optional<Values> unroll(Binder &b, const Graph &body, int64_t iterations,
                             Values values) {
  for (int64_t i = 0; i < iterations; ++i) {
    Values outputs;
    Value number = b.scalar(b.builder.getI64Type(), i);
    if (mlir::failed(inlineBody(b, body, number, values, outputs)))
      return std::nullopt;
    values.assign(outputs.begin() + 1, outputs.end());
    auto goesOn = graph::getConstantElements(outputs.front());
    if (!goesOn || goesOn->size() != 1)
      return std::nullopt;
    if (goesOn->front() == 0)
      break;
  }
  return values;
}

LogicalResult importLoop(Binder &b) {
  const Graph *body = b.getGraph("body");
  if (!body)
    return b.fail("expected attribute 'body', but got none");
  auto inits =
      b.getOperands().drop_front(std::min<size_t>(2, b.getOperands().size()));
  if (llvm::is_contained(inits, Value()))
    return b.fail("expected all carried values to be present");
  size_t carried = inits.size();
  if (body->inputs.size() != carried + 2 || body->outputs.size() < carried + 1)
    return b.fail("expected a body of " + llvm::Twine(carried + 2) +
                  " inputs and at least " + llvm::Twine(carried + 1) +
                  " outputs");
  Value limit = b.operand(0), condition = b.operand(1);
  if (limit)
    limit = toScalar(b, limit, b.builder.getI64Type());
  if (condition)
    condition = isTrue(condition)
                    ? Value()
                    : toScalar(b, condition, b.builder.getI1Type());
  if (auto count = countUnrolled(b, *body, limit, condition, carried))
    if (auto values = unroll(b, *body, *count, Values(inits)))
      return b.done(*values);
  if (b.hasFailed())
    return mlir::failure();
  Values results = b.createLoop(
      limit, condition, inits,
      [&](Value number, mlir::ValueRange values, Binder::LoopBody &result) {
        Values outputs;
        if (mlir::failed(inlineBody(b, *body, number, values, outputs)))
          return mlir::failure();
        if (!isTrue(outputs[0]))
          result.condition = toScalar(b, outputs[0], b.builder.getI1Type());
        auto rest = llvm::ArrayRef(outputs).drop_front();
        result.carried.assign(rest.begin(), rest.begin() + carried);
        result.slices.assign(rest.begin() + carried, rest.end());
        return mlir::success();
      });
  return b.hasFailed() ? mlir::failure() : b.done(results);
}

//===----------------------------------------------------------------------===//
// Scan
//===----------------------------------------------------------------------===//

/// The attributes of the scanned inputs and outputs of a Scan.
struct Scan {
  const Graph *body = nullptr;
  size_t numScanned = 0, numStates = 0, numCollected = 0;
  llvm::SmallVector<int64_t> inputAxes, inputDirections, outputAxes,
      outputDirections;
};

LogicalResult readScan(Binder &b, size_t numOperands, Scan &scan) {
  scan.body = b.getGraph("body");
  int64_t scanned = b.getInt("num_scan_inputs", 0);
  if (!scan.body || scanned < 1 || scanned > int64_t(numOperands))
    return b.fail("expected a body and at least one scanned input");
  scan.numScanned = scanned;
  scan.numStates = numOperands - scanned;
  if (scan.body->inputs.size() != numOperands ||
      scan.body->outputs.size() < scan.numStates)
    return b.fail("expected a body of " + llvm::Twine(numOperands) +
                  " inputs and at least " + llvm::Twine(scan.numStates) +
                  " outputs");
  scan.numCollected = scan.body->outputs.size() - scan.numStates;
  bool old = b.version() < 9;
  scan.inputAxes = b.getInts("scan_input_axes", scan.numScanned, 0);
  scan.inputDirections = b.getInts(old ? "directions" : "scan_input_directions",
                                   scan.numScanned, 0);
  scan.outputAxes = b.getInts("scan_output_axes", scan.numCollected, 0);
  scan.outputDirections =
      b.getInts("scan_output_directions", scan.numCollected, 0);
  return mlir::failure(b.hasFailed());
}

/// Returns element `number` (a scalar) of the first dim.
Value pickFirst(Binder &b, Value x, Value number) {
  return b.create<graph::GatherOp>({x, number}, b.attr("axis", int64_t(0)));
}

/// Moves dim `axis` to the front (or back from there), and reverses it if
/// requested.
Value moveAxis(Binder &b, Value x, int64_t axis, bool toFront, bool reversed) {
  if (!x)
    return {};
  int64_t rank = b.getRank(x);
  axis = b.normalizeAxis(axis, rank);
  if (b.hasFailed())
    return {};
  if (reversed)
    x = b.create<graph::ReverseOp>(
        x, b.attr("axes", llvm::ArrayRef<int64_t>{toFront ? axis : 0}));
  llvm::SmallVector<int64_t> perm =
      llvm::to_vector(llvm::seq<int64_t>(0, rank));
  if (toFront)
    std::rotate(perm.begin(), perm.begin() + axis, perm.begin() + axis + 1);
  else
    std::rotate(perm.begin(), perm.begin() + 1, perm.begin() + axis + 1);
  return b.transpose(x, perm);
}

/// Builds a scan as a loop over slices of the scanned inputs. The results are
/// the final states, then the collected outputs.
Values buildScan(Binder &b, const Scan &scan, mlir::ValueRange operands) {
  Values scanned, results;
  for (size_t i = 0; i < scan.numScanned; ++i)
    scanned.push_back(moveAxis(b, operands[scan.numStates + i],
                               scan.inputAxes[i], /*toFront=*/true,
                               scan.inputDirections[i] != 0));
  if (b.hasFailed())
    return {};
  Sizes sizes(b);
  Value length = sizes.pickScalar(sizes.shape(scanned.front()), 0);
  for (Value other : llvm::drop_begin(scanned))
    b.checkEqual(length, sizes.pickScalar(sizes.shape(other), 0),
                 "expected scanned inputs of one length");
  if (b.hasFailed())
    return {};
  results = b.createLoop(
      length, Value(), operands.take_front(scan.numStates),
      [&](Value number, mlir::ValueRange states, Binder::LoopBody &result) {
        Values inputs(states), outputs;
        for (Value x : scanned)
          inputs.push_back(pickFirst(b, x, number));
        if (b.hasFailed() ||
            mlir::failed(b.inlineGraph(*scan.body, inputs, outputs)))
          return mlir::failure();
        result.carried.assign(outputs.begin(),
                              outputs.begin() + scan.numStates);
        result.slices.assign(outputs.begin() + scan.numStates, outputs.end());
        return mlir::success();
      });
  if (b.hasFailed())
    return {};
  for (size_t i = 0; i < scan.numCollected; ++i) {
    Value &result = results[scan.numStates + i];
    result = moveAxis(b, result, scan.outputAxes[i], /*toFront=*/false,
                      scan.outputDirections[i] != 0);
  }
  return results;
}

/// Version 8 scans each entry of a batch, by an outer loop.
LogicalResult importBatchedScan(Binder &b) {
  if (b.operand(0))
    return b.unsupported("expected no sequence_lens");
  auto operands = b.getOperands().drop_front();
  Scan scan;
  if (mlir::failed(readScan(b, operands.size(), scan)))
    return mlir::failure();
  Sizes sizes(b);
  Value batch = sizes.pickScalar(sizes.shape(operands.front()), 0);
  Values results = b.createLoop(
      batch, Value(), {},
      [&](Value number, mlir::ValueRange, Binder::LoopBody &result) {
        Values entries;
        for (Value operand : operands)
          entries.push_back(pickFirst(b, operand, number));
        if (b.hasFailed())
          return mlir::failure();
        result.slices = buildScan(b, scan, entries);
        return mlir::failure(b.hasFailed());
      });
  return b.hasFailed() ? mlir::failure() : b.done(results);
}

LogicalResult importScan(Binder &b) {
  if (b.version() < 9)
    return importBatchedScan(b);
  Scan scan;
  if (llvm::is_contained(b.getOperands(), Value()))
    return b.fail("expected all operands to be present");
  if (mlir::failed(readScan(b, b.getOperands().size(), scan)))
    return mlir::failure();
  Values operands(b.getOperands());
  Values results = buildScan(b, scan, operands);
  return b.hasFailed() ? mlir::failure() : b.done(results);
}

} // namespace

void adze::importer::addControlFlowOps(std::vector<OpRow> &rows) {
  rows.insert(
      rows.end(),
      {
          {"If", 1, 1, importIf,
           "branches of different ranks that are both valid as an output"},
          {"Loop", 1, 0, importLoop, "carried values that change rank"},
          {"Scan", 8, 0, importScan, "sequence_lens (version 8)"},
      });
  for (OpRow &row : llvm::MutableArrayRef(rows).take_back(3))
    row.takesContainers = row.name != "Scan";
}
