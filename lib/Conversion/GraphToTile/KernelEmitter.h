// Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
//
// Emits one tile kernel from one kernel function of graph ops. A family
// (contraction, rows, ...) determines the tiling of the kernel, and requests
// tiles of graph values at ranges. The emitter emits them on demand, through
// any number of elementwise ops and data movements back to loads.
#ifndef ADZE_LIB_CONVERSION_GRAPHTOTILE_KERNELEMITTER_H
#define ADZE_LIB_CONVERSION_GRAPHTOTILE_KERNELEMITTER_H

#include "Dialect/Graph/IR/ElementBuilder.h"
#include "Dialect/Graph/IR/Graph.h"
#include "Dialect/Tile/IR/Tile.h"
#include "DimRanges.h"
#include "EmitterChoices.h"
#include "Moves.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "llvm/ADT/SmallSet.h"
#include "llvm/ADT/StringMap.h"
#include <map>

namespace adze {

struct Rows;

class KernelEmitter : public EmitterChoices {
public:
  /// Begins `tile.kernel @name` before `source`. `packable(i)` returns true if
  /// argument i is a constant at every launch, so that its packing can be
  /// chosen here.
  KernelEmitter(mlir::func::FuncOp source,
                llvm::function_ref<bool(unsigned)> packable);

  //===--- the kernel -----------------------------------------------------===//

  mlir::func::FuncOp getSource() { return source; }
  tile::KernelOp getKernel() { return kernel; }
  mlir::OpBuilder &builder() { return b; }
  mlir::Location loc() { return location; }
  /// Returns the reason why the last request failed.
  llvm::StringRef reason() const { return why; }
  mlir::LogicalResult fail(const llvm::Twine &reason);

  int64_t getKnownRows(mlir::AffineExpr rows) const;

  /// Returns the values that the source function returns.
  mlir::ValueRange getResults() {
    return source.getBody().front().getTerminator()->getOperands();
  }
  /// Returns the stored values: results, or values inserted into operands.
  llvm::ArrayRef<mlir::Value> getOutputs() const { return outputValues; }
  /// Returns the dim along which output i is a part of its memory, or -1.
  int64_t getPartAxis(unsigned i) const { return outputs[i].axis; }

  /// Creates a parameter of the kernel with its default binding.
  mlir::Value param(llvm::StringRef name, int64_t binding,
                    llvm::ArrayRef<int64_t> menu = {});
  /// Returns the default binding of a parameter.
  std::optional<int64_t> getBinding(llvm::StringRef name) const;
  /// Sets the default bindings, and verifies that all outputs are stored.
  void finish();

  //===--- index arithmetic (constants and sizes at the kernel's top) -----===//

  mlir::Value index(int64_t value);
  mlir::Value add(mlir::Value lhs, mlir::Value rhs);
  mlir::Value sub(mlir::Value lhs, mlir::Value rhs);
  mlir::Value mul(mlir::Value lhs, mlir::Value rhs);
  mlir::Value div(mlir::Value lhs, mlir::Value rhs);
  mlir::Value rem(mlir::Value lhs, mlir::Value rhs);
  mlir::Value ceilDiv(mlir::Value lhs, mlir::Value rhs);
  mlir::Value max(mlir::Value lhs, mlir::Value rhs);
  mlir::Value min(mlir::Value lhs, mlir::Value rhs);
  /// Emits the value of a shape expression, from the dims of arguments if
  /// possible, else from the symbols of the module. Returns null and sets a
  /// reason for a size that is not an expression.
  mlir::Value size(mlir::AffineExpr expr);
  mlir::Value size(mlir::Value value, unsigned dim) {
    return size(graph::getDims(value)[dim]);
  }
  /// Emits the ids of programs over `counts`. The first count is the innermost,
  /// or with `swapped` the second. More than three are folded into the last
  /// grid dim.
  llvm::SmallVector<mlir::Value> programIds(llvm::ArrayRef<mlir::Value> counts,
                                            bool swapped = false);
  using Carried = llvm::SmallVector<mlir::Value, 2>;
  /// Emits `for iv = 0 to end step` with carried values; `body` returns the
  /// next ones. Loops with one known iteration are omitted.
  mlir::FailureOr<Carried>
  loop(mlir::Value end, mlir::Value step, mlir::ValueRange init,
       llvm::function_ref<mlir::FailureOr<Carried>(mlir::Value iv,
                                                   mlir::ValueRange carried)>
           body);

  /// Emits a phase of the program with the body `body`.
  mlir::LogicalResult phase(llvm::function_ref<mlir::LogicalResult()> body);

