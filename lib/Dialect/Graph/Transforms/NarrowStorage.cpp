// Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
//
// graph-narrow-storage: stores intermediate tensors in the type of the
// products.
#include "Dialect/Graph/IR/Graph.h"
#include "Dialect/Graph/Transforms/Passes.h"
#include "Dialect/Tile/IR/Targets.h"
#include "Matching.h"
#include "mlir/IR/PatternMatch.h"
#include "llvm/ADT/SmallBitVector.h"

namespace adze::graph {
#define GEN_PASS_DEF_NARROWSTORAGEPASS
#include "Dialect/Graph/Transforms/Passes.h.inc"
} // namespace adze::graph

using namespace mlir;
using namespace adze;
using namespace adze::graph;

namespace {

/// Returns true if the op is a product that rounds its operands to the type.
bool isProductOf(Operation *op, Type narrow) {
  return isa<MatmulOp, ConvOp, WinogradConvOp>(op) &&
         op->hasAttr("wide_result") && getElement(op->getOperand(0)) == narrow;
}

/// Returns true if the op replaces a part of a tensor in place.
bool isInPlace(Operation *op) {
  return isa_and_present<InsertSliceOp, ScatterElementsOp, ScatterNDOp,
                         RecurrentOp>(op);
}

/// Returns true if the cluster would extend each element many times: it has
/// products of f32 activations, which a GPU copies to shared memory first.
bool widensAgain(ClusterOp cluster) {
  return !adze::tile::findCudaTarget(cluster) &&
         llvm::any_of(cluster.getBody().front(), [](Operation &op) {
           return isa<AttentionOp, MatmulOp>(op) &&
                  getElement(op.getOperand(0)).isF32();
         });
}

RankedTensorType narrowType(Value value, Type narrow) {
  return cast<RankedTensorType>(value.getType()).clone(narrow);
}

class NarrowStoragePass final
    : public adze::graph::impl::NarrowStoragePassBase<NarrowStoragePass> {
public:
  using NarrowStoragePassBase::NarrowStoragePassBase;

  void runOnOperation() override {
    SmallVector<ClusterOp> clusters;
    getOperation().walk([&](ClusterOp op) { clusters.push_back(op); });
    for (ClusterOp cluster : clusters) {
      for (OpResult result : cluster->getResults()) {
        narrowResult(result);
        forwardArgument(result);
      }
      dropUnused(cluster);
    }
  }

private:
  void narrowResult(OpResult result) {
    Type narrow = getStorageType(result);
    if (!narrow || result.use_empty() || !mayBeNarrow(result))
      return;
    Value stored = storeNarrow(result, narrow);
    narrowUses(result, stored);
    ++narrowed;
  }

  /// Returns true if all users of the tensor, also through views, are clusters.
  static bool mayBeNarrow(Value value) {
    return llvm::all_of(value.getUses(), [](OpOperand &use) {
      if (auto view = dyn_cast<ReshapeOp>(use.getOwner()))
        return !view.getShape() && mayBeNarrow(view.getResult());
      auto cluster = dyn_cast<ClusterOp>(use.getOwner());
      return cluster && !widensAgain(cluster) &&
             llvm::none_of(cluster.getBody()
                               .getArgument(use.getOperandNumber())
                               .getUsers(),
                           isInPlace);
    });
  }

  /// Replaces `value` by `stored`, which may be the same value with another
  /// type, in all users.
  static void narrowUses(Value value, Value stored) {
    SmallVector<OpOperand *> uses;
    for (OpOperand &use : value.getUses())
      uses.push_back(&use);
    for (OpOperand *use : uses) {
      auto view = dyn_cast<ReshapeOp>(use->getOwner());
      if (!view) {
        readNarrow(*use, stored);
        continue;
      }
      use->set(stored);
      Type narrow = getElement(stored);
      view.getResult().setType(narrowType(view.getResult(), narrow));
      narrowUses(view.getResult(), view.getResult());
    }
  }

  /// Returns the type that all users, also through views, round the tensor to,
  /// or null.
  static Type getReadType(Value value) {
    Type found;
    auto join = [&](Type type) {
      bool fits = type && (!found || found == type);
      found = type;
      return fits;
    };
    for (OpOperand &use : value.getUses()) {
      auto cluster = dyn_cast<ClusterOp>(use.getOwner());
      if (!cluster) {
        auto view = dyn_cast<ReshapeOp>(use.getOwner());
        if (!view || !join(getReadType(view.getResult())))
          return {};
        continue;
      }
      for (Operation *user :
           cluster.getBody().getArgument(use.getOperandNumber()).getUsers())
        if (!isa<CastOp>(user) || !join(getElement(user->getResult(0))))
          return {};
    }
    return found;
  }

  /// Returns the type that the f32 result may be stored in, or null: that of a
  /// product in its cluster, the type that it is also stored in, or the one
  /// that users round it to.
  Type getStorageType(OpResult result) {
    auto cluster = cast<ClusterOp>(result.getOwner());
    Value value = cluster.getYield().getOperand(result.getResultNumber());
    if (!isa<RankedTensorType>(result.getType()) ||
        !getElement(result).isF32() || isInPlace(value.getDefiningOp()))
      return {};
    Type found;
    for (Type type : {Type(Float16Type::get(&getContext())),
                      Type(BFloat16Type::get(&getContext()))}) {
      bool hasProduct =
          llvm::any_of(cluster.getBody().front(),
                       [&](Operation &op) { return isProductOf(&op, type); });
      if (hasProduct || findStored(result, type) || getReadType(result) == type)
        found = type;
    }
    return found;
  }

  /// Returns the result of the same cluster that is `result` in the narrow
  /// type.
  static OpResult findStored(OpResult result, Type narrow) {
    auto cluster = cast<ClusterOp>(result.getOwner());
    Value value = cluster.getYield().getOperand(result.getResultNumber());
    for (OpResult other : cluster->getResults()) {
      auto cast = cluster.getYield()
                      .getOperand(other.getResultNumber())
                      .getDefiningOp<CastOp>();
      if (cast && cast.getInput() == value && getElement(other) == narrow)
        return other;
    }
    return {};
  }

  static Value storeNarrow(OpResult result, Type narrow) {
    if (OpResult stored = findStored(result, narrow))
      return stored;
    auto cluster = cast<ClusterOp>(result.getOwner());
    YieldOp yield = cluster.getYield();
    OpBuilder b(yield);
    RankedTensorType type = narrowType(result, narrow);
    Value wide = yield.getOperand(result.getResultNumber());
    yield.setOperand(result.getResultNumber(),
                     CastOp::create(b, wide.getLoc(), type, wide));
    result.setType(type);
    return result;
  }

  /// Makes the cluster of the use extend the elements that it reads.
  static void readNarrow(OpOperand &use, Value stored) {
    auto cluster = cast<ClusterOp>(use.getOwner());
    BlockArgument argument =
        cluster.getBody().getArgument(use.getOperandNumber());
    Type wide = argument.getType();
    use.set(stored);
    argument.setType(stored.getType());
    OpBuilder b = OpBuilder::atBlockBegin(&cluster.getBody().front());
    auto widened = CastOp::create(b, argument.getLoc(), wide, argument);
    for (OpOperand &inner : llvm::make_early_inc_range(argument.getUses())) {
      if (inner.getOwner() == widened)
        continue;
      auto cast = dyn_cast<CastOp>(inner.getOwner());
      if (cast && cast.getType() == argument.getType()) {
        cast.replaceAllUsesWith(Value(argument)); // it was rounded already
        cast.erase();
      } else {
        inner.set(widened);
      }
    }
    if (widened->use_empty())
      widened.erase();
  }

  /// Replaces a result that is an operand of its cluster by the operand.
  static void forwardArgument(OpResult result) {
    auto cluster = cast<ClusterOp>(result.getOwner());
    auto argument = dyn_cast<BlockArgument>(
        cluster.getYield().getOperand(result.getResultNumber()));
    if (argument)
      result.replaceAllUsesWith(cluster.getInputs()[argument.getArgNumber()]);
  }

  /// Replaces the cluster by one without unused results. A recurrent layer
  /// keeps all of its results, as its steps read what earlier ones stored.
  static void dropUnused(ClusterOp cluster) {
    if (cluster.use_empty())
      return cluster.erase();
    YieldOp yield = cluster.getYield();
    SmallVector<unsigned> kept;
    for (OpResult result : cluster->getResults())
      if (unsigned number = result.getResultNumber();
          !result.use_empty() || isa_and_present<RecurrentOp>(
                                     yield.getOperand(number).getDefiningOp()))
        kept.push_back(number);
    if (kept.size() == cluster.getNumResults())
      return;
    SmallVector<Type> types;
    SmallVector<Value> yielded;
    for (unsigned number : kept) {
      types.push_back(cluster.getResult(number).getType());
      yielded.push_back(yield.getOperand(number));
    }
    OpBuilder b(cluster);
    auto smaller =
        ClusterOp::create(b, cluster.getLoc(), types, cluster.getInputs(),
                          cluster.getAnchor().value_or(""));
    smaller->setDiscardableAttrs(cluster->getDiscardableAttrDictionary());
    yield->setOperands(yielded);
    smaller.getBody().takeBody(cluster.getBody());
    for (auto [index, number] : llvm::enumerate(kept))
      cluster.getResult(number).replaceAllUsesWith(smaller.getResult(index));
    cluster.erase();
  }
};

} // namespace
