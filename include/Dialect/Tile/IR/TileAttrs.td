// Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
//
// Attributes of ops on tiles.
#ifndef ADZE_DIALECT_TILE_IR_TILEATTRS
#define ADZE_DIALECT_TILE_IR_TILEATTRS

include "mlir/IR/AttrTypeBase.td"
include "Dialect/Tile/IR/TileBase.td"

class TileAttr<string name, string text, list<Trait> traits = []>
    : AttrDef<TileDialect, name, traits> {
  let mnemonic = text;
}

def Tile_ProductAttr : TileAttr<"Product", "product"> {
  let summary = "The element types of a product";
  let description = [{
    `lhs * rhs + acc`; signedness is part of integer types. Elements that hold
    several adjacent elements of these types, the first one in the lowest
    bits, are *words*: the product of two words is the sum of the products of
    what they hold.

    ```mlir
    #tile.product<si8 * ui8 + si32>
    ```
  }];
  let parameters = (ins "::mlir::Type":$lhs, "::mlir::Type":$rhs,
                        "::mlir::Type":$acc);
  let assemblyFormat = "`<` $lhs `*` $rhs `+` $acc `>`";
  let genVerifyDecl = 1;
}

#endif // ADZE_DIALECT_TILE_IR_TILEATTRS
