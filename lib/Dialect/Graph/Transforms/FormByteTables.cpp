// Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
//
// graph-form-byte-tables: computes functions of a quantized value by a table of
// their values.
#include "ConstantFunction.h"
#include "Dialect/Graph/IR/Graph.h"
#include "Dialect/Graph/Transforms/Passes.h"
#include "LinearFolds.h"
#include "Matching.h"
#include "mlir/IR/IRMapping.h"
#include "llvm/ADT/SetVector.h"
#include <numeric>

namespace adze::graph {
#define GEN_PASS_DEF_FORMBYTETABLESPASS
#include "Dialect/Graph/Transforms/Passes.h.inc"
} // namespace adze::graph

using namespace mlir;
using namespace adze;
using namespace adze::graph;

namespace {

constexpr int64_t kBytes = 256;

bool isByteTensor(Value value) {
  auto type = dyn_cast<RankedTensorType>(value.getType());
  auto element = type ? dyn_cast<IntegerType>(type.getElementType()) : nullptr;
  return element && element.getWidth() == 8;
}

/// Returns true if a lookup of `source` has the shape of the result. It has not
/// if a constant has more dims than a scalar source.
bool haveOneShape(Value source, Value result) {
  auto type = cast<RankedTensorType>(source.getType());
  return type.clone(getElement(result)) == result.getType();
}

/// Returns true for a constant of one element, which broadcasts to any shape.
bool isConstantScalar(Value value) {
  auto type = dyn_cast<RankedTensorType>(value.getType());
  return type && type.getRank() <= 1 && type.hasStaticShape() &&
         type.getNumElements() == 1 && isConstant(value);
}

/// The values of a block that are functions of one tensor of bytes.
class ByteFunctions {
public:
  explicit ByteFunctions(Block &block);

  /// Returns the tensor of bytes that determines the value, or null.
  Value getSource(Value value) const;
  /// Returns true if the operations that compute the value from the source cost
  /// more than a lookup. `ops` gets all operations between them, each
  /// after its operands.
  bool isExpensive(Value value, llvm::SetVector<Operation *> &ops) const;
  /// Returns true if the value, or a float that is a function of it, has a use
  /// other than to compute further bytes of the same source.
  bool isUsed(Value value) const;

private:
  Value findSource(Operation &op) const;

  llvm::DenseMap<Value, Value> sources;
};

/// The values of a function, and the clone that computes its table.
struct Table {
  Value result, source, values;
};

} // namespace

ByteFunctions::ByteFunctions(Block &block) {
  for (Operation &op : block)
    if (isa<ElementwiseOpInterface>(op) && op.getNumResults() == 1)
      if (Value source = findSource(op))
        sources[op.getResult(0)] = source;
}

Value ByteFunctions::getSource(Value value) const {
  if (Value source = sources.lookup(value))
    return source;
  return isByteTensor(value) ? value : Value();
}

/// Returns the source that all operands but constants have.
Value ByteFunctions::findSource(Operation &op) const {
  Value source;
  for (Value operand : op.getOperands()) {
    if (isConstantScalar(operand))
      continue;
    Value own = getSource(operand);
    if (!own || (source && own != source))
      return {};
    source = own;
  }
  return source;
}

bool ByteFunctions::isUsed(Value value) const {
  llvm::SetVector<Value> reached;
  reached.insert(value);
  for (size_t i = 0; i < reached.size(); ++i)
    for (Operation *user : reached[i].getUsers()) {
      Value result = user->getNumResults() == 1 ? user->getResult(0) : Value();
      if (!result || !sources.contains(result))
        return true;
      if (!isByteTensor(result))
        reached.insert(result);
    }
  return false;
}

bool ByteFunctions::isExpensive(Value value,
                                llvm::SetVector<Operation *> &ops) const {
  constexpr int64_t ofFunction = 16, ofHardSwish = 5, leastOperations = 12;
  Value source = getSource(value);
  int64_t operations = 0;
  auto visit = [&](auto &self, Value value) -> void {
    Operation *op = value.getDefiningOp();
    if (value == source || isConstantScalar(value) || ops.contains(op))
      return;
    for (Value operand : op->getOperands())
      self(self, operand);
    operations += isFunction(op)         ? ofFunction
                  : isa<HardSwishOp>(op) ? ofHardSwish
                                         : int64_t(!isa<CastOp>(op));
    ops.insert(op);
  };
  visit(visit, value);
  return operations >= leastOperations;
}

