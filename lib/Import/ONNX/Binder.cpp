// Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
//
// Common parts of the handlers.
#include "Binder.h"
#include "Dialect/Graph/IR/Broadcast.h"
#include "Importer.h"
#include "Sizes.h"
#include "mlir/IR/Matchers.h"
#include "mlir/IR/Verifier.h"

using namespace adze;
using namespace adze::importer;

Binder::Binder(Importer &importer, const Node &node, mlir::Location loc,
               llvm::SmallVector<mlir::Value> operands)
    : NodeView(node, std::move(operands)), builder(importer.builder), loc(loc),
      importer(importer) {}

//===----------------------------------------------------------------------===//
// Errors, and what may be created
//===----------------------------------------------------------------------===//

mlir::LogicalResult Binder::done(llvm::ArrayRef<mlir::Value> values) {
  for (unsigned i = 0; i < node.outputs.size() && !failed; ++i)
    if (wants(i) && (i >= values.size() || !values[i]))
      return unsupported("expected output " + llvm::Twine(i) + " ('" +
                         node.outputs[i] + "') not to be used");
  results.assign(values.begin(), values.end());
  return mlir::failure(failed);
}

bool Binder::canCreate(llvm::ArrayRef<mlir::Value> values) {
  if (!failed && llvm::is_contained(values, mlir::Value()))
    (void)fail("expected all operands to be present");
  return !failed;
}

/// Returns true if the product of the static dims of a type does not overflow.
bool adze::importer::hasSaneSize(mlir::Type type) {
  auto shaped = llvm::dyn_cast<mlir::RankedTensorType>(type);
  uint64_t bytes = 8;
  for (int64_t dim : shaped ? shaped.getShape() : llvm::ArrayRef<int64_t>()) {
    if (mlir::ShapedType::isDynamic(dim) || dim == 0)
      continue;
    if (bytes > uint64_t(INT64_MAX) / uint64_t(dim))
      return false;
    bytes *= uint64_t(dim);
  }
  return true;
}

mlir::Value Binder::verify(mlir::Operation *op) {
  if (op && !llvm::all_of(op->getResultTypes(), hasSaneSize)) {
    (void)fail("expected a result of less than 2^63 bytes, but got " +
               mlir::debugString(op->getResult(0).getType()));
    op->erase();
    return {};
  }
  // The diagnostic has the reason.
  if (!op || mlir::failed(mlir::verify(op))) {
    if (op)
      op->erase();
    (void)fail("");
    return {};
  }
  return op->getResult(0);
}

/// Returns true for ops that move elements unchanged: packed elements (below 8
/// bits) can only be converted, other small floats also moved.
static bool keepsElements(llvm::StringRef op, mlir::Type type) {
  constexpr llvm::StringRef any[] = {"graph.cast", "graph.constant",
                                     "graph.reshape", "graph.shape"};
  constexpr llvm::StringRef moves[] = {
      "graph.bitcast",   "graph.broadcast_to",    "graph.concat",
      "graph.gather",    "graph.gather_elements", "graph.gather_nd",
      "graph.reverse",   "graph.select",          "graph.slice",
      "graph.transpose",
  };
  if (llvm::is_contained(any, op))
    return true;
  return !graph::isPacked(type) &&
         (!graph::isSmallFloat(type) || llvm::is_contained(moves, op));
}

mlir::Type adze::importer::getWideType(mlir::Type type) {
  mlir::Builder builder(type.getContext());
  if (llvm::isa<mlir::FloatType>(type))
    return builder.getF32Type();
  return type.isUnsignedInteger() ? builder.getIntegerType(8, false)
                                  : builder.getIntegerType(8);
}

static mlir::Type getElement(mlir::Type type) {
  auto shaped = llvm::dyn_cast<mlir::RankedTensorType>(type);
  return shaped ? shaped.getElementType() : mlir::Type();
}

/// Converts operands of types without arithmetic, and returns their narrow
/// type, or null.
mlir::Type Binder::widen(llvm::StringRef op,
                         llvm::SmallVectorImpl<mlir::Value> &values) {
  mlir::Type narrow;
  for (mlir::Value &value : values) {
    mlir::Type type = getElement(value.getType());
    if (!type || keepsElements(op, type))
      continue;
    mlir::Type wide = getWideType(type);
    value = createTyped(
        "graph.cast",
        mlir::Type(
            llvm::cast<mlir::RankedTensorType>(value.getType()).clone(wide)),
        value, {});
    narrow = narrow ? narrow : type;
  }
  return narrow;
}

