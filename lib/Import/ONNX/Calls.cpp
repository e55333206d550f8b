// Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
//
// Strings, sequences, optionals and maps, and calls of the run time's
// functions.
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
