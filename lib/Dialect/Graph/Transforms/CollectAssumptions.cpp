// Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
//
// graph-collect-assumptions: collects the relations of dynamic sizes that ops
// require. Kernels do not check bounds, so the relations are checked before the
// run begins if possible.
#include "BlockOrder.h"
#include "Dialect/Graph/IR/Broadcast.h"
#include "Dialect/Graph/IR/Clamp.h"
#include "Dialect/Graph/IR/Shape.h"
#include "Dialect/Graph/Transforms/Passes.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/SetVector.h"
#include "llvm/ADT/TypeSwitch.h"

namespace adze::graph {
#define GEN_PASS_DEF_COLLECTASSUMPTIONSPASS
#include "Dialect/Graph/Transforms/Passes.h.inc"
} // namespace adze::graph

using namespace mlir;
using namespace adze::graph;

namespace {

/// Collects three kinds of relations, by a rule for each op. A verifier rejects
/// sizes that are known to be wrong; each rule here is that of a verifier, for
/// dynamic sizes.
class Collector {
public:
  explicit Collector(func::FuncOp function);

  /// With `always`, the op runs whenever the function does.
  void visit(Operation *op, bool always);
  /// Sets the attributes, creates the checks, and counts new relations.
  unsigned finish();

private:
  //===--- Assumptions ----------------------------------------------------===//

  void equal(AffineExpr lhs, AffineExpr rhs);
  void equal(ArrayRef<AffineExpr> lhs, ArrayRef<AffineExpr> rhs);
  /// Requires that a tensor, if there is one, has these dims.
  void equal(Value value, ArrayRef<AffineExpr> dims) {
    if (value)
      equal(getDims(value), dims);
  }
  /// Requires numpy broadcasting, from the last dim on.
  void broadcasts(ArrayRef<AffineExpr> from, ArrayRef<AffineExpr> to);
  void broadcasts(Value value, ArrayRef<AffineExpr> to) {
    if (value)
      broadcasts(getDims(value), to);
  }
  void notNegative(AffineExpr size);
  /// Requires groups of channels of equal size.
  void isMultiple(AffineExpr size, int64_t of);

  //===--- Ops ------------------------------------------------------------===//

  void visitResults(Operation *op);
  void visitArithmetic(Operation *op);
  void visitMovement(Operation *op);
  void visitLookup(Operation *op);
  void visitMatmul(MatmulOp op);
  template <typename OpT>
  void visitConvolution(OpT op);
  template <typename OpT>
  void visitNorm(OpT op, int64_t axis);
  void visitAttention(AttentionOp op);
  void visitRecurrent(RecurrentOp op);
  void visitSlice(SliceOp op);
  void visitIndices(Value data, Value indices, int64_t axis);
  void visitControl(Operation *op);
  void becomes(Value value, Type type, ArrayRef<int64_t> bound);
  void collects(Value slice, Type type, LoopOp loop);

  AffineExpr number(int64_t value) const {
    return getAffineConstantExpr(value, context);
  }
  bool isEarly(ArrayRef<AffineExpr> sizes) const;
  Attribute getMap(ArrayRef<AffineExpr> sizes) const;
  void add(StringRef condition, ArrayRef<AffineExpr> sizes);
  void know(AssumeOp op);
  void lift(AssumeOp op);

  /// The maps of sizes for each kind of relation, by attribute names.
  using Conditions = llvm::MapVector<StringRef, llvm::SetVector<Attribute>>;

  func::FuncOp function;
  MLIRContext *context;
  unsigned numSymbols = 0;
  llvm::DenseSet<unsigned> inputSymbols;
  Conditions ofFunction;
  /// The relations of a block that runs conditionally, or of data-dependent
  /// sizes, and those without a check yet, by their op.
  DenseMap<Block *, Conditions> ofBlocks;
  llvm::MapVector<Operation *, Conditions> unchecked;
  SmallVector<AssumeOp> lifted; // relations that moved to the function
  // The op that is visited.
  Operation *current = nullptr;
  bool runsAlways = true;
  DenseSet<std::pair<Block *, Type>> seen; // whose dims have been visited
};

} // namespace

