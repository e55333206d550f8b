// Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
//
// convert-graph-to-tile: selects the family of each kernel function by its
// anchor, and tries the tilings from the coarsest to the finest.
#include "ContractSums.h"
#include "Conversion/Passes.h"
#include "Dialect/Graph/IR/ConvChain.h"
#include "Dialect/Graph/IR/Reduced.h"
#include "Dialect/Host/IR/Host.h"
#include "Dialect/Tile/Analysis/IndexRange.h"
#include "Dialect/Tile/IR/Streams.h"
#include "Families.h"
#include "FewRows.h"
#include "InPlace.h"
#include "Lookups.h"
#include "Moves.h"
#include "WinogradTransforms.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "llvm/ADT/TypeSwitch.h"
#include "llvm/Support/DebugLog.h"

namespace adze {
#define GEN_PASS_DEF_CONVERTGRAPHTOTILE
#include "Conversion/Passes.h.inc"
} // namespace adze

#define DEBUG_TYPE "convert-graph-to-tile"

using namespace mlir;
using namespace adze;
using namespace adze::graph;

/// Returns the op that determines how the kernel is tiled, or null if there is
/// none. Fails if there are two, except for reductions and for chains of
/// convolutions (whose last one is returned).
static FailureOr<Operation *> findAnchor(func::FuncOp function) {
  auto chain = getConvChain(function.getBody().front());
  if (chain.size() > 1)
    return chain.back().getOperation();
  Operation *anchor = nullptr;
  for (Operation &op : function.getBody().front().without_terminator()) {
    if (!isa<AttentionOp, MatmulOp, ConvOp, ConvTransposeOp, MaxPoolOp,
             AvgPoolOp, LRNOp, SoftmaxOp, LogSoftmaxOp, LayerNormOp, RMSNormOp,
             WinogradConvOp, WinogradInputOp, WinogradFilterOp,
             WinogradOutputOp, WordMatmulOp, BlockMatmulOp, RecurrentOp,
             CumsumOp, CumprodOp, TopKOp, NonZeroOp, SelectBoxesOp, RoiAlignOp,
             TreeLeavesOp, ArgMaxOp, ArgMinOp, ReduceOpInterface>(op))
      continue;
    if (anchor && !(getReduced(anchor) && getReduced(&op)))
      return failure();
    anchor = anchor ? anchor : &op;
  }
  return anchor;
}

/// Returns true if an output is computed from reductions and from elements that
/// they reduce.
static bool storesElements(Reduced anchor) {
  DenseSet<Value> reduced;
  Dims elements = getDims(anchor.input);
  Block *body = anchor.input.getParentBlock();
  for (Operation &op : body->without_terminator())
    if (getReduced(&op) || llvm::any_of(op.getOperands(), [&](Value operand) {
          return reduced.contains(operand);
        }))
      reduced.insert_range(op.getResults());
  if (areEqual(elements, getDims(anchor.result)))
    return false;
  // Walks from the outputs, at their own ranges or not, back to reductions.
  SmallVector<Value> work(body->getTerminator()->getOperands());
  DenseSet<Value> seen;
  while (!work.empty()) {
    Value value = work.pop_back_val();
    Operation *op = value.getDefiningOp();
    if (!op || getReduced(op) || !seen.insert(value).second)
      continue;
    if (reduced.contains(value) && areEqual(getDims(value), elements))
      return true;
    llvm::append_range(work, op->getOperands());
  }
  return false;
}

/// Returns true if there are several reductions of rows that fit into a tile.
static bool reducesRows(Reduced anchor) {
  Dims dims = getDims(anchor.input);
  int64_t first = dims.size() - anchor.axes.size(), count = 0;
  for (Operation &op : anchor.input.getParentBlock()->without_terminator())
    if (getReduced(&op)) {
      ++count;
      if (!isa<ReduceOpInterface>(op))
        return false;
    }
  auto length = getConstant(product(
      anchor.input.getContext(), ArrayRef<AffineExpr>(dims).drop_front(first)));
  // A single row has no axis for rows.
  auto rows = getConstant(product(
      anchor.input.getContext(), ArrayRef<AffineExpr>(dims).take_front(first)));
  return count > 1 && rows != 1 && length &&
         *length <=
             getLongestTileRow(anchor.input.getParentBlock()->getParentOp()) &&
         llvm::equal(anchor.axes, llvm::seq<int64_t>(first, dims.size()));
}

