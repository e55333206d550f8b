// Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
//
// graph-fold-constants: evaluates ops whose operands are all constants. Shapes
// and data movement are evaluated here on the bytes; arithmetic is collected
// into one function, which the ConstantEvaluator of the context runs. Branches
// on results are folded.
#include "ConstantFunction.h"
#include "Dialect/Graph/IR/Blob.h"
#include "Dialect/Graph/IR/Checks.h"
#include "Dialect/Graph/IR/Shape.h"
#include "Dialect/Graph/Transforms/Passes.h"
#include "LinearFolds.h"
#include "Matching.h"
#include "mlir/IR/IRMapping.h"

namespace adze::graph {
#define GEN_PASS_DEF_FOLDCONSTANTSPASS
#include "Dialect/Graph/Transforms/Passes.h.inc"
} // namespace adze::graph

using namespace mlir;
using namespace adze;
using namespace adze::graph;

namespace {

using Bytes = std::vector<char>;

/// Shapes have few elements; larger tensors are data.
constexpr int64_t maxShapeElements = 64;

/// Copies strided elements: element i.. of the result is at `offset + sum i[d]
/// * strides[d]` of the source, in elements.
void copyStrided(const char *source, int64_t offset, ArrayRef<int64_t> shape,
                 ArrayRef<int64_t> strides, size_t width, Bytes &result) {
  int64_t count = 1;
  for (int64_t size : shape)
    count *= size;
  size_t start = result.size();
  result.resize(start + count * width);
  char *target = result.data() + start;
  SmallVector<int64_t> at(shape.size(), 0);
  int64_t inner = shape.empty() ? 1 : shape.back();
  int64_t step = shape.empty() ? 1 : strides.back();
  for (int64_t done = 0; done < count; done += inner) {
    int64_t from = offset;
    for (unsigned d = 0; d + 1 < shape.size(); ++d)
      from += at[d] * strides[d];
    if (step == 1) {
      std::memcpy(target, source + from * width, inner * width);
      target += inner * width;
    } else {
      for (int64_t i = 0; i < inner; ++i, target += width)
        std::memcpy(target, source + (from + i * step) * int64_t(width), width);
    }
    for (int d = int(shape.size()) - 2; d >= 0 && ++at[d] == shape[d]; --d)
      at[d] = 0;
  }
}

SmallVector<int64_t> getStrides(ArrayRef<int64_t> shape) {
  SmallVector<int64_t> strides(shape.size(), 1);
  for (int d = int(shape.size()) - 2; d >= 0; --d)
    strides[d] = strides[d + 1] * shape[d + 1];
  return strides;
}

/// Returns the elements of the constant that defines a value, or null.
ElementsAttr getConstantValue(Value value) {
  auto constant = value.getDefiningOp<ConstantOp>();
  return constant ? constant.getValue() : ElementsAttr();
}

bool allConstant(Operation *op) {
  return llvm::all_of(op->getOperands(), [](Value operand) {
    return !!getConstantValue(operand);
  });
}

/// Returns the bytes of an element, if it has whole bytes.
std::optional<size_t> getWidth(Type type) {
  unsigned bits = getElementTypeOrSelf(type).getIntOrFloatBitWidth();
  if (bits == 1)
    return 1;
  return bits % 8 == 0 ? std::optional<size_t>(bits / 8) : std::nullopt;
}

/// Evaluates data movement on bytes. Fails for all other ops.
LogicalResult moveBytes(Operation *op, Bytes &result) {
  auto type = dyn_cast<RankedTensorType>(op->getResult(0).getType());
  auto width = type ? getWidth(type) : std::nullopt;
  if (!width || !type.hasStaticShape())
    return failure();
  auto read = [&](Value value, Bytes &storage) {
    return readElements(getConstantValue(value), storage,
                        [&] { return op->emitError(); });
  };
  Bytes storage;
  if (auto concat = dyn_cast<ConcatOp>(op)) {
    // For each index before the axis, one run of each operand follows the
    // other.
    int64_t outer = 1;
    for (unsigned d = 0; d < concat.getAxis(); ++d)
      outer *= type.getDimSize(d);
    std::vector<Bytes> storages(concat.getInputs().size());
    SmallVector<ArrayRef<char>> pieces;
    for (auto [input, bytes] : llvm::zip(concat.getInputs(), storages)) {
      auto piece = read(input, bytes);
      if (failed(piece))
        return failure();
      pieces.push_back(*piece);
    }
    for (int64_t i = 0; i < outer; ++i)
      for (ArrayRef<char> piece : pieces) {
        ArrayRef<char> run =
            piece.slice(i * (piece.size() / outer), piece.size() / outer);
        result.insert(result.end(), run.begin(), run.end());
      }
    return success();
  }
  if (!isa<TransposeOp, SliceOp, BroadcastToOp, ReshapeOp>(op) ||
      op->getNumOperands() != 1)
    return failure();
  auto inputType = cast<RankedTensorType>(op->getOperand(0).getType());
  auto input = read(op->getOperand(0), storage);
  if (failed(input))
    return failure();
  SmallVector<int64_t> source = getStrides(inputType.getShape()), strides;
  int64_t offset = 0;
  if (auto transpose = dyn_cast<TransposeOp>(op)) {
    for (int64_t dim : transpose.getPerm())
      strides.push_back(source[dim]);
  } else if (auto slice = dyn_cast<SliceOp>(op)) {
    auto starts = slice.getConstantStarts();
    if (!starts)
      return failure();
    for (auto [start, step, stride] :
         llvm::zip(*starts, slice.getSteps(), source)) {
      offset += start * stride;
      strides.push_back(step * stride);
    }
  } else if (isa<BroadcastToOp>(op)) {
    strides.assign(type.getRank() - inputType.getRank(), 0);
    for (auto [size, stride] : llvm::zip(inputType.getShape(), source))
      strides.push_back(size == 1 ? 0 : stride);
  } else {
    strides = getStrides(type.getShape());
  }
  copyStrided(input->data(), offset, type.getShape(), strides, *width, result);
  return success();
}

struct FoldConstantsPass final
    : adze::graph::impl::FoldConstantsPassBase<FoldConstantsPass> {
  using Base::Base;

  void runOnOperation() override {
    // The values computed by one round may make more data movement constant.
    for (unsigned round = 0; round < maxRounds; ++round) {
      collectWeights();
      for (auto function : getOperation().getOps<func::FuncOp>()) {
        foldShapes(function);
        if (failed(foldMovement(function)))
          return signalPassFailure();
      }
      auto changed = evaluateOnce();
      if (failed(changed))
        return signalPassFailure();
      if (!*changed)
        break;
    }
    decide();
    removeDead();
  }

private:
  /// Folds branches and selections whose conditions were computed.
  void decide() {
    for (auto function : getOperation().getOps<func::FuncOp>())
      for (auto select : function.getOps<SelectOp>())
        if (Value chosen = getDecided(select))
          select.getResult().replaceAllUsesWith(chosen);
  }

  /// Returns true if the result becomes part of a constant that is as large by
  /// itself, as a window that is padded to the size of another one and added to
  /// it.
  static bool joinsConstant(Operation *op) {
    if (!op->hasOneUse())
      return false;
    Operation *user = *op->user_begin();
    return isa<ElementwiseOpInterface>(user) &&
           llvm::any_of(user->getOperands(), [&](Value other) {
             return other.getDefiningOp() != op &&
                    other.getType() == op->getResult(0).getType() &&
                    isConstant(other);
           });
  }

  /// Returns true if the use is the weights of an op, which kernels read packed
  /// from memory even if a small function computes their elements.
  static bool isWeights(OpOperand &use) {
    Operation *user = use.getOwner();
    if (auto recurrent = dyn_cast<RecurrentOp>(user))
      return use.get() == recurrent.getWeights() ||
             use.get() == recurrent.getWeightSums();
    return isa<MatmulOp, ConvOp, ConvTransposeOp>(user) &&
           use.getOperandNumber() == 1;
  }

  /// Collects the ops whose results are only weights, and operands of ops that
  /// are collected.
  void collectWeights() {
    weights.clear();
    for (auto function : getOperation().getOps<func::FuncOp>())
      for (Block &block : function.getBody())
        for (Operation &op : llvm::reverse(block))
          if (!op.use_empty() && llvm::all_of(op.getUses(), [&](auto &use) {
                return isWeights(use) || weights.contains(use.getOwner());
              }))
            weights.insert(&op);
  }

  /// Results that are much larger than their operands stay ops.
  bool isSmallEnough(Operation *op) {
    uint64_t read = 0, written = 0;
    for (Type type : op->getOperandTypes())
      read += getNumBytes(cast<ShapedType>(type));
    for (Type type : op->getResultTypes())
      written += getNumBytes(cast<ShapedType>(type));
    uint64_t growth = weights.contains(op) ? freeWeightBytes : freeBytes;
    return written <= maxBytes &&
           (written <= read * maxGrowth + growth || joinsConstant(op));
  }
  static bool hasStaticTypes(TypeRange types) {
    return llvm::all_of(types, [](Type type) {
      auto tensor = dyn_cast<RankedTensorType>(type);
      return tensor && tensor.hasStaticShape();
    });
  }
  bool canFold(Operation *op) {
    return isa_and_nonnull<GraphDialect>(op->getDialect()) &&
           !isa<ConstantOp, TransformFilterOp, WinogradFilterOp>(op) &&
           op->getNumResults() > 0 && op->getNumRegions() == 0 &&
           isMemoryEffectFree(op) &&
           !op->hasAttr(messageAttr) && // may raise a fault at run time
           hasStaticTypes(op->getOperandTypes()) &&
           hasStaticTypes(op->getResultTypes()) && isSmallEnough(op);
  }

  /// Folds values that depend on sizes only and are constant, such as the last
  /// dim of a shape whose other dims are dynamic.
  void foldShapes(func::FuncOp function) {
    DenseSet<Operation *> ofSizes;
    auto isOfSizes = [&](Value operand) {
      Operation *op = operand.getDefiningOp();
      return op && (isa<ConstantOp>(op) || ofSizes.contains(op));
    };
    for (Operation &op : function.getOps()) {
      if (!isa<ShapeOp>(op) && (op.getNumOperands() == 0 ||
                                !llvm::all_of(op.getOperands(), isOfSizes)))
        continue;
      auto type = op.getNumResults() == 1
                      ? dyn_cast<RankedTensorType>(op.getResult(0).getType())
                      : RankedTensorType();
      if (!type || !type.hasStaticShape() ||
          type.getNumElements() > maxShapeElements ||
          !isa_and_nonnull<GraphDialect>(op.getDialect()) ||
          !type.getElementType().isSignlessInteger(64))
        continue;
      ofSizes.insert(&op);
      auto elements = getConstantElements(op.getResult(0));
      if (!elements || op.use_empty())
        continue;
      OpBuilder builder(&op);
      auto attribute =
          DenseElementsAttr::get(type, ArrayRef<int64_t>(*elements));
      op.getResult(0).replaceAllUsesWith(
          ConstantOp::create(builder, op.getLoc(), attribute));
      ++numMoved;
    }
  }

  LogicalResult foldMovement(func::FuncOp function) {
    for (Operation &op : llvm::make_early_inc_range(function.getOps())) {
      if (!canFold(&op) || op.getNumOperands() == 0 || !allConstant(&op))
        continue;
      Bytes bytes;
      if (failed(moveBytes(&op, bytes)))
        continue;
      if (failed(replace(&op, 0, bytes)))
        return failure();
      op.erase();
      ++numMoved;
    }
    return success();
  }

  LogicalResult replace(Operation *op, unsigned result, ArrayRef<char> bytes) {
    auto elements =
        makeElements(cast<ShapedType>(op->getResult(result).getType()), bytes,
                     [&] { return op->emitError(); });
    if (failed(elements))
      return failure();
    OpBuilder builder(op);
    auto constant = ConstantOp::create(builder, op->getLoc(), *elements);
    op->getResult(result).replaceAllUsesWith(constant.getResult());
    return success();
  }

  /// Runs all subgraphs of constants in one function. Returns true if there
  /// were any.
  FailureOr<bool> evaluateOnce() {
    // Without the dialect there is nothing to fold.
    const ConstantEvaluator *evaluator = findEvaluator(&getContext());
    if (!evaluator)
      return false;
    ConstantFunction constants(getOperation().getLoc());
    IRMapping mapping;
    SmallVector<Value> targets, results;
    for (auto function : getOperation().getOps<func::FuncOp>())
      gather(function, constants.getBuilder(), mapping, targets, results);
    if (targets.empty())
      return false;
    SmallVector<std::vector<char>> bytes;
    if (failed(constants.evaluate(*evaluator, results, bytes)))
      return failure();
    for (auto [target, content] : llvm::zip_equal(targets, bytes)) {
      auto result = cast<OpResult>(target);
      if (failed(replace(result.getOwner(), result.getResultNumber(), content)))
        return failure();
      ++numEvaluated;
    }
    removeDead();
    return true;
  }

  /// Clones the ops that can be evaluated; the targets are the values that
  /// other ops use.
  void gather(func::FuncOp function, OpBuilder &builder, IRMapping &mapping,
              SmallVectorImpl<Value> &targets,
              SmallVectorImpl<Value> &results) {
    DenseSet<Operation *> known;
    for (Operation &op : function.getOps()) {
      if (!canFold(&op) || !llvm::all_of(op.getOperands(), [&](Value operand) {
            return getConstantValue(operand) ||
                   known.contains(operand.getDefiningOp());
          }))
        continue;
      for (Value operand : op.getOperands())
        if (!mapping.contains(operand))
          builder.clone(*operand.getDefiningOp(), mapping);
      builder.clone(op, mapping);
      known.insert(&op);
    }
    for (Operation &op : function.getOps())
      if (known.contains(&op))
        for (Value result : op.getResults())
          if (llvm::any_of(result.getUsers(), [&](Operation *user) {
                return !known.contains(user);
              })) {
            targets.push_back(result);
            results.push_back(mapping.lookup(result));
          }
  }

  void removeDead() {
    for (auto function : getOperation().getOps<func::FuncOp>())
      for (Block &block : function.getBody())
        for (Operation &op : llvm::make_early_inc_range(llvm::reverse(block)))
          if (isOpTriviallyDead(&op))
            op.erase();
  }

  DenseSet<Operation *> weights;
};

} // namespace
