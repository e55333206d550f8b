// Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
//
// convert-graph-to-linalg: kernels of graph ops to loops and linalg on memrefs,
// the reference path.
#include "Conversion/Passes.h"
#include "Dialect/Graph/Transforms/Updates.h"
#include "Dialect/Host/IR/Host.h"
#include "Dialect/Tile/IR/Tile.h"
#include "KernelLowering.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/BuiltinOps.h"

namespace adze {
#define GEN_PASS_DEF_CONVERTGRAPHTOLINALG
#include "Conversion/Passes.h.inc"
} // namespace adze

using namespace mlir;
using namespace adze::graph;

static constexpr llvm::StringLiteral kKernelAttr = "adze.kernel";
static constexpr llvm::StringLiteral kDimsAttr = "adze.dims";

/// Returns true if a function is a kernel of graph ops on tensors.
static bool isGraphKernel(func::FuncOp function) {
  if (!function->hasAttr(kKernelAttr) || function.isExternal())
    return false;
  return llvm::all_of(function.getArgumentTypes(),
                      llvm::IsaPred<RankedTensorType>) &&
         function.getNumResults() > 0;
}

//===----------------------------------------------------------------------===//
// Dims that nothing is known of
//===----------------------------------------------------------------------===//

namespace {
/// Gives every dim of a kernel an expression: the inferred one, or a new
/// symbol. Hand-written kernels need this; imported ones have all expressions.
class DimCompletion {
public:
  explicit DimCompletion(func::FuncOp function) : function(function) {
    auto count = [&](Value value) {
      next = std::max(next, adze::graph::countSymbols(getDims(value)));
    };
    for (Value argument : function.getArguments())
      count(argument);
    function.walk([&](Operation *op) {
      for (Value result : op->getResults())
        count(result);
      if (auto insert = dyn_cast<InsertSliceOp>(op))
        next = std::max(
            next, adze::graph::countSymbols(insert.getOffsets().getResults()));
      else if (auto slice = dyn_cast<SliceOp>(op); slice && !slice.getBegin())
        next = std::max(next, adze::graph::countSymbols(slice.getStartExprs()));
    });
  }

  /// This counts the existing symbols, before new ones are added.
  unsigned countSymbols() const { return next; }

  void run() {
    for (Value argument : function.getArguments())
      complete(argument);
    function.walk([&](Operation *op) {
      if (op->getNumResults() == 0 || llvm::all_of(op->getResults(), isKnown))
        return;
      infer(op);
      for (Value result : op->getResults())
        complete(result);
    });
  }

private:
  static bool isKnown(Value value) {
    return llvm::all_of(getDims(value),
                        [](AffineExpr dim) { return bool(dim); });
  }

  /// Copies the dims that are inferred from the operands.
  void infer(Operation *op) {
    if (auto cast = dyn_cast<CastOp>(op)) {
      adopt(cast.getResult(), getDims(cast.getInput()));
      return;
    }
    auto interface = dyn_cast<InferTypeOpInterface>(op);
    SmallVector<Type> types;
    if (!interface || failed(interface.inferReturnTypes(
                          op->getContext(), std::nullopt, op->getOperands(),
                          op->getAttrDictionary(), op->getPropertiesStorage(),
                          op->getRegions(), types)))
      return;
    for (auto [result, type] : llvm::zip_equal(op->getResults(), types))
      adopt(result, getDims(type));
  }

  void adopt(Value value, const Dims &from) {
    auto type = cast<RankedTensorType>(value.getType());
    if (size_t(type.getRank()) != from.size())
      return;
    Dims dims = getDims(value);
    for (auto [dim, other] : llvm::zip_equal(dims, from))
      dim = dim ? dim : other;
    RankedTensorType refined = makeType(type.getElementType(), dims);
    if (refined.getEncoding() || refined.hasStaticShape())
      setType(value, refined);
  }

  void complete(Value value) {
    if (isKnown(value))
      return;
    Dims dims = getDims(value);
    for (AffineExpr &dim : dims)
      if (!dim)
        dim = getAffineSymbolExpr(next++, value.getContext());
    auto type = cast<RankedTensorType>(value.getType());
    setType(value, makeType(type.getElementType(), dims));
  }

  /// Static dims stay dynamic in memory, so that the signature does not change.
  void setType(Value value, RankedTensorType type) {
    auto old = cast<RankedTensorType>(value.getType());
    if (type.getShape() == old.getShape())
      value.setType(type);
  }

  func::FuncOp function;
  unsigned next = 0;
};
} // namespace

//===----------------------------------------------------------------------===//
// The pass
//===----------------------------------------------------------------------===//

/// Returns true if an op can be lowered for the types of its operands and
/// results: small floats can only be moved and converted, packed elements only
/// converted.
static bool takesTypes(Operation *op) {
  auto has = [&](bool (*isKind)(Type)) {
    return llvm::any_of(
        llvm::concat<Value>(op->getOperands(), op->getResults()),
        [&](Value value) {
          return isKind(getElementTypeOrSelf(value.getType()));
        });
  };
  if (isa<CastOp, ConstantOp, ReshapeOp, ShapeOp>(op))
    return true;
  if (has(isPacked))
    return false;
  return !has(isSmallFloat) ||
         isa<BitcastOp, BroadcastToOp, ConcatOp, EmptyOp, GatherElementsOp,
             GatherNDOp, GatherOp, InsertSliceOp, ReverseOp, SelectOp, SliceOp,
             TransposeOp>(op);
}

