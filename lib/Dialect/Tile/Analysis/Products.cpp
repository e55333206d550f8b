// Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
//
// Analysis of kernels that consist of one product, and of the boxes of memory
// that it reads.
#include "Dialect/Tile/Analysis/Products.h"
#include "Dialect/Tile/IR/PhysicalType.h"
#include "mlir/Analysis/SliceAnalysis.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "mlir/IR/Matchers.h"
#include <numeric>

using namespace mlir;

namespace adze::tile {

namespace {

bool isTile(Type type) { return isa<RankedTensorType>(type); }

bool isZero(Value tile) {
  if (auto broadcast = tile.getDefiningOp<BroadcastOp>())
    tile = broadcast.getSource();
  return matchPattern(tile, m_AnyZeroFloat()) || matchPattern(tile, m_Zero());
}

/// Collects one product; `why` is set at the first op that prevents it.
class Finder {
public:
  Finder(KernelOp kernel, std::string &why) : kernel(kernel), why(why) {}

  LogicalResult run(Product &product) {
    if (kernel.hasPhases())
      return fail("the kernel has phases");
    SmallVector<DotOp> dots;
    kernel.walk([&](DotOp dot) { dots.push_back(dot); });
    if (dots.empty())
      return fail("0 products");
    product.ids = kernel.getProgramId();
    if (!product.ids || product.ids.getOrdered())
      return fail("the kernel has no program ids, or ordered ones");
    if (failed(findLoops(product, dots)) || failed(findOperands(product)))
      return failure();
    return checkEpilogue(product);
  }

private:
  LogicalResult fail(const Twine &what) {
    why = what.str();
    return failure();
  }

  LogicalResult findLoops(Product &product, ArrayRef<DotOp> dots) {
    Block *block = dots.front()->getBlock();
    auto loop = dyn_cast<scf::ForOp>(block->getParentOp());
    if (!loop)
      return fail("the product has no loop over its depth");
    for (Value yielded : loop.getYieldedValues())
      if (auto dot = yielded.getDefiningOp<DotOp>())
        product.dots.push_back(dot);
    if (product.dots.size() != dots.size())
      return fail(Twine(dots.size()) + " products");
    auto sums = llvm::map_to_vector(
        product.dots, [](DotOp dot) -> Value { return dot.getAcc(); });
    auto next = llvm::map_to_vector(
        product.dots, [](DotOp dot) -> Value { return dot.getResult(); });
    while (block != &kernel.getBody().front()) {
      loop = dyn_cast<scf::ForOp>(block->getParentOp());
      if (!loop || !llvm::equal(sums, loop.getRegionIterArgs()) ||
          !llvm::equal(next, loop.getYieldedValues()))
        return fail("a loop carries values besides the sums");
      product.loops.insert(product.loops.begin(), loop);
      llvm::copy(loop.getInitArgs(), sums.begin());
      llvm::copy(loop.getResults(), next.begin());
      block = loop->getBlock();
    }
    return llvm::all_of(sums, isZero) ? success()
                                      : fail("the sums do not start at zero");
  }

  /// Returns the load of an operand, looking through a reshape to rows.
  LoadOp findLoad(Value operand) {
    Block *block = operand.getParentBlock();
    auto reshape = operand.getDefiningOp<ReshapeOp>();
    if (reshape && reshape.getSource().getType().getRank() == 3)
      operand = reshape.getSource();
    auto load = operand.getDefiningOp<LoadOp>();
    return load && load->getBlock() == block ? load : LoadOp();
  }

  /// Finds the load of an operand that the dots alone use.
  LogicalResult findOperand(Value operand, ArrayRef<DotOp> dots, LoadOp &load) {
    if (Operation *op = operand.getDefiningOp();
        op && !isa<LoadOp, ReshapeOp>(op))
      return fail("an operand is computed by '" + op->getName().getStringRef() +
                  "'");
    auto isUsedBy = [&](Operation *user) {
      return llvm::is_contained(dots, user);
    };
    load = findLoad(operand);
    if (!load || load->getBlock() != dots.front()->getBlock() ||
        !llvm::all_of(operand.getUsers(), isUsedBy) ||
        (load.getResult() != operand && !load.getResult().hasOneUse()))
      return fail("an operand is not loaded for the product alone");
    if (auto pad = load.getPadAttr();
        pad && !matchPattern(Attribute(pad), m_AnyZeroFloat()) &&
        !matchPattern(Attribute(pad), m_Zero()))
      return fail("an operand is padded by a value other than zero");
    return success();
  }

  LogicalResult findRight(Product &product, DotOp dot) {
    LoadOp &load = product.rhs.emplace_back(), &first = product.rhs.front();
    if (failed(findOperand(dot.getRhs(), dot, load)))
      return failure();
    if (load.getResult().getType().getRank() != 2)
      return fail("the right operand has more than two dims");
    return load.getStaticSizes() == first.getStaticSizes() &&
                   llvm::equal(load.getSizes(), first.getSizes())
               ? success()
               : fail("the right operands have other sizes");
  }

