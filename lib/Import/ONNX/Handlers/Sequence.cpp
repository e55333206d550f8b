// Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
//
// Sequences, optionals and maps: calls of functions of the run time.
#include "../Limits.h"
#include "../OpTable.h"
#include "../Sizes.h"

using namespace adze;
using namespace adze::importer;
using mlir::AffineExpr;
using mlir::LogicalResult;
using mlir::TensorType;
using mlir::Value;
using CallResult = Binder::CallResult;
using Values = Binder::Values;

namespace {

//===----------------------------------------------------------------------===//
// What all share
//===----------------------------------------------------------------------===//

CallResult makeSequence(TensorType element) {
  return {graph::SequenceType::get(element.getContext(), element)};
}

/// Returns the element type of a sequence, or null after an error.
TensorType getElement(Binder &b, Value sequence) {
  auto type =
      sequence ? llvm::dyn_cast<graph::SequenceType>(b.getElementType(sequence))
               : graph::SequenceType();
  if (!type)
    (void)b.fail("expected a sequence");
  return type ? type.getElement() : TensorType();
}

/// Returns the description of a result that is an element: tensors need a known
/// rank.
std::optional<CallResult> makeResult(Binder &b, TensorType element) {
  auto ranked = llvm::dyn_cast_if_present<mlir::RankedTensorType>(element);
  if (ranked)
    return CallResult{ranked.getElementType(), Dims(ranked.getRank())};
  if (element)
    (void)b.unsupported("expected a sequence whose tensors are known to be of "
                        "one rank, but got " +
                        mlir::debugString(element));
  return std::nullopt;
}

Value toScalar(Binder &b, Value value) {
  return b.reshape(b.cast(value, b.builder.getI64Type()), {});
}

//===----------------------------------------------------------------------===//
// Sequences of known values
//===----------------------------------------------------------------------===//

// Exporters split a tensor into a sequence and read its elements at constant
// indices. As long as all elements are known, each change of a sequence creates
// a new one from them, and elements are these values, with all that is known
// about their sizes. graph-eliminate-dead-code removes unused sequences.

/// Sequences of more elements are handled by the run time.
constexpr size_t mostParts = 64;

std::optional<Values> getParts(Value sequence) {
  auto call =
      sequence ? sequence.getDefiningOp<graph::CallOp>() : graph::CallOp();
  if (!call || call.getFunction() != "sequence_construct" ||
      call.getInputs().size() > mostParts)
    return std::nullopt;
  return Values(call.getInputs());
}

/// Returns the constant index of an operand; negative ones count from the end.
/// Returns nothing if it is unknown or not below `count`.
std::optional<size_t> getPlace(Value position, int64_t count) {
  auto known = graph::getConstantElements(position);
  if (!known || known->size() != 1)
    return std::nullopt;
  int64_t place = known->front();
  if (place < -count || place >= count)
    return std::nullopt;
  return place < 0 ? place + count : place;
}

Value makeOfParts(Binder &b, TensorType element, llvm::ArrayRef<Value> parts) {
  return b.callForOne("sequence_construct", parts, makeSequence(element));
}

//===----------------------------------------------------------------------===//
// Sequences
//===----------------------------------------------------------------------===//

LogicalResult importSequenceConstruct(Binder &b) {
  TensorType element;
  for (Value operand : b.getOperands()) {
    TensorType own =
        operand ? graph::getElementOf(operand.getType()) : TensorType();
    element = element && own ? graph::joinElements(element, own) : own;
    if (!element)
      return b.fail("expected values of one type");
  }
  return b.done(makeOfParts(b, element, b.getOperands()));
}

LogicalResult importSequenceEmpty(Binder &b) {
  int64_t dtype = b.getInt("dtype", 1);
  mlir::Type type = getElementType(b.builder.getContext(), dtype);
  if (!type)
    return b.unsupported("expected a type that Adze supports, but got " +
                         describeDataType(dtype));
  return b.done(makeOfParts(b, graph::getNoElement(type), {}));
}

LogicalResult importSequenceAt(Binder &b) {
  if (auto parts = getParts(b.operand(0)))
    if (auto place = getPlace(b.operand(1), parts->size()))
      return b.done((*parts)[*place]);
  TensorType element = getElement(b, b.operand(0));
  auto result = makeResult(b, element);
  if (!result)
    return mlir::failure();
  return b.done(b.callForOne(
      "sequence_at", {b.operand(0), toScalar(b, b.operand(1))}, *result));
}

LogicalResult importSequenceInsert(Binder &b) {
  Value sequence = b.operand(0), value = b.operand(1);
  TensorType element = getElement(b, sequence);
  if (element)
    element =
        graph::joinElements(element, graph::getElementOf(value.getType()));
  if (!element)
    return b.fail("expected a value of the sequence's type");
  if (auto parts = getParts(sequence); parts && parts->size() < mostParts) {
    // The position after the last element is valid, too.
    std::optional<size_t> place = parts->size();
    if (b.operand(2))
      place = getPlace(b.operand(2), parts->size());
    if (place) {
      parts->insert(parts->begin() + *place, value);
      return b.done(makeOfParts(b, element, *parts));
    }
  }
  Values inputs{sequence, value};
  if (b.operand(2))
    inputs.push_back(toScalar(b, b.operand(2)));
  return b.done(b.callForOne("sequence_insert", inputs, makeSequence(element)));
}

LogicalResult importSequenceErase(Binder &b) {
  TensorType element = getElement(b, b.operand(0));
  if (!element)
    return mlir::failure();
  if (auto parts = getParts(b.operand(0)); parts && !parts->empty()) {
    std::optional<size_t> place = parts->size() - 1;
    if (b.operand(1))
      place = getPlace(b.operand(1), parts->size());
    if (place) {
      parts->erase(parts->begin() + *place);
      return b.done(makeOfParts(b, element, *parts));
    }
  }
  Values inputs{b.operand(0)};
  if (b.operand(1))
    inputs.push_back(toScalar(b, b.operand(1)));
  return b.done(b.callForOne("sequence_erase", inputs, makeSequence(element)));
}

Value getLength(Binder &b, Value sequence) {
  if (auto parts = getParts(sequence))
    return b.scalar(b.builder.getI64Type(), parts->size());
  return getElement(b, sequence) ? b.callForOne("sequence_length", sequence,
                                                {b.builder.getI64Type()})
                                 : Value();
}

LogicalResult importSequenceLength(Binder &b) {
  return b.done(getLength(b, b.operand(0)));
}

/// Returns the sizes of the parts if they and the dim are constants.
std::optional<llvm::SmallVector<int64_t>>
getPieceSizes(Binder &b, AffineExpr dim, Value split) {
  auto size = graph::getConstant(dim);
  if (!size || !split)
    return size && *size <= int64_t(mostParts)
               ? std::optional(llvm::SmallVector<int64_t>(*size, 1))
               : std::nullopt;
  auto known = graph::getConstantElements(split);
  if (!known)
    return std::nullopt;
  llvm::SmallVector<int64_t> sizes(*known);
  if (b.getRank(split) == 0) {
    int64_t piece = known->front();
    if (piece < 1 || llvm::divideCeil(*size, piece) > int64_t(mostParts))
      return std::nullopt;
    sizes.clear();
    for (int64_t start = 0; start < *size; start += piece)
      sizes.push_back(std::min(piece, *size - start));
  }
  // Invalid sizes are errors at run time.
  int64_t rest = *size;
  for (int64_t piece : sizes) {
    if (piece < 0 || piece > rest)
      return std::nullopt;
    rest -= piece;
  }
  return rest == 0 && sizes.size() <= mostParts ? std::optional(sizes)
                                                : std::nullopt;
}

Value makeOfPieces(Binder &b, Value x, int64_t axis, bool keepsDim,
                   TensorType element, llvm::ArrayRef<int64_t> sizes) {
  Values parts = b.split(x, axis, sizes);
  Dims dims = graph::getDims(x);
  dims.erase(dims.begin() + axis);
  if (!keepsDim)
    for (Value &part : parts)
      part = b.reshape(part, dims);
  return b.hasFailed() ? Value() : makeOfParts(b, element, parts);
}

LogicalResult importSplitToSequence(Binder &b) {
  Value x = b.operand(0), split = b.operand(1);
  int64_t rank = b.getRank(x), axis = b.getAxis("axis", 0, rank);
  bool keepsDim = split || b.getInt("keepdims", 1) != 0;
  if (split && b.getRank(split) == 0 && mlir::failed(checkElements(b, 1, 1)))
    return mlir::failure();
  if (b.hasFailed())
    return mlir::failure();
  auto element = mlir::RankedTensorType::get(
      llvm::SmallVector<int64_t>(keepsDim ? rank : rank - 1,
                                 mlir::ShapedType::kDynamic),
      b.getElementType(x));
  if (auto sizes = getPieceSizes(b, graph::getDims(x)[axis], split))
    return b.done(makeOfPieces(b, x, axis, keepsDim, element, *sizes));
  Values inputs{x, b.ints({axis, keepsDim ? 1 : 0})};
  if (split)
    inputs.push_back(b.cast(split, b.builder.getI64Type()));
  return b.done(
      b.callForOne("split_to_sequence", inputs, makeSequence(element)));
}

LogicalResult importConcatFromSequence(Binder &b) {
  auto result = makeResult(b, getElement(b, b.operand(0)));
  if (!result)
    return mlir::failure();
  bool newAxis = b.getInt("new_axis", 0) != 0;
  int64_t rank = result->dims.size() + (newAxis ? 1 : 0);
  int64_t axis = b.getAxis("axis", 0, rank);
  auto parts = getParts(b.operand(0));
  auto hasRank = [&](Value part) {
    return graph::getDims(part).size() == result->dims.size();
  };
  if (!b.hasFailed() && parts && !parts->empty() &&
      llvm::all_of(*parts, hasRank)) {
    if (newAxis)
      for (Value &part : *parts)
        part = b.unsqueeze(part, axis);
    return b.hasFailed() ? mlir::failure() : b.done(b.concat(*parts, axis));
  }
  if (newAxis)
    result->dims.push_back(mlir::AffineExpr());
  return b.done(b.callForOne("concat_from_sequence",
                             {b.operand(0), b.ints({axis, newAxis ? 1 : 0})},
                             *result));
}

/// A loop appends the outputs of the body to sequences.
LogicalResult importSequenceMap(Binder &b) {
  const Graph *body = b.getGraph("body");
  auto operands = b.getOperands();
  if (!body || body->inputs.size() != operands.size() ||
      llvm::is_contained(operands, Value()))
    return b.fail("expected a body with as many inputs as the node has");
  Value length = getLength(b, operands.front());
  Values inits;
  for (const ValueInfo &output : body->outputs) {
    mlir::Type type =
        getElementType(b.builder.getContext(), output.elementType);
    if (!type)
      return b.unsupported("expected a body whose outputs are tensors of "
                           "declared types");
    inits.push_back(makeOfParts(b, graph::getNoElement(type), {}));
  }
  if (b.hasFailed())
    return mlir::failure();
  auto buildBody = [&](Value number, mlir::ValueRange sequences,
                       Binder::LoopBody &result) -> LogicalResult {
    Values inputs, outputs;
    for (Value operand : operands) {
      bool isSequence =
          llvm::isa<graph::SequenceType>(b.getElementType(operand));
      auto element =
          isSequence ? makeResult(b, getElement(b, operand)) : std::nullopt;
      if (isSequence && !element)
        return mlir::failure();
      inputs.push_back(
          isSequence ? b.callForOne("sequence_at", {operand, number}, *element)
                     : operand);
    }
    if (b.hasFailed() || mlir::failed(b.inlineGraph(*body, inputs, outputs)))
      return mlir::failure();
    for (auto [sequence, output] : llvm::zip_equal(sequences, outputs)) {
      TensorType element =
          output ? graph::joinElements(getElement(b, sequence),
                                       graph::getElementOf(output.getType()))
                 : TensorType();
      if (!element)
        return b.fail("expected outputs of the types that the body declares");
      result.carried.push_back(b.callForOne(
          "sequence_insert", {sequence, output}, makeSequence(element)));
    }
    return mlir::failure(b.hasFailed());
  };
  Values results = b.createLoop(length, Value(), inits, buildBody);
  return b.hasFailed() ? mlir::failure() : b.done(results);
}

//===----------------------------------------------------------------------===//
// Optionals
//===----------------------------------------------------------------------===//

CallResult makeOptional(TensorType element) {
  return {graph::OptionalType::get(element.getContext(), element)};
}

LogicalResult importOptional(Binder &b) {
  if (Value x = b.operand(0))
    return b.done(b.callForOne("optional_construct", x,
                               makeOptional(graph::getElementOf(x.getType()))));
  const Attribute *type = b.node.find("type");
  if (!type || !type->type)
    return b.fail("expected an input or a type");
  TensorType element = b.getDeclaredElement(*type->type);
  if (!element)
    return mlir::failure();
  return b.done(b.callForOne("optional_construct", {}, makeOptional(element)));
}

graph::OptionalType getOptional(Binder &b, Value x) {
  return llvm::dyn_cast<graph::OptionalType>(b.getElementType(x));
}

LogicalResult importOptionalHasElement(Binder &b) {
  Value x = b.operand(0);
  if (x && getOptional(b, x))
    return b.done(b.callForOne("optional_has", x, {b.builder.getI1Type()}));
  // For a value that is not an optional, the answer is known.
  return b.done(b.scalar(b.builder.getI1Type(), x ? 1 : 0));
}

LogicalResult importOptionalGetElement(Binder &b) {
  Value x = b.operand(0);
  graph::OptionalType type = getOptional(b, x);
  if (!type)
    return b.done(x);
  auto result = makeResult(b, type.getElement());
  if (!result)
    return mlir::failure();
  return b.done(b.callForOne("optional_get", x, *result));
}

//===----------------------------------------------------------------------===//
// Maps
//===----------------------------------------------------------------------===//

/// Returns labels of either type from two attributes; null, with an error, if
/// neither exists.
Value getKeys(Binder &b, llvm::StringRef strings, llvm::StringRef integers) {
  if (auto texts = b.getStrings(strings); texts && !texts->empty())
    return b.strings(*texts);
  if (auto numbers = b.getInts(integers); numbers && !numbers->empty())
    return b.ints(*numbers);
  (void)b.fail("expected attribute '" + strings + "' or '" + integers + "'");
  return {};
}

LogicalResult importZipMap(Binder &b) {
  Value keys = getKeys(b, "classlabels_strings", "classlabels_int64s");
  if (!keys)
    return mlir::failure();
  mlir::Type f32 = b.builder.getF32Type();
  auto map = graph::MapType::get(b.builder.getContext(), b.getElementType(keys),
                                 mlir::RankedTensorType::get({}, f32));
  return b.done(b.callForOne("zip_map", {b.cast(b.operand(0), f32), keys},
                             makeSequence(graph::makeHandleType(map))));
}

/// Returns the values of the keys in the order of the vocabulary, 0 for others.
LogicalResult importDictVectorizer(Binder &b) {
  Value keys = getKeys(b, "string_vocabulary", "int64_vocabulary");
  auto map = llvm::dyn_cast<graph::MapType>(b.getElementType(b.operand(0)));
  if (!keys || !map)
    return b.fail("expected a map and a vocabulary");
  return b.done(b.callForOne("dict_vectorizer", {b.operand(0), keys},
                             {map.getElement().getElementType(),
                              {b.expr(1), graph::getDims(keys)[0]}}));
}

/// Returns the values in the order of their keys; with map_form SPARSE at the
/// positions of the keys.
LogicalResult importCastMap(Binder &b) {
  auto map = llvm::dyn_cast<graph::MapType>(b.getElementType(b.operand(0)));
  if (!map)
    return b.fail("expected a map");
  llvm::StringRef to = b.getString("cast_to", "TO_FLOAT");
  mlir::Type type = to == "TO_FLOAT"   ? b.builder.getF32Type()
                    : to == "TO_INT64" ? mlir::Type(b.builder.getI64Type())
                                       : b.getStringType();
  bool isSparse = b.getString("map_form", "DENSE") == "SPARSE";
  mlir::AffineExpr width =
      isSparse ? b.expr(b.getInt("max_map", 1)) : mlir::AffineExpr();
  mlir::Type stored = map.getElement().getElementType();
  Value values =
      b.callForOne("cast_map", {b.operand(0), b.ints(isSparse ? 1 : 0)},
                   {stored, {b.expr(1), width}});
  if (!values)
    return mlir::failure();
  if (graph::isString(stored) || graph::isString(type))
    return b.done(
        stored == type
            ? values
            : b.callForOne("cast", values, {type, graph::getDims(values)}));
  return b.done(b.cast(values, type));
}

} // namespace

