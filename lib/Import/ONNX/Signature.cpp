// Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
//
// Arguments and results of @main.
#include "Dialect/Graph/IR/Broadcast.h"
#include "Dialect/Host/IR/External.h"
#include "Importer.h"
#include "llvm/Support/GlobPattern.h"

using namespace adze;
using namespace adze::importer;

mlir::TensorType Importer::getContainerType(const TypeInfo &type) {
  using Kind = TypeInfo::Kind;
  if (type.kind == Kind::Tensor) {
    mlir::Type elementType = getElementType(context, type.elementType);
    if (!elementType)
      return {};
    if (!type.rank)
      return mlir::UnrankedTensorType::get(elementType);
    return mlir::RankedTensorType::get(
        llvm::SmallVector<int64_t>(*type.rank, mlir::ShapedType::kDynamic),
        elementType);
  }
  mlir::TensorType element;
  if (type.element && type.kind != Kind::Other)
    element = getContainerType(*type.element);
  if (!element)
    return {};
  if (type.kind == Kind::Sequence)
    return graph::makeHandleType(graph::SequenceType::get(context, element));
  if (type.kind == Kind::Optional)
    return graph::makeHandleType(graph::OptionalType::get(context, element));
  mlir::Type key = getElementType(context, type.elementType);
  if (!key || !llvm::isa<mlir::IntegerType>(key))
    return {};
  return graph::makeHandleType(graph::MapType::get(context, key, element));
}

/// Applies --shape to the dims of an input.
static bool applyShape(const ShapeOption &option, std::vector<Dim> &dims,
                       Symbols &symbols, std::string &error) {
  if (option.dims.size() != dims.size()) {
    error = "expected " + std::to_string(dims.size()) +
            " dims in its --shape, but got " +
            std::to_string(option.dims.size());
    return false;
  }
  for (auto [size, dim] : llvm::zip(option.dims, dims)) {
    if (size < 0)
      continue;
    if (dim.size.value_or(size) != size ||
        (!dim.name.empty() && !symbols.fix(dim.name, size))) {
      error = "expected a --shape that agrees with the model and the other "
              "options, but got " +
              std::to_string(size) + " for " +
              (dim.size ? std::to_string(*dim.size)
                        : dim.name + "; --dim " + dim.name +
                              "=? gives each dim of that name a size of its "
                              "own");
      return false;
    }
    dim.size = size;
  }
  return true;
}

mlir::FailureOr<mlir::Type> Importer::getInputType(const ValueInfo &input) {
  std::string prefix = path + ": input '" + input.name + "': ";
  mlir::Type elementType = getElementType(context, input.elementType);
  if (mlir::TensorType type =
          input.type ? getContainerType(*input.type) : mlir::TensorType())
    return mlir::Type(type);
  if (!input.isTensor || !elementType) {
    issue(prefix + "expected a value of a type that Adze supports, but got " +
              (input.isTensor ? describeDataType(input.elementType)
                              : std::string("another one")),
          /*unsupported=*/true);
    return mlir::failure();
  }
  std::optional<std::vector<Dim>> dims = input.dims;
  for (const ShapeOption &option : options.shapes) {
    if (option.name != input.name)
      continue;
    if (!dims)
      dims.emplace(option.dims.size());
    std::string error;
    if (!applyShape(option, *dims, symbols, error)) {
      issue(prefix + error);
      return mlir::failure();
    }
  }
  if (!dims) {
    issue(prefix + "expected a shape of known rank; give it with --shape " +
              input.name + "=...",
          /*unsupported=*/true);
    return mlir::failure();
  }
  Dims exprs;
  for (const Dim &dim : *dims) {
    if (dim.size && *dim.size < 0) {
      issue(prefix + "expected dims >= 0, but got " + llvm::Twine(*dim.size));
      return mlir::failure();
    }
    exprs.push_back(symbols.getDim(dim));
  }
  mlir::Type type = graph::makeType(elementType, exprs);
  if (hasSaneSize(type))
    return type;
  issue(prefix + "expected a tensor of less than 2^63 bytes, but got " +
        mlir::debugString(type));
  return mlir::failure();
}

