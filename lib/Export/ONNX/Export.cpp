// Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
//
// Exports a function of the graph dialect to an ONNX file.
#include "Export/ONNX/Export.h"
#include "Dialect/Graph/IR/Blob.h"
#include "SizeWriter.h"
#include "Support/NodeName.h"
#include "llvm/ADT/StringSet.h"
#include <map>

using namespace mlir;

namespace adze {

using namespace exporter;

namespace {
/// The opset and IR version: current runtimes support operators of this opset.
constexpr int64_t irVersion = 10, opset = 21;
/// The largest message that protobuf readers accept.
constexpr uint64_t maxModelBytes = uint64_t(1) << 31;

/// An initialiser: the header of its message, and its elements.
struct Initializer {
  std::string head;
  ElementsAttr elements;
  Location loc;
  uint64_t bytes;
};

class Exporter final : public NodeContext {
public:
  explicit Exporter(func::FuncOp function) : function(function) {}

  LogicalResult collect();
  LogicalResult write(llvm::raw_ostream &os);

  StringRef getName(Value value) override { return names[value]; }
  std::string makeName(StringRef wanted) override {
    return makeUnique(wanted, taken);
  }
  std::string makeInts(ArrayRef<int64_t> values, bool isScalar) override;
  std::string makeConstant(DenseElementsAttr elements,
                           StringRef wanted) override;
  std::string makeFloats(ArrayRef<double> values) override;
  std::string makeScalar(Type elementType, double value) override;
  std::string addNode(Node node, StringRef wanted) override;
  FailureOr<std::string> makeSizes(ArrayRef<AffineExpr> sizes) override {
    return sizeWriter.write(sizes);
  }

private:
  using Numbers = std::pair<std::vector<int64_t>, bool>;

  static std::string makeUnique(StringRef wanted, llvm::StringSet<> &taken);
  void nameValues();
  LogicalResult addValueInfo(unsigned fieldNumber, StringRef name, Type type);
  LogicalResult addConstant(StringRef name, ElementsAttr elements,
                            Location loc);
  LogicalResult addOp(Operation &op);
  LogicalResult addNodeOf(Operation &op);
  void finishNode(Node &node, StringRef wanted);
  void addOutputs(func::ReturnOp returned);

