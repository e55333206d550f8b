// Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
//
// Strings, sequences, optionals and maps, calls of the run time's functions,
// and custom operators.
#include "Import/ONNX/CustomKernels.h"
#include "Importer.h"

using namespace adze;
using namespace adze::importer;
using mlir::Type;
using mlir::Value;

//===----------------------------------------------------------------------===//
// Strings
//===----------------------------------------------------------------------===//

Type Binder::getStringType() {
  return mlir::IntegerType::get(builder.getContext(), 64,
                                mlir::IntegerType::Signed);
}

Value Binder::strings(llvm::ArrayRef<std::string> texts) {
  llvm::SmallVector<int64_t> numbers;
  for (const std::string &text : texts)
    numbers.push_back(importer.tensors->intern(text));
  auto type =
      mlir::RankedTensorType::get({int64_t(texts.size())}, getStringType());
  return constant(
      mlir::DenseElementsAttr::get(type, llvm::ArrayRef<int64_t>(numbers)));
}

Value Binder::string(llvm::StringRef text) {
  auto type = mlir::RankedTensorType::get({}, getStringType());
  return constant(
      mlir::DenseElementsAttr::get(type, importer.tensors->intern(text)));
}

//===----------------------------------------------------------------------===//
// Calls
//===----------------------------------------------------------------------===//

Binder::Values Binder::call(llvm::StringRef function,
                            llvm::ArrayRef<Value> inputs,
                            llvm::ArrayRef<CallResult> results,
                            llvm::ArrayRef<mlir::AffineExpr> told) {
  Values none(results.size());
  if (!canCreate(inputs))
    return none;
  llvm::SmallVector<Type> types;
  llvm::SmallVector<int64_t> symbols;
  for (mlir::AffineExpr symbol : told)
    symbols.push_back(llvm::cast<mlir::AffineSymbolExpr>(symbol).getPosition());
  for (const CallResult &result : results) {
    Dims dims = result.dims;
    for (mlir::AffineExpr &dim : dims) {
      if (dim)
        continue;
      dim = makeFreshSymbol();
      symbols.push_back(llvm::cast<mlir::AffineSymbolExpr>(dim).getPosition());
    }
    types.push_back(graph::makeType(result.elementType, dims));
  }
  auto op = graph::CallOp::create(builder, loc, types,
                                  builder.getStringAttr(function), inputs,
                                  builder.getDenseI64ArrayAttr(symbols));
  return verify(op) ? Values(op.getResults()) : none;
}

mlir::TensorType Binder::getDeclaredElement(const TypeInfo &type) {
  mlir::TensorType element = importer.getContainerType(type);
  if (!element)
    (void)unsupported("expected a type that Adze supports");
  return element;
}

//===----------------------------------------------------------------------===//
// Custom operators
//===----------------------------------------------------------------------===//

bool Importer::hasCustomKernel(const Node &node) const {
  return options.kernels && options.kernels->has(node.domain, node.opType);
}

/// Converts an attribute of numbers or strings; returns null for others.
static mlir::Attribute convertAttribute(mlir::Builder &builder,
                                        const Attribute &attribute) {
  switch (attribute.kind) {
  case Attribute::Kind::Int:
    return builder.getI64IntegerAttr(attribute.i);
  case Attribute::Kind::Float:
    return builder.getF32FloatAttr(attribute.f);
  case Attribute::Kind::String:
    return builder.getStringAttr(attribute.s);
  case Attribute::Kind::Ints:
    return builder.getDenseI64ArrayAttr(attribute.ints);
  case Attribute::Kind::Floats:
    return builder.getDenseF32ArrayAttr(llvm::SmallVector<float>(
        attribute.floats.begin(), attribute.floats.end()));
  case Attribute::Kind::Strings:
    return builder.getStrArrayAttr(llvm::SmallVector<llvm::StringRef>(
        attribute.strings.begin(), attribute.strings.end()));
  default:
    return {};
  }
}

/// A user-defined kernel overrides all other implementations.
mlir::LogicalResult Importer::launchCustomKernel(Binder &binder) {
  const Node &node = binder.node;
  auto makeSymbol = [&] { return binder.makeFreshSymbol(); };
  CustomKernels::Call call = {node.domain,
                              node.opType,
                              binder.getOperands(),
                              unsigned(node.outputs.size()),
                              {},
                              makeSymbol};
  for (const Attribute &attribute : node.attributes) {
    mlir::Attribute value = convertAttribute(binder.builder, attribute);
    if (!value)
      return binder.unsupported("expected attributes of numbers and strings "
                                "for a custom operator, but got '" +
                                attribute.name + "'");
    call.attributes.set(attribute.name, value);
  }
  std::string error;
  auto results =
      options.kernels->create(binder.builder, binder.loc, call, error);
  if (mlir::failed(results))
    return binder.fail(error);
  return binder.done(*results);
}
