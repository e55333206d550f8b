// Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
//
// Arithmetic of graph.roi_align and graph.select_boxes, for all lowerings.
// Values are floats of one type: scalars, or tiles of equal shapes.
#ifndef ADZE_DIALECT_GRAPH_IR_REGIONMATH_H
#define ADZE_DIALECT_GRAPH_IR_REGIONMATH_H

#include "Dialect/Graph/IR/ElementBuilder.h"
#include "Dialect/Graph/IR/Graph.h"
#include <array>

namespace adze::graph {

/// A box: the lower ends along two dims, the upper ends, and the area.
using Box = std::array<mlir::Value, 5>;

/// Returns an i1 that is true if the area of the intersection is more than
/// `threshold` times that of the union. A box without an area overlaps none.
mlir::Value buildOverlap(ElementBuilder &b, const Box &x, const Box &y,
                         double threshold);

/// A dim of a region: its start, and the width of a bin, in pixels.
struct RegionExtent {
  mlir::Value start, bin;
};

/// Returns the extent of the region between two coordinates, in `bins` bins.
RegionExtent buildExtent(ElementBuilder &b, RoiAlignOp op, mlir::Value from,
                         mlir::Value to, mlir::Value bins);

/// Returns the number of samples of a bin, along one dim: as many as it is
/// wide.
mlir::Value buildSampleCount(ElementBuilder &b, const RegionExtent &extent);

/// Returns the position of sample `i` of the samples of a bin.
mlir::Value buildPosition(ElementBuilder &b, const RegionExtent &extent,
                          mlir::Value bin, mlir::Value i, mlir::Value samples);

/// A sample along one dim: the pixel before it, the weights of this pixel and
/// of the next one, and an i1 that is false if the sample counts nothing.
struct RegionSample {
  mlir::Value low, lowWeight, highWeight, inside;
};

/// Returns the sample at a position along a dim of `size` pixels. It counts
/// nothing if it is outside by more than one pixel; otherwise the border
/// counts.
RegionSample buildSample(ElementBuilder &b, mlir::Value position,
                         mlir::Value size);

/// Returns the value of a sample between four pixels: (low, low), (low, high),
/// (high, low), and (high, high).
mlir::Value buildInterpolation(ElementBuilder &b, RoiAlignOp op,
                               const RegionSample &y, const RegionSample &x,
                               const std::array<mlir::Value, 4> &pixels);

/// Returns the value of a bin without samples yet.
mlir::Value buildNoSamples(ElementBuilder &b, RoiAlignOp op, mlir::Type type);
/// Adds a sample to the value of a bin.
mlir::Value buildFold(ElementBuilder &b, RoiAlignOp op, mlir::Value folded,
                      mlir::Value sample);
/// Returns the result for a bin of `count` samples.
mlir::Value buildBin(ElementBuilder &b, RoiAlignOp op, mlir::Value folded,
                     mlir::Value count);

} // namespace adze::graph

#endif // ADZE_DIALECT_GRAPH_IR_REGIONMATH_H