/// Makes the initializers that --overridable names inputs: adds their types,
/// and their default values.
void Importer::addOverridable(llvm::SmallVectorImpl<mlir::Type> &types,
                              llvm::SmallVectorImpl<Overridable> &weights) {
  for (const std::string &pattern : options.overridable) {
    auto glob = llvm::GlobPattern::create(pattern);
    if (!glob) {
      issue(path + ": --overridable " + pattern + ": " +
            llvm::toString(glob.takeError()));
      continue;
    }
    bool isUsed = false;
    for (const TensorData &tensor : model->graph.initializers) {
      if (!glob->match(tensor.name))
        continue;
      isUsed = true;
      // Another pattern may have matched it.
      if (!mainScope.constants.erase(tensor.name))
        continue;
      addOverridable(tensor, types, weights);
    }
    if (!isUsed)
      issue(path + ": expected the name of an initializer, but got " +
            "--overridable " + pattern);
  }
}

void Importer::addOverridable(const TensorData &tensor,
                              llvm::SmallVectorImpl<mlir::Type> &types,
                              llvm::SmallVectorImpl<Overridable> &weights) {
  std::string error;
  mlir::ElementsAttr value = tensors->get(tensor, error);
  mainScope.values[tensor.name] = mlir::Value();
  if (!value) {
    issueOf(tensor, error);
    return;
  }
  if (!tensor.strings.empty()) {
    issueOf(tensor, "expected numbers of an overridable weight");
    return;
  }
  auto type = llvm::cast<mlir::RankedTensorType>(value.getShapedType());
  auto declared = llvm::find_if(model->graph.inputs, [&](const ValueInfo &i) {
    return i.name == tensor.name && i.dims;
  });
  if (declared != model->graph.inputs.end()) {
    // The declaration states which dims other values may have.
    auto input = getInputType(*declared);
    if (mlir::failed(input))
      return;
    auto wide = llvm::dyn_cast<mlir::RankedTensorType>(*input);
    if (!wide || wide.getElementType() != type.getElementType() ||
        mlir::failed(mlir::verifyCompatibleShape(wide, type))) {
      issueOf(tensor, "expected a tensor that fits the input of its name, " +
                          mlir::debugString(*input) + ", but got " +
                          mlir::debugString(type));
      return;
    }
    type = wide;
  }
  types.push_back(type);
  weights.push_back({tensor.name, value});
}

bool Importer::addFunction() {
  module = mlir::ModuleOp::create(
      mlir::FileLineColLoc::get(context, fileName, 0, 0));
  for (const TensorData &tensor : model->graph.initializers)
    mainScope.constants[tensor.name] = &tensor;
  // --shape binds names that other inputs use, too.
  llvm::StringMap<std::vector<Dim>> declared;
  for (const ValueInfo &input : model->graph.inputs)
    if (input.dims)
      declared[input.name] = *input.dims;
  for (const ShapeOption &option : options.shapes) {
    auto found = declared.find(option.name);
    std::string ignored; // reported with the input
    if (found != declared.end())
      (void)applyShape(option, found->second, symbols, ignored);
    else if (llvm::none_of(model->graph.inputs, [&](const ValueInfo &input) {
               return input.name == option.name;
             }))
      issue(path + ": expected the name of an input, but got --shape " +
            option.name);
  }
  llvm::SmallVector<mlir::Type> types;
  llvm::SmallVector<const ValueInfo *> inputs;
  for (const ValueInfo &input : model->graph.inputs) {
    if (mainScope.constants.contains(input.name))
      continue;
    auto type = getInputType(input);
    if (mlir::failed(type)) {
      mainScope.values[input.name] = mlir::Value();
      continue;
    }
    types.push_back(*type);
    inputs.push_back(&input);
  }
  llvm::SmallVector<Overridable> weights;
  addOverridable(types, weights);
  if (auto unused = symbols.findUnused())
    issue(path + ": " + *unused);
  builder.setInsertionPointToEnd(module->getBody());
  function = mlir::func::FuncOp::create(
      builder, module->getLoc(), "main",
      builder.getFunctionType(types, mlir::TypeRange()));
  mlir::Block *block = function.addEntryBlock();
  for (auto [i, input] : llvm::enumerate(inputs)) {
    function.setArgAttr(i, graph::GraphDialect::getNameAttrName(),
                        builder.getStringAttr(input->name));
    mainScope.values[input->name] = block->getArgument(i);
  }
  for (auto [i, weight] : llvm::enumerate(weights)) {
    unsigned argument = inputs.size() + i;
    function.setArgAttr(argument, graph::GraphDialect::getNameAttrName(),
                        builder.getStringAttr(weight.name));
    function.setArgAttr(argument, host::defaultAttr, weight.value);
    mainScope.values[weight.name] = block->getArgument(argument);
  }
  builder.setInsertionPointToEnd(block);
  numInputSymbols = symbols.count();
  return true;
}

/// Returns true if the model declares no type of a value.
static bool isUntyped(const ValueInfo &info) {
  return info.isTensor ? info.elementType == 0
                       : !info.type || info.type->kind == TypeInfo::Kind::Other;
}