  /// Adds the operations that compute a tile in the body of the innermost
  /// loop. Fails if threads that only load could not compute it.
  LogicalResult findComputed(Value tile, DenseSet<Operation *> &operations) {
    Operation *op = tile.getDefiningOp();
    if (!op)
      return fail("an operand depends on the sums");
    if (!isTile(tile.getType()) || !operations.insert(op).second)
      return success();
    if (!isa<LoadOp, ReshapeOp, BroadcastOp, IotaOp, TransposeOp, BitcastOp>(
            op) &&
        !matchPattern(op, m_Constant()) &&
        !op->hasTrait<OpTrait::Elementwise>())
      return fail("an operand is computed by '" + op->getName().getStringRef() +
                  "'");
    for (Value operand : op->getOperands())
      if (isTile(operand.getType()) &&
          failed(findComputed(operand, operations)))
        return failure();
    return success();
  }

  LogicalResult findOperands(Product &product) {
    DotOp first = product.dots.front();
    if (failed(findOperand(first.getLhs(), product.dots, product.lhs)))
      return failure();
    bool isComputed =
        !isa_and_present<LoadOp, ReshapeOp>(first.getRhs().getDefiningOp());
    DenseSet<Operation *> computed;
    for (DotOp &dot : product.dots) {
      if (failed(isComputed ? findComputed(dot.getRhs(), computed)
                            : findRight(product, dot)))
        return failure();
      if (dot.getLhs() != first.getLhs() ||
          dot.getProduct() != first.getProduct())
        return fail("the products have other left operands or types");
    }
    for (scf::ForOp loop : product.loops)
      for (Operation &op : *loop.getBody())
        if (llvm::any_of(op.getResultTypes(), isTile) &&
            !computed.contains(&op) &&
            !isa<LoadOp, ReshapeOp, DotOp, scf::ForOp>(op))
          return fail("the loop of a product contains '" +
                      op.getName().getStringRef() + "'");
    return success();
  }

  LogicalResult checkEpilogue(Product &product) {
    for (Operation &op : kernel.getBody().front()) {
      if (auto store = dyn_cast<StoreOp>(op)) {
        product.stores.push_back(store);
        if (store.getValue().getType().getRank() != product.getNumRowDims() + 1)
          return fail("a result has dims other than the product's");
        continue;
      }
      if (auto reshape = dyn_cast<ReshapeOp>(op);
          reshape &&
          reshape.getSource().getDefiningOp() == product.loops.front() &&
          reshape.getType().getRank() == product.getNumRowDims() + 1)
        continue;
      if (isa<ParamOp, ProgramIdOp, ReturnOp, LoadOp, BroadcastOp, IotaOp,
              TransposeOp>(op) ||
          &op == product.loops.front())
        continue;
      if (op.getNumRegions() || isa<memref::StoreOp>(op) ||
          (llvm::any_of(op.getResultTypes(), isTile) &&
           !op.hasTrait<OpTrait::Elementwise>() && !isa<arith::ConstantOp>(op)))
        return fail("the kernel also contains '" + op.getName().getStringRef() +
                    "'");
    }
    return product.stores.empty() ? fail("the kernel stores no result")
                                  : success();
  }