//===----------------------------------------------------------------------===//
// Assumptions
//===----------------------------------------------------------------------===//

/// Existing relations of the function stay first.
Collector::Collector(func::FuncOp function)
    : function(function), context(function.getContext()) {
  if (auto names = function->getAttrOfType<ArrayAttr>(adze::host::symbolsAttr))
    numSymbols = names.size();
  for (Type type : function.getArgumentTypes())
    forEachSymbol(type, [&](unsigned symbol) { inputSymbols.insert(symbol); });
  for (StringRef name : {broadcastsAttr, equalitiesAttr, boundsAttr})
    if (auto maps = function->getAttrOfType<ArrayAttr>(name))
      for (auto map : maps.getAsRange<AffineMapAttr>())
        ofFunction[name].insert(getMap(map.getValue().getResults()));
  function->walk([&](AssumeOp op) { know(op); });
}

/// `visit` receives the kind of each relation and its sizes.
static void forEachCondition(
    AssumeOp op,
    llvm::function_ref<void(StringRef, ArrayRef<AffineExpr>)> visit) {
  for (auto [name, maps] : {std::pair(broadcastsAttr, op.getBroadcastsAttr()),
                            std::pair(equalitiesAttr, op.getEqualitiesAttr()),
                            std::pair(boundsAttr, op.getBoundsAttr())})
    if (maps)
      for (auto map : maps.getAsRange<AffineMapAttr>())
        visit(name, map.getValue().getResults());
}

void Collector::know(AssumeOp op) {
  Conditions &known = ofBlocks[op->getBlock()];
  forEachCondition(op, [&](StringRef name, ArrayRef<AffineExpr> sizes) {
    known[name].insert(getMap(sizes));
  });
}

/// Moves the relations to the function that can be checked before the run.
void Collector::lift(AssumeOp op) {
  bool isEarlier = runsAlways;
  op.forEachSize([&](AffineExpr size) { isEarlier &= isEarly(size); });
  if (!isEarlier)
    return;
  forEachCondition(op, [&](StringRef name, ArrayRef<AffineExpr> sizes) {
    add(name, sizes);
  });
  lifted.push_back(op);
}

unsigned Collector::finish() {
  unsigned added = 0;
  for (auto &[name, set] : ofFunction) {
    if (set.empty())
      continue;
    auto old = function->getAttrOfType<ArrayAttr>(name);
    added += set.size() - (old ? old.size() : 0);
    function->setAttr(name, ArrayAttr::get(context, set.getArrayRef()));
  }
  for (auto &[op, conditions] : unchecked) {
    OpBuilder builder(op);
    SmallVector<ArrayAttr> maps;
    for (StringRef name : {broadcastsAttr, equalitiesAttr, boundsAttr}) {
      ArrayRef<Attribute> found = conditions[name].getArrayRef();
      added += found.size();
      maps.push_back(found.empty() ? ArrayAttr()
                                   : ArrayAttr::get(context, found));
    }
    AssumeOp::create(builder, op->getLoc(), maps[0], maps[1], maps[2]);
  }
  for (AssumeOp op : lifted)
    op.erase();
  hoistChecks(function);
  return added;
}

/// Returns true if the sizes are known before the run begins.
bool Collector::isEarly(ArrayRef<AffineExpr> sizes) const {
  bool early = true;
  for (AffineExpr size : sizes)
    forEachSymbol(
        size, [&](unsigned symbol) { early &= inputSymbols.contains(symbol); });
  return early;
}

Attribute Collector::getMap(ArrayRef<AffineExpr> sizes) const {
  unsigned count = std::max(numSymbols, countSymbols(sizes));
  return AffineMapAttr::get(AffineMap::get(0, count, sizes, context));
}

