// Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
//
// Finds sums of products of 16-bit floats that the matrix instruction of a warp
// can compute.
#include "Contractions.h"
#include "Dialect/Tile/IR/Units.h"
#include "KernelPlan.h"
#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;

namespace adze::togpu {

tile::ReduceOp getNext(tile::ReduceOp reduce) {
  Value result = reduce.getResult();
  auto next = result.hasOneUse()
                  ? dyn_cast<tile::ReduceOp>(*result.user_begin())
                  : tile::ReduceOp();
  bool isAlike = next && next->getBlock() == reduce->getBlock() &&
                 next.getKind() == reduce.getKind();
  return isAlike ? next : tile::ReduceOp();
}

Reduced getReduced(tile::ReduceOp last,
                   function_ref<bool(tile::ReduceOp)> joinsNext) {
  Reduced reduced{last.getSource(), {unsigned(last.getDim())}};
  while (auto before = reduced.source.getDefiningOp<tile::ReduceOp>()) {
    if (!joinsNext(before))
      break;
    for (unsigned &dim : reduced.dims)
      dim += dim >= before.getDim();
    reduced.dims.push_back(before.getDim());
    reduced.source = before.getSource();
  }
  return reduced;
}

/// Returns the tile of 16-bit floats that is extended and repeated, or a null
/// operand.
static Contraction::Operand findOperand(Value tile) {
  auto dims = llvm::to_vector(llvm::seq<unsigned>(0, tileType(tile).getRank()));
  while (Operation *op = tile.getDefiningOp()) {
    if (auto broadcast = dyn_cast<tile::BroadcastOp>(op)) {
      if (!isa<RankedTensorType>(broadcast.getSource().getType()))
        break;
      SmallVector<unsigned> from;
      for (int64_t dim : broadcast.getDimsAttr().asArrayRef())
        from.push_back(dims[dim]);
      dims = from;
    } else if (!isa<arith::ExtFOp>(op)) {
      break;
    }
    tile = op->getOperand(0);
  }
  Type element = tileType(tile).getElementType();
  if (!element.isF16() && !element.isBF16())
    return {};
  return {tile, dims};
}

/// Returns the only dim of the source that one operand has and the other one
/// does not; fails if there are several.
static FailureOr<unsigned> findOwnDim(const Contraction::Operand &of,
                                      const Contraction::Operand &other) {
  FailureOr<unsigned> own = failure();
  for (unsigned dim : of.dims) {
    if (llvm::is_contained(other.dims, dim))
      continue;
    if (succeeded(own))
      return failure();
    own = dim;
  }
  return own;
}

/// The lanes of a warp that have different rows or columns of an operand, and
/// those that have different elements along its depth.
static constexpr int64_t kLineLanes = 8, kDepthLanes = 4;

/// Returns true if the instruction can multiply tiles of these sizes: each of
/// four lanes has pairs of elements along the summed dims.
static bool suitsUnit(const Contraction &c) {
  ArrayRef<int64_t> sizes = tileType(c.source).getShape(),
                    unit = c.unit.getShape();
  int64_t depth = 1;
  bool dividesLanes = false;
  for (unsigned dim : c.summed) {
    depth *= sizes[dim];
    dividesLanes |= sizes[dim] % kDepthLanes == 0;
  }
  return dividesLanes && sizes[c.rows] % unit[0] == 0 &&
         sizes[c.columns] % unit[1] == 0 && depth % unit[2] == 0 &&
         sizes[c.summed.back()] % 2 == 0;
}

/// Sets the source and the summed dims of consecutive sums that end here.
static bool findSums(tile::ReduceOp last, Contraction &c) {
  if (last.getKind() != tile::ReduceKind::add ||
      !last.getType().getElementType().isF32() || getNext(last))
    return false;
  Reduced sums = getReduced(
      last, [](tile::ReduceOp before) { return bool(getNext(before)); });
  c.source = sums.source;
  c.summed = sums.dims;
  llvm::sort(c.summed);
  return true;
}

/// Sets the dims that only one operand has and the unit; returns false if no
/// unit computes the product in this order.
static bool setUnit(Contraction &c, tile::CudaTargetAttr target) {
  FailureOr<unsigned> rows = findOwnDim(c.lhs, c.rhs),
                      columns = findOwnDim(c.rhs, c.lhs);
  if (failed(rows) || failed(columns) || llvm::is_contained(c.summed, *rows) ||
      llvm::is_contained(c.summed, *columns))
    return false;
  auto element = [](Value tile) { return tileType(tile).getElementType(); };
  c.unit = tile::findWarpUnit(
      target, tile::ProductAttr::get(target.getContext(), element(c.lhs.tile),
                                     element(c.rhs.tile), element(c.source)));
  c.rows = *rows;
  c.columns = *columns;
  return c.unit && suitsUnit(c);
}

static std::optional<Contraction> findProduct(tile::ReduceOp last,
                                              tile::CudaTargetAttr target) {
  Contraction c;
  if (!findSums(last, c))
    return std::nullopt;
  auto product = c.source.getDefiningOp<arith::MulFOp>();
  if (!product || !bitEnumContainsAll(product.getFastmath(),
                                      arith::FastMathFlags::contract))
    return std::nullopt;
  c.lhs = findOperand(product.getLhs());
  c.rhs = findOperand(product.getRhs());
  if (!c.lhs.tile || !c.rhs.tile)
    return std::nullopt;
  if (setUnit(c, target))
    return c;
  std::swap(c.lhs, c.rhs);
  return setUnit(c, target) ? std::optional(c) : std::nullopt;
}

llvm::DenseMap<Operation *, Contraction>
findContractions(tile::KernelOp kernel, tile::CudaTargetAttr target) {
  llvm::DenseMap<Operation *, Contraction> found;
  if (target)
    kernel.walk([&](tile::ReduceOp op) {
      if (auto product = findProduct(op, target))
        found[op] = *product;
    });
  return found;
}

/// Returns `count` adjacent positions in each of `threads` threads.
static Spread makeSpread(int64_t size, int64_t threads, int64_t shift,
                         int64_t vec) {
  Spread spread;
  spread.size = size;
  spread.threads = threads;
  spread.shift = shift;
  spread.vec = vec;
  spread.regs = llvm::divideCeil(size, threads);
  return spread;
}

Spread KernelPlan::getOperandColumns(const Contraction &c) {
  return makeSpread(sizes[classesOf(c.source)[c.columns]], kLineLanes,
                    llvm::Log2_64(kDepthLanes), /*vec=*/1);
}

/// Distributes the dims as the matrix instruction does. Four lanes share the
/// elements of a line along the first summed dim that they divide, and have all
/// others. Warps share the first other dims, which are whole in a warp
/// otherwise. Returns false if a dim has another distribution.
bool KernelPlan::spreadContraction(const Contraction &c) {
  constexpr int64_t mostTogether = 8;
  SmallVector<int> cls = classesOf(c.source);
  int64_t linesShift = llvm::Log2_64(kDepthLanes),
          warpShift = llvm::Log2_64(kWarp), warps = threads / kWarp;
  bool areLanesLeft = true;
  for (unsigned dim = 0; dim < cls.size(); ++dim) {
    int64_t size = sizes[cls[dim]],
            together = std::gcd(size, mostTogether); // in a thread
    Spread spread = makeSpread(size, 1, 0, together);
    if (dim == c.rows) {
      spread = makeSpread(size, kLineLanes, linesShift, 1);
    } else if (dim == c.columns) {
      spread = makeSpread(size, kDepthLanes, 0, 2);
    } else if (llvm::is_contained(c.summed, dim)) {
      if (areLanesLeft && size % kDepthLanes == 0) {
        spread = makeSpread(size, kDepthLanes, 0,
                            std::gcd(size / kDepthLanes, mostTogether));
        areLanesLeft = false;
      }
    } else if (warps > 1) {
      int64_t count =
          std::min<int64_t>(warps, llvm::PowerOf2Ceil(uint64_t(size)));
      spread = makeSpread(size, count, warpShift, 1);
      warpShift += llvm::Log2_64(count);
      warps /= count;
    }
    auto [it, isNew] = spreads.try_emplace(cls[dim], spread);
    if (!isNew && !(it->second == spread))
      return false;
  }
  return true;
}

/// Threads compute all contractions unless each can have its distribution.
void KernelPlan::spreadContractions() {
  for (const Contraction &c : llvm::make_second_range(contractions))
    if (!spreadContraction(c))
      return contractions.clear();
}

} // namespace adze::togpu
