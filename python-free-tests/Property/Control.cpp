// Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
//
// Random branches and loops, also nested: conditions and trip counts that are
// constants or data, loop-carried values, and scanned and collected slices.
#include "Builder.h"

using namespace mlir;
using namespace adze::graph;

namespace property {

/// A region of an op that does not exist yet, in which values are created.
namespace {
class Body {
public:
  Body(GraphBuilder &b, TypeRange arguments)
      : b(b), guard(b.builder), outer(b.values) {
    OperationState state(b.builder.getUnknownLoc(), "graph.loop");
    state.addRegion();
    state.addAttribute("operandSegmentSizes",
                       b.builder.getDenseI32ArrayAttr({0, 0, 0}));
    holder = b.builder.create(state);
    Block &block = holder->getRegion(0).emplaceBlock();
    for (Type type : arguments)
      b.know(block.addArgument(type, b.builder.getUnknownLoc()));
    b.builder.setInsertionPointToEnd(&block);
  }

  ArrayRef<BlockArgument> arguments() {
    return holder->getRegion(0).getArguments();
  }
  /// Adds some ops on the existing values.
  void fill() {
    ++b.depth;
    for (int64_t i = b.random.between(1, 3); i > 0; --i)
      addSome(b);
    --b.depth;
  }
  /// Returns a value of the same type, of moderate size, preferably a new one.
  Value yieldLike(Value value) {
    Value found =
        b.pick([&](Value v) { return v.getType() == value.getType(); });
    found = found ? found : value;
    Value tame = GraphBuilder::isFloat(found) ? b.bounded(found, 1.25) : found;
    return tame ? tame : found;
  }
  /// Ends the region, which is moved to an op.
  std::unique_ptr<Region> finish(ArrayRef<Value> yielded) {
    YieldOp::create(b.builder, b.builder.getUnknownLoc(), yielded);
    auto region = std::make_unique<Region>();
    region->takeBody(holder->getRegion(0));
    b.values = outer;
    b.builder.setInsertionPoint(holder);
    holder->erase();
    return region;
  }

private:
  GraphBuilder &b;
  OpBuilder::InsertionGuard guard;
  std::vector<Value> outer;
  Operation *holder;
};
} // namespace

static Value addCondition(GraphBuilder &b) {
  if (b.random.chance(30))
    return b.scalar(b.builder.getI1Type(), double(b.random.below(2)));
  return b.input(b.builder.getI1Type(), {}, true);
}

static void addIf(GraphBuilder &b) {
  Value like = b.pick([](Value) { return true; });
  Value condition = addCondition(b);
  if (!like || !condition)
    return;
  int64_t count = b.random.between(1, 2);
  SmallVector<Type> types(static_cast<size_t>(count), like.getType());
  OperationState state(b.builder.getUnknownLoc(), "graph.if");
  state.addOperands(condition);
  state.addTypes(types);
  for (int branch = 0; branch < 2; ++branch) {
    Body body(b, {});
    body.fill();
    SmallVector<Value> yielded;
    for (int64_t i = 0; i < count; ++i)
      yielded.push_back(body.yieldLike(like));
    state.addRegion(body.finish(yielded));
  }
  b.addControl(state);
}

namespace {
/// The parts of a loop.
struct Loop {
  SmallVector<Value> inits;
  Value tripCount, condition, sliced; // `sliced`: scanned along dim 0
  SmallVector<Type> collected;
};
} // namespace

/// Returns element `i` of the first dim.
static Value addTake(GraphBuilder &b, Value x, Value i) {
  return b.exactOp("gather", {x, i}, b.attr("axis", 0));
}

static std::unique_ptr<Region> addLoopBody(GraphBuilder &b, Loop &loop) {
  SmallVector<Type> types{RankedTensorType::get({}, b.builder.getI64Type())};
  for (Value init : loop.inits)
    types.push_back(init.getType());
  Body body(b, types);
  Value iteration = body.arguments()[0];
  if (loop.sliced)
    addTake(b, loop.sliced, iteration);
  body.fill();
  SmallVector<Value> yielded;
  if (loop.condition)
    yielded.push_back(
        b.op("less", {iteration, b.scalar(b.builder.getI64Type(),
                                          double(b.random.below(4)))}));
  for (BlockArgument carried : body.arguments().drop_front())
    yielded.push_back(body.yieldLike(carried));
  for (int64_t i = b.random.below(3); i > 0; --i)
    if (Value slice =
            b.pick([&](Value v) { return GraphBuilder::rankOf(v) <= 3; })) {
      yielded.push_back(slice);
      loop.collected.push_back(slice.getType());
    }
  return body.finish(yielded);
}

/// Adds a loop, or a scan over the slices of a tensor.
static void addLoop(GraphBuilder &b) {
  // Each iteration computes whole tensors, on the reference path element by
  // element: a long reduction would take many minutes.
  constexpr int64_t mostTrips = 100;
  Loop loop;
  for (int64_t i = b.random.between(0, 2); i > 0; --i)
    if (Value init = b.pickFloat())
      loop.inits.push_back(init);
  if (b.random.chance(40))
    loop.sliced = b.pick([](Value v) {
      return GraphBuilder::rankOf(v) >= 1 && GraphBuilder::sizeOf(v, 0) > 0 &&
             GraphBuilder::sizeOf(v, 0) <= mostTrips;
    });
  Type i64 = b.builder.getI64Type();
  if (loop.sliced)
    loop.tripCount =
        b.scalar(i64, double(GraphBuilder::sizeOf(loop.sliced, 0)));
  else if (b.random.chance(40))
    loop.tripCount = b.scalar(i64, double(b.random.below(5)));
  else
    loop.tripCount = b.indices(i64, {}, 5);
  if (!loop.sliced && b.random.chance(30))
    loop.condition = addCondition(b);
  std::unique_ptr<Region> region = addLoopBody(b, loop);

  OperationState state(b.builder.getUnknownLoc(), "graph.loop");
  state.addOperands(loop.tripCount);
  if (loop.condition)
    state.addOperands(loop.condition);
  state.addOperands(loop.inits);
  state.addAttribute("operandSegmentSizes",
                     b.builder.getDenseI32ArrayAttr(
                         {1, loop.condition ? 1 : 0, int(loop.inits.size())}));
  state.addTypes(ValueRange(loop.inits).getTypes());
  if (!loop.collected.empty()) {
    AffineExpr count = b.dataSymbol(), length = b.dataSymbol();
    auto position = [](AffineExpr symbol) {
      return int64_t(cast<AffineSymbolExpr>(symbol).getPosition());
    };
    state.addAttribute("count", b.builder.getI64IntegerAttr(position(count)));
    state.addAttribute("symbols", b.builder.getDenseI64ArrayAttr(
                                      {position(count), position(length)}));
    for (Type type : loop.collected) {
      Dims dims = getDims(type);
      dims.insert(dims.begin(), length);
      Type element = cast<RankedTensorType>(type).getElementType();
      state.addTypes(Type(makeType(element, dims)));
    }
  }
  state.addRegion(std::move(region));
  b.addControl(state);
}

/// A data-dependent size: the number of repetitions of a value.
static void addBound(GraphBuilder &b) {
  Value x = b.pick([](Value v) { return GraphBuilder::rankOf(v) <= 3; });
  AffineExpr size = x ? b.boundSymbol() : AffineExpr();
  if (!size)
    return;
  Dims dims = getDims(x);
  dims.insert(b.random.chance(50) ? dims.begin() : dims.end(), size);
  if (dims.back() == size && dims.size() > 1) {
    Dims ones = getDims(x);
    ones.push_back(b.expr(1));
    x = b.exactOp("reshape", {x}, {},
                  Type(makeType(GraphBuilder::elementOf(x), ones)));
    if (!x)
      return;
  }
  b.exactOp("broadcast_to", {x}, {},
            Type(makeType(GraphBuilder::elementOf(x), dims)));
}

void addControl(GraphBuilder &b) {
  if (b.depth >= 2)
    return;
  if (b.random.chance(20))
    addBound(b);
  else if (b.random.chance(50))
    addIf(b);
  else
    addLoop(b);
}

} // namespace property