/// Clones a constant, and the operations that compute it.
static void cloneConstant(OpBuilder &b, Value value, IRMapping &mapping) {
  if (mapping.contains(value))
    return;
  Operation *op = value.getDefiningOp();
  for (Value operand : op->getOperands())
    cloneConstant(b, operand, mapping);
  b.clone(*op, mapping);
}

/// Clones the operations for a tensor of all bytes.
static Value cloneForAll(OpBuilder &b, Value result, Value source, Value all,
                         ArrayRef<Operation *> ops) {
  IRMapping mapping;
  mapping.map(source, all);
  for (Operation *op : ops) {
    for (Value operand : op->getOperands())
      if (!mapping.contains(operand))
        cloneConstant(b, operand, mapping);
    Value made = b.clone(*op, mapping)->getResult(0);
    made.setType(RankedTensorType::get({kBytes}, getElement(made)));
  }
  return mapping.lookup(result);
}

/// Returns the constant of the 256 bytes from 0 on.
static Value createAllBytes(OpBuilder &b, Location loc, Type element) {
  SmallVector<char> bytes(kBytes);
  std::iota(bytes.begin(), bytes.end(), char(0));
  return ConstantOp::create(
      b, loc,
      DenseElementsAttr::getFromRawBuffer(
          RankedTensorType::get({kBytes}, element), bytes));
}

namespace {
class FormByteTablesPass
    : public graph::impl::FormByteTablesPassBase<FormByteTablesPass> {
  using FormByteTablesPassBase::FormByteTablesPassBase;

  void runOnOperation() override {
    const ConstantEvaluator *evaluator = findEvaluator(&getContext());
    if (!evaluator)
      return;
    for (auto function : getOperation().getOps<func::FuncOp>())
      for (Block &block : function.getBody())
        if (failed(form(block, *evaluator)))
          return signalPassFailure();
  }

  LogicalResult form(Block &block, const ConstantEvaluator &evaluator) {
    ConstantFunction constants(getOperation().getLoc());
    SmallVector<Table> tables = cloneFunctions(block, constants.getBuilder());
    if (tables.empty())
      return success();
    SmallVector<Value> values;
    for (const Table &table : tables)
      values.push_back(table.values);
    SmallVector<std::vector<char>> bytes;
    if (failed(constants.evaluate(evaluator, values, bytes)))
      return failure();
    for (auto [table, elements] : llvm::zip_equal(tables, bytes))
      replace(table, elements);
    numTables += tables.size();
    return success();
  }

  /// Clones the functions that are worth a table.
  SmallVector<Table> cloneFunctions(Block &block, OpBuilder &b) {
    ByteFunctions functions(block);
    SmallVector<Table> tables;
    for (Operation &op : block) {
      Value result = op.getNumResults() == 1 ? op.getResult(0) : Value();
      Value source = result && isByteTensor(result)
                         ? functions.getSource(result)
                         : Value();
      llvm::SetVector<Operation *> ops;
      if (!source || source == result || !haveOneShape(source, result) ||
          !functions.isUsed(result) || !functions.isExpensive(result, ops))
        continue;
      Value all = createAllBytes(b, op.getLoc(), getElement(source));
      tables.push_back(
          {result, source,
           cloneForAll(b, result, source, all, ops.getArrayRef())});
    }
    return tables;
  }

  static void replace(Table table, ArrayRef<char> elements) {
    OpBuilder b(table.result.getDefiningOp());
    auto type = RankedTensorType::get({kBytes}, getElement(table.result));
    Value lookup = ByteLookupOp::create(
        b, table.result.getLoc(), table.result.getType(), table.source,
        DenseElementsAttr::getFromRawBuffer(type, elements));
    table.result.replaceAllUsesWith(lookup);
  }
};
} // namespace