mlir::Value
Binder::createTyped(llvm::StringRef name, mlir::TypeRange types,
                    llvm::ArrayRef<mlir::Value> given,
                    llvm::ArrayRef<mlir::NamedAttribute> attributes) {
  if (!canCreate(given))
    return {};
  llvm::SmallVector<mlir::Value> operands(given);
  (void)widen(name, operands);
  llvm::SmallVector<mlir::Type> wide(types);
  mlir::Type first = types.front();
  for (mlir::Type &type : wide) {
    mlir::Type element = getElement(type);
    if (!element || keepsElements(name, element))
      continue;
    if (wide.size() > 1) {
      (void)unsupported("expected elements that can be computed with");
      return {};
    }
    type = llvm::cast<mlir::RankedTensorType>(type).clone(getWideType(element));
  }
  if (failed)
    return {};
  mlir::OperationState state(loc, name, operands, wide, attributes);
  mlir::Value result = verify(builder.create(state));
  if (!result || wide.front() == first)
    return result;
  return createTyped("graph.cast", first, result, {});
}

/// Inference requires attributes with their defaults, which an op has after its
/// creation: it is created with a type that is replaced.
mlir::Value
Binder::createInferred(llvm::StringRef name, llvm::ArrayRef<mlir::Value> given,
                       llvm::ArrayRef<mlir::NamedAttribute> attributes) {
  if (!canCreate(given))
    return {};
  llvm::SmallVector<mlir::Value> operands(given);
  mlir::Type narrow = widen(name, operands);
  if (failed)
    return {};
  mlir::OperationState state(loc, name, operands, operands.front().getType(),
                             attributes);
  mlir::Operation *op = builder.create(state);
  llvm::SmallVector<mlir::Type> types;
  if (mlir::succeeded(
          llvm::cast<mlir::InferTypeOpInterface>(op).inferReturnTypes(
              op->getContext(), loc, op->getOperands(), op->getAttrDictionary(),
              op->getPropertiesStorage(), op->getRegions(), types))) {
    completeBroadcast(op, types);
    op->getResult(0).setType(types.front());
    mlir::Value result = failed ? mlir::Value() : verify(op);
    if (!result || !narrow || getElement(types.front()) != getWideType(narrow))
      return result;
    auto type = llvm::cast<mlir::RankedTensorType>(types.front());
    return createTyped("graph.cast", mlir::Type(type.clone(narrow)), result,
                       {});
  }
  op->erase();
  (void)fail("");
  return {};
}

/// Broadcasts of many dynamic sizes have no expression for the result: a symbol
/// is bound at run time.
void Binder::completeBroadcast(mlir::Operation *op,
                               llvm::SmallVectorImpl<mlir::Type> &types) {
  Dims dims = graph::getDims(types.front());
  if (!llvm::isa<graph::ElementwiseOpInterface>(op))
    return;
  if (!llvm::is_contained(dims, mlir::AffineExpr()))
    return;
  mlir::OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPoint(op);
  Sizes sizes(*this);
  Values shapes;
  for (mlir::Value operand : op->getOperands())
    shapes.push_back(sizes.shape(operand));
  types.front() = graph::makeType(
      llvm::cast<mlir::RankedTensorType>(types.front()).getElementType(),
      bindBroadcast(shapes, dims));
}

//===----------------------------------------------------------------------===//
// Ops
//===----------------------------------------------------------------------===//

mlir::NamedAttribute Binder::attr(llvm::StringRef name, int64_t value) {
  return builder.getNamedAttr(name, builder.getI64IntegerAttr(value));
}
mlir::NamedAttribute Binder::attr(llvm::StringRef name, bool value) {
  return builder.getNamedAttr(name, builder.getBoolAttr(value));
}
mlir::NamedAttribute Binder::attr(llvm::StringRef name, double value) {
  return builder.getNamedAttr(name, builder.getF64FloatAttr(value));
}
mlir::NamedAttribute Binder::attr(llvm::StringRef name,
                                  llvm::ArrayRef<int64_t> value) {
  return builder.getNamedAttr(name, builder.getDenseI64ArrayAttr(value));
}

mlir::Value Binder::constant(mlir::ElementsAttr elements) {
  if (!elements || failed)
    return {};
  return verify(graph::ConstantOp::create(builder, loc, elements));
}

