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
  let summary = "The element types of a multiply-add";
  let description = [{
    The types of `lhs * rhs + acc`, including the signedness of integers. The
    elements of a tile may be *words*, which hold several adjacent elements of
    these types, the first one in the lowest bits. The product of two words is
    the sum of the products of the elements that they hold.

    The verifier requires floats, or integers with explicit signedness.

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