  //===--- axes -----------------------------------------------------------===//

  /// Sets the size of an axis of the tile space.
  void setAxis(int axis, mlir::Value size);
  mlir::Value getAxisSize(int axis) { return axisSizes[axis]; }
  /// Sets the end of tiles along `axis` from `start` on, for loads and stores:
  /// the rest of the block belongs to another program.
  void setEnd(int axis, mlir::Value start, mlir::Value end);
  bool hasEnds() const { return !axisEnds.empty(); }
  /// Declares that tiles along `axis` are summed, so they end with slices.
  void setSummed(int axis) { summed.insert(axis); }
  mlir::RankedTensorType tileType(llvm::ArrayRef<int> axes,
                                  mlir::Type elementType);

  //===--- tiles ----------------------------------------------------------===//

  /// Emits the tile of `value` at these ranges. Elements out of bounds are
  /// `pad` if it is set, else 0, or values computed from these.
  MaybeTile emit(mlir::Value value, RangesRef ranges);
  /// Emits the tile with exactly these axes.
  MaybeValue emitOn(mlir::Value value, RangesRef ranges,
                    llvm::ArrayRef<int> axes);
  void define(mlir::Value value, RangesRef ranges, Emitted tile);
  /// Sets the pad of loads.
  void setPad(mlir::TypedAttr value) { pad = value; }
  /// Sets whether loads and stores cover the remainder of a dim.
  void setTail(bool value) { tail = value; }

  /// Emits a tile of bools: true for elements that are before `end`.
  Emitted emitInside(int axis, mlir::Value offset, mlir::Value end);
  /// Emits 0, 1, ... along an axis.
  Emitted emitPositions(int axis, mlir::Type elementType);
  mlir::Value constant(mlir::TypedAttr value, llvm::ArrayRef<int> axes);
  mlir::Value broadcast(const Emitted &tile, llvm::ArrayRef<int> axes);
  /// Reduces the elements along `axis` of the tile. With `nnan`, maximum and
  /// minimum of floats may ignore NaN.
  Emitted reduce(graph::Combiner combiner, mlir::Type elementType,
                 const Emitted &tile, int axis, bool nnan = false);
  /// Converts to signless f32 for f16 and bf16, else to the type itself.
  Emitted convert(const Emitted &tile, mlir::Type to);

  /// Emits and stores all outputs of the kernel, given the ranges of the
  /// elements of `anchor`, from which the outputs are computed elementwise.
  mlir::LogicalResult storeOutputs(mlir::Value anchor, RangesRef ranges);
  mlir::LogicalResult storeOutputs(llvm::ArrayRef<Anchor> anchors);
  /// Stores a tile, or with `places` the elements of its one axis to these.
  mlir::LogicalResult store(const Emitted &tile, mlir::Value memory,
                            RangesRef ranges, mlir::Value places = {});
  MaybeTile load(mlir::Value memory, RangesRef ranges);
  /// Stores output i at separate ranges.
  mlir::LogicalResult storeOutput(const Emitted &tile, unsigned output,
                                  RangesRef ranges);
  /// Sets the rows that a tile holds completely, so that the results of
  /// reductions of them are available.
  void setRows(const Rows *value) { rows = value; }
  /// Allocates scratch memory for values of later phases.
  mlir::Value scratch(llvm::ArrayRef<mlir::Value> sizes, mlir::Type element);
  mlir::Value getOutputMemory(unsigned i) { return outputs[i].memory; }
  mlir::Value getMemory(mlir::Value value) { return memory.lookup(value); }
  /// Makes later loads of `value` read scratch memory, at the ranges in it.
  void setMemory(mlir::Value value, mlir::Value to) { memory[value] = to; }

  /// Packs argument `value` by `map` if only this kernel uses it.
  bool pack(mlir::Value value, mlir::AffineMap map);
  bool isPackable(mlir::Value value);

  /// Returns the ranges of an operand whose dim j is dim `dimMap[j]` of a value
  /// at `ranges`, or is broadcast along it if the dim of the operand is 1.
  mlir::FailureOr<DimRanges> mapRanges(RangesRef ranges, mlir::Value result,
                                       mlir::Value operand,
                                       llvm::ArrayRef<int64_t> dimMap);
  /// Returns the map of numpy broadcasting: dims aligned to the right.
  static llvm::SmallVector<int64_t> alignRight(unsigned operandRank,
                                               unsigned resultRank);
  /// Returns one range for each dim; with `keepsTiles`, tiles over several dims
  /// stay.
  mlir::FailureOr<DimRanges> splitRanges(RangesRef ranges, mlir::Value value,
                                         bool keepsTiles = false);

private:
  /// Ranges without irrelevant parts: dims of size 1.
  using Key =
      std::vector<std::tuple<void *, int, int64_t, unsigned, unsigned, void *>>;
  Key getKey(mlir::Value value, RangesRef ranges) const;