  KernelOp kernel;
  std::string &why;
};

} // namespace

static bool isUniform(Value bound) {
  BackwardSliceOptions options;
  options.inclusive = true;
  llvm::SetVector<Operation *> slice;
  return succeeded(getBackwardSlice(bound, &slice, options)) &&
         llvm::none_of(slice, llvm::IsaPred<ProgramIdOp, scf::ForOp>);
}

bool Product::hasUniformDepth() {
  return llvm::all_of(loops, [](scf::ForOp loop) {
    return isUniform(loop.getLowerBound()) && isUniform(loop.getUpperBound()) &&
           isUniform(loop.getStep());
  });
}

FailureOr<Product> findProduct(KernelOp kernel, std::string &why) {
  Product product;
  if (failed(Finder(kernel, why).run(product)))
    return failure();
  return product;
}

/// The argument of a kernel that a view begins with, and a number of elements
/// that divides the strides of all dims of the view but the last. The number is
/// dynamic if it is unknown.
struct ViewedArgument {
  BlockArgument argument;
  int64_t pitch;
};

/// Looks through collapsed and expanded shapes, and through slices from the
/// first element on with step 1. Returns no argument for other views.
static ViewedArgument getViewedArgument(Value memref) {
  auto getRow = [](Value v) {
    auto type = cast<MemRefType>(v.getType());
    return getPhysicalType(type).getShape().back();
  };
  int64_t pitch = getRow(memref);
  while (Operation *op = memref.getDefiningOp()) {
    memref = op->getOperand(0);
    if (auto slice = dyn_cast<memref::SubViewOp>(op)) {
      int64_t row = getRow(memref);
      if (!areAllConstantIntValue(slice.getMixedOffsets(), 0) ||
          !areAllConstantIntValue(slice.getMixedStrides(), 1) ||
          slice.getDroppedDims().any())
        return {};
      pitch = ShapedType::isDynamic(row) || ShapedType::isDynamic(pitch)
                  ? ShapedType::kDynamic
                  : std::gcd(pitch, row);
    } else if (!isa<memref::CollapseShapeOp, memref::ExpandShapeOp,
                    memref::CastOp>(op)) {
      return {};
    }
  }
  if (isa<StridedLayoutAttr>(cast<MemRefType>(memref.getType()).getLayout()))
    return {};
  return {cast<BlockArgument>(memref), pitch};
}

/// Fills the box of each physical dim. Fails if the elements of the tile are
/// not rows of a box.
static LogicalResult fillBox(TensorBox &result, AffineMap map,
                             const TileWindow &window, std::string &why) {
  auto along = [&](unsigned memDim, ArrayRef<int64_t> values) {
    const auto *it = llvm::find(window.dims, memDim);
    return it == window.dims.end() ? int64_t(1)
                                   : values[it - window.dims.begin()];
  };
  for (AffineExpr expr : map.getResults()) {
    auto binary = dyn_cast<AffineBinaryOpExpr>(expr);
    auto dim = dyn_cast<AffineDimExpr>(binary ? binary.getLHS() : expr);
    if (!dim)
      return why = "the layout has no panels", failure();
    int64_t size = along(dim.getPosition(), window.sizes);
    int64_t step = along(dim.getPosition(), window.steps);
    if (binary && step != 1)
      return why = "a panel is read with a stride", failure();
    if (binary) {
      int64_t panel = cast<AffineConstantExpr>(binary.getRHS()).getValue();
      if (size % panel != 0)
        return why = "the blocks are not whole panels", failure();
      size = binary.getKind() == AffineExprKind::Mod ? panel : size / panel;
    }
    result.box.push_back(size);
    result.steps.push_back(step);
  }
  return success();
}

FailureOr<TensorBox> getTensorBox(Value memref, const TileWindow &window,
                                  TileRole role, std::string &why) {
  constexpr int64_t mostRank = 5, mostBox = 256, mostRowBytes = 128, unit = 16,
                    mostStep = 8;
  ArrayRef<int64_t> dims = window.dims;
  TensorBox result;
  auto type = cast<MemRefType>(memref.getType());
  if (type.getRank() < 2)
    return why = "memory of " + std::to_string(type.getRank()) + " dims",
           failure();
  auto [argument, pitch] = getViewedArgument(memref);
  if (!argument)
    return why = "an operand is a view that begins inside of a tensor",
           failure();
  result.argument = argument.getArgNumber();
  result.memref = memref;
  result.physical = getPhysicalType(type);
  int64_t bytes = type.getElementTypeBitWidth() / 8,
          rank = result.physical.getRank();
  AffineMap map = getPhysicalMap(type);
  if (rank > mostRank)
    return why = "memory of " + std::to_string(rank) + " dims", failure();
  auto last = map.getResult(rank - 1);
  auto contiguous = dyn_cast<AffineDimExpr>(
      isa<AffineBinaryOpExpr>(last) ? cast<AffineBinaryOpExpr>(last).getLHS()
                                    : last);
  const auto *along =
      contiguous ? llvm::find(dims, contiguous.getPosition()) : dims.end();
  if (along == dims.end())
    return why = "adjacent elements of an operand are not in one block",
           failure();
  if (ShapedType::isDynamic(pitch) || pitch * bytes % unit != 0)
    return why =
               "rows of " +
               (ShapedType::isDynamic(pitch) ? std::string("dynamic")
                                             : std::to_string(pitch * bytes)) +
               " bytes, but tensor maps require a multiple of 16",
           failure();
  int64_t summed = role == TileRole::Lhs   ? int64_t(dims.size()) - 1
                   : role == TileRole::Rhs ? 0
                                           : -1;
  result.alongSum = along - dims.begin() == summed;
  if (failed(fillBox(result, map, window, why)))
    return failure();
  for (auto [box, step] :
       llvm::zip(ArrayRef(result.box).drop_back(), result.steps))
    if (step > mostStep || (box - 1) * step + 1 > mostBox)
      return why = "a block has more than 256 elements along a dim", failure();
  // A row in shared memory is at most as long as the swizzle.
  int64_t whole = result.box.back();
  result.box.back() = std::min(whole, mostRowBytes / bytes);
  result.numCopies = llvm::divideCeil(whole, result.box.back());
  result.rowBytes = result.box.back() * bytes;
  bool cut = result.numCopies > 1;
  if (!llvm::is_contained({32, 64, 128}, result.rowBytes) ||
      result.steps.back() != 1 || (cut && isa<AffineBinaryOpExpr>(last)) ||
      (!result.alongSum && dims.size() > 2 && role == TileRole::Lhs))
    return why = "a block does not consist of rows of 32, 64 or 128 bytes",
           failure();
  return result;
}

} // namespace adze::tile
