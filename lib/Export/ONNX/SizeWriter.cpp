// Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
//
// Writes expressions of symbols as ONNX nodes that compute them.
#include "SizeWriter.h"
#include "Dialect/Graph/IR/Shape.h"

using namespace mlir;

namespace adze::exporter {

void SizeWriter::addSource(Value value) {
  for (auto [dim, expr] : llvm::enumerate(graph::getDims(value)))
    if (auto symbol = dyn_cast_if_present<AffineSymbolExpr>(expr))
      sources.try_emplace(symbol.getPosition(),
                          Source{value, {}, int64_t(dim), {}});
}

void SizeWriter::addSource(unsigned symbol, Value tensor, int64_t index) {
  sources.try_emplace(symbol, Source{{}, tensor, index, {}});
}

void SizeWriter::addSource(unsigned symbol, AffineExpr value) {
  sources.try_emplace(symbol, Source{{}, {}, 0, value});
}

std::string SizeWriter::add(StringRef op, ArrayRef<std::string> inputs) {
  Node node(op);
  for (const std::string &input : inputs)
    node.input(input);
  return context.addNode(std::move(node), "size");
}

FailureOr<std::string> SizeWriter::writeSymbol(unsigned symbol) {
  auto found = sources.find(symbol);
  if (found == sources.end())
    return failure();
  Source source = found->second;
  if (source.expr)
    return writeOne(source.expr);
  if (source.elementOf)
    return add("Gather", {context.getName(source.elementOf).str(),
                          context.makeInts({source.index})});
  Node node("Shape");
  node.input(context.getName(source.dimOf));
  node.attribute("start", source.index);
  node.attribute("end", source.index + 1);
  return context.addNode(std::move(node), "size");
}

FailureOr<std::string> SizeWriter::writeBinary(AffineBinaryOpExpr expr) {
  FailureOr<std::string> lhs = writeOne(expr.getLHS()),
                         rhs = writeOne(expr.getRHS());
  if (failed(lhs) || failed(rhs))
    return failure();
  switch (expr.getKind()) {
  case AffineExprKind::Add:
    return add("Add", {*lhs, *rhs});
  case AffineExprKind::Mul:
    return add("Mul", {*lhs, *rhs});
  case AffineExprKind::Mod:
    // Both results have the sign of the divisor.
    return add("Mod", {*lhs, *rhs});
  case AffineExprKind::FloorDiv:
    // The quotient of ONNX truncates.
    if (!graph::isNonNegative(expr.getLHS()))
      lhs = add("Sub", {*lhs, add("Mod", {*lhs, *rhs})});
    return add("Div", {*lhs, *rhs});
  case AffineExprKind::CeilDiv: {
    std::string minus = add("Neg", {*lhs});
    std::string below = add("Sub", {minus, add("Mod", {minus, *rhs})});
    return add("Neg", {add("Div", {below, *rhs})});
  }
  default:
    return failure();
  }
}

FailureOr<std::string> SizeWriter::writeOne(AffineExpr expr) {
  if (auto constant = graph::getConstant(expr))
    return context.makeInts({*constant});
  if (auto found = written.find(expr); found != written.end())
    return found->second;
  FailureOr<std::string> name = failure();
  if (auto symbol = dyn_cast<AffineSymbolExpr>(expr))
    name = writeSymbol(symbol.getPosition());
  else if (auto binary = dyn_cast<AffineBinaryOpExpr>(expr))
    name = writeBinary(binary);
  if (succeeded(name))
    written[expr] = *name;
  return name;
}

FailureOr<std::string> SizeWriter::write(ArrayRef<AffineExpr> sizes) {
  SmallVector<int64_t> constants;
  for (AffineExpr size : sizes) {
    if (!size)
      return failure();
    if (auto constant = graph::getConstant(size))
      constants.push_back(*constant);
  }
  if (constants.size() == sizes.size())
    return context.makeInts(constants);
  if (sizes.size() == 1)
    return writeOne(sizes.front());
  Node node("Concat");
  for (AffineExpr size : sizes) {
    FailureOr<std::string> name = writeOne(size);
    if (failed(name))
      return failure();
    node.input(*name);
  }
  node.attribute("axis", int64_t(0));
  return context.addNode(std::move(node), "sizes");
}

} // namespace adze::exporter
