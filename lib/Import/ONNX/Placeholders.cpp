// Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
//
// Placeholders for the results of failed nodes, so that the import continues
// and finds other errors of the model. They are arguments of a function that is
// discarded.
#include "Importer.h"
#include "OpTable.h"
#include "Types.h"

using namespace adze;
using namespace adze::importer;
using mlir::AffineExpr;
using mlir::Value;

/// The greatest length of a known operand that the inference of ONNX may need,
/// such as a shape or axes.
static constexpr size_t kMaxContents = 64;
/// A longer vector may be a shape, from which ONNX creates as many dims.
static constexpr int64_t kMaxVector = 65536;
/// The greatest rank of a placeholder.
static constexpr size_t kMaxRank = 64;
/// The greatest such element, as ONNX computes with them.
static constexpr int64_t kMaxContent = int64_t(1) << 31;

/// The prefix of the names of operand dims in the inference of ONNX.
static constexpr llvm::StringRef kOperandDim = "operand dim ";

Taint Importer::getTaint(llvm::ArrayRef<Value> values) const {
  Taint worst = Taint::None;
  for (Value value : values)
    worst = std::max(worst, taints.lookup(value));
  return worst;
}

void Importer::addTaint(llvm::ArrayRef<Value> values, Taint taint) {
  if (taint == Taint::None)
    return;
  for (Value value : values)
    if (value)
      taints[value] = std::max(taints.lookup(value), taint);
}

bool Importer::isKnown(const Node &node) {
  return hasCustomKernel(node) ||
         findOp(node.domain, node.opType, node.sinceVersion) ||
         model->functions.contains(
             getFunctionKey(node.domain, node.opType, node.overload)) ||
         reader.hasFunctionBody(node);
}

/// Returns true if an error may be a consequence of a placeholder. Inconsistent
/// types are an error for all values; unsupported cases may be caused by
/// missing sizes or elements of a placeholder.
bool Importer::isConsequence(const Binder &binder, Taint taint) {
  return taint == Taint::Vague && binder.isUnsupported && isKnown(binder.node);
}

//===----------------------------------------------------------------------===//
// Types
//===----------------------------------------------------------------------===//

const ValueInfo *Importer::findDeclared(llvm::StringRef name, Scope &scope) {
  if (scope.declared.empty()) {
    for (const ValueInfo &info : scope.infos)
      scope.declared[info.name] = &info;
    for (const ValueInfo &info : scope.outputInfos)
      scope.declared[info.name] = &info;
  }
  return scope.declared.lookup(name);
}

/// Joins the information of two sources about a value. Returns nothing if they
/// contradict, so that one of them is wrong.
static std::optional<ValueInfo> join(const ValueInfo &lhs,
                                     const ValueInfo &rhs) {
  if (!lhs.isTensor || !rhs.isTensor ||
      (lhs.elementType && rhs.elementType &&
       lhs.elementType != rhs.elementType) ||
      (lhs.dims && rhs.dims && lhs.dims->size() != rhs.dims->size()))
    return std::nullopt;
  ValueInfo both = lhs.dims ? lhs : rhs;
  both.elementType = lhs.elementType ? lhs.elementType : rhs.elementType;
  if (!lhs.dims || !rhs.dims)
    return both;
  for (auto [dim, other] : llvm::zip_equal(*both.dims, *rhs.dims)) {
    if (dim.size && other.size && *dim.size != *other.size)
      return std::nullopt;
    if (!dim.size && (other.size || !other.name.empty()))
      dim = other;
  }
  return both;
}