/// Returns "f32", "a sequence" and the like.
static std::string describeType(mlir::Type elementType) {
  if (int dataType = getDataType(elementType))
    return describeDataType(dataType);
  return mlir::debugString(elementType);
}

/// Exporters declare wrong types or none, so the type of the node is that of
/// the result.
void Importer::checkType(const ValueInfo &output, mlir::Value value) {
  mlir::Type made = Binder::getElementType(value);
  mlir::Type declared = output.isTensor
                            ? getElementType(context, output.elementType)
                            : mlir::Type();
  bool isWrong = output.isTensor && output.elementType && made != declared;
  if (!isWrong && !isUntyped(output))
    return;
  std::string prefix = path + ": ";
  std::optional<NodePosition> position;
  for (auto [i, node] : llvm::enumerate(model->graph.nodes))
    if (llvm::is_contained(node.outputs, output.name))
      position = NodePosition{prefix + describe(node, i) + ": ",
                              getLocation(node, i),
                              /*depth=*/0,
                              &node,
                              unsigned(i),
                              &node};
  warn((position ? position->prefix : prefix) + "output '" + output.name +
           "' is declared " +
           (isWrong ? "as " + describeDataType(output.elementType)
                    : std::string("without a type")) +
           "; it is " + describeType(made) + ", which its node computes",
       position ? &*position : nullptr);
}

/// An output may be declared as the element of an optional.
mlir::Value Importer::asDeclared(const ValueInfo &output, mlir::Value value) {
  auto optional =
      llvm::dyn_cast<graph::OptionalType>(Binder::getElementType(value));
  if (!optional || !output.type || isUntyped(output) ||
      output.type->kind == TypeInfo::Kind::Optional ||
      !graph::isHandle(optional.getElement()))
    return value;
  auto op = graph::CallOp::create(builder, value.getLoc(),
                                  mlir::Type(optional.getElement()),
                                  builder.getStringAttr("optional_get"), value,
                                  builder.getDenseI64ArrayAttr({}));
  return op.getResult(0);
}

/// Exporters declare wrong ranks, too, so the rank of the node is used. But of
/// choices between ranks, those that contradict the declaration are rejected.
void Importer::checkRank(const ValueInfo &output, mlir::Value value) {
  auto type = llvm::dyn_cast<mlir::RankedTensorType>(value.getType());
  if (choices && type && output.dims &&
      size_t(type.getRank()) != output.dims->size())
    issue(path + ": output '" + output.name + "': expected " +
          llvm::Twine(output.dims->size()) + " dims, but got " +
          llvm::Twine(type.getRank()));
}

void Importer::addReturn(const Graph &graph) {
  llvm::SmallVector<mlir::Value> results;
  llvm::SmallVector<mlir::Attribute> attributes;
  for (const ValueInfo &output : graph.outputs) {
    mlir::Value value;
    if (!find(output.name, mainScope, value) || !value)
      continue; // an issue already
    value = asDeclared(output, value);
    checkRank(output, value);
    checkType(output, value);
    results.push_back(value);
    attributes.push_back(builder.getDictionaryAttr(
        builder.getNamedAttr(graph::GraphDialect::getNameAttrName(),
                             builder.getStringAttr(output.name))));
  }
  mlir::func::ReturnOp::create(builder, module->getLoc(), results);
  function.setType(builder.getFunctionType(
      function.getArgumentTypes(), mlir::ValueRange(results).getTypes()));
  function.setAllResultAttrs(attributes);
  llvm::SmallVector<mlir::NamedAttribute> symbolAttributes;
  symbols.addAttributes(builder, symbolAttributes);
  // The first string, "", always exists.
  if (tensors->getStrings().size() > 1)
    symbolAttributes.push_back(builder.getNamedAttr(
        graph::GraphDialect::getStringsAttrName(),
        builder.getStrArrayAttr(
            llvm::to_vector_of<llvm::StringRef>(tensors->getStrings()))));
  for (mlir::NamedAttribute attribute : symbolAttributes)
    function->setAttr(attribute.getName(), attribute.getValue());
  // The relations that ops require are added by graph-collect-assumptions.
  llvm::SmallVector<mlir::Attribute> maps;
  for (auto [lhs, rhs] : equalities)
    maps.push_back(mlir::AffineMapAttr::get(
        mlir::AffineMap::get(0, symbols.count(), {lhs, rhs}, context)));
  if (!maps.empty())
    function->setAttr(graph::equalitiesAttr, builder.getArrayAttr(maps));
}