/// Adds a relation unless the function or an enclosing block checks it already,
/// at the position where its sizes are known first, so before `current`.
void Collector::add(StringRef condition, ArrayRef<AffineExpr> sizes) {
  if (isDecided(sizes, condition))
    return;
  // A bounded size that equals its bound.
  if (auto met = sizes.size() == 2 ? meet(sizes[0], sizes[1]) : std::nullopt) {
    for (AffineExpr bound : met->bounds)
      notNegative(bound);
    return;
  }
  Attribute map = getMap(sizes);
  if (isEarly(sizes) && runsAlways) {
    ofFunction[condition].insert(map);
    return;
  }
  if (ofFunction[condition].contains(map))
    return;
  Operation *op = current;
  while (auto cluster = op->getParentOfType<ClusterOp>())
    op = cluster;
  for (Operation *at = op; at != function; at = at->getParentOp()) {
    auto found = ofBlocks.find(at->getBlock());
    if (found != ofBlocks.end() && found->second[condition].contains(map))
      return;
  }
  ofBlocks[op->getBlock()][condition].insert(map);
  unchecked[op][condition].insert(map);
}

void Collector::equal(AffineExpr lhs, AffineExpr rhs) {
  if (lhs && rhs)
    add(equalitiesAttr, {lhs, rhs});
}

void Collector::equal(ArrayRef<AffineExpr> lhs, ArrayRef<AffineExpr> rhs) {
  for (auto [left, right] : llvm::zip(lhs, rhs))
    equal(left, right);
}

/// A size other than 1 determines the result, and the unknown one has to be 1
/// or equal, which no expression of the result states.
void Collector::broadcasts(ArrayRef<AffineExpr> from, ArrayRef<AffineExpr> to) {
  for (auto [size, wide] : llvm::zip(llvm::reverse(from), llvm::reverse(to)))
    if (size && wide && getConstant(size) != 1 && !areEqual(size, wide) &&
        getBroadcastSizes(wide).empty() && !spreadFirst(size, wide))
      add(broadcastsAttr, {size, wide});
}

void Collector::notNegative(AffineExpr size) {
  size = size ? normalize(size) : size;
  if (size)
    add(boundsAttr, {size});
}

void Collector::isMultiple(AffineExpr size, int64_t of) {
  if (size && of > 1)
    equal(mulExprs(floorDivExprs(size, number(of)), number(of)), size);
}

//===----------------------------------------------------------------------===//
// Arithmetic
//===----------------------------------------------------------------------===//

void Collector::visitMatmul(MatmulOp op) {
  Dims lhs = getDims(op.getLhs()), rhs = getDims(op.getRhs());
  equal(lhs[lhs.size() - (op.getTransposeA() ? 2 : 1)],
        rhs[rhs.size() - (op.getTransposeB() ? 1 : 2)]);
  Dims result = getDims(op.getResult());
  ArrayRef<AffineExpr> batch = ArrayRef(result).drop_back(2);
  broadcasts(ArrayRef(lhs).drop_back(2), batch);
  broadcasts(ArrayRef(rhs).drop_back(2), batch);
}

/// Requires the input channels, and one bias for each output channel. The first
/// dim of a filter are the output channels or, in a transposed convolution, the
/// input channels.
template <typename OpT>
void Collector::visitConvolution(OpT op) {
  Dims input = getDims(op.getInput()), filter = getDims(op.getFilter());
  Dims result = getDims(op.getResult());
  bool last = op.getLayout() == Layout::NHWC;
  AffineExpr channels = last ? input.back() : input[1];
  isMultiple(filter[0], op.getGroup());
  AffineExpr read = filter[0];
  if constexpr (std::is_same_v<OpT, ConvOp>)
    read = op.getBand() ? channels : mulExprs(filter[1], number(op.getGroup()));
  equal(channels, read);
  equal(op.getBias(), last ? result.back() : result[1]);
}

template <typename OpT>
void Collector::visitNorm(OpT op, int64_t axis) {
  AffineExpr channels = getDims(op.getInput())[axis];
  for (Value vector : op->getOperands().drop_front())
    equal(vector, channels);
}

