// Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
//
// Dots of narrow elements whose right operand has groups along the contracted
// dimension: a vector holds a group of each column as a word, and one
// instruction sums the products of a group if the CPU has it (VNNI).
#include "Dialect/Tile/Analysis/IndexRange.h"
#include "KernelLowering.h"
#include "Products.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;
using namespace adze::tile;

constexpr int64_t wordBits = 32;

int64_t adze::tile::getDepthGroup(DotOp op) {
  auto load = op.getRhs().getDefiningOp<LoadOp>();
  auto width = [](Value tile) {
    return int64_t(tileType(tile).getElementType().getIntOrFloatBitWidth());
  };
  if (!load || width(op.getAcc()) != wordBits ||
      width(op.getLhs()) != width(op.getRhs()))
    return 1;
  int64_t group = getGroup(cast<MemRefType>(load.getMemref().getType()));
  return group * width(op.getRhs()) == wordBits ? group : 1;
}

bool DimClasses::multipliesGroups(DotOp op) const {
  int64_t group = getDepthGroup(op);
  if (group == 1)
    return false;
  auto load = op.getRhs().getDefiningOp<LoadOp>();
  auto type = cast<MemRefType>(load.getMemref().getType());
  SmallVector<int64_t> dims = load.getMemDims(), steps = load.getSteps();
  SmallVector<int> own = of(op.getRhs());
  int64_t width = lanes(own[1]);
  if (steps[0] != 1 || steps[1] != 1 || width < group ||
      size(own[0]) % group != 0)
    return false;
  ArrayRef<AffineExpr> results = type.getLayout().getAffineMap().getResults();
  MLIRContext *context = type.getContext();
  AffineExpr column = getAffineDimExpr(dims[1], context);
  auto panel = cast<AffineBinaryOpExpr>(results[results.size() - 2]);
  int64_t panelWidth = cast<AffineConstantExpr>(panel.getRHS()).getValue();
  SmallVector<OpFoldResult> offsets = load.getMixedOffsets();
  return results.back() == getAffineDimExpr(dims[0], context) % group &&
         panel.getLHS() == column && panelWidth % width == 0 &&
         getKnownDivisor(offsets[dims[0]]) % group == 0 &&
         getKnownDivisor(offsets[dims[1]]) % width == 0;
}

/// Returns true if the groups of the rows of the left operand are contiguous in
/// memory.
bool KernelLowering::hasGroupsInPlace(DotOp op) {
  auto load = op.getLhs().getDefiningOp<LoadOp>();
  if (!load)
    return false;
  Window self = window(load);
  auto type = cast<MemRefType>(load.getMemref().getType());
  int64_t dim = load.getMemDims()[1], group = getDepthGroup(op);
  auto strided = dyn_cast<StridedLayoutAttr>(type.getLayout());
  bool isDense = type.getLayout().isIdentity() ||
                 (strided && strided.getStrides().back() == 1);
  return isDense && dim + 1 == type.getRank() && load.getSteps()[1] == 1 &&
         !type.isDynamicDim(dim) && type.getDimSize(dim) % group == 0 &&
         getKnownDivisor(self.offsets[dim]) % group == 0 && !isBorder(self);
}

void KernelLowering::prepareGroups(DotOp op) {
  if (!scratchOf(op.getLhs()) && !hasGroupsInPlace(op))
    materialise(op.getLhs());
}

/// Returns the current group of each row, broadcast to all lanes.
Carried KernelLowering::readRows(DotOp op, const Layout &result) {
  Value tile = op.getLhs();
  Layout layout = layoutOf(tile, /*scalars=*/true);
  std::optional<Kept> kept = scratchOf(tile);
  auto elements =
      VectorType::get(getDepthGroup(op), tileType(tile).getElementType());
  auto one = VectorType::get(1, b.getI32Type());
  auto all = VectorType::get(result.lanes, b.getI32Type());
  Carried rows;
  for (int64_t row = 0; row < layout.counts[0]; ++row) {
    SmallVector<Value> indices;
    Value memory;
    if (kept) {
      memory = kept->scratch;
      indices = scratchIndices(*kept, layout, {row, 0});
    } else {
      Window self = window(tile.getDefiningOp<LoadOp>());
      Access at = getAccess(self, layout, layout.indexOf({row, 0}));
      if (at.never || isDead(layout, layout.indexOf({row, 0}))) {
        rows.push_back(arith::ConstantOp::create(b, loc, b.getZeroAttr(all)));
        continue;
      }
      memory = mapped(self.memref);
      indices = at.indices;
    }
    Value read = vector::LoadOp::create(b, loc, elements, memory, indices);
    Value together = vector::BitCastOp::create(b, loc, one, read);
    rows.push_back(vector::BroadcastOp::create(
        b, loc, all, vector::ExtractOp::create(b, loc, together, 0)));
  }
  return rows;
}

/// Returns the memory of the right operand with the groups of all columns in
/// one dimension, and the position of a register in it.
Located KernelLowering::groupsAt(DotOp op, const Layout &layout, int64_t i) {
  Window self = window(op.getRhs().getDefiningOp<LoadOp>());
  Value memory = mapped(self.memref);
  int64_t rank = cast<MemRefType>(memory.getType()).getRank();
  SmallVector<ReassociationIndices> dims;
  for (int64_t dim = 0; dim + 1 < rank; ++dim)
    dims.push_back({dim});
  dims.back().push_back(rank - 1);
  memory = memref::CollapseShapeOp::create(b, loc, memory, dims);
  SmallVector<Value> indices(getAccess(self, layout, i).indices);
  indices.pop_back(); // of the first element of the group
  indices.back() =
      arith::MulIOp::create(b, loc, indices.back(), index(getDepthGroup(op)));
  return {memory, indices};
}

/// Returns the current group of each column as a word, in vectors.
Carried KernelLowering::readColumns(DotOp op) {
  Layout layout = layoutOf(op.getRhs());
  int64_t group = getDepthGroup(op);
  auto type = VectorType::get(group * layout.lanes,
                              tileType(op.getRhs()).getElementType());
  auto words = VectorType::get(layout.lanes, b.getI32Type());
  Carried columns;
  for (int64_t i = 0; i < layout.counts[1]; ++i) {
    auto [memory, indices] =
        groupsAt(op, layout, layout.indexOf({0, i * layout.lanes}));
    Value read = vector::LoadOp::create(b, loc, type, memory, indices);
    columns.push_back(vector::BitCastOp::create(b, loc, words, read));
  }
  return columns;
}

/// Adds the product to the accumulators, one group along the contracted
/// dimension at a time, up to `end`.
Registers KernelLowering::dotOfGroups(DotOp op, Registers acc, Value end) {
  int k = classes.of(op.getLhs())[1];
  ProductAttr product = op.getProduct();
  auto step = [&](ArrayRef<Value> before) {
    Carried next(before);
    scopes.emplace_back();
    Carried columns = readColumns(op), rows = readRows(op, acc.layout);
    scopes.pop_back();
    for (auto [i, row] : llvm::enumerate(rows))
      for (auto [j, column] : llvm::enumerate(columns)) {
        Value &sum = next[i * columns.size() + j];
        sum = createWordProducts(b, loc, target, product, row, column, sum);
      }
    return next;
  };
  return {acc.layout, forChunks(k, getDepthGroup(op), acc.values, step, end)};
}
