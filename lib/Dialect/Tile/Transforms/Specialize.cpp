// Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
//
// tile-specialize: binds parameters, and refines the types of tiles in place.
#include "Dialect/Tile/IR/Tile.h"
#include "Dialect/Tile/Transforms/Passes.h"
#include "Dialect/Tile/Transforms/Schedules.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "mlir/Transforms/FoldUtils.h"
#include "mlir/Transforms/GreedyPatternRewriteDriver.h"
#include "llvm/ADT/TypeSwitch.h"

namespace adze::tile {
#define GEN_PASS_DEF_TILESPECIALIZE
#include "Dialect/Tile/Transforms/Passes.h.inc"
} // namespace adze::tile

using namespace mlir;
using namespace adze;
using namespace adze::tile;

namespace {
using Bindings = llvm::StringMap<int64_t>;

/// Moves constant entries of a mixed list from operands to the static array.
void foldList(MutableOperandRange dynamic, ArrayRef<int64_t> statics,
              llvm::function_ref<void(ArrayRef<int64_t>)> setStatics) {
  SmallVector<Value> kept;
  SmallVector<int64_t> values(statics);
  unsigned next = 0;
  for (int64_t &value : values) {
    if (!ShapedType::isDynamic(value))
      continue;
    Value operand = dynamic[next++].get();
    if (std::optional<int64_t> constant = getConstantIntValue(operand))
      value = *constant;
    else
      kept.push_back(operand);
  }
  dynamic.assign(kept);
  setStatics(values);
}

void foldLists(Operation *op) {
  llvm::TypeSwitch<Operation *>(op)
      .Case([](LoadOp load) {
        foldList(load.getSizesMutable(), load.getStaticSizes(),
                 [&](auto list) { load.setStaticSizes(list); });
        foldList(load.getOffsetsMutable(), load.getStaticOffsets(),
                 [&](auto list) { load.setStaticOffsets(list); });
      })
      .Case<StoreOp, GatherOp, ScatterOp>([](auto access) {
        foldList(access.getOffsetsMutable(), access.getStaticOffsets(),
                 [&](auto list) { access.setStaticOffsets(list); });
      })
      .Case<BroadcastOp, IotaOp, ReshapeOp, ScratchOp>([](auto sized) {
        foldList(sized.getSizesMutable(), sized.getStaticSizes(),
                 [&](auto list) { sized.setStaticSizes(list); });
      });
}

bool isTile(Type type) { return isa<RankedTensorType>(type); }

LogicalResult refineBlock(Block &block);

/// Sets the types of region arguments and results of a loop to those of its
/// inits.
LogicalResult refineFor(scf::ForOp loop) {
  for (auto [argument, init, result] : llvm::zip(
           loop.getRegionIterArgs(), loop.getInitArgs(), loop.getResults())) {
    argument.setType(init.getType());
    result.setType(init.getType());
  }
  if (failed(refineBlock(*loop.getBody())))
    return failure();
  for (auto [argument, yielded] :
       llvm::zip(loop.getRegionIterArgs(), loop.getYieldedValues()))
    if (argument.getType() != yielded.getType())
      return loop.emitError("expected the loop to yield a tile of type ")
             << argument.getType() << ", but got " << yielded.getType();
  return success();
}

LogicalResult refineIf(scf::IfOp branch) {
  for (Region *region : {&branch.getThenRegion(), &branch.getElseRegion()})
    if (!region->empty() && failed(refineBlock(region->front())))
      return failure();
  if (!branch.getNumResults())
    return success();
  for (auto [result, one, other] :
       llvm::zip(branch.getResults(), branch.thenYield().getOperands(),
                 branch.elseYield().getOperands())) {
    if (one.getType() != other.getType())
      return branch.emitError("expected both branches to yield a tile of type ")
             << one.getType() << ", but got " << other.getType();
    result.setType(one.getType());
  }
  return success();
}

LogicalResult refineElementwise(Operation *op) {
  ArrayRef<int64_t> shape;
  for (Value operand : op->getOperands()) {
    auto type = dyn_cast<RankedTensorType>(operand.getType());
    if (!type)
      continue;
    if (shape.data() && type.getShape() != shape)
      return op->emitError("expected tiles of one size, but got ")
             << shape << " and " << type.getShape();
    shape = type.getShape();
  }
  for (OpResult result : op->getResults())
    result.setType(
        RankedTensorType::get(shape, getElementTypeOrSelf(result.getType())));
  return success();
}

LogicalResult refine(Operation *op) {
  foldLists(op);
  if (auto loop = dyn_cast<scf::ForOp>(op))
    return refineFor(loop);
  if (auto branch = dyn_cast<scf::IfOp>(op))
    return refineIf(branch);
  if (auto phase = dyn_cast<PhaseOp>(op))
    return refineBlock(phase.getBody().front());
  if (auto scratch = dyn_cast<ScratchOp>(op)) {
    auto type = cast<MemRefType>(scratch.getType());
    scratch.getResult().setType(
        MemRefType::get(scratch.getStaticSizes(), type.getElementType()));
    return success();
  }
  if (llvm::none_of(op->getResultTypes(), isTile))
    return success();
  if (op->hasTrait<OpTrait::Elementwise>())
    return refineElementwise(op);
  if (auto iota = dyn_cast<IotaOp>(op)) {
    iota.getResult().setType(RankedTensorType::get(
        iota.getStaticSizes(), iota.getType().getElementType()));
    return success();
  }
  if (auto constant = dyn_cast<arith::ConstantOp>(op))
    return success(); // static already, or diagnosed at the end
  auto inferred = dyn_cast<InferTypeOpInterface>(op);
  if (!inferred)
    return op->emitError("expected an op on tiles whose result type can be "
                         "inferred, but got '")
           << op->getName() << "'";
  SmallVector<Type> types;
  if (failed(inferred.inferReturnTypes(
          op->getContext(), op->getLoc(), op->getOperands(),
          op->getDiscardableAttrDictionary(), op->getPropertiesStorage(),
          op->getRegions(), types)))
    return failure();
  for (auto [result, type] : llvm::zip(op->getResults(), types))
    result.setType(type);
  return success();
}

LogicalResult refineBlock(Block &block) {
  for (Operation &op : block)
    if (failed(refine(&op)))
      return failure();
  return success();
}

/// Folds index arithmetic on parameters. Tiles are folded after their sizes are
/// known, as `x ^ x` would become a constant of dynamic size.
void foldScalars(KernelOp kernel) {
  SmallVector<Operation *> scalars;
  kernel.walk([&](Operation *op) {
    if (op != kernel && op->getNumRegions() == 0 &&
        llvm::none_of(op->getResultTypes(), isTile))
      scalars.push_back(op);
  });
  OperationFolder folder(kernel.getContext());
  for (Operation *op : scalars)
    (void)folder.tryToFold(op);
}

/// Adds the entries of a dictionary attribute for unbound parameters.
LogicalResult addDictionary(KernelOp kernel, StringRef name,
                            Bindings &bindings) {
  Attribute attribute = kernel->getAttr(name);
  if (!attribute)
    return success();
  auto dictionary = dyn_cast<DictionaryAttr>(attribute);
  if (!dictionary)
    return kernel.emitOpError("expected '") << name << "' to be a dictionary";
  for (NamedAttribute entry : dictionary) {
    auto value = dyn_cast<IntegerAttr>(entry.getValue());
    if (!value)
      return kernel.emitOpError("expected an integer for '")
             << entry.getName().strref() << "', but got " << entry.getValue();
    bindings.try_emplace(entry.getName().strref(), value.getInt());
  }
  return success();
}

LogicalResult bindParam(ParamOp param, const Bindings &bindings) {
  auto it = bindings.find(param.getName());
  if (it == bindings.end())
    return param.emitOpError("expected a binding for '")
           << param.getName() << "', but got none";
  if (!mayBind(param, it->second))
    return param.emitOpError("expected one of ")
           << *param.getChoices() << " for '" << param.getName()
           << "', but got " << it->second;
  OpBuilder builder(param);
  Value value =
      arith::ConstantIndexOp::create(builder, param.getLoc(), it->second);
  param.replaceAllUsesWith(value);
  param.erase();
  return success();
}

LogicalResult requireStatic(KernelOp kernel) {
  WalkResult walk = kernel.walk([&](Operation *op) {
    for (Type type : op->getResultTypes())
      if (auto tile = dyn_cast<RankedTensorType>(type);
          tile && !tile.hasStaticShape()) {
        op->emitError("expected a static tile after binding, but got ") << tile;
        return WalkResult::interrupt();
      }
    if (auto scratch = dyn_cast<ScratchOp>(op);
        scratch && !cast<MemRefType>(scratch.getType()).hasStaticShape()) {
      op->emitError("expected static scratch after binding, but got ")
          << scratch.getType();
      return WalkResult::interrupt();
    }
    return WalkResult::advance();
  });
  return failure(walk.wasInterrupted());
}

struct TileSpecialize final : tile::impl::TileSpecializeBase<TileSpecialize> {
  using TileSpecializeBase::TileSpecializeBase;