static LogicalResult emitKernel(KernelEmitter &e, Operation *anchor,
                                Tiling tiling) {
  if (!anchor) {
    Operation *last = e.getOutputs()[0].getDefiningOp();
    if (auto concat = dyn_cast_or_null<ConcatOp>(last);
        concat && (tiling == Tiling::Flat ||
                   (tiling == Tiling::Dims && e.getOutputs().size() == 1 &&
                    e.getPartAxis(0) < 0)))
      return emitConcat(e, concat, tiling);
    if (auto insertions = dyn_cast_or_null<InsertSliceOp>(last))
      return emitInsertions(e, insertions);
    if (isa_and_nonnull<ScatterElementsOp, ScatterNDOp>(last))
      return emitScatter(e, last);
    return tiling == Tiling::Dims && picksAlikeInRows(e)
               ? emitPickedRows(e)
               : emitPointwise(e, tiling);
  }
  if (std::optional<Reduced> reduced = getReduced(anchor)) {
    auto reduce = dyn_cast<ReduceOpInterface>(anchor);
    return reduce && (storesElements(*reduced) || reducesRows(*reduced))
               ? emitReducedRows(e, reduce, tiling)
               : emitReductions(e, tiling);
  }
  return llvm::TypeSwitch<Operation *, LogicalResult>(anchor)
      .Case([&](AttentionOp op) { return emitAttention(e, op, tiling); })
      .Case([&](MatmulOp op) { return emitMatmul(e, op, tiling); })
      .Case([&](ConvOp op) {
        auto chain = getConvChain(*op->getBlock());
        return chain.size() > 1 ? emitConvChain(e, chain, tiling)
                                : emitConv(e, op, tiling);
      })
      .Case(
          [&](ConvTransposeOp op) { return emitConvTranspose(e, op, tiling); })
      .Case<MaxPoolOp, AvgPoolOp>(
          [&](Operation *op) { return emitPool(e, op, tiling); })
      .Case<CumsumOp, CumprodOp>(
          [&](Operation *op) { return emitScan(e, op, tiling); })
      .Case([&](TreeLeavesOp op) { return emitTreeLeaves(e, op, tiling); })
      .Case([&](TopKOp op) { return emitTopK(e, op, tiling); })
      .Case([&](NonZeroOp op) { return emitNonZero(e, op, tiling); })
      .Case([&](SelectBoxesOp op) { return emitBoxSelection(e, op); })
      .Case([&](RoiAlignOp op) { return emitRoiAlign(e, op); })
      .Case([&](LRNOp op) { return emitLRN(e, op, tiling); })
      .Case([&](WinogradConvOp op) { return emitWinogradConv(e, op, tiling); })
      .Case<WinogradInputOp, WinogradFilterOp, WinogradOutputOp>(
          [&](Operation *op) { return emitWinogradTransform(e, op, tiling); })
      .Case([&](WordMatmulOp op) { return emitWordMatmul(e, op, tiling); })
      .Case([&](BlockMatmulOp op) { return emitBlockMatmul(e, op, tiling); })
      .Case([&](RecurrentOp op) { return emitRecurrent(e, op, tiling); })
      .Case<SoftmaxOp, LogSoftmaxOp, LayerNormOp, RMSNormOp>(
          [&](Operation *op) { return emitRows(e, op, tiling); })
      .Default([&](Operation *) {
        return e.fail("the anchor op has no tile form");
      });
}

static bool mayExceed(Value memory, int64_t bytes) {
  auto type = cast<MemRefType>(memory.getType());
  return !type.hasStaticShape() ||
         type.getNumElements() >
             bytes * 8 / int64_t(type.getElementTypeBitWidth());
}

bool adze::mayStream(KernelEmitter &e, unsigned output) {
  return mayExceed(e.getOutputMemory(output), chooseStreamBytes(e.target));
}

/// Returns true if an operand is read across its rows, so that stores go to
/// scattered cache lines.
static bool isScattered(tile::KernelOp kernel) {
  return kernel
      ->walk([](tile::LoadOp load) {
        return load->hasAttr(tile::kAheadAttribute) ? WalkResult::interrupt()
                                                    : WalkResult::advance();
      })
      .wasInterrupted();
}

/// Enables non-temporal stores of results that would be evicted from the caches
/// before they are read. Products are not limited by their stores.
static void chooseStreams(KernelEmitter &e) {
  int64_t bytes = chooseStreamBytes(e.target, isScattered(e.getKernel()));
  bool multiplies =
      e.getKernel()
          ->walk([](tile::DotOp) { return WalkResult::interrupt(); })
          .wasInterrupted();
  for (unsigned i = 0; !multiplies && i < e.getOutputs().size(); ++i)
    if (mayExceed(e.getOutputMemory(i), bytes))
      e.getKernel()->setAttr(tile::streamBytesAttr,
                             e.builder().getI64IntegerAttr(bytes));
}

