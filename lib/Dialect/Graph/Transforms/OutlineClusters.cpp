// Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
//
// graph-outline-clusters: outlines clusters into kernel functions and launches.
// Equal bodies are found by a hash of ops, operand positions, types and
// attributes, so the time is linear in the size of the module.
#include "CopyUpdated.h"
#include "Dialect/Graph/IR/Checks.h"
#include "Dialect/Graph/IR/Insertions.h"
#include "Dialect/Graph/Transforms/Passes.h"
#include "Dialect/Tile/IR/Targets.h"
#include "Fusion.h"
#include "Support/NodeName.h"
#include "mlir/IR/IRMapping.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/ADT/StringSet.h"
#include <deque>

namespace adze::graph {
#define GEN_PASS_DEF_OUTLINECLUSTERSPASS
#include "Dialect/Graph/Transforms/Passes.h.inc"
} // namespace adze::graph

using namespace mlir;
using namespace adze;
using namespace adze::graph;

namespace {

/// Returns "conv_add_relu" for a body of these ops. Long names are truncated,
/// but keep the anchor.
std::string nameBody(ClusterOp cluster) {
  constexpr unsigned maxOps = 4;
  SmallVector<StringRef> names;
  for (Operation &op : cluster.getBody().front().without_terminator()) {
    if (op.hasTrait<OpTrait::ConstantLike>())
      continue;
    StringRef name = op.getName().stripDialect();
    if (names.size() < maxOps)
      names.push_back(name);
    else if (name == cluster.getAnchor() && !llvm::is_contained(names, name))
      names.back() = name;
  }
  return names.empty() ? "copy" : llvm::join(names, "_");
}

/// Creates the functions of one module, and remembers their bodies.
class Outliner {
public:
  explicit Outliner(ModuleOp module)
      : atEnd(OpBuilder::atBlockEnd(module.getBody())) {
    for (Operation &op : *module.getBody())
      if (auto symbol = dyn_cast<SymbolOpInterface>(op))
        used.insert(symbol.getName());
  }

  void outline(ClusterOp cluster) {
    ArrayAttr checks = takeChecks(cluster);
    launch(cluster, getKernel(cluster), checks);
  }

  unsigned numKernels = 0, numShared = 0;

private:
  /// Returns the function of the body of this cluster: that of an equal one, or
  /// a new one.
  func::FuncOp getKernel(ClusterOp cluster) {
    auto &candidates = kernels[hashForm(cluster.getBody().front())];
    for (auto &[region, kernel] : candidates)
      if (OperationEquivalence::isRegionEquivalentTo(
              region, &cluster.getBody(),
              OperationEquivalence::IgnoreLocations)) {
        ++numShared;
        return kernel;
      }
    func::FuncOp kernel = makeKernel(cluster);
    kernelBodies.push_back(std::make_unique<Region>());
    kernelBodies.back()->takeBody(cluster.getBody());
    candidates.push_back({kernelBodies.back().get(), kernel});
    ++numKernels;
    return kernel;
  }

  /// Numbers the checks of gathers. Their messages are attributes of the
  /// launch, so that nodes with equal checks share a kernel.
  ArrayAttr takeChecks(ClusterOp cluster) {
    SmallVector<Attribute> checks;
    for (Operation &op : cluster.getBody().front()) {
      Attribute message = op.removeAttr(messageAttr);
      if (!message)
        continue;
      op.setAttr(faultAttr, atEnd.getI64IntegerAttr(checks.size()));
      std::string nodes = llvm::join(getNodeNames(op.getLoc()), "\n");
      checks.append(getNumFaults(&op),
                    atEnd.getArrayAttr({atEnd.getStringAttr(nodes), message}));
    }
    return atEnd.getArrayAttr(checks);
  }

  func::FuncOp makeKernel(ClusterOp cluster) {
    std::string base = nameBody(cluster);
    std::string name;
    do
      name = base + "_" + std::to_string(counters[base]++);
    while (!used.insert(name).second);
    SmallVector<Location> locations;
    auto type = atEnd.getFunctionType(cluster.getOperandTypes(),
                                      cluster.getResultTypes());
    Block &body = cluster.getBody().front();
    for (Operation &op : body.without_terminator())
      if (!op.hasTrait<OpTrait::ConstantLike>())
        locations.push_back(op.getLoc());
    Location loc = FusedLoc::get(atEnd.getContext(), locations);
    auto kernel = func::FuncOp::create(atEnd, loc, name, type);
    kernel.setPrivate();
    kernel->setAttr("adze.kernel", atEnd.getUnitAttr());
    Block *entry = kernel.addEntryBlock();
    IRMapping mapping;
    mapping.map(body.getArguments(), entry->getArguments());
    OpBuilder inside = OpBuilder::atBlockEnd(entry);
    for (Operation &op : body.without_terminator())
      inside.clone(op, mapping);
    SmallVector<Value> results;
    for (Value result : body.getTerminator()->getOperands())
      results.push_back(mapping.lookup(result));
    func::ReturnOp::create(inside, loc, results);
    return kernel;
  }

  /// Returns the operations of the kernel, or null if those of an op are
  /// unknown.
  static AffineExpr getFlops(func::FuncOp kernel) {
    AffineExpr sum = getAffineConstantExpr(0, kernel.getContext());
    kernel.walk([&](CostOpInterface op) {
      AffineExpr flops = op.getFlops();
      sum = sum && flops ? sum + flops : AffineExpr();
    });
    return sum;
  }