static LogicalResult lowerOp(Operation *op, KernelLowering &k) {
  k.loc = op->getLoc();
  if (!takesTypes(op))
    return op->emitError("expected elements that can be computed with, but got "
                         "types that are only stored and converted");
  for (auto family : {lowerElementwise, lowerContraction, lowerPooling,
                      lowerReduction, lowerNormalization, lowerDataMovement,
                      lowerLookup, lowerResize, lowerRecurrent, lowerAttention,
                      lowerRegion, lowerMatrix, lowerWinograd})
    if (FamilyResult result = family(op, k))
      return *result;
  return op->emitError("expected an op that has a reference lowering");
}

/// Creates the function on memrefs: operands of the kernel, then its results.
static func::FuncOp createSignature(func::FuncOp from, OpBuilder &builder) {
  SmallVector<Type> types;
  SmallVector<DictionaryAttr> attributes;
  auto addArgument = [&](Type type, DictionaryAttr old) {
    NamedAttrList list(old);
    auto encoding = dyn_cast_or_null<AffineMapAttr>(
        cast<RankedTensorType>(type).getEncoding());
    if (encoding)
      list.set(kDimsAttr, encoding);
    types.push_back(getMemrefType(type));
    attributes.push_back(list.getDictionary(from.getContext()));
  };
  for (unsigned i = 0; i < from.getNumArguments(); ++i)
    addArgument(from.getArgumentTypes()[i], from.getArgAttrDict(i));
  for (unsigned i = 0; i < from.getNumResults(); ++i)
    addArgument(from.getResultTypes()[i], from.getResultAttrDict(i));
  auto to = func::FuncOp::create(from.getLoc(), from.getName(),
                                 builder.getFunctionType(types, {}));
  for (NamedAttribute attribute : from->getDiscardableAttrs())
    to->setAttr(attribute.getName(), attribute.getValue());
  to.setVisibility(from.getVisibility());
  for (auto [i, dictionary] : llvm::enumerate(attributes))
    to.setArgAttrs(i, dictionary);
  to.addEntryBlock();
  return to;
}

//===----------------------------------------------------------------------===//
// Updates in place
//===----------------------------------------------------------------------===//

/// Returns the argument of which result `i` of the kernel replaces elements.
/// Returns null if there is none, or if the kernel also reads it elsewhere.
static BlockArgument getUpdated(func::FuncOp kernel, unsigned i) {
  Value result = kernel.getBody().front().getTerminator()->getOperand(i);
  Operation *op = result.getDefiningOp();
  Value whole;
  if (isa_and_nonnull<ScatterElementsOp, ScatterNDOp>(op))
    whole = op->getOperand(0);
  else if (auto insert = dyn_cast_or_null<InsertSliceOp>(op))
    whole = insert.getDest();
  auto data = dyn_cast_if_present<BlockArgument>(whole);
  return data && data.hasOneUse() && data.getType() == result.getType()
             ? data
             : BlockArgument();
}

/// Ties results of kernels to operands, so that elements are replaced in place.
static void tieUpdates(ModuleOp module) {
  DenseMap<StringAttr, SmallVector<adze::host::LaunchOp>> launches;
  module.walk([&](adze::host::LaunchOp launch) {
    launches[launch.getCalleeAttr().getAttr()].push_back(launch);
  });
  for (auto kernel : module.getOps<func::FuncOp>()) {
    if (!isGraphKernel(kernel))
      continue;
    ArrayRef<adze::host::LaunchOp> uses = launches[kernel.getSymNameAttr()];
    for (unsigned i = 0; i < kernel.getNumResults(); ++i) {
      BlockArgument data = getUpdated(kernel, i);
      if (!data)
        continue;
      bool isFree = llvm::all_of(uses, [&](adze::host::LaunchOp launch) {
        return mayReplace(launch, launch.getOperand(data.getArgNumber()));
      });
      if (isFree)
        kernel.setResultAttr(
            i, adze::host::tiedAttr,
            OpBuilder(kernel).getI64IntegerAttr(data.getArgNumber()));
    }
  }
}

static LogicalResult lowerKernel(func::FuncOp from) {
  OpBuilder builder(from);
  func::FuncOp to = createSignature(from, builder);
  DimCompletion completion(from);
  unsigned numSymbols = completion.countSymbols();
  completion.run();
  KernelLowering lowering(from, to, numSymbols);
  LogicalResult result = lowering.assignPlaces();
  for (Operation &op : from.getBody().front().without_terminator())
    if (succeeded(result))
      result = lowerOp(&op, lowering);
  if (failed(result)) {
    to.erase();
    return failure();
  }
  lowering.finish();
  builder.insert(to);
  from.erase();
  return success();
}

namespace {
struct ConvertGraphToLinalgPass final
    : adze::impl::ConvertGraphToLinalgBase<ConvertGraphToLinalgPass> {
  void runOnOperation() override {
    tieUpdates(getOperation());
    SmallVector<func::FuncOp> kernels;
    for (auto function : getOperation().getOps<func::FuncOp>())
      if (isGraphKernel(function))
        kernels.push_back(function);
    for (func::FuncOp kernel : kernels) {
      if (failed(lowerKernel(kernel)))
        return signalPassFailure();
      ++numKernels;
    }
  }
};
} // namespace