  mlir::Value atTop(llvm::function_ref<mlir::Value()> make);
  mlir::FailureOr<DimRanges> alignRanges(RangesRef ranges, mlir::Value value,
                                         llvm::ArrayRef<unsigned> boundaries);
  mlir::Value view(mlir::Value memory, RangesRef ranges);
  mlir::Value moved(mlir::Value memory, const graph::Move &move,
                    llvm::ArrayRef<unsigned> spans, mlir::Value value);
  void setMoves();
  mlir::FailureOr<mlir::Value> part(unsigned output, RangesRef ranges);
  mlir::Value clampAtEnds(mlir::Value memory, RangesRef ranges);
  bool endAxes(llvm::MutableArrayRef<DimRange> ranges) const;
  MaybeTile compute(mlir::Value value, RangesRef ranges);
  MaybeTile emitElementwise(graph::ElementwiseOpInterface op, RangesRef ranges);
  MaybeTile emitBatchNorm(graph::BatchNormOp op, RangesRef ranges);
  MaybeTile emitTranspose(graph::TransposeOp op, RangesRef ranges);
  MaybeTile emitBroadcast(graph::BroadcastToOp op, RangesRef ranges);
  MaybeTile emitSlice(graph::SliceOp op, RangesRef ranges);
  MaybeValue emitStart(graph::SliceOp op, unsigned dim);
  MaybeValue emitEnd(graph::SliceOp op, unsigned dim, const DimRange &range);
  MaybeTile emitPad(graph::PadOp op, RangesRef ranges);
  MaybeTile emitReverse(graph::ReverseOp op, RangesRef ranges);
  MaybeTile emitConcat(graph::ConcatOp op, RangesRef ranges);
  MaybeTile emitResize(graph::ResizeOp op, RangesRef ranges);
  mlir::FailureOr<bool> isRepeat(graph::ResizeOp, DimRanges &, mlir::Value &);
  MaybeTile emitRange(graph::RangeOp op, RangesRef ranges);
  MaybeTile emitTrilu(graph::TriluOp op, RangesRef ranges);
  MaybeTile emitReshape(graph::ReshapeOp op, RangesRef ranges);
  MaybeTile emitRowReduction(graph::ReduceOpInterface op, RangesRef ranges);
  MaybeTile emitGather(graph::GatherOp op, RangesRef ranges);
  MaybeTile emitGatherElements(graph::GatherElementsOp op, RangesRef ranges);
  MaybeTile emitGatherND(graph::GatherNDOp op, RangesRef ranges);
  mlir::FailureOr<DimRanges> outputRanges(mlir::Value output,
                                          mlir::Value anchor, RangesRef ranges);
  /// An output at `offset` along dim `axis` of its memory; axis -1: all of it.
  struct Output {
    mlir::Value memory;
    int64_t axis = -1;
    mlir::AffineExpr offset;
  };
  void setOutputs(mlir::ValueRange memory);

  mlir::func::FuncOp source;
  tile::KernelOp kernel;
  mlir::Location location;
  mlir::OpBuilder b;
  mlir::Operation *lastTop = nullptr;
  llvm::DenseMap<int64_t, mlir::Value> constants;
  llvm::DenseMap<mlir::AffineExpr, mlir::Value> sizes;
  llvm::DenseMap<mlir::Value, mlir::Value> memory;
  llvm::SmallVector<mlir::Value> outputValues, axisSizes;
  llvm::SmallVector<Output> outputs;
  llvm::SmallVector<bool> packableArguments;
  llvm::SmallSet<int, 4> summed;
  llvm::SmallDenseMap<int, std::pair<mlir::Value, mlir::Value>> axisEnds;
  using Parts = std::map<std::pair<void *, std::vector<int64_t>>, mlir::Value>;
  Parts views, parts, clamped;
  llvm::DenseMap<mlir::Value, MovedMemory> movedMemory;
  llvm::SmallVector<mlir::NamedAttribute> bindings;
  llvm::StringMap<mlir::Value> params;
  std::vector<llvm::DenseMap<mlir::Value, std::map<Key, Emitted>>> scopes;
  const Rows *rows = nullptr;
  mlir::TypedAttr pad;
  bool tail = false;
  std::string why;
};

} // namespace adze

#endif // ADZE_LIB_CONVERSION_GRAPHTOTILE_KERNELEMITTER_H
