// Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
//
// Reads the operands and attributes of a node, and reports errors.
#include "NodeView.h"
#include "mlir/IR/Matchers.h"

using namespace adze;
using namespace adze::importer;

//===----------------------------------------------------------------------===//
// Errors
//===----------------------------------------------------------------------===//

mlir::LogicalResult NodeView::fail(const llvm::Twine &text) {
  if (!failed)
    message = text.str();
  failed = true;
  return mlir::failure();
}

mlir::LogicalResult NodeView::unsupported(const llvm::Twine &text) {
  if (!failed)
    isUnsupported = true;
  return fail(text);
}

bool NodeView::forgive() {
  if (!isUnsupported)
    return false;
  failed = isUnsupported = false;
  message.clear();
  return true;
}

//===----------------------------------------------------------------------===//
// Constant operands
//===----------------------------------------------------------------------===//

std::optional<llvm::SmallVector<int64_t>>
NodeView::getConstantInts(unsigned i) {
  auto elements = graph::getConstantElements(operand(i));
  if (!elements)
    (void)unsupported("expected operand " + llvm::Twine(i) + " ('" +
                      node.inputs[i] + "') to be constant");
  return elements;
}

std::optional<llvm::SmallVector<double>>
NodeView::getConstantFloats(unsigned i) {
  mlir::ElementsAttr elements;
  if (matchPattern(operand(i), mlir::m_Constant(&elements)) &&
      llvm::isa<mlir::DenseElementsAttr>(elements) &&
      llvm::isa<mlir::FloatType>(elements.getElementType())) {
    llvm::SmallVector<double> values;
    for (llvm::APFloat value : elements.getValues<llvm::APFloat>())
      values.push_back(value.convertToDouble());
    return values;
  }
  (void)unsupported("expected operand " + llvm::Twine(i) + " ('" +
                    node.inputs[i] + "') to be constant");
  return std::nullopt;
}

/// Returns the only element of operand `i`, whose elements are `values`.
template <typename ValuesT>
static auto getOnly(NodeView &view, unsigned i, const ValuesT &values)
    -> std::optional<typename ValuesT::value_type::value_type> {
  if (!values)
    return std::nullopt;
  if (values->size() == 1)
    return values->front();
  (void)view.fail("expected operand " + llvm::Twine(i) +
                  " to have one element");
  return std::nullopt;
}

std::optional<double> NodeView::getConstantFloat(unsigned i) {
  return getOnly(*this, i, getConstantFloats(i));
}

std::optional<int64_t> NodeView::getConstantInt(unsigned i) {
  return getOnly(*this, i, getConstantInts(i));
}

//===----------------------------------------------------------------------===//
// Attributes
//===----------------------------------------------------------------------===//

const Attribute *NodeView::find(llvm::StringRef name, Attribute::Kind kind) {
  const Attribute *attribute = node.find(name);
  if (!attribute || attribute->kind == kind)
    return attribute;
  (void)fail("expected attribute '" + name + "' to be of another type");
  return nullptr;
}

int64_t NodeView::getInt(llvm::StringRef name, int64_t otherwise) {
  const Attribute *attribute = find(name, Attribute::Kind::Int);
  return attribute ? attribute->i : otherwise;
}

double NodeView::getFloat(llvm::StringRef name, double otherwise) {
  const Attribute *attribute = find(name, Attribute::Kind::Float);
  return attribute ? attribute->f : otherwise;
}

llvm::StringRef NodeView::getString(llvm::StringRef name,
                                    llvm::StringRef otherwise) {
  const Attribute *attribute = find(name, Attribute::Kind::String);
  return attribute ? llvm::StringRef(attribute->s) : otherwise;
}

std::optional<llvm::SmallVector<int64_t>>
NodeView::getInts(llvm::StringRef name) {
  const Attribute *attribute = find(name, Attribute::Kind::Ints);
  if (!attribute)
    return std::nullopt;
  return llvm::SmallVector<int64_t>(attribute->ints.begin(),
                                    attribute->ints.end());
}

llvm::SmallVector<int64_t> NodeView::getInts(llvm::StringRef name, size_t count,
                                             int64_t otherwise) {
  auto values = getInts(name);
  if (!values)
    return llvm::SmallVector<int64_t>(count, otherwise);
  if (values->size() != count) {
    (void)fail("expected " + llvm::Twine(count) + " numbers in attribute '" +
               name + "', but got " + llvm::Twine(values->size()));
    values->resize(count, otherwise);
  }
  return *values;
}

const TensorData *NodeView::getTensor(llvm::StringRef name) {
  const Attribute *attribute = find(name, Attribute::Kind::Tensor);
  return attribute ? &attribute->tensors.front() : nullptr;
}

const Graph *NodeView::getGraph(llvm::StringRef name) {
  const Attribute *attribute = find(name, Attribute::Kind::Graph);
  return attribute ? attribute->graphs.front().get() : nullptr;
}

int64_t NodeView::normalizeAxis(int64_t axis, int64_t rank) {
  if (axis >= -rank && axis < rank)
    return axis < 0 ? axis + rank : axis;
  (void)fail("expected an axis in [" + llvm::Twine(-rank) + ", " +
             llvm::Twine(rank - 1) + "], but got " + llvm::Twine(axis));
  return 0;
}

llvm::SmallVector<int64_t> NodeView::normalizeAxes(llvm::ArrayRef<int64_t> axes,
                                                   int64_t rank) {
  llvm::SmallVector<int64_t> result;
  for (int64_t axis : axes)
    result.push_back(normalizeAxis(axis, rank));
  llvm::sort(result);
  if (std::adjacent_find(result.begin(), result.end()) != result.end())
    (void)fail("expected each axis once");
  return result;
}

std::optional<llvm::SmallVector<int64_t>> NodeView::getAxes(unsigned i,
                                                            int64_t rank) {
  std::optional<llvm::SmallVector<int64_t>> axes = getInts("axes");
  if (!axes && operand(i))
    axes = getConstantInts(i);
  if (!axes)
    return std::nullopt;
  return normalizeAxes(*axes, rank);
}

std::optional<llvm::ArrayRef<std::string>>
NodeView::getStrings(llvm::StringRef name) {
  const Attribute *attribute = find(name, Attribute::Kind::Strings);
  if (!attribute)
    return std::nullopt;
  return llvm::ArrayRef(attribute->strings);
}
