// Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
//
// convert-tile-to-linalg: the driver, and the ops that compute on tiles.
#include "TileToLinalg.h"
#include "Conversion/Passes.h"
#include "Dialect/Host/IR/Programs.h"
#include "Dialect/Tile/IR/DynamicTiles.h"
#include "Dialect/Tile/IR/Faults.h"
#include "Dialect/Tile/IR/PhysicalType.h"
#include "Dialect/Tile/IR/Reduction.h"
#include "Dialect/Tile/IR/Units.h"
#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Bufferization/IR/Bufferization.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Linalg/Passes.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Transforms/GreedyPatternRewriteDriver.h"

namespace adze {
#define GEN_PASS_DEF_CONVERTTILETOLINALG
#include "Conversion/Passes.h.inc"
} // namespace adze

using namespace mlir;
using namespace adze;
using namespace adze::tile;

namespace {
using Iterator = utils::IteratorType;

Value filled(OpBuilder &b, Location loc, RankedTensorType type, Value scalar) {
  Value empty =
      tensor::EmptyOp::create(b, loc, type.getShape(), type.getElementType());
  return linalg::FillOp::create(b, loc, scalar, empty).getResult(0);
}

//===--- dot, reduce ------------------------------------------------------===//

Value widen(OpBuilder &b, Location loc, Value value, Type to,
            bool isUnsigned = false) {
  Type from = value.getType();
  if (from == to)
    return value;
  bool grows = from.getIntOrFloatBitWidth() < to.getIntOrFloatBitWidth();
  if (isa<FloatType>(to))
    return grows ? arith::ExtFOp::create(b, loc, to, value).getResult()
                 : arith::TruncFOp::create(b, loc, to, value).getResult();
  if (grows && isUnsigned)
    return arith::ExtUIOp::create(b, loc, to, value);
  return grows ? arith::ExtSIOp::create(b, loc, to, value).getResult()
               : arith::TruncIOp::create(b, loc, to, value).getResult();
}

/// Returns the element of a word that begins at this bit.
static Value takeBits(OpBuilder &b, Location loc, Value word, Value first,
                      Type element) {
  Value low =
      arith::TruncIOp::create(b, loc, b.getIntegerType(getStorageBits(element)),
                              arith::ShRUIOp::create(b, loc, word, first));
  if (isa<FloatType>(element))
    low = arith::BitcastOp::create(b, loc, element, low);
  return low;
}

/// Returns element `i` of an operand of a product, which may be a word,
/// converted to the type of the sum.
static Value takeElement(OpBuilder &b, Location loc, Value operand, int64_t i,
                         Type element, Type sum) {
  unsigned width = getStorageBits(element);
  if (operand.getType().getIntOrFloatBitWidth() > width) {
    Value by = arith::ConstantOp::create(
        b, loc, b.getIntegerAttr(operand.getType(), i * width));
    operand = takeBits(b, loc, operand, by, element);
  }
  return widen(b, loc, operand, sum, element.isUnsignedInteger());
}

struct LowerDot final : OpRewritePattern<DotOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(DotOp op, PatternRewriter &b) const override {
    AffineExpr m, n, k;
    bindDims(b.getContext(), m, n, k);
    SmallVector<AffineMap> maps = {
        AffineMap::get(3, 0, {m, k}, b.getContext()),
        AffineMap::get(3, 0, {k, n}, b.getContext()),
        AffineMap::get(3, 0, {m, n}, b.getContext())};
    SmallVector<Iterator> iterators = {Iterator::parallel, Iterator::parallel,
                                       Iterator::reduction};
    Type element = op.getType().getElementType();
    ProductAttr product = op.getProduct();
    auto body = [&](OpBuilder &inner, Location loc, ValueRange args) {
      Value sum = args[2];
      for (int64_t i = 0; i < op.getWordElements(); ++i) {
        Value x =
            takeElement(inner, loc, args[0], i, product.getLhs(), element);
        Value y =
            takeElement(inner, loc, args[1], i, product.getRhs(), element);
        sum =
            isa<FloatType>(element)
                ? arith::AddFOp::create(
                      inner, loc, arith::MulFOp::create(inner, loc, x, y), sum)
                      .getResult()
                : arith::AddIOp::create(
                      inner, loc, arith::MulIOp::create(inner, loc, x, y), sum)
                      .getResult();
      }
      linalg::YieldOp::create(inner, loc, sum);
    };
    b.replaceOpWithNewOp<linalg::GenericOp>(
        op, op.getType(), ValueRange{op.getLhs(), op.getRhs()}, op.getAcc(),
        maps, iterators, body);
    return success();
  }
};