mlir::Value Binder::scalar(mlir::Type elementType, double value) {
  auto type = mlir::RankedTensorType::get({}, elementType);
  mlir::TypedAttr element;
  bool isFloat = llvm::isa<mlir::FloatType>(elementType);
  if (!isFloat && !(value >= -0x1p63 && value < 0x1p63)) {
    (void)fail("expected an integer, but got " + std::to_string(value));
    return {};
  }
  if (isFloat)
    element = builder.getFloatAttr(elementType, value);
  else
    element = builder.getIntegerAttr(elementType, int64_t(value));
  return constant(mlir::DenseElementsAttr::get(type, mlir::Attribute(element)));
}

mlir::Value Binder::ints(llvm::ArrayRef<int64_t> values) {
  auto type = mlir::RankedTensorType::get({int64_t(values.size())},
                                          builder.getI64Type());
  return constant(mlir::DenseElementsAttr::get(type, values));
}

mlir::Value Binder::reshape(mlir::Value value,
                            llvm::ArrayRef<mlir::AffineExpr> dims) {
  if (!value)
    return {};
  mlir::Type type = graph::makeType(getElementType(value), dims);
  return type == value.getType() ? value
                                 : createAs<graph::ReshapeOp>(type, value);
}

mlir::Value Binder::broadcastTo(mlir::Value value,
                                llvm::ArrayRef<mlir::AffineExpr> dims) {
  if (!value)
    return {};
  mlir::Type type = graph::makeType(getElementType(value), dims);
  return type == value.getType() ? value
                                 : createAs<graph::BroadcastToOp>(type, value);
}

mlir::Value Binder::transpose(mlir::Value value, llvm::ArrayRef<int64_t> perm) {
  if (llvm::is_sorted(perm))
    return value;
  return create<graph::TransposeOp>(value, attr("perm", perm));
}

mlir::Value Binder::cast(mlir::Value value, mlir::Type elementType) {
  if (!value || getElementType(value) == elementType)
    return value;
  auto type = llvm::cast<mlir::RankedTensorType>(value.getType());
  llvm::SmallVector<mlir::NamedAttribute> rules;
  if (graph::isSmallFloat(elementType)) {
    if (getInt("saturate", 1) == 0)
      rules.push_back(attr("saturate", false));
    llvm::StringRef mode = hasAttribute("round_mode")
                               ? getString("round_mode", "up")
                               : llvm::StringRef("up");
    auto round = graph::symbolizeRounding(mode);
    if (!round)
      (void)fail("expected round_mode to be up, down or nearest, but got '" +
                 mode + "'");
    else if (*round != graph::Rounding::Up)
      rules.push_back(attr("round", mlir::Attribute(graph::RoundingAttr::get(
                                        builder.getContext(), *round))));
  }
  return createAs<graph::CastOp>(mlir::Type(type.clone(elementType)), value,
                                 rules);
}

bool Binder::hasAxis(int64_t axis, int64_t rank) {
  if (axis >= 0 && axis < rank)
    return true;
  (void)fail("expected a tensor that has dim " + llvm::Twine(axis) +
             ", but got one of " + llvm::Twine(rank) + " dims");
  return false;
}

mlir::Value Binder::unsqueeze(mlir::Value value, llvm::ArrayRef<int64_t> axes) {
  if (!value)
    return {};
  Dims dims = graph::getDims(value);
  for (int64_t axis : axes) {
    if (!hasAxis(axis, dims.size() + 1))
      return {};
    dims.insert(dims.begin() + axis, expr(1));
  }
  return reshape(value, dims);
}

Binder::Values Binder::split(mlir::Value value, int64_t axis,
                             llvm::ArrayRef<int64_t> sizes) {
  Values pieces;
  int64_t start = 0;
  for (int64_t size : sizes) {
    pieces.push_back(slice(value, axis, start, expr(size)));
    start += size;
  }
  return pieces;
}

mlir::Value Binder::concat(llvm::ArrayRef<mlir::Value> pieces, int64_t axis) {
  int64_t rank = getRank(pieces.front());
  if (hasFailed() || !hasAxis(axis, rank))
    return {};
  Dims dims = graph::getDims(pieces.front()), sizes;
  for (mlir::Value piece : pieces) {
    if (getRank(piece) != rank)
      continue;
    Dims own = graph::getDims(piece);
    sizes.push_back(own[axis]);
    for (auto [dim, other] : llvm::zip_equal(dims, own))
      if (!dim || graph::getConstant(other))
        dim = other;
  }
  mlir::AffineExpr size = addSizes(sizes);
  mlir::Value whole = create<graph::ConcatOp>(pieces, attr("axis", axis));
  if (whole && size && !graph::areEqual(size, graph::getDims(whole)[axis])) {
    dims[axis] = size;
    whole.setType(graph::makeType(getElementType(whole), dims));
  }
  return whole;
}