  /// Returns the bytes that separate kernels would write and read again: those
  /// of the values inside. Returns null if an op has unknown sizes.
  static AffineExpr getBytesSaved(func::FuncOp kernel) {
    MLIRContext *context = kernel.getContext();
    AffineExpr sum = getAffineConstantExpr(0, context);
    for (Operation &op : kernel.getBody().front().without_terminator())
      for (Value result : op.getResults()) {
        int64_t readers =
            llvm::count_if(result.getUsers(), [](Operation *user) {
              return !user->hasTrait<OpTrait::IsTerminator>();
            });
        bool isOutput = readers < int64_t(llvm::range_size(result.getUsers()));
        // Separate kernels would write only the inserted part, and no views.
        if (op.hasTrait<OpTrait::ConstantLike>() ||
            isa<InsertSliceOp, ReshapeOp>(op))
          continue;
        AffineExpr times = getAffineConstantExpr(readers + !isOutput, context);
        sum = addExprs(
            sum,
            mulExprs(op_detail::getBytes(context, result.getType()), times));
      }
    return sum;
  }

  /// Returns the bytes that a kernel reads of an argument: those of slices, at
  /// most all, and none if it only writes into it. Returns null if they are
  /// unknown.
  static AffineExpr getBytesRead(BlockArgument argument) {
    MLIRContext *context = argument.getContext();
    AffineExpr whole = op_detail::getBytes(context, argument.getType());
    AffineExpr parts = getAffineConstantExpr(0, context);
    for (OpOperand &use : argument.getUses()) {
      if (isa<InsertSliceOp, ScatterElementsOp, ScatterNDOp>(use.getOwner()) &&
          getUpdated(use.getOwner()->getResult(0)) == argument)
        continue;
      auto slice = dyn_cast<SliceOp>(use.getOwner());
      if (!slice)
        return whole;
      parts = addExprs(parts, op_detail::getBytes(context, slice.getType()));
    }
    auto size = getConstant(parts), limit = getConstant(whole);
    return size && limit && *size > *limit ? whole : parts;
  }

  /// Sets the bytes that are accessed if they are parts of tensors.
  static void setBytes(host::LaunchOp launch, func::FuncOp kernel) {
    MLIRContext *context = kernel.getContext();
    AffineExpr zero = getAffineConstantExpr(0, context);
    AffineExpr read = zero, written = zero;
    for (BlockArgument argument : kernel.getArguments())
      read = addExprs(read, getBytesRead(argument));
    for (Value result :
         kernel.getBody().front().getTerminator()->getOperands()) {
      SmallVector<InsertSliceOp> insertions = getInsertions(result);
      if (insertions.empty()) {
        // The third operand of a scatter is its updates.
        bool isScatter = bool(getUpdated(result));
        Type stored = isScatter
                          ? result.getDefiningOp()->getOperand(2).getType()
                          : result.getType();
        written = addExprs(written, op_detail::getBytes(context, stored));
      }
      for (InsertSliceOp insert : insertions)
        written = addExprs(
            written,
            op_detail::getBytes(context, insert.getSources().getTypes()));
    }
    TypeRange inputs = kernel.getArgumentTypes(),
              outputs = kernel.getResultTypes();
    if (read && !areEqual(read, op_detail::getBytes(context, inputs)))
      launch->setAttr(host::bytesReadAttr, host::getBytesAttr(read));
    if (written && !areEqual(written, op_detail::getBytes(context, outputs)))
      launch->setAttr(host::bytesWrittenAttr, host::getBytesAttr(written));
  }

  void launch(ClusterOp cluster, func::FuncOp kernel, ArrayAttr checks) {
    OpBuilder builder(cluster);
    auto launch = host::LaunchOp::create(
        builder, cluster.getLoc(), cluster.getResultTypes(),
        FlatSymbolRefAttr::get(kernel.getNameAttr()), cluster.getOperands(),
        /*num_outputs=*/builder.getI64IntegerAttr(1), /*steps=*/Attribute(),
        /*groups=*/Attribute());
    if (AffineExpr flops = getFlops(kernel))
      launch->setAttr(host::flopsAttr, host::getBytesAttr(flops));
    if (AffineExpr saved = getBytesSaved(kernel);
        saved && getConstant(saved) != 0)
      launch->setAttr(host::bytesSavedAttr, host::getBytesAttr(saved));
    if (!checks.empty())
      launch->setAttr(checksAttr, checks);
    setBytes(launch, kernel);
    cluster->replaceAllUsesWith(launch->getResults());
    cluster.erase();
  }

  /// Outlined bodies by hash, kept for comparison with later clusters.
  DenseMap<unsigned, std::vector<std::pair<Region *, func::FuncOp>>> kernels;
  std::deque<std::unique_ptr<Region>> kernelBodies;
  llvm::StringSet<> used;
  llvm::StringMap<unsigned> counters;
  OpBuilder atEnd;
};

struct OutlineClustersPass final
    : adze::graph::impl::OutlineClustersPassBase<OutlineClustersPass> {
  using Base::Base;

  void runOnOperation() override {
    SmallVector<ClusterOp> clusters;
    getOperation().walk(
        [&](ClusterOp cluster) { clusters.push_back(cluster); });
    Outliner outliner(getOperation());
    for (ClusterOp cluster : clusters)
      outliner.outline(cluster);
    if (tile::findCudaTarget(getOperation()))
      copyUpdated(getOperation());
    numKernels += outliner.numKernels;
    numShared += outliner.numShared;
  }
};

} // namespace