/// If heads of the query share one of key and value, their number is a
/// multiple, which the op states (AttentionOp::getRepeats).
void Collector::visitAttention(AttentionOp op) {
  Dims query = getDims(op.getQuery()), scores = op.getScoreDims();
  for (Value other : {op.getKey(), op.getValue()}) {
    Dims dims = getDims(other);
    for (size_t dim = 0; dim + 2 < query.size(); ++dim)
      if (!op.getRepeats(other, dim))
        broadcasts(ArrayRef<AffineExpr>(dims[dim]), query[dim]);
  }
  equal(query.back(), getDims(op.getKey()).back());
  equal(getDims(op.getValue()).end()[-2], scores.back());
  broadcasts(op.getBias(), scores);
  broadcasts(op.getMask(), scores);
}

void Collector::visitRecurrent(RecurrentOp op) {
  Dims gates = getDims(op.getGates()), weights = getDims(op.getWeights());
  AffineExpr hidden = weights[1],
             count = number(RecurrentOp::getNumGates(op.getCell()));
  AffineExpr wide = mulExprs(hidden, count);
  Dims state{gates[1], hidden}, output{gates[0], gates[1], hidden};
  equal(gates[2], wide);
  equal(weights[0], count);
  equal(weights[2], hidden);
  for (Value value :
       {op.getState(), op.getMemory(), op.getLastState(), op.getLastMemory()})
    equal(value, state);
  equal(op.getOutput(), output);
  equal(op.getBias(), hidden);
  equal(op.getLengths(), gates[1]);
  equal(op.getPeephole(), mulExprs(hidden, number(3)));
}

void Collector::visitArithmetic(Operation *op) {
  if (isa<ElementwiseOpInterface>(op)) {
    for (Value operand : op->getOperands())
      broadcasts(operand, getDims(op->getResult(0)));
    return;
  }
  llvm::TypeSwitch<Operation *>(op)
      .Case([&](MatmulOp op) { visitMatmul(op); })
      .Case<ConvOp, ConvTransposeOp>([&](auto op) { visitConvolution(op); })
      .Case<BatchNormOp, InstanceNormOp>(
          [&](auto op) { visitNorm(op, op.getAxis()); })
      .Case([&](GroupNormOp op) {
        visitNorm(op, 1);
        isMultiple(getDims(op.getInput())[1], op.getGroups());
      })
      .Case<LayerNormOp, RMSNormOp>([&](auto op) {
        for (Value parameter : op->getOperands().drop_front())
          broadcasts(parameter, getDims(op.getInput()));
      })
      .Case([&](AttentionOp op) { visitAttention(op); })
      .Case([&](RecurrentOp op) { visitRecurrent(op); })
      .Case([&](DetOp op) {
        Dims dims = getDims(op.getInput());
        equal(dims.end()[-2], dims.end()[-1]);
      })
      .Case<RoiAlignOp, RoiPoolOp>([&](auto op) {
        Dims rois = getDims(op.getRois()), input = getDims(op.getInput());
        equal(rois[1], number(std::is_same_v<decltype(op), RoiPoolOp> ? 5 : 4));
        equal(op.getResult(), {rois[0], input[1]});
      });
}

//===----------------------------------------------------------------------===//
// Data movement
//===----------------------------------------------------------------------===//

/// Requires that the first and the last element are inside of the input, if the
/// result has elements.
void Collector::visitSlice(SliceOp op) {
  if (op.getBegin())
    return;
  for (auto [in, out, start, step] :
       llvm::zip_equal(getDims(op.getInput()), getDims(op.getResult()),
                       op.getStartExprs(), op.getSteps())) {
    if (!in || !out || getConstant(out) == 0)
      continue;
    AffineExpr last =
        addExprs(start, mulExprs(subExprs(out, number(1)), number(step)));
    notNegative(step > 0 ? start : last);
    notNegative(subExprs(in, addExprs(step > 0 ? last : start, number(1))));
  }
}

