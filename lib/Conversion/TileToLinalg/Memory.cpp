// Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
//
// Lowers load, store, gather and scatter: one element at a time, each with its
// bounds check. Also lowers the operands of checks and prints.
#include "Dialect/Tile/IR/Faults.h"
#include "Dialect/Tile/IR/PhysicalType.h"
#include "Dialect/Tile/IR/Reduction.h"
#include "TileToLinalg.h"
#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"

using namespace mlir;
using namespace adze::tile;

namespace {
/// Returns the memory before the cast from physical to logical, if there is
/// one.
Value physicalMemory(Value memref) {
  if (auto view = memref.getDefiningOp<ViewOp>())
    return view.getSource();
  if (auto cast = memref.getDefiningOp<UnrealizedConversionCastOp>())
    return cast.getInputs().front();
  return memref;
}

/// Returns the extent of memory that may be accessed.
Value extentOf(OpBuilder &b, Location loc, Value memref, int64_t dim) {
  auto type = cast<MemRefType>(memref.getType());
  if (auto view = memref.getDefiningOp<ViewOp>())
    return getValueOrCreateConstantIndexOp(b, loc, view.getMixedSizes()[dim]);
  if (type.isDynamicDim(dim))
    return memref::DimOp::create(b, loc, memref, dim);
  return arith::ConstantIndexOp::create(b, loc, type.getDimSize(dim));
}

SmallVector<Value> logicalIndices(OpBuilder &b, Location loc,
                                  ArrayRef<OpFoldResult> offsets,
                                  ArrayRef<int64_t> dims,
                                  ArrayRef<int64_t> steps, ValueRange at) {
  SmallVector<Value> indices;
  for (OpFoldResult offset : offsets)
    indices.push_back(getValueOrCreateConstantIndexOp(b, loc, offset));
  for (auto [dim, step, place] : llvm::zip(dims, steps, at)) {
    if (dim < 0)
      continue;
    Value scaled = place;
    if (step != 1)
      scaled = arith::MulIOp::create(
          b, loc, place, arith::ConstantIndexOp::create(b, loc, step));
    indices[dim] = arith::AddIOp::create(b, loc, indices[dim], scaled);
  }
  return indices;
}

Value isInside(OpBuilder &b, Location loc, Value memref, ValueRange indices) {
  Value all = arith::ConstantIntOp::create(b, loc, 1, 1);
  for (auto [dim, place] : llvm::enumerate(indices)) {
    Value holds = arith::CmpIOp::create(b, loc, arith::CmpIPredicate::ult,
                                        place, extentOf(b, loc, memref, dim));
    all = arith::AndIOp::create(b, loc, all, holds);
  }
  return all;
}

SmallVector<Value> physicalIndices(OpBuilder &b, Location loc, MemRefType type,
                                   ArrayRef<Value> logical) {
  if (type.getLayout().isIdentity() || isa<StridedLayoutAttr>(type.getLayout()))
    return SmallVector<Value>(logical);
  AffineMap layout = type.getLayout().getAffineMap();
  SmallVector<Value> indices;
  for (AffineExpr result : layout.getResults())
    indices.push_back(affine::AffineApplyOp::create(
        b, loc, AffineMap::get(layout.getNumDims(), 0, result), logical));
  return indices;
}

/// Reads the element at these indices, or returns the pad.
Value readElement(OpBuilder &b, Location loc, Value memref,
                  ArrayRef<Value> indices, std::optional<TypedAttr> padAttr) {
  auto type = cast<MemRefType>(memref.getType());
  Type element = type.getElementType();
  auto branch = scf::IfOp::create(b, loc, element,
                                  isInside(b, loc, memref, indices), true);
  OpBuilder inner = branch.getThenBodyBuilder();
  Value value =
      memref::LoadOp::create(inner, loc, physicalMemory(memref),
                             physicalIndices(inner, loc, type, indices));
  if (value.getType() != element) { // a bool is a byte
    Value zero = arith::ConstantOp::create(inner, loc,
                                           inner.getZeroAttr(value.getType()));
    value = arith::CmpIOp::create(inner, loc, arith::CmpIPredicate::ne, value,
                                  zero);
  }
  scf::YieldOp::create(inner, loc, value);
  inner = branch.getElseBodyBuilder();
  TypedAttr pad = padAttr ? *padAttr : cast<TypedAttr>(b.getZeroAttr(element));
  scf::YieldOp::create(inner, loc,
                       arith::ConstantOp::create(inner, loc, pad).getResult());
  return branch.getResult(0);
}

struct LowerLoad final : OpRewritePattern<LoadOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(LoadOp op, PatternRewriter &b) const override {
    auto build = [&](OpBuilder &inner, Location loc, ValueRange at) {
      SmallVector<Value> indices = logicalIndices(
          inner, loc, op.getMixedOffsets(), op.getMemDims(), op.getSteps(), at);
      tensor::YieldOp::create(
          inner, loc,
          readElement(inner, loc, op.getMemref(), indices, op.getPad()));
    };
    b.replaceOpWithNewOp<tensor::GenerateOp>(op, op.getType(), ValueRange(),
                                             build);
    return success();
  }
};

