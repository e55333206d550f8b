// Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
//
// The order of the dimensions of a tile in memory.
#include "KernelPlan.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/SetVector.h"

using namespace mlir;

namespace adze::togpu {

/// Returns the dimension along which elements are adjacent in memory, or -1.
static int64_t innermostMemDim(MemRefType type) {
  if (type.getLayout().isIdentity() || isa<StridedLayoutAttr>(type.getLayout()))
    return type.getRank() - 1;
  AffineMap map = type.getLayout().getAffineMap();
  AffineExpr last = map.getNumResults() ? map.getResult(map.getNumResults() - 1)
                                        : AffineExpr();
  // Index 1 of this dimension is one element after index 0.
  int64_t found = -1;
  Builder b(type.getContext());
  for (int64_t dim = 0; last && dim < type.getRank(); ++dim) {
    SmallVector<Attribute> at(type.getRank(), b.getIndexAttr(0)), place;
    at[dim] = b.getIndexAttr(1);
    if (succeeded(
            AffineMap::get(type.getRank(), 0, last).constantFold(at, place)) &&
        cast<IntegerAttr>(place.front()).getInt() == 1)
      found = dim;
  }
  return found;
}

template <typename AccessOp>
static int64_t innermostDimOf(AccessOp access) {
  auto dims = access.getMemDims();
  auto *it = llvm::find(dims, innermostMemDim(access.getMemref().getType()));
  return it == dims.end() ? -1 : it - dims.begin();
}

int64_t innermostTileDim(tile::LoadOp load) { return innermostDimOf(load); }
int64_t innermostTileDim(tile::StoreOp store) { return innermostDimOf(store); }

/// Returns the dims of `tile` that those of the source of a reshape or of a
/// transpose are, by the dims that those of its result are; -1 for none.
static SmallVector<int64_t> getSourceDims(Operation *op,
                                          ArrayRef<int64_t> dims) {
  SmallVector<int64_t> of(tileType(op->getOperand(0)).getRank(), -1);
  if (auto transpose = dyn_cast<tile::TransposeOp>(op)) {
    for (auto [dim, source] : llvm::zip_equal(dims, transpose.getPerm()))
      of[source] = dim;
    return of;
  }
  for (const ReshapeGroup &group :
       reshapeGroups(tileType(op->getOperand(0)).getShape(),
                     tileType(op->getResult(0)).getShape()))
    if (group.to.size() == 1)
      for (unsigned source : group.from)
        of[source] = dims[group.to[0]];
  return of;
}

/// Returns the dimension along which the loads of which the tile consists are
/// contiguous: the last one if a load is contiguous along it, else that of the
/// largest load, or -1.
static int64_t innermostOfLoads(Value tile, bool isOperand) {
  int64_t rank = tileType(tile).getRank(), found = -1, most = 0;
  // Tiles, and the dims of `tile` that theirs are.
  llvm::MapVector<Value, SmallVector<int64_t>> work;
  work.insert({tile, llvm::to_vector(llvm::seq<int64_t>(0, rank))});
  for (unsigned i = 0; i < work.size(); ++i) {
    auto [value, dims] = work.begin()[i];
    Operation *op = value.getDefiningOp();
    if (auto load = dyn_cast_or_null<tile::LoadOp>(op)) {
      int64_t inner = innermostTileDim(load);
      if (inner < 0 || dims[inner] < 0)
        continue;
      if (dims[inner] == rank - 1)
        return rank - 1;
      if (tileType(value).getNumElements() > most)
        most = tileType(value).getNumElements(), found = dims[inner];
    } else if (auto spread = dyn_cast_or_null<tile::BroadcastOp>(op)) {
      SmallVector<int64_t> of;
      if (isTile(spread.getSource())) {
        SmallVector<int64_t> places(*spread.getDims());
        for (int64_t dim : places)
          of.push_back(dims[dim]);
        work.insert({spread.getSource(), of});
      }
    } else if (isOperand &&
               isa_and_present<tile::ReshapeOp, tile::TransposeOp>(op)) {
      work.insert({op->getOperand(0), getSourceDims(op, dims)});
    } else if (op && op->hasTrait<OpTrait::Elementwise>()) {
      for (Value operand : op->getOperands())
        if (isTile(operand))
          work.insert({operand, dims});
    }
  }
  return found;
}

SmallVector<unsigned> memoryOrder(Value tile, bool isOperand) {
  SmallVector<unsigned> order;
  for (int64_t i = tileType(tile).getRank() - 1; i >= 0; --i)
    order.push_back(i);
  auto begin = [&](unsigned inner) {
    llvm::erase(order, inner);
    order.insert(order.begin(), inner);
    return order;
  };
  llvm::SmallSetVector<Value, 16> work;
  work.insert(tile);
  for (unsigned i = 0; i < work.size(); ++i) {
    Operation *op = work[i].getDefiningOp();
    if (!op || tileType(work[i]).getRank() != tileType(tile).getRank())
      continue;
    if (auto load = dyn_cast<tile::LoadOp>(op)) {
      if (int64_t inner = innermostTileDim(load); inner >= 0)
        return begin(inner);
      continue;
    }
    if (auto loop = dyn_cast<scf::ForOp>(op))
      work.insert(
          loop.getYieldedValues()[cast<OpResult>(work[i]).getResultNumber()]);
    if (!op->hasTrait<OpTrait::Elementwise>())
      continue;
    for (Value operand : op->getOperands())
      if (isTile(operand))
        work.insert(operand);
  }
  int64_t inner = innermostOfLoads(tile, isOperand);
  return inner >= 0 ? begin(inner) : order;
}

} // namespace adze::togpu
