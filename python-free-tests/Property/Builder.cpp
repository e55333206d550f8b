// Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
//
// Values and ops of random graphs.
#include "Builder.h"
#include "Dialect/Graph/IR/Broadcast.h"
#include "mlir/IR/Verifier.h"

using namespace mlir;
using namespace adze::graph;

namespace property {

GraphBuilder::GraphBuilder(MLIRContext &context, uint64_t seed)
    : random(seed), builder(&context) {
  Location loc = builder.getUnknownLoc();
  module = ModuleOp::create(loc);
  builder.setInsertionPointToEnd(module->getBody());
  function = func::FuncOp::create(builder, loc, "main",
                                  builder.getFunctionType({}, {}));
  builder.setInsertionPointToEnd(function.addEntryBlock());
  numSymbols = random.chance(50) ? 0 : random.between(1, 3);
}

OwningOpRef<ModuleOp> GraphBuilder::finish() {
  SmallVector<Value> results;
  for (Value value : values)
    if (!isa<BlockArgument>(value) &&
        (value.use_empty() || random.chance(10)) && results.size() < 6)
      results.push_back(value);
  // Every symbol is the size of an input.
  for (int64_t i = 0; i < numSymbols; ++i)
    input(builder.getF32Type(),
          getAffineSymbolExpr(static_cast<unsigned>(i), builder.getContext()),
          true);
  Location loc = builder.getUnknownLoc();
  func::ReturnOp::create(builder, loc, results);
  function.setType(builder.getFunctionType(
      function.getBody().getArgumentTypes(), ValueRange(results).getTypes()));
  size_t all = static_cast<size_t>(numSymbols + numDataSymbols);
  SmallVector<Attribute> names(all, builder.getStringAttr(""));
  SmallVector<Attribute> ranges(all, builder.getDenseI64ArrayAttr({0, -1, -1}));
  if (all) {
    function->setAttr("graph.symbols", builder.getArrayAttr(names));
    function->setAttr("graph.symbol_ranges", builder.getArrayAttr(ranges));
  }
  if (results.empty() || failed(verify(*module)))
    return {};
  return std::move(module);
}

//===----------------------------------------------------------------------===//
// Types
//===----------------------------------------------------------------------===//

Type GraphBuilder::randomFloat() {
  int64_t kind = random.below(10);
  if (kind == 0)
    return builder.getF16Type();
  if (kind == 1)
    return builder.getBF16Type();
  return builder.getF32Type();
}

static constexpr int64_t kSizes[] = {1, 1, 2, 3, 4, 5, 7, 8, 13, 16, 17, 33};

Dims GraphBuilder::randomDims(int64_t rank) {
  Dims dims;
  for (int64_t i = 0; i < rank; ++i) {
    if (numSymbols && random.chance(40))
      dims.push_back(
          getAffineSymbolExpr(static_cast<unsigned>(random.below(numSymbols)),
                              builder.getContext()));
    else
      dims.push_back(expr(random.chance(1) ? 0 : random.pick<int64_t>(kSizes)));
  }
  return dims;
}

//===----------------------------------------------------------------------===//
// Values
//===----------------------------------------------------------------------===//

Value GraphBuilder::add(Value value, Fact fact) {
  values.push_back(value);
  facts[value] = fact;
  return value;
}

Value GraphBuilder::pick(llvm::function_ref<bool(Value)> accepts) {
  SmallVector<Value> fitting;
  for (Value value : values)
    if (accepts(value))
      fitting.push_back(value);
  if (fitting.empty())
    return {};
  // Prefers the last ones, so that chains grow.
  if (fitting.size() > 3 && random.chance(60))
    return random.pick<Value>(ArrayRef(fitting).take_back(3));
  return random.pick<Value>(fitting);
}

Value GraphBuilder::pickFloat(int64_t minRank) {
  return pick([&](Value v) { return isFloat(v) && rankOf(v) >= minRank; });
}

Value GraphBuilder::pickExactFloat(int64_t minRank) {
  return pick([&](Value v) {
    return isFloat(v) && fact(v).exact && rankOf(v) >= minRank;
  });
}

Value GraphBuilder::input(Type element, ArrayRef<AffineExpr> dims, bool tame) {
  // A run reads the symbols from the inputs' dims.
  auto isInput = [&](AffineExpr dim) {
    auto symbol = dyn_cast<AffineSymbolExpr>(dim);
    return symbol ? int64_t(symbol.getPosition()) < numSymbols
                  : isa<AffineConstantExpr>(dim);
  };
  if (!llvm::all_of(dims, isInput))
    return {};
  auto type = makeType(element, dims);
  unsigned index = function.getNumArguments();
  Value value = function.getBody().addArgument(type, builder.getUnknownLoc());
  function.setType(builder.getFunctionType(
      function.getBody().getArgumentTypes(), TypeRange()));
  function.setArgAttr(index, "graph.test_data",
                      builder.getStringAttr(tame ? "tame" : "any"));
  return add(value, {true, tame});
}

Value GraphBuilder::indices(Type element, ArrayRef<AffineExpr> dims,
                            int64_t size) {
  Value value = input(element, dims, true);
  if (value)
    function.setArgAttr(function.getNumArguments() - 1, "graph.test_data",
                        builder.getStringAttr("index" + std::to_string(size)));
  return value;
}

Value GraphBuilder::constant(Type element, ArrayRef<int64_t> dims) {
  auto type = RankedTensorType::get(dims, element);
  SmallVector<Attribute> numbers;
  for (int64_t i = 0, end = type.getNumElements(); i < end; ++i) {
    if (isa<FloatType>(element))
      numbers.push_back(
          builder.getFloatAttr(element, random.uniform(-1.5, 1.5)));
    else
      numbers.push_back(builder.getIntegerAttr(
          element, element.isInteger(1) ? random.below(2) : random.below(9)));
  }
  Value value = ConstantOp::create(
      builder, builder.getUnknownLoc(),
      cast<ElementsAttr>(DenseElementsAttr::get(type, numbers)));
  return add(value, {});
}

void GraphBuilder::mixSizes(bool value) {
  for (int64_t i = 0; value && i < numSymbols; ++i)
    sizes.push_back(random.pick<int64_t>(ArrayRef(kSizes).take_front(8)));
}

/// A static size becomes a dynamic one that can be equal, or the reverse, or is
/// replaced by another one.
void GraphBuilder::mix(Dims &dims) {
  for (AffineExpr &dim : dims) {
    if (sizes.empty() || !random.chance(40))
      continue;
    auto symbol = dyn_cast<AffineSymbolExpr>(dim);
    bool isInput = symbol && symbol.getPosition() < sizes.size();
    std::optional<int64_t> size =
        isInput ? sizes[symbol.getPosition()] : getConstant(dim);
    if (symbol && boundSizes.contains(symbol.getPosition()))
      size = boundSizes.lookup(symbol.getPosition());
    if (!size)
      continue;
    SmallVector<AffineExpr> same = {expr(*size)};
    for (auto [position, other] : llvm::enumerate(sizes))
      if (other == *size)
        same.push_back(
            getAffineSymbolExpr(unsigned(position), builder.getContext()));
    dim = random.pick<AffineExpr>(same);
  }
}

Value GraphBuilder::weights(Type element, ArrayRef<AffineExpr> wanted) {
  Dims dims(wanted);
  mix(dims);
  constexpr int64_t many = 200;
  int64_t count = 1;
  SmallVector<int64_t> shape;
  for (AffineExpr dim : dims) {
    shape.push_back(getConstant(dim).value_or(-1));
    count *= shape.back();
  }
  bool isKnown = !llvm::is_contained(shape, -1);
  if (isKnown && count <= many && random.chance(60))
    return constant(element, shape);
  return input(element, dims, true);
}

Value GraphBuilder::scalar(Type element, double number) {
  auto type = RankedTensorType::get({}, element);
  Attribute attribute = isa<FloatType>(element)
                            ? Attribute(builder.getFloatAttr(element, number))
                            : Attribute(builder.getIntegerAttr(
                                  element, static_cast<int64_t>(number)));
  Value value = ConstantOp::create(
      builder, builder.getUnknownLoc(),
      cast<ElementsAttr>(DenseElementsAttr::get(type, attribute)));
  facts[value] = {};
  return value;
}

Value GraphBuilder::partner(Value value) {
  if (random.chance(50))
    if (Value other =
            pick([&](Value v) { return v.getType() == value.getType(); }))
      return other;
  Dims dims = getDims(value);
  for (AffineExpr &dim : dims)
    if (random.chance(30))
      dim = expr(1);
  while (!dims.empty() && random.chance(30))
    dims.erase(dims.begin());
  return weights(elementOf(value), dims);
}

//===----------------------------------------------------------------------===//
// Ops
//===----------------------------------------------------------------------===//

/// Two symbols that would have to be equal, or 1, which a run may violate.
static bool isBroadcast(AffineExpr dim) {
  bool found = false;
  dim.walk([&](AffineExpr part) { found |= !getBroadcastSizes(part).empty(); });
  return found;
}

bool GraphBuilder::isSmall(Type type) const {
  int64_t count = 1;
  for (AffineExpr dim : getDims(type)) {
    if (!dim || (sizes.empty() && isBroadcast(dim)) ||
        getConstant(dim).value_or(1) < 0)
      return false;
    count *= std::max<int64_t>(getConstant(dim).value_or(6), 1);
  }
  return count <= 40000;
}

Value GraphBuilder::op(StringRef name, ArrayRef<Value> operands,
                       ArrayRef<NamedAttribute> attributes, TypeRange types) {
  for (Value operand : operands)
    if (!operand)
      return {};
  // Only an op has the defaults of attributes, so it is created first, and its
  // type is inferred afterwards.
  SmallVector<Type> made(types.begin(), types.end());
  if (made.empty())
    made.push_back(operands.front().getType());
  OperationState state(builder.getUnknownLoc(), ("graph." + name).str(),
                       operands, made, attributes);
  Operation *op = builder.create(state);
  auto infer = dyn_cast<InferTypeOpInterface>(op);
  bool legal = !types.empty() || infer;
  if (types.empty() && infer) {
    SmallVector<Type> inferred;
    legal = succeeded(infer.inferReturnTypes(
        op->getContext(), op->getLoc(), op->getOperands(),
        op->getAttrDictionary(), op->getPropertiesStorage(), op->getRegions(),
        inferred));
    if (legal)
      op->getResult(0).setType(inferred.front());
  }
  for (Type type : op->getResultTypes())
    legal = legal && isSmall(type);
  if (!legal || failed(verify(op))) {
    op->erase();
    return {};
  }
  bool tame = true;
  for (Value operand : operands)
    tame &= fact(operand).tame;
  for (Value result : op->getResults())
    add(result, {!isFloat(result), tame && !isFloat(result)});
  return op->getResult(0);
}

Value GraphBuilder::exactOp(StringRef name, ArrayRef<Value> operands,
                            ArrayRef<NamedAttribute> attributes,
                            TypeRange types) {
  Value result = op(name, operands, attributes, types);
  if (!result)
    return {};
  Fact least;
  for (Value operand : operands) {
    least.exact &= fact(operand).exact;
    least.tame &= fact(operand).tame;
  }
  for (Value each : result.getDefiningOp()->getResults())
    facts[each] = least;
  return result;
}

Value GraphBuilder::bounded(Value value, double scale) {
  Value squashed = op("tanh", {value});
  if (!squashed)
    return {};
  return op("mul", {squashed, scalar(elementOf(value), scale)});
}

Value GraphBuilder::positive(Value value) {
  Value magnitude = op("abs", {bounded(value, 4)});
  if (!magnitude)
    return {};
  return op("add", {magnitude, scalar(elementOf(value), 0.25)});
}

AffineExpr GraphBuilder::dataSymbol() {
  return getAffineSymbolExpr(
      static_cast<unsigned>(numSymbols + numDataSymbols++),
      builder.getContext());
}

AffineExpr GraphBuilder::boundSymbol() {
  if (sizes.empty())
    return {};
  int64_t size = random.pick<int64_t>(ArrayRef(kSizes).take_front(8));
  Value count = indices(builder.getI64Type(), {expr(1)}, 1);
  function.setArgAttr(function.getNumArguments() - 1, "graph.test_data",
                      builder.getStringAttr("size" + std::to_string(size)));
  AffineExpr symbol = dataSymbol();
  unsigned position = cast<AffineSymbolExpr>(symbol).getPosition();
  boundSizes[position] = size;
  BindOp::create(builder, builder.getUnknownLoc(), count,
                 ArrayRef<int64_t>(position));
  return symbol;
}

void GraphBuilder::addControl(OperationState &state) {
  Operation *op = builder.create(state);
  bool legal = succeeded(verify(op));
  for (Type type : op->getResultTypes())
    legal = legal && isSmall(type);
  if (!legal)
    op->erase();
  else
    for (Value result : op->getResults())
      know(result);
}

//===----------------------------------------------------------------------===//
// Graphs
//===----------------------------------------------------------------------===//

void addSome(GraphBuilder &b) {
  using Family = void (*)(GraphBuilder &);
  static constexpr Family families[] = {
      addPointwise, addPointwise,     addPointwise, addReduction,
      addMovement,  addMovement,      addLookup,    addContraction,
      addWindow,    addNormalization, addIntegers,  addIdiom,
      addControl};
  ArrayRef<Family> all(families);
  b.random.pick<Family>(b.hasControl ? all : all.drop_back())(b);
}

OwningOpRef<ModuleOp> generateModule(MLIRContext &context, uint64_t seed) {
  ScopedDiagnosticHandler silence(&context,
                                  [](Diagnostic &) { return success(); });
  GraphBuilder b(context, seed);
  // Separate random generators, so that the other graphs do not change.
  b.hasControl = Random(seed * 131 + 7).chance(30);
  b.mixSizes(Random(seed * 146 + 11).chance(35));
  int64_t numInputs = b.random.between(1, 3);
  for (int64_t i = 0; i < numInputs; ++i)
    b.input(b.randomFloat(), b.randomDims(b.random.between(0, 4)),
            b.random.chance(75));
  int64_t size = b.random.between(2, 14);
  for (int64_t i = 0; i < 3 * size && int64_t(b.values.size()) < 4 * size; ++i)
    addSome(b);
  if (Random(seed * 157 + 13).chance(8))
    addQuantized(b);
  if (Random(seed * 179 + 17).chance(4))
    addSignal(b);
  return b.finish();
}

/// Numbers that symbols must be equal to.
static llvm::DenseMap<unsigned, SmallVector<int64_t>>
findWanted(func::FuncOp function) {
  llvm::DenseMap<unsigned, SmallVector<int64_t>> wanted;
  for (StringRef name : {broadcastsAttr, equalitiesAttr})
    if (auto maps = function->getAttrOfType<ArrayAttr>(name))
      for (auto map : maps.getAsRange<AffineMapAttr>()) {
        auto symbol = dyn_cast<AffineSymbolExpr>(map.getValue().getResult(0));
        auto number = getConstant(map.getValue().getResult(1));
        if (symbol && number)
          wanted[symbol.getPosition()].push_back(*number);
      }
  return wanted;
}

std::vector<int64_t> generateSymbols(func::FuncOp function, uint64_t seed,
                                     int emptyPercent) {
  Random random(seed * 77 + 5);
  auto symbols = function->getAttrOfType<ArrayAttr>("graph.symbols");
  llvm::DenseMap<unsigned, SmallVector<int64_t>> wanted = findWanted(function);
  std::vector<int64_t> values;
  for (unsigned i = 0, end = symbols ? symbols.size() : 0; i < end; ++i) {
    values.push_back(random.chance(emptyPercent) ? 0 : random.between(1, 9));
    if (wanted.contains(i) && random.chance(70))
      values.back() = random.pick<int64_t>(wanted[i]);
  }
  return values;
}

} // namespace property