struct LowerScratch final : OpRewritePattern<ScratchOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(ScratchOp op,
                                PatternRewriter &b) const override {
    auto type = getPhysicalType(cast<MemRefType>(op.getType()));
    if (!type.hasStaticShape() || type != op.getType())
      return b.notifyMatchFailure(op,
                                  "sizes or elements without a memory form");
    b.replaceOpWithNewOp<memref::AllocaOp>(op, type);
    return success();
  }
};

/// Adds the index of the element at `at` to a place.
void movePlace(OpBuilder &b, Location loc, Value indices, ValueRange at,
               Value &place) {
  Value index = tensor::ExtractOp::create(b, loc, indices, at);
  if (!index.getType().isIndex())
    index = arith::IndexCastOp::create(b, loc, b.getIndexType(), index);
  place = arith::AddIOp::create(b, loc, place, index);
}

struct LowerGather final : OpRewritePattern<GatherOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(GatherOp op,
                                PatternRewriter &b) const override {
    auto build = [&](OpBuilder &inner, Location loc, ValueRange at) {
      SmallVector<Value> indices = logicalIndices(
          inner, loc, op.getMixedOffsets(), op.getDims(), op.getSteps(), at);
      movePlace(inner, loc, op.getIndices(), at, indices[op.getAlong()]);
      tensor::YieldOp::create(
          inner, loc,
          readElement(inner, loc, op.getMemref(), indices, op.getPad()));
    };
    b.replaceOpWithNewOp<tensor::GenerateOp>(op, op.getType(), ValueRange(),
                                             build);
    return success();
  }
};

/// Stores each element of a tile at the indices that `indicesOf` returns for
/// its position in the tile, if they are in bounds, or combines it with the
/// element there.
LogicalResult
storeElements(Operation *op, TypedValue<RankedTensorType> tile, Value memref,
              PatternRewriter &b,
              function_ref<SmallVector<Value>(ValueRange position)> indicesOf,
              std::optional<ReduceKind> combine = std::nullopt) {
  Location loc = op->getLoc();
  auto type = cast<MemRefType>(memref.getType());
  Value zero = arith::ConstantIndexOp::create(b, loc, 0);
  Value one = arith::ConstantIndexOp::create(b, loc, 1);
  SmallVector<Value> at;
  for (int64_t size : tile.getType().getShape()) {
    Value end = arith::ConstantIndexOp::create(b, loc, size);
    auto loop = scf::ForOp::create(b, loc, zero, end, one);
    at.push_back(loop.getInductionVar());
    b.setInsertionPointToStart(loop.getBody());
  }
  SmallVector<Value> indices = indicesOf(at);
  auto branch =
      scf::IfOp::create(b, loc, isInside(b, loc, memref, indices), false);
  b.setInsertionPointToStart(branch.thenBlock());
  Value value = tensor::ExtractOp::create(b, loc, tile, at);
  if (type.getElementType().isInteger(1))
    value = arith::ExtUIOp::create(b, loc, b.getI8Type(), value);
  Value memory = physicalMemory(memref);
  indices = physicalIndices(b, loc, type, indices);
  if (combine) {
    auto update = memref::GenericAtomicRMWOp::create(b, loc, memory, indices);
    b.setInsertionPointToEnd(update.getBody());
    memref::AtomicYieldOp::create(
        b, loc,
        createCombine(b, loc, *combine, update.getCurrentValue(), value));
  } else {
    memref::StoreOp::create(b, loc, value, memory, indices);
  }
  b.eraseOp(op);
  return success();
}

struct LowerStore final : OpRewritePattern<StoreOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(StoreOp op, PatternRewriter &b) const override {
    return storeElements(
        op, op.getValue(), op.getMemref(), b, [&](ValueRange at) {
          return logicalIndices(b, op.getLoc(), op.getMixedOffsets(),
                                op.getMemDims(), op.getSteps(), at);
        });
  }
};

