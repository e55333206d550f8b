// Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
//
// Arithmetic of graph ops on tiles.
#ifndef ADZE_LIB_CONVERSION_GRAPHTOTILE_TILEELEMENTBUILDER_H
#define ADZE_LIB_CONVERSION_GRAPHTOTILE_TILEELEMENTBUILDER_H

#include "KernelEmitter.h"

namespace adze {

/// Emits arithmetic on tiles of fixed axes.
class TileElementBuilder final : public graph::ElementBuilder {
public:
  TileElementBuilder(KernelEmitter &emitter, llvm::ArrayRef<int> axes)
      : ElementBuilder(emitter.builder(), emitter.loc()), emitter(emitter),
        axes(axes) {}

  mlir::Value constant(mlir::TypedAttr value) override {
    return emitter.constant(value, axes);
  }
  mlir::Value lookUp(mlir::Value bytes,
                     mlir::DenseElementsAttr table) override {
    return tile::ByteLookupOp::create(
        builder, loc, bytes, mlir::cast<mlir::DenseIntElementsAttr>(table));
  }

private:
  KernelEmitter &emitter;
  Axes axes;
};

/// Returns the kind of `tile.reduce` that combines elements of a graph type.
tile::ReduceKind getReduceKind(graph::Combiner combiner,
                               mlir::Type elementType);

/// Returns a tile without dims that holds the scalar.
inline mlir::Value toTile(KernelEmitter &e, mlir::Value scalar) {
  return tile::BroadcastOp::create(
      e.builder(), e.loc(), mlir::RankedTensorType::get({}, scalar.getType()),
      scalar, mlir::ValueRange(), llvm::ArrayRef<int64_t>{},
      mlir::DenseI64ArrayAttr());
}

} // namespace adze

#endif // ADZE_LIB_CONVERSION_GRAPHTOTILE_TILEELEMENTBUILDER_H