struct LowerReduce final : OpRewritePattern<ReduceOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(ReduceOp op,
                                PatternRewriter &b) const override {
    Location loc = op.getLoc();
    Value init = filled(
        b, loc, op.getType(),
        createNeutral(b, loc, op.getKind(), op.getType().getElementType()));
    SmallVector<int64_t> dims = {(int64_t)op.getDim()};
    b.replaceOpWithNewOp<linalg::ReduceOp>(
        op, op.getSource(), init, dims,
        [&](OpBuilder &inner, Location at, ValueRange args) {
          linalg::YieldOp::create(
              inner, at,
              createCombine(inner, at, op.getKind(), args[0], args[1]));
        });
    return success();
  }
};

/// Each element combines those before it in a loop.
struct LowerScan final : OpRewritePattern<ScanOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(ScanOp op, PatternRewriter &b) const override {
    auto type = cast<RankedTensorType>(op.getType());
    auto build = [&](OpBuilder &inner, Location loc, ValueRange at) {
      Value zero = arith::ConstantIndexOp::create(inner, loc, 0);
      Value one = arith::ConstantIndexOp::create(inner, loc, 1);
      Value end = at[op.getDim()];
      if (!op.getExclusive())
        end = arith::AddIOp::create(inner, loc, end, one);
      Value neutral =
          createNeutral(inner, loc, op.getKind(), type.getElementType());
      auto loop = scf::ForOp::create(inner, loc, zero, end, one, neutral);
      OpBuilder body = OpBuilder::atBlockBegin(loop.getBody());
      SmallVector<Value> from(at);
      from[op.getDim()] = loop.getInductionVar();
      Value element =
          tensor::ExtractOp::create(body, loc, op.getSource(), from);
      Value next = createCombine(body, loc, op.getKind(),
                                 loop.getRegionIterArg(0), element);
      scf::YieldOp::create(body, loc, next);
      tensor::YieldOp::create(inner, loc, loop.getResult(0));
    };
    b.replaceOpWithNewOp<tensor::GenerateOp>(op, type, ValueRange(), build);
    return success();
  }
};

//===--- broadcast, iota, reshape, transpose ------------------------------===//

struct LowerBroadcast final : OpRewritePattern<BroadcastOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(BroadcastOp op,
                                PatternRewriter &b) const override {
    Location loc = op.getLoc();
    auto type = cast<RankedTensorType>(op.getResult().getType());
    if (!isa<RankedTensorType>(op.getSource().getType())) {
      b.replaceOp(op, filled(b, loc, type, op.getSource()));
      return success();
    }
    SmallVector<AffineExpr> from;
    ArrayRef<int64_t> dims = *op.getDims();
    for (int64_t dim : dims)
      from.push_back(b.getAffineDimExpr(dim));
    int64_t rank = type.getRank();
    SmallVector<AffineMap> maps = {
        AffineMap::get(rank, 0, from, b.getContext()),
        b.getMultiDimIdentityMap(rank)};
    Value empty =
        tensor::EmptyOp::create(b, loc, type.getShape(), type.getElementType());
    b.replaceOpWithNewOp<linalg::GenericOp>(
        op, type, op.getSource(), empty, maps,
        SmallVector<Iterator>(rank, Iterator::parallel),
        [](OpBuilder &inner, Location at, ValueRange args) {
          linalg::YieldOp::create(inner, at, args[0]);
        });
    return success();
  }
};

struct LowerIota final : OpRewritePattern<IotaOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(IotaOp op, PatternRewriter &b) const override {
    auto build = [&](OpBuilder &inner, Location loc, ValueRange at) {
      Value place = at[op.getDim()];
      Type element = op.getType().getElementType();
      if (!element.isIndex())
        place = arith::IndexCastOp::create(inner, loc, element, place);
      tensor::YieldOp::create(inner, loc, place);
    };
    b.replaceOpWithNewOp<tensor::GenerateOp>(op, op.getType(), ValueRange(),
                                             build);
    return success();
  }
};

struct LowerReshape final : OpRewritePattern<ReshapeOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(ReshapeOp op,
                                PatternRewriter &b) const override {
    Location loc = op.getLoc();
    SmallVector<Value> sizes;
    for (int64_t size : op.getType().getShape())
      sizes.push_back(arith::ConstantIndexOp::create(b, loc, size));
    auto shapeType =
        RankedTensorType::get({op.getType().getRank()}, b.getIndexType());
    Value shape = tensor::FromElementsOp::create(b, loc, shapeType, sizes);
    b.replaceOpWithNewOp<tensor::ReshapeOp>(op, op.getType(), op.getSource(),
                                            shape);
    return success();
  }
};