  void runOnOperation() override {
    Bindings common;
    if (failed(parseParams(common)))
      return signalPassFailure();
    for (KernelOp kernel : getOperation().getOps<KernelOp>())
      if (failed(specialize(kernel, common)))
        return signalPassFailure();
  }

  LogicalResult parseParams(Bindings &bindings) {
    SmallVector<StringRef> pairs;
    StringRef(params).split(pairs, ',', -1, /*KeepEmpty=*/false);
    for (StringRef pair : pairs) {
      auto [name, text] = pair.split('=');
      int64_t value;
      if (text.getAsInteger(10, value))
        return getOperation().emitError(
                   "expected NAME=VALUE in params, but got '")
               << pair << "'";
      bindings[name] = value;
    }
    return success();
  }

  LogicalResult specialize(KernelOp kernel, Bindings bindings) {
    std::string perTarget = "tile.params." + target;
    if (!target.empty() && failed(addDictionary(kernel, perTarget, bindings)))
      return failure();
    if (failed(addDictionary(kernel, "tile.params", bindings)))
      return failure();
    SmallVector<ParamOp> found;
    kernel.walk([&](ParamOp param) { found.push_back(param); });
    for (ParamOp param : found)
      if (failed(bindParam(param, bindings)))
        return failure();
    numBound += found.size();
    for (NamedAttribute attribute : llvm::to_vector(kernel->getAttrs()))
      if (attribute.getName().strref().starts_with("tile.params"))
        kernel->removeAttr(attribute.getName());
    foldScalars(kernel);
    if (failed(refineBlock(kernel.getBody().front())) ||
        failed(requireStatic(kernel)))
      return failure();
    // An empty pattern set folds constants and removes dead ops.
    (void)applyPatternsGreedily(kernel, RewritePatternSet(&getContext()));
    return success();
  }
};
} // namespace