void Collector::visitMovement(Operation *op) {
  llvm::TypeSwitch<Operation *>(op)
      .Case([&](ConcatOp op) {
        Dims first = getDims(op.getInputs().front());
        first[op.getAxis()] = {};
        for (Value input : op.getInputs().drop_front())
          equal(input, first);
      })
      .Case([&](InsertSliceOp op) {
        Dims dest = getDims(op.getDest());
        AffineExpr whole = std::exchange(dest[op.getAxis()], AffineExpr());
        for (auto [source, offset] :
             llvm::zip_equal(op.getSources(), op.getOffsets().getResults())) {
          equal(source, dest);
          AffineExpr size = getDims(source)[op.getAxis()];
          notNegative(subExprs(whole, addExprs(offset, size)));
        }
      })
      .Case([&](ReshapeOp op) {
        if (!op.getShape())
          equal(product(context, getDims(op.getInput())),
                product(context, getDims(op.getResult())));
      })
      .Case([&](BroadcastToOp op) {
        broadcasts(op.getInput(), getDims(op.getResult()));
      })
      .Case([&](SliceOp op) { visitSlice(op); })
      .Case([&](TopKOp op) {
        Dims input = getDims(op.getInput()), values = getDims(op.getValues());
        equal(op.getIndices(), values);
        notNegative(subExprs(input[op.getAxis()], values[op.getAxis()]));
        input[op.getAxis()] = {};
        equal(values, input);
      });
}

//===----------------------------------------------------------------------===//
// Gather and scatter
//===----------------------------------------------------------------------===//

/// Along dims other than the axis, each index selects its own position.
void Collector::visitIndices(Value data, Value indices, int64_t axis) {
  Dims from = getDims(data), at = getDims(indices);
  AffineExpr count = product(context, at);
  for (size_t dim = 0; dim < from.size(); ++dim) {
    AffineExpr rest = subExprs(from[dim], at[dim]);
    AffineExpr times = mulExprs(rest, count);
    if (int64_t(dim) != axis && !isNonNegative(rest))
      notNegative(times ? times : rest);
  }
}

void Collector::visitLookup(Operation *op) {
  llvm::TypeSwitch<Operation *>(op)
      .Case([&](GatherElementsOp op) {
        visitIndices(op.getData(), op.getIndices(), op.getAxis());
      })
      .Case([&](ScatterElementsOp op) {
        visitIndices(op.getData(), op.getUpdates(), op.getAxis());
        // A dim is only broadcast if its size is known to be 1.
        for (auto [size, wide] :
             llvm::zip(getDims(op.getIndices()), getDims(op.getUpdates())))
          if (getConstant(size) != 1)
            equal(size, wide);
      })
      .Case([&](GatherNDOp op) {
        Dims data = getDims(op.getData());
        equal(op.getIndices(), ArrayRef(data).take_front(op.getBatchDims()));
      })
      .Case([&](ScatterNDOp op) {
        Dims data = getDims(op.getData()), picked = getDims(op.getIndices());
        std::optional<int64_t> tuple = getConstant(picked.pop_back_val());
        picked.append(data.begin() + tuple.value_or(0), data.end());
        equal(op.getUpdates(), picked);
      })
      .Case([&](OneHotOp op) {
        Dims result = getDims(op.getResult());
        result.erase(result.begin() + op.getAxis());
        equal(op.getIndices(), result);
      });
}

//===----------------------------------------------------------------------===//
// Branches and loops
//===----------------------------------------------------------------------===//

/// Requires that a value fits this type, and binds the dims in `bound`.
void Collector::becomes(Value value, Type type, ArrayRef<int64_t> bound) {
  for (auto [from, to] : llvm::zip(getDims(value), getDims(type))) {
    auto symbol = dyn_cast_if_present<AffineSymbolExpr>(to);
    if (!symbol || !llvm::is_contained(bound, symbol.getPosition()))
      equal(from, to);
  }
}

/// Requires that all slices have one size, that of the previous one.
void Collector::collects(Value slice, Type type, LoopOp loop) {
  Dims dims = getDims(type);
  AffineExpr count = getAffineSymbolExpr(*loop.getCount(), context);
  for (auto [from, to] : llvm::zip(getDims(slice), llvm::drop_begin(dims))) {
    auto symbol = dyn_cast_if_present<AffineSymbolExpr>(to);
    if (symbol && llvm::is_contained(loop.getSymbols(), symbol.getPosition()))
      equal(mulExprs(count, from), mulExprs(count, to));
    else
      equal(from, to);
  }
}