struct LowerBitcast final : OpRewritePattern<BitcastOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(BitcastOp op,
                                PatternRewriter &b) const override {
    auto build = [&](OpBuilder &inner, Location loc, ValueRange at) {
      Type element = op.getType().getElementType();
      unsigned width = element.getIntOrFloatBitWidth();
      Value word =
          tensor::ExtractOp::create(inner, loc, op.getSource(), at.drop_back());
      Value first = arith::MulIOp::create(
          inner, loc,
          arith::IndexCastOp::create(inner, loc, word.getType(), at.back()),
          arith::ConstantOp::create(
              inner, loc, inner.getIntegerAttr(word.getType(), width)));
      tensor::YieldOp::create(inner, loc,
                              takeBits(inner, loc, word, first, element));
    };
    b.replaceOpWithNewOp<tensor::GenerateOp>(op, op.getType(), ValueRange(),
                                             build);
    return success();
  }
};

struct LowerTranspose final : OpRewritePattern<TransposeOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(TransposeOp op,
                                PatternRewriter &b) const override {
    Value empty = tensor::EmptyOp::create(
        b, op.getLoc(), op.getType().getShape(), op.getType().getElementType());
    b.replaceOpWithNewOp<linalg::TransposeOp>(op, op.getSource(), empty,
                                              op.getPerm());
    return success();
  }
};

/// Ops are in program order in any case.
struct LowerPhase final : OpRewritePattern<PhaseOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(PhaseOp op, PatternRewriter &b) const override {
    b.eraseOp(op.getBody().front().getTerminator());
    b.inlineBlockBefore(&op.getBody().front(), op);
    b.eraseOp(op);
    return success();
  }
};

//===--- The function -----------------------------------------------------===//

/// Moves the body of a kernel into `func @k(args.., lo, hi)` under a loop over
/// programs, and its grid into @k_programs.
struct KernelToFunction {
  KernelOp kernel;
  OpBuilder b;

  SmallVector<Type> argumentTypes() {
    SmallVector<Type> types;
    for (Type type : kernel.getArgumentTypes()) {
      auto memref = dyn_cast<MemRefType>(type);
      types.push_back(memref ? Type(getPhysicalType(memref)) : type);
    }
    return types;
  }

  func::FuncOp makeFunction(StringRef name, ArrayRef<Type> types,
                            ArrayRef<Type> results) {
    b.setInsertionPoint(kernel);
    auto function = func::FuncOp::create(b, kernel.getLoc(), name,
                                         b.getFunctionType(types, results));
    for (unsigned i = 0, e = kernel.getNumArguments(); i < e; ++i)
      if (DictionaryAttr attributes = kernel.getArgAttrDict(i))
        function.setArgAttrs(i, attributes);
    for (NamedAttribute attribute : kernel->getDiscardableAttrs())
      function->setAttr(attribute.getName(), attribute.getValue());
    return function;
  }

  /// Maps a memref argument to its logical shape by a cast, which the lowering
  /// of loads and stores looks through.
  void mapArguments(func::FuncOp function, IRMapping &map) {
    Block *entry = function.addEntryBlock();
    b.setInsertionPointToEnd(entry);
    for (auto [from, to] :
         llvm::zip(kernel.getArguments(), entry->getArguments())) {
      Value seen = to;
      if (from.getType() != to.getType())
        seen = UnrealizedConversionCastOp::create(b, kernel.getLoc(),
                                                  from.getType(), seen)
                   .getResult(0);
      map.map(from, seen);
    }
  }

  void makePrograms() {
    Location loc = kernel.getLoc();
    auto function = makeFunction((kernel.getName() + "_programs").str(),
                                 argumentTypes(), {b.getIndexType()});
    IRMapping map;
    mapArguments(function, map);
    Value product = arith::ConstantIndexOp::create(b, loc, 1);
    if (ProgramIdOp ids = kernel.getProgramId()) {
      for (Operation &op : kernel.getBody().front()) {
        if (&op == ids.getOperation())
          break;
        if (isMemoryEffectFree(&op))
          b.clone(op, map);
      }
      for (Value size : ids.getGrid())
        product = arith::MulIOp::create(b, loc, product, map.lookup(size));
    }
    func::ReturnOp::create(b, loc, product);
  }

