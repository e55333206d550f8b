// Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
//
// Checks the element types of operators against the definitions of ONNX,
// without those that Adze does not support.
#include "Types.h"
#include "Tensors.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/ADT/StringSet.h"

using namespace adze;
using namespace adze::importer;

/// The order on the page, of TensorProto.DataType.
static constexpr unsigned kOrder[] = {11, 1,  10, 16, 17, 18, 19, 20,
                                      24, 23, 7,  6,  5,  3,  22, 26,
                                      13, 12, 4,  2,  21, 25, 9,  8};

/// Returns one bit for each type that ONNX allows and Adze supports.
static uint32_t getTypes(const Parameter &parameter, const OpRow *row) {
  uint32_t types = parameter.types & getSupportedTypes();
  llvm::StringRef refused = row ? row->refused : "";
  for (llvm::StringRef name : llvm::split(refused, ' '))
    for (unsigned type : kOrder)
      if (name == getTypeName(type))
        types &= ~(uint32_t(1) << type);
  return types;
}

static std::string printList(const Parameter &parameter, const OpRow *row) {
  uint32_t types = getTypes(parameter, row);
  std::string list;
  auto add = [&](llvm::StringRef name) {
    list += (list.empty() ? "" : " ") + name.str();
  };
  for (unsigned type : kOrder)
    if (types & (uint32_t(1) << type))
      add(getTypeName(type));
  for (llvm::StringRef map : parameter.maps)
    add(llvm::join(llvm::split(map, ' '), ""));
  return list;
}

/// Returns true unless the definition allows a single type only.
static bool isVariable(const Parameter &parameter) {
  return parameter.variable.find('(') == std::string::npos;
}

/// Returns the parameter of an operand; the last one covers all following
/// values.
static const Parameter *getParameter(llvm::ArrayRef<Parameter> parameters,
                                     unsigned index) {
  if (parameters.empty())
    return nullptr;
  return &parameters[std::min<size_t>(index, parameters.size() - 1)];
}

/// Returns the element type of a tensor, or of those in a sequence or an
/// optional; null for maps.
static mlir::Type getInnerType(mlir::Type type) {
  mlir::Type element = llvm::cast<mlir::TensorType>(type).getElementType();
  if (auto sequence = llvm::dyn_cast<graph::SequenceType>(element))
    return getInnerType(sequence.getElement());
  if (auto optional = llvm::dyn_cast<graph::OptionalType>(element))
    return getInnerType(optional.getElement());
  return llvm::isa<graph::MapType>(element) ? mlir::Type() : element;
}

/// Fails if a value is not of the types of a parameter in ONNX, or of those
/// that Adze supports.
static mlir::LogicalResult checkValue(Binder &binder, llvm::StringRef what,
                                      mlir::Value value,
                                      const Parameter *parameter,
                                      const OpRow *row) {
  mlir::Type element = value ? getInnerType(value.getType()) : mlir::Type();
  int type = element && parameter ? getDataType(element) : 0;
  if (!type)
    return mlir::success();
  uint32_t bit = uint32_t(1) << type;
  if (getTypes(*parameter, row) & bit)
    return mlir::success();
  std::string message =
      ("expected " + what + " '" + parameter->name + "' to be of " +
       parameter->variable +
       (isVariable(*parameter) ? " (" + printList(*parameter, row) + ")" : "") +
       ", but got " + getTypeName(type))
          .str();
  return parameter->types & bit ? binder.unsupported(message)
                                : binder.fail(message);
}

/// Checks that a type variable is one type in a node. The ops check sequences
/// and other containers.
static mlir::LogicalResult checkVariables(Binder &binder,
                                          const Definition &definition) {
  llvm::StringMap<mlir::Type> found;
  for (auto [i, operand] : llvm::enumerate(binder.getOperands())) {
    const Parameter *parameter = getParameter(definition.inputs, i);
    if (!operand || !parameter || !parameter->isHomogeneous ||
        !isVariable(*parameter) || graph::isHandle(operand.getType()))
      continue;
    mlir::Type type = Binder::getElementType(operand);
    mlir::Type first =
        found.try_emplace(parameter->variable, type).first->second;
    if (first != type)
      return binder.fail("expected input '" + parameter->name + "' to be of " +
                         parameter->variable +
                         ", which another input says is " +
                         getTypeName(getDataType(first)) + ", but got " +
                         getTypeName(getDataType(type)));
  }
  return mlir::success();
}

mlir::LogicalResult adze::importer::checkOperands(Binder &binder,
                                                  const Definition &definition,
                                                  const OpRow *row) {
  for (auto [i, operand] : llvm::enumerate(binder.getOperands()))
    if (mlir::failed(checkValue(binder, "input", operand,
                                getParameter(definition.inputs, i), row)))
      return mlir::failure();
  return checkVariables(binder, definition);
}

mlir::LogicalResult adze::importer::checkResults(Binder &binder,
                                                 const Definition &definition,
                                                 mlir::ValueRange results) {
  for (auto [i, result] : llvm::enumerate(results))
    if (binder.wants(i) &&
        mlir::failed(checkValue(binder, "output", result,
                                getParameter(definition.outputs, i), nullptr)))
      return mlir::failure();
  return mlir::success();
}

std::string adze::importer::printTypes(const Definition &definition,
                                       const OpRow *row) {
  std::string text;
  llvm::StringSet<> done;
  for (const auto *parameters : {&definition.inputs, &definition.outputs})
    for (const Parameter &parameter : *parameters)
      if (isVariable(parameter) && done.insert(parameter.variable).second)
        text += (text.empty() ? "" : "; ") + parameter.variable + ": " +
                printList(parameter, row);
  return text;
}
