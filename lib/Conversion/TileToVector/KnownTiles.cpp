// Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
//
// Evaluates rows that depend on positions only, such as the source indices and
// weights of a resized row.
#include "KnownTiles.h"
#include "DimClasses.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/Matchers.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

using namespace mlir;
using namespace adze::tile;

namespace {
/// The elements of a row.
using Row = SmallVector<Attribute, 0>;

class KnownTiles {
public:
  explicit KnownTiles(KernelOp kernel) : b(kernel.getContext()) {}

  /// Returns the elements of a tile, or null if they are unknown.
  const Row *get(Value tile);

private:
  std::optional<Row> compute(Value tile);
  std::optional<Row> evaluate(Operation *op, int64_t size);

  OpBuilder b;
  DenseMap<Value, std::optional<Row>> rows;
};
} // namespace

const Row *KnownTiles::get(Value tile) {
  auto it = rows.find(tile);
  if (it == rows.end()) {
    std::optional<Row> row = compute(tile);
    it = rows.try_emplace(tile, std::move(row)).first;
  }
  return it->second ? &*it->second : nullptr;
}

std::optional<Row> KnownTiles::compute(Value tile) {
  constexpr int64_t longest = 1024; // each element is part of the code
  auto type = dyn_cast<RankedTensorType>(tile.getType());
  Operation *op = tile.getDefiningOp();
  if (!op || !type || type.getRank() != 1 || !type.hasStaticShape() ||
      type.getDimSize(0) > longest)
    return std::nullopt;
  int64_t size = type.getDimSize(0);
  if (isa<IotaOp>(op)) {
    Row row;
    for (int64_t i = 0; i < size; ++i)
      row.push_back(b.getIntegerAttr(type.getElementType(), i));
    return row;
  }
  DenseElementsAttr dense;
  if (matchPattern(tile, m_Constant(&dense)))
    return Row(dense.getValues<Attribute>());
  if (auto broadcast = dyn_cast<BroadcastOp>(op)) {
    if (isTile(broadcast.getSource())) {
      const Row *row = get(broadcast.getSource());
      return row ? std::optional(*row) : std::nullopt;
    }
    Attribute scalar;
    if (!matchPattern(broadcast.getSource(), m_Constant(&scalar)))
      return std::nullopt;
    return Row(size, scalar);
  }
  return evaluate(op, size);
}

/// Folds a scalar copy of the op for each element, with placeholders as
/// operands.
std::optional<Row> KnownTiles::evaluate(Operation *op, int64_t size) {
  if (!op->hasTrait<OpTrait::Elementwise>() || op->getNumResults() != 1)
    return std::nullopt;
  Block names;
  SmallVector<Row> operands;
  for (Value operand : op->getOperands()) {
    Attribute scalar;
    if (isTile(operand)) {
      if (!get(operand))
        return std::nullopt;
      operands.push_back(*get(operand));
    } else if (matchPattern(operand, m_Constant(&scalar))) {
      operands.push_back(Row(size, scalar));
    } else {
      return std::nullopt;
    }
    names.addArgument(getElementTypeOrSelf(operand), op->getLoc());
  }
  OperationState state(op->getLoc(), op->getName(), names.getArguments(),
                       {getElementTypeOrSelf(op->getResult(0))},
                       op->getAttrs());
  Operation *scalar = Operation::create(state);
  Row row;
  for (int64_t i = 0; i < size; ++i) {
    SmallVector<Attribute> values;
    for (const Row &operand : operands)
      values.push_back(operand[i]);
    SmallVector<OpFoldResult> results;
    if (failed(scalar->fold(values, results)) || results.size() != 1)
      break;
    auto value = dyn_cast<Attribute>(results.front());
    if (!value) // one of the operands
      value = values[cast<BlockArgument>(cast<Value>(results.front()))
                         .getArgNumber()];
    row.push_back(value);
  }
  scalar->destroy();
  return int64_t(row.size()) == size ? std::optional(row) : std::nullopt;
}

/// Returns the row that all rows of a tile of indices are equal to.
static Value rowOf(Value indices) {
  auto broadcast = indices.getDefiningOp<BroadcastOp>();
  return broadcast && isTile(broadcast.getSource()) ? broadcast.getSource()
                                                    : indices;
}

void adze::tile::foldKnownTiles(KernelOp kernel) {
  KnownTiles known(kernel);
  bool isWorthwhile = false;
  kernel.walk([&](GatherOp gather) {
    isWorthwhile |= known.get(rowOf(gather.getIndices())) != nullptr;
  });
  if (!isWorthwhile)
    return;
  SmallVector<Operation *> ops;
  kernel.walk([&](Operation *op) {
    if (op->getNumResults() == 1 && isTile(op->getResult(0)))
      ops.push_back(op);
  });
  for (Operation *op : ops) {
    const Row *row = known.get(op->getResult(0));
    if (!row || op->hasTrait<OpTrait::ConstantLike>())
      continue;
    OpBuilder b(op);
    auto type = cast<RankedTensorType>(op->getResult(0).getType());
    op->getResult(0).replaceAllUsesWith(arith::ConstantOp::create(
        b, op->getLoc(), DenseElementsAttr::get(type, *row)));
  }
  for (Operation *op : llvm::reverse(ops))
    if (isOpTriviallyDead(op))
      op->erase();
}
