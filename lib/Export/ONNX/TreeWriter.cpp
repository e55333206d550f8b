// Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
//
// Writes decision trees as gathers from tables, level by level, as no ONNX
// operator returns the leaves.
#include "Dialect/Graph/IR/Blob.h"
#include "Writer.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;

namespace adze::exporter {

/// The names of the tables of node fields, and of constants.
struct Writer::TreeTables {
  std::string features, isMarked, thresholds, children, zero, one;
  int64_t steps = 0;
};

/// Returns the elements of a constant, or failure if the value is not constant.
template <typename T>
static FailureOr<std::vector<T>> readTable(Operation *op, Value table) {
  ElementsAttr elements;
  if (!matchPattern(table, m_Constant(&elements)))
    return failure();
  std::vector<char> storage;
  auto bytes =
      graph::readElements(elements, storage, [&] { return op->emitError(); });
  if (failed(bytes))
    return failure();
  std::vector<T> numbers(bytes->size() / sizeof(T));
  std::copy(bytes->begin(), bytes->end(),
            reinterpret_cast<char *>(numbers.data()));
  return numbers;
}

/// Returns the tables of trees, or failure if they are not constant.
FailureOr<Writer::TreeTables> Writer::makeTables(graph::TreeLeavesOp trees) {
  auto words = readTable<uint64_t>(op, trees.getNodes());
  auto steps = readTable<int32_t>(op, trees.getSteps());
  if (failed(words) || failed(steps))
    return unsupported() << " of trees that are not constant";
  Type type = getElementTypeOrSelf(trees.getInput().getType());
  SmallVector<int32_t> features, children;
  SmallVector<bool> marks;
  SmallVector<float> floats;
  SmallVector<double> doubles;
  auto upper = [](uint64_t word) { return int32_t(word >> 32); };
  for (size_t i = 0; i < words->size(); i += trees.getNumWords()) {
    uint64_t bits = (*words)[i], pair = (*words)[i + trees.getChildrenWord()];
    int32_t feature = upper((*words)[i + trees.getFeatureWord()]);
    marks.push_back(feature < 0);
    features.push_back(feature < 0 ? -1 - feature : feature);
    children.push_back(int32_t(pair));
    children.push_back(upper(pair));
    floats.push_back(llvm::bit_cast<float>(uint32_t(bits)));
    doubles.push_back(llvm::bit_cast<double>(bits));
  }
  auto make = [&](Type element, auto values) {
    auto table = RankedTensorType::get({int64_t(values.size())}, element);
    return context.makeConstant(DenseElementsAttr::get(table, ArrayRef(values)),
                                "table");
  };
  Builder b(op->getContext());
  auto number = [&](int32_t value) {
    auto scalar = RankedTensorType::get({}, b.getI32Type());
    return context.makeConstant(DenseElementsAttr::get(scalar, value),
                                "number");
  };
  TreeTables tables;
  tables.features = make(b.getI32Type(), features);
  tables.isMarked = make(b.getI1Type(), marks);
  tables.thresholds = type.isF64() ? make(type, doubles) : make(type, floats);
  tables.children = make(b.getI32Type(), children);
  tables.zero = number(0);
  tables.one = number(1);
  for (int32_t bound : *steps)
    tables.steps = std::max<int64_t>(tables.steps, bound);
  return tables;
}

/// Returns the name of the tensor of children that the nodes branch to.
std::string Writer::takeChildren(graph::TreeLeavesOp trees,
                                 const TreeTables &tables,
                                 const std::string &nodes) {
  Node elements =
      make("GatherElements", {context.getName(trees.getInput()).str(),
                              add("Gather", {tables.features, nodes})});
  elements.attribute("axis", int64_t(1));
  std::string x = context.addNode(std::move(elements), "features");
  std::string thresholds = add("Gather", {tables.thresholds, nodes});
  std::string goesAnyway =
      add("And", {add("Gather", {tables.isMarked, nodes}), add("IsNaN", {x})});
  std::string holds =
      add("Or", {add("LessOrEqual", {x, thresholds}), goesAnyway});
  std::string side = add("Where", {holds, tables.one, tables.zero});
  return add("Gather",
             {tables.children, add("Add", {add("Add", {nodes, nodes}), side})});
}

FailureOr<Node> Writer::write(graph::TreeLeavesOp trees) {
  auto tables = makeTables(trees);
  FailureOr<std::string> shape = makeSizes(graph::getDims(trees.getResult()));
  if (failed(tables) || failed(shape))
    return failure();
  std::string places =
      add("Expand", {context.getName(trees.getRoots()).str(), *shape});
  for (int64_t i = 0; i < tables->steps; ++i) {
    std::string isLeaf = add("Less", {places, tables->zero});
    std::string children =
        takeChildren(trees, *tables, add("Max", {places, tables->zero}));
    places = add("Where", {isLeaf, places, children});
  }
  return make("BitwiseNot", {places});
}

} // namespace adze::exporter