void Collector::visitControl(Operation *op) {
  if (auto loop = dyn_cast<LoopOp>(op)) {
    for (auto [init, argument] :
         llvm::zip_equal(loop.getInits(), loop.getCarriedArguments()))
      becomes(init, argument.getType(), loop.getSymbols());
    return;
  }
  if (!isa<YieldOp>(op))
    return;
  if (auto branch = dyn_cast<IfOp>(op->getParentOp()))
    for (auto [value, type] :
         llvm::zip_equal(op->getOperands(), branch.getResultTypes()))
      becomes(value, type, branch.getSymbols());
  if (auto loop = dyn_cast<LoopOp>(op->getParentOp())) {
    for (auto [value, argument] :
         llvm::zip_equal(loop.getYieldedCarried(), loop.getCarriedArguments()))
      becomes(value, argument.getType(), loop.getSymbols());
    for (auto [slice, type] : llvm::zip_equal(
             loop.getYieldedSlices(), TypeRange(loop.getResultTypes())
                                          .drop_front(loop.getInits().size())))
      collects(slice, type, loop);
  }
}

//===----------------------------------------------------------------------===//
// All
//===----------------------------------------------------------------------===//

/// Adds sizes that broadcast to an expression, and results whose types are more
/// precise than the operands imply.
void Collector::visitResults(Operation *op) {
  bool isTop = op->getParentOp() == function;
  for (Type type : op->getResultTypes())
    if (seen.insert({op->getBlock(), type}).second)
      for (AffineExpr dim : getDims(type)) {
        if (!dim)
          continue;
        dim.walk([&](AffineExpr part) {
          SmallVector<AffineExpr> sizes = getBroadcastSizes(part);
          if (!sizes.empty())
            add(broadcastsAttr, sizes);
        });
        // The host program checks other sizes before it allocates memory for
        // them.
        if (!isTop || !isEarly(dim))
          notNegative(dim);
      }
  auto infer = dyn_cast<InferTypeOpInterface>(op);
  SmallVector<Type> inferred;
  if (infer &&
      succeeded(infer.inferReturnTypes(
          context, std::nullopt, op->getOperands(), op->getAttrDictionary(),
          op->getPropertiesStorage(), op->getRegions(), inferred)))
    for (auto [result, type] : llvm::zip_equal(op->getResults(), inferred))
      equal(result, getDims(type));
}

void Collector::visit(Operation *op, bool always) {
  if (op->getDialect() != context->getLoadedDialect<GraphDialect>())
    return;
  current = op;
  runsAlways = always;
  if (auto assume = dyn_cast<AssumeOp>(op))
    return lift(assume);
  visitControl(op);
  visitResults(op);
  visitArithmetic(op);
  visitMovement(op);
  visitLookup(op);
}

/// Returns true for ops whose relations need not hold: branches that are not
/// taken, and loops without iterations.
static bool mayNotRun(Operation *op) {
  auto loop = dyn_cast<LoopOp>(op);
  if (!loop || loop.getCondition() || !loop.getTripCount())
    return isa<IfOp, LoopOp>(op);
  auto count = getConstantElements(loop.getTripCount());
  return !count || count->front() < 1;
}

namespace {

class CollectAssumptionsPass final
    : public adze::graph::impl::CollectAssumptionsPassBase<
          CollectAssumptionsPass> {
public:
  using CollectAssumptionsPassBase::CollectAssumptionsPassBase;

  void runOnOperation() override {
    func::FuncOp function = getOperation();
    if (function.isExternal() || !function->hasAttr(adze::host::symbolsAttr) ||
        function->hasAttr(adze::host::kernelAttr))
      return;
    Collector collector(function);
    visit(function.front(), /*always=*/true, collector);
    collected = collector.finish();
  }

private:
  /// Visits relations that are also checked for all regions of the ops of the
  /// block first.
  void visit(Block &block, bool always, Collector &collector) {
    for (Operation &op : block)
      collector.visit(&op, always);
    for (Operation &op : block)
      for (Region &region : op.getRegions())
        for (Block &inner : region)
          visit(inner, always && (branches || !mayNotRun(&op)), collector);
  }
};

} // namespace