/// Returns the outputs of the node as inferred by ONNX. A dim of an operand has
/// its index in `exprs` as name.
std::vector<ValueInfo>
Importer::inferOutputs(const Node &node, llvm::ArrayRef<Value> operands,
                       llvm::SmallVectorImpl<AffineExpr> &exprs) {
  std::vector<ValueInfo> infos;
  std::vector<std::optional<std::vector<int64_t>>> contents;
  for (Value operand : operands) {
    ValueInfo &info = infos.emplace_back();
    auto &content = contents.emplace_back();
    if (!operand)
      continue;
    auto type = llvm::dyn_cast<mlir::RankedTensorType>(operand.getType());
    if (!type || graph::isHandle(type) ||
        (type.getRank() == 1 && type.getDimSize(0) > kMaxVector))
      return {};
    info.elementType = getDataType(type.getElementType());
    info.dims.emplace();
    for (AffineExpr expr : graph::getDims(operand)) {
      Dim &dim = info.dims->emplace_back();
      if (expr)
        dim.size = graph::getConstant(expr);
      if (!expr || dim.size)
        continue;
      dim.name = kOperandDim.str() + std::to_string(exprs.size());
      exprs.push_back(expr);
    }
    if (!type.getElementType().isSignlessInteger(64) ||
        !type.hasStaticShape() || type.getNumElements() > int64_t(kMaxContents))
      continue;
    auto isTame = [](int64_t value) {
      return value > -kMaxContent && value < kMaxContent;
    };
    auto elements = graph::getConstantElements(operand);
    if (elements && llvm::all_of(*elements, isTame))
      content.emplace(elements->begin(), elements->end());
  }
  return reader.inferOutputs(node, infos, contents);
}

//===----------------------------------------------------------------------===//
// Values
//===----------------------------------------------------------------------===//

Value Importer::addPlaceholder(mlir::Type type, Taint taint,
                               mlir::Location loc) {
  Value value = function.front().addArgument(type, loc);
  addTaint(value, taint);
  return value;
}

/// Returns a placeholder of this type, or null if the type is insufficient.
Value Importer::makePlaceholder(const ValueInfo &info,
                                llvm::ArrayRef<AffineExpr> exprs,
                                mlir::Location loc) {
  if (!info.isTensor) {
    mlir::TensorType type =
        info.type ? getContainerType(*info.type) : mlir::TensorType();
    return type ? addPlaceholder(type, Taint::Vague, loc) : Value();
  }
  mlir::Type elementType = getElementType(context, info.elementType);
  if (!elementType || !info.dims || info.dims->size() > kMaxRank)
    return {};
  // A vector may hold sizes, axes and the like.
  Taint taint = info.dims->size() < 2 ? Taint::Vague : Taint::Typed;
  Dims dims;
  for (const Dim &dim : *info.dims) {
    unsigned place = 0;
    llvm::StringRef name = dim.name;
    if (dim.size && *dim.size < 0)
      return {};
    if (dim.size)
      dims.push_back(builder.getAffineConstantExpr(*dim.size));
    else if (name.consume_front(kOperandDim) && !name.getAsInteger(10, place) &&
             place < exprs.size())
      dims.push_back(exprs[place]);
    else if (AffineExpr symbol = symbols.find(dim.name))
      dims.push_back(symbol);
    else
      dims.push_back(symbols.makeFresh());
    graph::forEachSymbol(dims.back(), [&](unsigned symbol) {
      if (symbol >= numInputSymbols)
        taint = Taint::Vague;
    });
  }
  mlir::Type type = graph::makeType(elementType, dims);
  return hasSaneSize(type) ? addPlaceholder(type, taint, loc) : Value();
}

Value Importer::makePlaceholder(const TensorData &tensor) {
  ValueInfo info;
  info.elementType = tensor.dataType;
  info.dims.emplace();
  for (int64_t size : tensor.dims)
    info.dims->push_back({size, ""});
  Value value = makePlaceholder(info, {}, function.getLoc());
  addTaint(value, Taint::Vague); // its elements are unknown
  return value;
}

/// Binds the results of a failed node: existing values, else placeholders. With
/// `operands`, the inference of ONNX is used, too.
void Importer::bindFailed(const Node &node, Scope &scope, mlir::Location loc,
                          llvm::ArrayRef<Value> results,
                          std::optional<llvm::ArrayRef<Value>> operands) {
  llvm::SmallVector<AffineExpr> exprs;
  std::vector<ValueInfo> inferred;
  if (operands && node.sinceVersion)
    inferred = inferOutputs(node, *operands, exprs);
  for (auto [i, name] : llvm::enumerate(node.outputs)) {
    if (name.empty())
      continue;
    Value &value = scope.values[name];
    value = i < results.size() ? results[i] : Value();
    if (value)
      continue;
    const ValueInfo *declared = findDeclared(name, scope);
    std::optional<ValueInfo> info;
    if (declared)
      info = *declared;
    if (i < inferred.size() && inferred[i].elementType)
      info = info ? join(inferred[i], *info) : inferred[i];
    if (info)
      value = makePlaceholder(*info, exprs, loc);
  }
}