/// Names the other versions of a kernel after the first one, and lists them in
/// it.
static void linkVersions(ArrayRef<tile::KernelOp> kernels,
                         ArrayRef<RowVersion> versions) {
  tile::KernelOp first = kernels.front();
  SmallVector<Attribute> others;
  for (auto [kernel, version] :
       llvm::drop_begin(llvm::zip_equal(kernels, versions))) {
    tile::KernelOp other = kernel;
    other.setSymName(getVersionName(other.getSymName(), version));
    others.push_back(FlatSymbolRefAttr::get(other));
  }
  if (!others.empty())
    first->setAttr(host::versionsAttr,
                   ArrayAttr::get(first.getContext(), others));
}

/// Sets the number of steps on launches of programs that run in order.
static void setSteps(KernelEmitter &e, Operation *anchor,
                     ArrayRef<host::LaunchOp> launches) {
  if (!e.getKernel().isOrdered())
    return;
  auto op = cast<RecurrentOp>(anchor);
  AffineExpr steps = getTurns(op), groups = getGroups(e, op);
  for (host::LaunchOp launch : launches) {
    launch.setStepsAttr(host::getBytesAttr(steps));
    if (groups)
      launch.setGroupsAttr(host::getBytesAttr(groups));
  }
}

/// Returns true if all types can be in memory: known dims, whole bytes or
/// bools. Small floats are converted on the reference path.
static bool hasKnownTypes(func::FuncOp function) {
  bool converts = false;
  function.walk([&](Operation *op) {
    for (Type type : op->getResultTypes())
      converts |= isSmallFloat(getElementTypeOrSelf(type)) ||
                  isPacked(getElementTypeOrSelf(type));
  });
  return !converts &&
         llvm::all_of(llvm::concat<const Type>(function.getArgumentTypes(),
                                               function.getResultTypes()),
                      [](Type type) {
                        auto tensor = dyn_cast<RankedTensorType>(type);
                        if (!tensor ||
                            (!tensor.hasStaticShape() && !tensor.getEncoding()))
                          return false;
                        Type element = tensor.getElementType();
                        return element.isIntOrFloat() &&
                               !isSmallFloat(element) &&
                               (element.isInteger(1) ||
                                element.getIntOrFloatBitWidth() % 8 == 0);
                      });
}

/// Returns true for a tensor without elements, which has no blocks, and no rows
/// to reduce.
static bool isEmpty(Type type) {
  auto tensor = dyn_cast<RankedTensorType>(type);
  return tensor && llvm::is_contained(tensor.getShape(), 0);
}

static bool hasEmptyTensors(func::FuncOp function) {
  bool found = llvm::any_of(function.getArgumentTypes(), isEmpty);
  function.walk([&](Operation *op) {
    found |= llvm::any_of(op->getResultTypes(), isEmpty);
  });
  return found;
}

