// Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
//
// Names and ranges of symbolic dims, and the options that set them.
#include "Symbols.h"
#include "Dialect/Graph/IR/Graph.h"
#include "llvm/ADT/StringExtras.h"

using namespace adze;
using namespace adze::importer;

//===----------------------------------------------------------------------===//
// Options
//===----------------------------------------------------------------------===//

static bool parseSize(llvm::StringRef text, int64_t &size) {
  return !text.getAsInteger(10, size) && size >= 0;
}

std::optional<DimOption> adze::parseDimOption(llvm::StringRef text,
                                              std::string &error) {
  auto [name, rest] = text.split('=');
  auto [range, common] = rest.split(':');
  auto [low, high] = range.split("..");
  DimOption option;
  option.name = name.trim().str();
  option.isApart = rest == "?";
  if (option.isApart && !option.name.empty())
    return option;
  bool isRange = range.contains("..");
  bool valid = !option.name.empty() && parseSize(low, option.min);
  option.max = option.min;
  if (isRange)
    valid = valid && parseSize(high, option.max) && option.max >= option.min;
  if (rest.contains(':'))
    valid = valid && isRange && parseSize(common, option.common) &&
            option.common >= option.min && option.common <= option.max;
  if (valid)
    return option;
  error = "expected NAME=SIZE, NAME=MIN..MAX[:COMMON] or NAME=?, but got '" +
          text.str() + "'";
  return std::nullopt;
}

std::optional<ShapeOption> adze::parseShapeOption(llvm::StringRef text,
                                                  std::string &error) {
  // The name may contain '=', the shape cannot.
  auto [name, shape] = text.rsplit('=');
  ShapeOption option;
  option.name = name.str();
  llvm::SmallVector<llvm::StringRef> parts;
  if (!shape.empty())
    shape.split(parts, 'x');
  bool valid = !name.empty() && text.contains('=');
  for (llvm::StringRef part : parts) {
    int64_t size = -1;
    valid = valid && (part == "?" || parseSize(part, size));
    option.dims.push_back(size);
  }
  if (valid)
    return option;
  error = "expected NAME=SIZExSIZEx..., but got '" + text.str() + "'";
  return std::nullopt;
}

//===----------------------------------------------------------------------===//
// Symbols
//===----------------------------------------------------------------------===//

mlir::AffineExpr Symbols::makeFresh() {
  symbols.emplace_back();
  return mlir::getAffineSymbolExpr(symbols.size() - 1, context);
}

bool Symbols::isApart(llvm::StringRef name) {
  for (const DimOption &option : options.dims)
    if (option.isApart && option.name == name) {
      parted[name] = true;
      return true;
    }
  return false;
}

bool Symbols::fix(llvm::StringRef name, int64_t size) {
  if (isApart(name))
    return true;
  auto expr = mlir::getAffineConstantExpr(size, context);
  return byName.try_emplace(name, expr).first->second == expr;
}

mlir::AffineExpr Symbols::getDim(const Dim &dim) {
  if (dim.size)
    return mlir::getAffineConstantExpr(*dim.size, context);
  if (dim.name.empty() || isApart(dim.name))
    return makeFresh();
  auto found = byName.find(dim.name);
  if (found != byName.end())
    return found->second;
  Symbol symbol;
  symbol.name = dim.name;
  for (const DimOption &option : options.dims) {
    if (option.name != dim.name)
      continue;
    if (option.min == option.max)
      return byName[dim.name] =
                 mlir::getAffineConstantExpr(option.min, context);
    symbol.min = option.min;
    symbol.max = option.max;
    symbol.common = option.common;
  }
  symbols.push_back(symbol);
  return byName[dim.name] =
             mlir::getAffineSymbolExpr(symbols.size() - 1, context);
}

/// Returns true if `expr` is factor * symbol + offset.
static bool matchLinear(mlir::AffineExpr expr, int64_t &factor,
                        unsigned &symbol, int64_t &offset) {
  if (auto symbolExpr = llvm::dyn_cast<mlir::AffineSymbolExpr>(expr)) {
    factor = 1;
    offset = 0;
    symbol = symbolExpr.getPosition();
    return true;
  }
  auto binary = llvm::dyn_cast<mlir::AffineBinaryOpExpr>(expr);
  if (!binary)
    return false;
  auto constant = llvm::dyn_cast<mlir::AffineConstantExpr>(binary.getRHS());
  if (!constant || !matchLinear(binary.getLHS(), factor, symbol, offset))
    return false;
  if (expr.getKind() == mlir::AffineExprKind::Add)
    return !llvm::AddOverflow(offset, constant.getValue(), offset);
  if (expr.getKind() != mlir::AffineExprKind::Mul)
    return false;
  return !llvm::MulOverflow(factor, constant.getValue(), factor) &&
         !llvm::MulOverflow(offset, constant.getValue(), offset);
}

bool Symbols::assumeNonNegative(mlir::AffineExpr expr) {
  if (!expr)
    return false;
  if (graph::isNonNegative(expr))
    return true;
  int64_t factor = 0, offset = 0;
  unsigned position = 0;
  if (!matchLinear(expr, factor, position, offset) || factor == 0)
    return false;
  // No size is as large; their negation would overflow.
  if (factor == INT64_MIN || offset == INT64_MIN)
    return false;
  Symbol &symbol = symbols[position];
  if (factor > 0) {
    // factor * s + offset >= 0 is s >= ceil(-offset / factor).
    symbol.min = std::max(symbol.min, llvm::divideCeilSigned(-offset, factor));
  } else {
    int64_t bound = llvm::divideFloorSigned(offset, -factor);
    symbol.max = symbol.max < 0 ? bound : std::min(symbol.max, bound);
  }
  return symbol.max < 0 || symbol.min <= symbol.max;
}

std::optional<std::string> Symbols::findUnused() const {
  for (const DimOption &option : options.dims)
    if (!byName.contains(option.name) && !parted.contains(option.name))
      return "expected the name of a symbolic dim of an input, but got --dim " +
             option.name;
  return std::nullopt;
}

void Symbols::addAttributes(
    mlir::OpBuilder &builder,
    llvm::SmallVectorImpl<mlir::NamedAttribute> &attributes) {
  llvm::SmallVector<mlir::Attribute> names, ranges;
  bool bounded = false;
  for (const Symbol &symbol : symbols) {
    names.push_back(builder.getStringAttr(symbol.name));
    ranges.push_back(
        builder.getDenseI64ArrayAttr({symbol.min, symbol.max, symbol.common}));
    bounded |= symbol.min != 0 || symbol.max != -1 || symbol.common != -1;
  }
  if (!names.empty())
    attributes.push_back(
        builder.getNamedAttr(graph::GraphDialect::getSymbolsAttrName(),
                             builder.getArrayAttr(names)));
  if (bounded)
    attributes.push_back(builder.getNamedAttr("graph.symbol_ranges",
                                              builder.getArrayAttr(ranges)));
}