void adze::importer::addSequenceOps(std::vector<OpRow> &rows) {
  auto add = [&](llvm::StringRef name, int first, unsigned required,
                 Handler handler, llvm::StringRef note = "",
                 llvm::StringRef domain = "") {
    rows.push_back({name, first, required, handler, note, INT32_MAX, domain,
                    /*takesContainers=*/true});
  };
  add("ConcatFromSequence", 11, 1, importConcatFromSequence,
      "elements whose rank is not known");
  add("Optional", 15, 0, importOptional);
  add("OptionalGetElement", 15, 1, importOptionalGetElement,
      "elements whose rank is not known");
  add("OptionalHasElement", 15, 0, importOptionalHasElement);
  add("SequenceAt", 11, 2, importSequenceAt,
      "elements whose rank is not known");
  add("SequenceConstruct", 11, 1, importSequenceConstruct);
  add("SequenceEmpty", 11, 0, importSequenceEmpty);
  add("SequenceErase", 11, 1, importSequenceErase);
  add("SequenceInsert", 11, 2, importSequenceInsert);
  add("SequenceLength", 11, 1, importSequenceLength);
  add("SequenceMap", 17, 1, importSequenceMap,
      "elements whose rank is not known");
  add("SplitToSequence", 11, 1, importSplitToSequence);
  add("CastMap", 1, 1, importCastMap, "", "ai.onnx.ml");
  add("DictVectorizer", 1, 1, importDictVectorizer, "", "ai.onnx.ml");
  add("ZipMap", 1, 1, importZipMap, "", "ai.onnx.ml");
}