  func::FuncOp function;
  llvm::DenseMap<Value, std::string> names;
  /// Names of values, and of nodes.
  llvm::StringSet<> taken, takenByNodes;
  /// The op that nodes are written for.
  Operation *current = nullptr;
  SizeWriter sizeWriter{*this};
  /// Small constants that were already written.
  std::map<Numbers, std::string> ints;
  /// Outputs that are not results of nodes: their indices and names.
  std::vector<std::pair<unsigned, std::string>> copies;
  Proto graph;
  std::vector<Initializer> initializers;
};
} // namespace

std::string Exporter::makeUnique(StringRef wanted, llvm::StringSet<> &taken) {
  std::string name = wanted.str();
  for (unsigned i = 1; name.empty() || !taken.insert(name).second; ++i)
    name = (wanted + "_" + Twine(i)).str();
  return name;
}

static StringRef getGraphName(DictionaryAttr attrs) {
  auto name =
      attrs ? attrs.getAs<StringAttr>(graph::GraphDialect::getNameAttrName())
            : StringAttr();
  return name ? name.getValue() : "";
}

/// Gives inputs and outputs the names of the signature, also if one value is
/// both an input and an output, or several outputs.
void Exporter::nameValues() {
  for (BlockArgument argument : function.getArguments()) {
    StringRef name =
        getGraphName(function.getArgAttrDict(argument.getArgNumber()));
    names[argument] = makeName(name.empty() ? "input" : name);
  }
  auto returned = cast<func::ReturnOp>(function.front().getTerminator());
  for (auto [index, value] : llvm::enumerate(returned.getOperands())) {
    StringRef given = getGraphName(function.getResultAttrDict(index));
    std::string name = makeName(given.empty() ? "output" : given);
    Operation *op = value.getDefiningOp();
    bool isOwn = op && !isa<graph::ConstantOp>(op) && !names.count(value);
    if (isOwn)
      names[value] = name;
    else
      copies.push_back({unsigned(index), name});
  }
  for (Operation &op : function.front())
    for (Value result : op.getResults())
      if (!names.count(result))
        names[result] = makeName(getNodeName(op.getLoc()).empty()
                                     ? op.getName().stripDialect()
                                     : getNodeName(op.getLoc()));
}

LogicalResult Exporter::addValueInfo(unsigned fieldNumber, StringRef name,
                                     Type type) {
  auto tensorType = dyn_cast<RankedTensorType>(type);
  int dataType = tensorType ? getDataType(tensorType.getElementType()) : 0;
  if (!dataType)
    return function.emitError("unsupported: no ONNX type for ")
           << type << " of '" << name << "'";
  auto symbols = function->getAttrOfType<ArrayAttr>("graph.symbols");
  Proto shape;
  for (AffineExpr expr : graph::getDims(tensorType)) {
    Proto dim;
    auto symbol = dyn_cast_if_present<AffineSymbolExpr>(expr);
    if (expr && graph::getConstant(expr))
      dim.integer(field::DimValue, *graph::getConstant(expr));
    else if (symbol && symbols && symbol.getPosition() < symbols.size())
      dim.string(field::DimParam,
                 cast<StringAttr>(symbols[symbol.getPosition()]).getValue());
    shape.message(field::ShapeDim, dim);
  }
  Proto tensor, wrapped, info;
  tensor.integer(field::TypeElement, dataType);
  tensor.message(field::TypeShape, shape);
  wrapped.message(field::TypeTensor, tensor);
  info.string(field::ValueName, name);
  info.message(field::ValueType, wrapped);
  graph.message(fieldNumber, info);
  return success();
}

LogicalResult Exporter::addConstant(StringRef name, ElementsAttr elements,
                                    Location loc) {
  ShapedType type = elements.getShapedType();
  int dataType = getDataType(type.getElementType());
  if (!dataType)
    return emitError(loc, "unsupported: no ONNX type for ") << type;
  Proto head;
  for (int64_t size : type.getShape())
    head.integer(field::TensorDims, size);
  head.integer(field::TensorType, dataType);
  head.string(field::TensorName, name);
  uint64_t bytes = graph::getNumBytes(type);
  head.length(field::TensorRaw, bytes);
  initializers.push_back({std::move(head.bytes), elements, loc, bytes});
  return success();
}

std::string Exporter::makeInts(ArrayRef<int64_t> values, bool isScalar) {
  std::string &name = ints[{values.vec(), isScalar}];
  if (!name.empty())
    return name;
  Builder builder(function.getContext());
  SmallVector<int64_t> shape;
  if (!isScalar)
    shape.push_back(values.size());
  auto type = RankedTensorType::get(shape, builder.getI64Type());
  return name = makeConstant(DenseElementsAttr::get(type, values), "ints");
}

std::string Exporter::makeConstant(DenseElementsAttr elements,
                                   StringRef wanted) {
  std::string name = makeName(wanted);
  (void)addConstant(name, elements, function.getLoc());
  return name;
}

std::string Exporter::makeFloats(ArrayRef<double> values) {
  Builder builder(function.getContext());
  auto type =
      RankedTensorType::get({int64_t(values.size())}, builder.getF32Type());
  SmallVector<float> floats(values);
  return makeConstant(DenseElementsAttr::get(type, ArrayRef<float>(floats)),
                      "floats");
}

std::string Exporter::makeScalar(Type elementType, double value) {
  Attribute element = FloatAttr::get(elementType, value);
  return makeConstant(
      DenseElementsAttr::get(RankedTensorType::get({}, elementType), element),
      "scalar");
}

/// Adds the node. ONNX Runtime refuses models in which two nodes have one name.
void Exporter::finishNode(Node &node, StringRef wanted) {
  if (!wanted.empty())
    node.name(makeUnique(wanted, takenByNodes));
  graph.message(field::GraphNode, node.proto);
}

std::string Exporter::addNode(Node node, StringRef wanted) {
  StringRef name = current ? getNodeName(current->getLoc()) : "";
  std::string result = makeName(name.empty() ? wanted : name);
  node.output(result);
  finishNode(node, name);
  return result;
}

LogicalResult Exporter::addNodeOf(Operation &op) {
  current = &op;
  FailureOr<Node> node = writeNode(&op, *this);
  if (failed(node))
    return failure();
  for (Value result : op.getResults())
    node->output(names[result]);
  finishNode(*node, getNodeName(op.getLoc()));
  return success();
}

LogicalResult Exporter::addOp(Operation &op) {
  if (auto constant = dyn_cast<graph::ConstantOp>(op))
    return addConstant(names[constant.getResult()], constant.getValue(),
                       op.getLoc());
  // ONNX has no operator for assertions; its operators fail if sizes do not
  // match.
  if (isa<graph::AssumeOp, graph::CheckOp, graph::CheckRangeOp>(op))
    return success();
  if (auto bind = dyn_cast<graph::BindOp>(op)) {
    for (auto [index, symbol] : llvm::enumerate(bind.getSymbols()))
      if (symbol >= 0)
        sizeWriter.addSource(symbol, bind.getInput(), index);
    return success();
  }
  if (auto assign = dyn_cast<graph::AssignOp>(op)) {
    for (auto [symbol, value] :
         llvm::zip(assign.getSymbols(), assign.getValues().getResults()))
      sizeWriter.addSource(symbol, value);
    return success();
  }
  if (failed(addNodeOf(op)))
    return failure();
  for (Value result : op.getResults())
    sizeWriter.addSource(result);
  return success();
}

void Exporter::addOutputs(func::ReturnOp returned) {
  for (auto &[index, name] : copies) {
    Node node("Identity");
    node.input(names[returned.getOperand(index)]);
    node.output(name);
    graph.message(field::GraphNode, node.proto);
  }
}

LogicalResult Exporter::collect() {
  nameValues();
  graph.string(field::GraphName, function.getName());
  for (BlockArgument argument : function.getArguments())
    if (failed(addValueInfo(field::GraphInput, names[argument],
                            argument.getType())))
      return failure();
    else
      sizeWriter.addSource(argument);
  for (Operation &op : function.front().without_terminator())
    if (failed(addOp(op)))
      return failure();
  auto returned = cast<func::ReturnOp>(function.front().getTerminator());
  addOutputs(returned);
  auto copy = copies.begin();
  for (auto [index, value] : llvm::enumerate(returned.getOperands())) {
    bool isCopy = copy != copies.end() && copy->first == index;
    if (failed(addValueInfo(field::GraphOutput,
                            isCopy ? copy->second : names[value],
                            value.getType())))
      return failure();
    copy += isCopy;
  }
  return success();
}

LogicalResult Exporter::write(llvm::raw_ostream &os) {
  // Length prefixes are first; those of initialisers do not depend on the
  // elements.
  uint64_t graphBytes = graph.bytes.size();
  std::vector<std::string> heads;
  for (const Initializer &one : initializers) {
    Proto outer;
    outer.length(field::GraphInitializer, one.head.size() + one.bytes);
    heads.push_back(outer.bytes + one.head);
    graphBytes += heads.back().size() + one.bytes;
  }
  if (graphBytes >= maxModelBytes)
    return function.emitError("unsupported: an ONNX file of ")
           << graphBytes << " bytes";
  Proto model, opsetImport;
  opsetImport.string(field::OpsetDomain, "");
  opsetImport.integer(field::OpsetVersion, opset);
  model.integer(field::IrVersion, irVersion);
  model.string(field::ProducerName, "adze");
  model.message(field::OpsetImport, opsetImport);
  model.length(field::ModelGraph, graphBytes);
  os << model.bytes << graph.bytes;
  for (auto [head, one] : llvm::zip(heads, initializers)) {
    std::vector<char> storage;
    Location loc = one.loc;
    FailureOr<ArrayRef<char>> bytes = graph::readElements(
        one.elements, storage, [&] { return emitError(loc); });
    if (failed(bytes))
      return failure();
    os << head;
    os.write(bytes->data(), bytes->size());
  }
  return success();
}

LogicalResult exportONNX(func::FuncOp function, llvm::raw_ostream &os) {
  Exporter exporter(function);
  if (failed(exporter.collect()))
    return failure();
  return exporter.write(os);
}

} // namespace adze