  void makeBody() {
    Location loc = kernel.getLoc();
    SmallVector<Type> types = argumentTypes();
    types.append(2, b.getIndexType());
    auto function = makeFunction(kernel.getName(), types, {});
    function->setAttr("adze.kernel", b.getUnitAttr());
    if (kernel.isOrdered())
      function->setAttr(host::orderedAttr, b.getUnitAttr());
    IRMapping map;
    mapArguments(function, map);
    Block &entry = function.front();
    unsigned count = kernel.getNumArguments();
    Value one = arith::ConstantIndexOp::create(b, loc, 1);
    auto loop = scf::ForOp::create(b, loc, entry.getArgument(count),
                                   entry.getArgument(count + 1), one);
    func::ReturnOp::create(b, loc);
    b.setInsertionPointToStart(loop.getBody());
    SmallVector<Value> programs;
    for (Operation &op : kernel.getBody().front().without_terminator()) {
      auto ids = dyn_cast<ProgramIdOp>(op);
      if (!ids) {
        b.clone(op, map);
        continue;
      }
      Value linear = loop.getInductionVar();
      for (auto [id, size] : llvm::zip(ids.getIds(), ids.getGrid())) {
        Value grid = map.lookup(size);
        programs.push_back(arith::RemUIOp::create(b, loc, linear, grid));
        map.map(id, programs.back());
        linear = arith::DivUIOp::create(b, loc, linear, grid);
      }
    }
    loop.walk(
        [&](PrintOp print) { print.getProgramsMutable().assign(programs); });
  }
};

/// Copies carried values of a loop into the tile that they replace, so that
/// they bufferize to one buffer.
void carryInPlace(scf::ForOp loop) {
  Operation *yield = loop.getBody()->getTerminator();
  OpBuilder b(yield);
  for (OpOperand &operand : yield->getOpOperands()) {
    Value place = loop.getRegionIterArgs()[operand.getOperandNumber()];
    if (!isa<RankedTensorType>(place.getType()) || operand.get() == place)
      continue;
    operand.set(linalg::CopyOp::create(b, loop.getLoc(), operand.get(), place)
                    .getResult(0));
  }
}

/// Removes barriers of one program, whose operations are in order. Fails if
/// several programs wait for each other.
LogicalResult removeBarriers(KernelOp kernel) {
  WalkResult walk = kernel.walk([&](BarrierOp barrier) {
    if (barrier.getPrograms() > 1) {
      auto diagnostic = barrier.emitError("unsupported: ")
                        << barrier.getPrograms()
                        << " programs of a kernel wait for each other, which "
                           "loops cannot do";
      if (auto reason = kernel->getAttrOfType<StringAttr>(host::refusalAttr))
        diagnostic << "; it has no GPU form as tiles: " << reason.getValue();
      return WalkResult::interrupt();
    }
    barrier.erase();
    return WalkResult::advance();
  });
  return failure(walk.wasInterrupted());
}

struct ConvertTileToLinalg final
    : adze::impl::ConvertTileToLinalgBase<ConvertTileToLinalg> {
  using ConvertTileToLinalgBase::ConvertTileToLinalgBase;

  void runOnOperation() override {
    for (auto kernel :
         llvm::make_early_inc_range(getOperation().getOps<KernelOp>())) {
      if (auto [op, why] = tile::findDynamicTile(kernel); op) {
        op->emitError(why);
        return signalPassFailure();
      }
      if (failed(removeBarriers(kernel)))
        return signalPassFailure();
      KernelToFunction convert{kernel, OpBuilder(kernel)};
      convert.makePrograms();
      convert.makeBody();
      kernel.erase();
      ++numKernels;
    }
    RewritePatternSet patterns(&getContext());
    patterns.add<LowerDot, LowerReduce, LowerScan, LowerBroadcast, LowerIota,
                 LowerReshape, LowerBitcast, LowerTranspose, LowerPhase>(
        &getContext());
    populateTileMemoryToLinalgPatterns(patterns);
    linalg::populateElementwiseToLinalgConversionPatterns(patterns);
    // A module for GPUs has other functions, without tile ops.
    FrozenRewritePatternSet frozen(std::move(patterns));
    for (auto function : getOperation().getOps<func::FuncOp>())
      if (failed(applyPatternsGreedily(function, frozen)))
        return signalPassFailure();
    getOperation().walk([](scf::ForOp loop) { carryInPlace(loop); });
    WalkResult walk = getOperation().walk([](Operation *op) {
      if (!isa_and_nonnull<TileDialect>(op->getDialect()) ||
          isa<CheckOp, PrintOp>(op))
        return WalkResult::advance();
      op->emitError("expected a specialised tile op");
      return WalkResult::interrupt();
    });
    if (walk.wasInterrupted())
      return signalPassFailure();
  }
};
} // namespace