mlir::Value Binder::slice(mlir::Value value, int64_t axis, int64_t start,
                          mlir::AffineExpr size) {
  return slice(value, axis, expr(start), size);
}

mlir::Value Binder::slice(mlir::Value value, int64_t axis,
                          mlir::AffineExpr start, mlir::AffineExpr size) {
  if (!value || !start)
    return {};
  Dims dims = graph::getDims(value), starts(dims.size(), expr(0));
  if (!hasAxis(axis, dims.size()))
    return {};
  dims[axis] = size;
  starts[axis] = start;
  return createAs<graph::SliceOp>(
      graph::makeType(getElementType(value), dims), value,
      {attr("starts", graph::SliceOp::makeStarts(builder.getContext(), starts)),
       attr("steps", llvm::SmallVector<int64_t>(dims.size(), 1))});
}

mlir::Value Binder::alongAxis(mlir::Value value, int64_t axis, int64_t rank) {
  if (!value || getRank(value) != 1)
    return value;
  if (!hasAxis(axis, rank))
    return {};
  Dims dims = graph::getDims(value);
  dims.append(rank - 1 - axis, expr(1));
  return reshape(value, dims);
}

void Binder::failLength(int64_t length) {
  if (length >= 0)
    (void)unsupported("expected a vector of at most " + llvm::Twine(kMostDims) +
                      " sizes or axes, but got " + llvm::Twine(length));
  else
    (void)unsupported("expected a vector of known length, but got one of "
                      "dynamic length; --shape and --dim give inputs shapes");
}

Dims Binder::getSizes(mlir::Value value) {
  auto elements = graph::getPartialElements(value);
  if (failed || !elements || elements->size() > kMostDims) {
    failLength(elements ? int64_t(elements->size()) : -1);
    return {};
  }
  Dims dims(elements->begin(), elements->end());
  for (mlir::AffineExpr dim : dims)
    if (auto size = graph::getConstant(dim); size && *size < 0) {
      (void)fail("expected sizes of at least 0, but got " + llvm::Twine(*size));
      return {};
    }
  if (!llvm::is_contained(dims, mlir::AffineExpr()))
    return dims;
  if (const Dims *bound = importer.findBound(value))
    return *bound;
  return bindSizes(value, dims);
}

Dims Binder::bindSizes(mlir::Value value, Dims known) {
  if (!llvm::is_contained(known, mlir::AffineExpr()))
    return known;
  llvm::SmallVector<int64_t> bound;
  for (mlir::AffineExpr &dim : known) {
    if (dim) {
      bound.push_back(-1);
      continue;
    }
    dim = makeFreshSymbol();
    bound.push_back(llvm::cast<mlir::AffineSymbolExpr>(dim).getPosition());
  }
  mlir::Value sizes = cast(value, builder.getI64Type());
  if (!canCreate(sizes))
    return {};
  auto op = graph::BindOp::create(builder, loc, sizes, bound);
  importer.keepBound(value, known, op);
  return known;
}

Dims Binder::bindBroadcast(llvm::ArrayRef<mlir::Value> shapes, Dims known) {
  Sizes sizes(*this);
  mlir::Value one = sizes.number(1), result;
  for (mlir::Value shape : shapes) {
    shape = sizes.toVector(shape);
    if (failed)
      return known;
    size_t length = *graph::getConstant(graph::getDims(shape)[0]);
    if (size_t missing = known.size() - length)
      shape = sizes.concat({sizes.splat(missing, 1), shape});
    result =
        result ? sizes.select(sizes.equal(result, one), shape, result) : shape;
  }
  return bindSizes(result, known);
}

/// Returns false for regions of branches and loops under construction, which
/// have no parent op yet.
static bool isInFunction(const mlir::OpBuilder &builder) {
  return llvm::isa_and_nonnull<mlir::func::FuncOp>(
      builder.getBlock()->getParentOp());
}

void Binder::check(mlir::Value condition, llvm::StringRef message) {
  if (!canCreate(condition))
    return;
  std::optional<bool> known;
  mlir::DenseElementsAttr elements;
  auto numbers = graph::getConstantElements(condition);
  if (matchPattern(condition, mlir::m_Constant(&elements)) &&
      elements.isSplat())
    known = elements.getSplatValue<bool>();
  else if (numbers && numbers->size() == 1)
    known = numbers->front() != 0;
  if (known == true)
    return;
  // The body of a branch or loop may never run.
  if (known == false && isInFunction(builder))
    return (void)fail(message);
  graph::CheckOp::create(builder, loc, condition, message);
}