namespace {
struct ConvertGraphToTilePass final
    : adze::impl::ConvertGraphToTileBase<ConvertGraphToTilePass> {
  using Base::Base;

  void runOnOperation() override {
    ModuleOp module = getOperation();
    DenseMap<StringAttr, SmallVector<host::LaunchOp>> launches;
    module.walk([&](host::LaunchOp launch) {
      launches[launch.getCalleeAttr().getAttr()].push_back(launch);
    });
    copying = findCopyingInsertions(module);
    for (auto function :
         llvm::make_early_inc_range(module.getOps<func::FuncOp>())) {
      if (!function->hasAttr("adze.kernel") || function.isExternal())
        continue;
      ArrayRef<host::LaunchOp> uses = launches[function.getSymNameAttr()];
      if (convert(function, uses)) {
        ++numKernels;
        continue;
      }
      ++numRefused;
      for (host::LaunchOp launch : uses) { // whole tensors are moved there
        launch->removeAttr(host::bytesReadAttr);
        launch->removeAttr(host::bytesWrittenAttr);
      }
    }
  }

private:
  /// The attempts, from the coarsest tiling to the finest. Divisions of
  /// positions are tried after all tilings without them, but before single
  /// elements.
  struct Attempt {
    Tiling tiling;
    bool splitsPoints;
  };
  static constexpr Attempt attempts[] = {
      {Tiling::Flat, false}, {Tiling::Dims, false}, {Tiling::Row, false},
      {Tiling::Flat, true},  {Tiling::Dims, true},  {Tiling::Row, true},
      {Tiling::Points, true}};

  bool convert(func::FuncOp function, ArrayRef<host::LaunchOp> launches) {
    auto refuse = [&](StringRef reason) {
      if (remarks)
        function.emitRemark() << "falls back to the reference path: " << reason;
      // The diagnostic about missing device code prints the reason.
      if (tile::findCudaTarget(function))
        function->setAttr(host::refusalAttr,
                          StringAttr::get(&getContext(), reason));
      return false;
    };
    auto anchor = findAnchor(function);
    if (failed(anchor))
      return refuse("the cluster has two anchor ops");
    if (!hasKnownTypes(function))
      return refuse("a type has no memory form or unknown dims");
    if (hasEmptyTensors(function))
      return refuse("a tensor has no elements");
    if (function.getNumResults() == 0)
      return refuse("the kernel has no results");
    if (copying.contains(function))
      return refuse("a tensor is read after a slice of it is overwritten");
    auto packable = [&](unsigned argument) {
      return packConstants && !launches.empty() &&
             llvm::all_of(launches, [&](host::LaunchOp launch) {
               Operation *source =
                   launch.getOperands()[argument].getDefiningOp();
               return source && (source->hasTrait<OpTrait::ConstantLike>() ||
                                 isa<TransformFilterOp>(source));
             });
    };
    if (*anchor)
      sinkMoves(function);
    std::string reasons;
    if (!emitVersions(function, packable, *anchor, launches, reasons))
      return refuse(reasons);
    function.erase();
    return true;
  }

  /// Emits the kernel, or the versions of it by its number of rows. If a
  /// version cannot be emitted, one kernel computes all numbers of rows.
  bool emitVersions(func::FuncOp function,
                    function_ref<bool(unsigned)> packable, Operation *anchor,
                    ArrayRef<host::LaunchOp> launches, std::string &reasons) {
    SmallVector<RowVersion> versions{RowVersion()};
    // Versions sum in different orders.
    if (tile::findCudaTarget(function) && !batchInvariant)
      versions = chooseRowVersions(anchor, [&](Value operand) {
        auto argument = dyn_cast<BlockArgument>(operand);
        return argument && packable(argument.getArgNumber());
      });
    SmallVector<tile::KernelOp> kernels;
    for (RowVersion version : versions) {
      tile::KernelOp kernel =
          emitVersion(function, packable, anchor, version, launches, reasons);
      if (!kernel)
        break;
      kernels.push_back(kernel);
    }
    if (kernels.size() == versions.size()) {
      linkVersions(kernels, versions);
      return true;
    }
    for (tile::KernelOp kernel : kernels)
      kernel.erase();
    return !versions.front().isAll() &&
           emitVersion(function, packable, anchor, RowVersion(), launches,
                       reasons);
  }

  /// Emits one version, in the coarsest tiling that is possible.
  tile::KernelOp emitVersion(func::FuncOp function,
                             function_ref<bool(unsigned)> packable,
                             Operation *anchor, RowVersion version,
                             ArrayRef<host::LaunchOp> launches,
                             std::string &reasons) {
    for (const Attempt &attempt : attempts)
      if (tile::KernelOp kernel = emit(function, packable, anchor, attempt,
                                       version, launches, reasons))
        return kernel;
    return {};
  }

  tile::KernelOp emit(func::FuncOp function,
                      function_ref<bool(unsigned)> packable, Operation *anchor,
                      const Attempt &attempt, RowVersion version,
                      ArrayRef<host::LaunchOp> launches, std::string &reasons) {
    tile::CudaTargetAttr gpu = tile::findCudaTarget(function);
    for (bool tilesEvenly = !gpu;; tilesEvenly = false) {
      KernelEmitter emitter(function, packable);
      emitter.version = version;
      emitter.batchInvariant = batchInvariant;
      emitter.splitsPoints = attempt.splitsPoints;
      emitter.gpu = gpu;
      emitter.tilesEvenly = tilesEvenly;
      emitter.target = tile::getCpuTarget(function);
      if (succeeded(emitKernel(emitter, anchor, attempt.tiling))) {
        emitter.finish();
        tile::contractSums(emitter.getKernel());
        chooseStreams(emitter);
        if (version.usual)
          emitter.getKernel()->setAttr(
              tile::kUsualSizeAttribute,
              emitter.builder().getI64IntegerAttr(*version.usual));
        setSteps(emitter, anchor, launches);
        return emitter.getKernel();
      }
      emitter.getKernel().erase();
      if (emitter.hasEnds())
        continue;
      if (attempt.splitsPoints &&
          !StringRef(reasons).contains(emitter.reason()))
        reasons += (reasons.empty() ? "" : "; ") + emitter.reason().str();
      return {};
    }
  }

  DenseSet<Operation *> copying;
};
} // namespace
