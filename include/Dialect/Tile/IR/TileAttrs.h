// Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
//
// The attributes of the tile dialect.
#ifndef ADZE_DIALECT_TILE_IR_TILEATTRS_H
#define ADZE_DIALECT_TILE_IR_TILEATTRS_H

#include "mlir/IR/DialectImplementation.h"

namespace adze::tile::detail {

template <typename T>
mlir::FailureOr<llvm::SmallVector<T>> parseList(mlir::AsmParser &parser) {
  llvm::SmallVector<T> result;
  auto parseElement = [&]() -> mlir::ParseResult {
    auto element = mlir::FieldParser<T>::parse(parser);
    if (mlir::failed(element))
      return mlir::failure();
    result.push_back(*element);
    return mlir::success();
  };
  if (parser.parseCommaSeparatedList(mlir::AsmParser::Delimiter::Square,
                                     parseElement))
    return mlir::failure();
  return result;
}

template <typename T>
void printList(mlir::AsmPrinter &printer, llvm::ArrayRef<T> list) {
  printer << "[";
  llvm::interleaveComma(list, printer, [&](const T &element) {
    if constexpr (std::is_enum_v<T>)
      printer << stringifyEnum(element);
    else
      printer << element;
  });
  printer << "]";
}

} // namespace adze::tile::detail

#include "Dialect/Tile/IR/TileTargetEnums.h.inc"
#include "Dialect/Tile/IR/TileTargetInterfaces.h.inc"
#define GET_ATTRDEF_CLASSES
#include "Dialect/Tile/IR/TileTargets.h.inc"

#endif // ADZE_DIALECT_TILE_IR_TILEATTRS_H