void Binder::checkEqual(mlir::Value lhs, mlir::Value rhs,
                        llvm::StringRef message) {
  if (!canCreate({lhs, rhs}))
    return;
  auto l = graph::getElements(lhs), r = graph::getElements(rhs);
  if (!l || !r || l->size() != r->size())
    return check(create<graph::EqualOp>({lhs, rhs}), message);
  for (auto [left, right] : llvm::zip(*l, *r)) {
    if (graph::areDifferent(left, right))
      return (void)fail(message);
    assume(graph::equalitiesAttr, {left, right});
  }
}

mlir::AffineExpr Binder::addSizes(llvm::ArrayRef<mlir::AffineExpr> sizes) {
  constexpr unsigned step = 16;
  // A size that is known before the run stays so as an expression.
  bool isEarly = graph::countSymbols(sizes) <= importer.numInputSymbols;
  unsigned mostTerms = isEarly ? 4 * step : step;
  mlir::AffineExpr sum = expr(0);
  auto name = [&] {
    if (graph::countTerms(sum) < mostTerms)
      return;
    mlir::AffineExpr symbol = makeFreshSymbol();
    auto position = llvm::cast<mlir::AffineSymbolExpr>(symbol).getPosition();
    graph::AssignOp::create(builder, loc, position, sum);
    sum = symbol;
  };
  for (auto [i, size] : llvm::enumerate(sizes)) {
    sum = graph::addExprs(sum, size);
    if (!sum)
      return {};
    if ((i + 1) % step == 0)
      name();
  }
  name();
  return sum;
}

mlir::AffineExpr Binder::makeFreshSymbol() {
  return importer.symbols.makeFresh();
}

bool Binder::isKnownBeforeRun(mlir::AffineExpr size) {
  return isInFunction(builder) &&
         graph::countSymbols(size) <= importer.numInputSymbols;
}

bool Binder::assumeNonNegative(mlir::AffineExpr expr) {
  // Assumptions of a branch do not hold in the other one, and sizes computed at
  // run time belong to another node.
  if (!expr ||
      (isKnownBeforeRun(expr) && importer.symbols.assumeNonNegative(expr)))
    return bool(expr);
  mlir::AffineExpr never = graph::subExprs(this->expr(-1), expr);
  if (graph::isNonNegative(never))
    return false;
  assume(graph::boundsAttr, expr);
  return true;
}

void Binder::assume(llvm::StringRef condition,
                    llvm::ArrayRef<mlir::AffineExpr> sizes) {
  if (failed || graph::isDecided(sizes, condition))
    return;
  auto map = mlir::AffineMap::get(0, graph::countSymbols(sizes), sizes,
                                  builder.getContext());
  auto get = [&](llvm::StringRef name) {
    return name == condition ? builder.getAffineMapArrayAttr(map)
                             : mlir::ArrayAttr();
  };
  graph::AssumeOp::create(builder, loc, get(graph::broadcastsAttr),
                          get(graph::equalitiesAttr), get(graph::boundsAttr));
}

void Binder::warn(const llvm::Twine &message) {
  const auto *position = importer.currentPosition;
  importer.warn(position->prefix + message, position);
}

void Binder::warnOf(const TensorData &tensor) {
  const auto *position = importer.currentPosition;
  importer.warnOf(tensor, position->prefix, position);
}

mlir::ElementsAttr Binder::getElements(const TensorData &tensor) {
  std::string error;
  mlir::ElementsAttr elements = importer.tensors->get(tensor, error);
  if (!elements)
    (void)fail(error);
  return elements;
}

mlir::LogicalResult Binder::expand(llvm::ArrayRef<mlir::Value> given) {
  if (failed)
    return mlir::failure();
  auto expanded =
      importer.expand(*this, *importer.currentPosition, llvm::to_vector(given));
  return expanded ? *expanded
                  : unsupported("expected a body for these types, but ONNX has "
                                "none");
}

mlir::LogicalResult
Binder::inlineGraph(const Graph &graph, mlir::ValueRange inputs,
                    llvm::SmallVectorImpl<mlir::Value> &results) {
  return importer.inlineGraph(graph, inputs, results);
}