struct LowerScatter final : OpRewritePattern<ScatterOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(ScatterOp op,
                                PatternRewriter &b) const override {
    SmallVector<int64_t> ones(op.getDims().size(), 1);
    return storeElements(
        op, op.getValue(), op.getMemref(), b,
        [&](ValueRange at) {
          SmallVector<Value> indices = logicalIndices(
              b, op.getLoc(), op.getMixedOffsets(), op.getDims(), ones, at);
          movePlace(b, op.getLoc(), op.getIndices(), at,
                    indices[op.getAlong()]);
          return indices;
        },
        op.getCombine());
  }
};

struct LowerCheck final : OpRewritePattern<CheckOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(CheckOp op, PatternRewriter &b) const override {
    auto tile = dyn_cast<RankedTensorType>(op.getPositions().getType());
    if (!tile)
      return b.notifyMatchFailure(op, "a single position");
    Location loc = op.getLoc();
    Value zero = arith::ConstantIndexOp::create(b, loc, 0);
    Value one = arith::ConstantIndexOp::create(b, loc, 1);
    SmallVector<Value> at;
    for (int64_t size : tile.getShape()) {
      Value end = arith::ConstantIndexOp::create(b, loc, size);
      auto loop = scf::ForOp::create(b, loc, zero, end, one);
      at.push_back(loop.getInductionVar());
      b.setInsertionPointToStart(loop.getBody());
    }
    Value position = tensor::ExtractOp::create(b, loc, op.getPositions(), at);
    CheckOp::create(b, loc, position, op.getExtent(), op.getFault(),
                    op.getAbsolute());
    b.eraseOp(op);
    return success();
  }
};

/// Converts the element to f64 or i64, which the run time prints.
Value widenForPrint(OpBuilder &b, Location loc, Value element) {
  Type type = element.getType();
  if (isa<FloatType>(type))
    return type.isF64() ? element
                        : arith::ExtFOp::create(b, loc, b.getF64Type(), element)
                              .getResult();
  Type i64 = b.getI64Type();
  if (type.isIndex())
    return arith::IndexCastOp::create(b, loc, i64, element);
  if (type.isInteger(64))
    return element;
  return type.isInteger(1)
             ? arith::ExtUIOp::create(b, loc, i64, element).getResult()
             : arith::ExtSIOp::create(b, loc, i64, element).getResult();
}

/// Stores the printed value to memory of the program.
struct LowerPrint final : OpRewritePattern<PrintOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(PrintOp op, PatternRewriter &b) const override {
    Type type = op.getValue().getType();
    if (isa<MemRefType>(type))
      return b.notifyMatchFailure(op, "the value is in memory");
    auto tile = dyn_cast<RankedTensorType>(type);
    Type wide = isa<FloatType>(getElementTypeOrSelf(type))
                    ? Type(b.getF64Type())
                    : b.getI64Type();
    Location loc = op.getLoc();
    ArrayRef<int64_t> shape = tile ? tile.getShape() : ArrayRef<int64_t>();
    Value place =
        memref::AllocaOp::create(b, loc, MemRefType::get(shape, wide));
    SmallVector<Value> at;
    {
      OpBuilder::InsertionGuard guard(b);
      Value zero = arith::ConstantIndexOp::create(b, loc, 0);
      Value one = arith::ConstantIndexOp::create(b, loc, 1);
      for (int64_t size : shape) {
        Value end = arith::ConstantIndexOp::create(b, loc, size);
        auto loop = scf::ForOp::create(b, loc, zero, end, one);
        at.push_back(loop.getInductionVar());
        b.setInsertionPointToStart(loop.getBody());
      }
      Value element =
          tile
              ? tensor::ExtractOp::create(b, loc, op.getValue(), at).getResult()
              : op.getValue();
      memref::StoreOp::create(b, loc, widenForPrint(b, loc, element), place,
                              at);
    }
    PrintOp::create(b, loc, op.getLabel(), place, op.getPrograms());
    b.eraseOp(op);
    return success();
  }
};
} // namespace

void adze::tile::populateTileMemoryToLinalgPatterns(
    RewritePatternSet &patterns) {
  patterns.add<LowerCheck, LowerLoad, LowerGather, LowerPrint, LowerScatter,
               LowerStore, LowerScratch>(patterns.getContext());
}
