// Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
//
// A cost model of kernels: the cycles of one core for each element of the
// result.
#include "Dialect/Tile/Transforms/Passes.h"
#include "Tune.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Interfaces/FunctionInterfaces.h"
#include "mlir/Pass/PassManager.h"

using namespace mlir;

namespace adze {

namespace {
/// A typical server core.
struct Core {
  static constexpr double l1Bytes = 32 * 1024;
  static constexpr double l1PerCycle = 64, l2PerCycle = 32, memoryPerCycle = 8;
  static constexpr double programCycles = 200, iterationCycles = 10;
};

/// Walks a specialised kernel and sums the cycles of one program.
class Estimate {
public:
  Estimate(tile::KernelOp kernel, const TuneContext &context)
      : kernel(kernel), context(context), target(tile::getCpuTarget(kernel)),
        lanes(target.getVectorBytes() / 4.0) {}

  std::optional<TuneCost> run();

private:
  void add(Block &block, double times);
  void add(Operation &op, double times);
  double getTrips(scf::ForOp loop);
  std::optional<double> getNumResults();
  std::optional<int64_t> evaluateIndex(Value value);
  /// Returns the cycles to move the bytes, by cache level: data that a program
  /// reads again is in the cache that holds all data that it reads.
  double move(double bytes) const {
    double rate = working <= Core::l1Bytes / 2           ? Core::l1PerCycle
                  : working <= target.getL2Bytes() / 2.0 ? Core::l2PerCycle
                                                         : Core::memoryPerCycle;
    return bytes / rate;
  }

  tile::KernelOp kernel;
  const TuneContext &context;
  tile::CpuTargetAttr target;
  double lanes, cycles = 0, stored = 0, working = 0;
};
} // namespace

static double getElements(Type type) {
  auto tile = dyn_cast<RankedTensorType>(type);
  return tile ? double(tile.getNumElements()) : 1;
}

static double getBytes(Type type) {
  auto tile = dyn_cast<RankedTensorType>(type);
  return tile ? getElements(type) *
                    std::max(8u, tile.getElementTypeBitWidth()) / 8
              : 0;
}

static double roundUp(double value, double multiple) {
  return std::ceil(value / multiple) * multiple;
}

std::optional<int64_t> Estimate::evaluateIndex(Value value) {
  if (auto constant = value.getDefiningOp<arith::ConstantOp>()) {
    auto attr = dyn_cast<IntegerAttr>(constant.getValue());
    return attr ? std::optional(attr.getInt()) : std::nullopt;
  }
  if (auto dim = value.getDefiningOp<memref::DimOp>()) {
    auto argument = dyn_cast<BlockArgument>(dim.getSource());
    auto index = dim.getConstantIndex();
    if (!argument || !index)
      return std::nullopt;
    auto dims =
        getArgumentDims(kernel, argument.getArgNumber(), context.symbols);
    return dims ? std::optional((*dims)[*index]) : std::nullopt;
  }
  return std::nullopt;
}

double Estimate::getTrips(scf::ForOp loop) {
  auto low = evaluateIndex(loop.getLowerBound());
  auto high = evaluateIndex(loop.getUpperBound());
  auto step = evaluateIndex(loop.getStep());
  if (!low || !high || !step || *step <= 0)
    return 4; // unknown: a guess
  return double(std::max<int64_t>(0, llvm::divideCeil(*high - *low, *step)));
}

/// Returns the argument that a store writes, through views, or null for scratch
/// memory.
static BlockArgument getOutput(tile::StoreOp store) {
  Value memory = store.getMemref();
  for (Operation *op; (op = memory.getDefiningOp());) {
    if (isa<tile::ScratchOp>(op))
      return {};
    memory = op->getOperand(0); // the source is the first operand of views
  }
  return cast<BlockArgument>(memory);
}

void Estimate::add(Operation &op, double times) {
  if (auto loop = dyn_cast<scf::ForOp>(op)) {
    double trips = getTrips(loop);
    // Accumulators that do not fit into registers go through memory in each
    // iteration.
    for (Value carried : loop.getInitArgs())
      cycles +=
          times * trips * 2 * getBytes(carried.getType()) / Core::l1PerCycle;
    cycles += times * trips * Core::iterationCycles;
    return add(*loop.getBody(), times * trips);
  }
  for (Region &region : op.getRegions())
    for (Block &block : region)
      add(block, times);
  if (auto dot = dyn_cast<tile::DotOp>(op)) {
    auto type = cast<RankedTensorType>(dot.getResult().getType());
    auto lhs = cast<RankedTensorType>(dot.getLhs().getType());
    // A cycle has two multiply-adds on whole vectors of columns, 8 rows at a
    // time.
    cycles += times * roundUp(type.getDimSize(0), 8) *
              roundUp(type.getDimSize(1), lanes) * lhs.getDimSize(1) /
              (2 * lanes);
  } else if (isa<tile::LoadOp, tile::GatherOp>(op)) {
    cycles += times * move(getBytes(op.getResult(0).getType()));
  } else if (auto store = dyn_cast<tile::StoreOp>(op)) {
    double elements = getElements(store.getValue().getType());
    if (getOutput(store))
      stored += times * elements;
    cycles += times * getBytes(store.getValue().getType()) / Core::l2PerCycle;
  } else if (op.getNumResults() &&
             isa<RankedTensorType>(op.getResult(0).getType()) &&
             !isa<tile::BroadcastOp, arith::ConstantOp>(op)) {
    bool isFunction = isa_and_nonnull<math::MathDialect>(op.getDialect()) &&
                      !isa<math::FmaOp, math::AbsFOp>(op);
    // The work of a reduction is its operand; iota has none.
    Value work = op.getNumOperands() ? op.getOperand(0) : op.getResult(0);
    double elements = getElements(work.getType());
    cycles += times * (isFunction ? 12 : 1) * roundUp(elements, lanes) / lanes;
  }
}

void Estimate::add(Block &block, double times) {
  for (Operation &op : block)
    add(op, times);
}

/// Returns the number of elements that the kernel stores, through views.
std::optional<double> Estimate::getNumResults() {
  llvm::SmallSetVector<BlockArgument, 4> outputs;
  kernel.walk([&](tile::StoreOp store) {
    if (BlockArgument output = getOutput(store))
      outputs.insert(output);
  });
  double results = 0;
  for (BlockArgument output : outputs) {
    auto dims = getArgumentDims(kernel, output.getArgNumber(), context.symbols);
    if (!dims)
      return std::nullopt;
    double elements = 1;
    for (int64_t size : *dims)
      elements *= double(size);
    results += elements;
  }
  return results;
}

std::optional<TuneCost> Estimate::run() {
  kernel.walk([&](Operation *op) {
    if (isa<tile::LoadOp, tile::GatherOp>(op))
      working += getBytes(op->getResult(0).getType());
  });
  add(kernel.getBody().front(), 1);
  if (stored == 0)
    return std::nullopt;
  cycles += Core::programCycles;
  std::optional<double> results = getNumResults();
  if (!results)
    return std::nullopt;
  double programs = std::max(1.0, std::ceil(*results / stored));
  return getTuneCost(cycles * programs, int64_t(programs));
}

std::optional<TuneCost> estimateCost(tile::KernelOp kernel,
                                     const TuneBindings &bindings,
                                     const TuneContext &context) {
  OwningOpRef<ModuleOp> module = cloneBound(kernel, bindings);
  PassManager manager(kernel.getContext());
  manager.addPass(tile::createTileSpecialize({"", "cpu"}));
  if (failed(manager.run(*module)))
    return std::nullopt;
  for (auto specialised : module->getOps<tile::KernelOp>())
    return Estimate(specialised, context).run();
  return std::nullopt;
}

} // namespace adze
