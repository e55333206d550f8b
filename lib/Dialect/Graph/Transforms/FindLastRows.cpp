// Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
//
// graph-find-last-rows: results of which the caller may request only the last
// rows.
#include "Dialect/Graph/IR/Graph.h"
#include "Dialect/Graph/IR/Shape.h"
#include "Dialect/Graph/Transforms/Passes.h"
#include "Dialect/Graph/Transforms/StateNames.h"
#include "Dialect/Host/IR/Host.h"
#include "Dialect/Host/IR/LastRows.h"
#include "Dialect/Tile/IR/Tile.h"
#include "Matching.h"
#include "Symbols.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/TypeSwitch.h"

namespace adze::graph {
#define GEN_PASS_DEF_FINDLASTROWSPASS
#include "Dialect/Graph/Transforms/Passes.h.inc"
} // namespace adze::graph

using namespace mlir;
using namespace adze::graph;

//===----------------------------------------------------------------------===//
// Ops that compute each row from the same row of their operands
//===----------------------------------------------------------------------===//

/// The dim of the rows in each operand, or -1 if all rows read all of it.
using RowDims = SmallVector<int64_t>;

/// Operands are aligned to the last dims of the result. Returns nothing if one
/// has neither the rows nor a single element for all of them.
static std::optional<RowDims> getBroadcastDims(Operation *op, int64_t dim) {
  Dims result = getDims(op->getResult(0));
  RowDims dims;
  for (Value operand : op->getOperands()) {
    Dims sizes = getDims(operand);
    int64_t own = dim + int64_t(sizes.size()) - int64_t(result.size());
    if (own < 0 || getConstant(sizes[own]) == 1)
      own = -1;
    else if (!areEqual(sizes[own], result[dim]))
      return std::nullopt;
    dims.push_back(own);
  }
  return dims;
}

static std::optional<RowDims> getReducedDims(ReduceOpInterface op,
                                             int64_t dim) {
  if (!op.getKeepdims())
    for (int64_t axis = 0; axis <= dim; ++axis)
      dim += llvm::is_contained(op.getAxes(), axis);
  if (llvm::is_contained(op.getAxes(), dim))
    return std::nullopt;
  return RowDims{dim};
}

/// The dims up to the rows are equal on both sides.
static std::optional<RowDims> getReshapedDims(ReshapeOp op, int64_t dim) {
  Dims from = getDims(op.getInput()), to = getDims(op.getResult());
  if (int64_t(from.size()) <= dim ||
      !areEqual(ArrayRef(from).take_front(dim + 1),
                ArrayRef(to).take_front(dim + 1)))
    return std::nullopt;
  return RowDims{dim};
}

/// Returns nothing if rows of the result depend on other rows of the operands.
static std::optional<RowDims> getRowDims(Operation *op, int64_t dim) {
  using Result = std::optional<RowDims>;
  int64_t rank = getRank(op->getResult(0));
  RowDims first(op->getNumOperands(), -1);
  if (!first.empty())
    first.front() = dim;
  return llvm::TypeSwitch<Operation *, Result>(op)
      .Case([&](ElementwiseOpInterface) { return getBroadcastDims(op, dim); })
      .Case(
          [&](ReduceOpInterface reduce) { return getReducedDims(reduce, dim); })
      .Case([&](ReshapeOp reshape) { return getReshapedDims(reshape, dim); })
      .Case([&](TransposeOp transpose) -> Result {
        return RowDims{transpose.getPerm()[dim]};
      })
      .Case([&](SliceOp slice) -> Result {
        SmallVector<AffineExpr, 4> starts = slice.getStartExprs();
        if (slice.getBegin() || getConstant(starts[dim]) != 0 ||
            slice.getSteps()[dim] != 1 ||
            !areEqual(getDims(slice.getInput())[dim],
                      getDims(slice.getResult())[dim]))
          return std::nullopt;
        return first;
      })
      .Case<RMSNormOp, LayerNormOp>([&](auto norm) -> Result {
        bool isScaleOfRows =
            llvm::all_of(op->getOperands().drop_front(), [&](Value operand) {
              return getRank(operand) <= rank - int64_t(norm.getAxis());
            });
        return dim < int64_t(norm.getAxis()) && isScaleOfRows ? Result(first)
                                                              : std::nullopt;
      })
      .Case<SoftmaxOp, LogSoftmaxOp>([&](auto softmax) -> Result {
        return dim != int64_t(softmax.getAxis()) ? Result(first) : std::nullopt;
      })
      .Case([&](MatmulOp product) -> Result {
        return dim == rank - 2 && getRank(product.getLhs()) == rank &&
                       getRank(product.getRhs()) == 2 &&
                       !product.getTransposeA()
                   ? Result(first)
                   : std::nullopt;
      })
      .Case([&](WordMatmulOp product) -> Result {
        // The first operands have a row for each of the result; then the
        // weights follow.
        RowDims dims(op->getNumOperands(), -1);
        dims[0] = dims[1] = dims[2] = dim;
        return dim == rank - 2 ? Result(dims) : std::nullopt;
      })
      .Case([&](BlockMatmulOp product) -> Result {
        RowDims dims(op->getNumOperands(), -1);
        dims[0] = dim;
        return dim == rank - 2 ? Result(dims) : std::nullopt;
      })
      .Default([](Operation *) { return std::nullopt; });
}

//===----------------------------------------------------------------------===//
// The pass
//===----------------------------------------------------------------------===//

namespace {

class LastRowFinder {
public:
  LastRowFinder(func::FuncOp function, const StateNames &names)
      : function(function), block(function.front()), names(names) {}

  unsigned run();

private:
  std::optional<adze::host::LastRows> match(unsigned output);
  std::optional<unsigned> takeSymbol(unsigned all);
  void collect(Value returned, int64_t dim);
  void apply(adze::host::LastRows rows);
  Value getLast(OpBuilder &b, Value value, int64_t dim, AffineExpr number);

  func::FuncOp function;
  Block &block;
  const StateNames &names;
  /// The dim of the rows of each op that computes the last rows only.
  llvm::MapVector<Operation *, std::pair<int64_t, RowDims>> chosen;
  /// The last rows of a value, for the dim that has the rows.
  DenseMap<std::pair<Value, int64_t>, Value> last;
};

} // namespace

/// The rows are the dim before the last one, a dim of an input, and not of a
/// state.
std::optional<adze::host::LastRows> LastRowFinder::match(unsigned output) {
  Dims dims = getDims(block.getTerminator()->getOperand(output));
  if (dims.size() < 2)
    return std::nullopt;
  unsigned dim = dims.size() - 2;
  auto all = dyn_cast_if_present<AffineSymbolExpr>(dims[dim]);
  if (!all || llvm::count(dims, dims[dim]) > 1)
    return std::nullopt;
  bool isOfInput = false, hasState = false, isOfState = false;
  for (auto [index, argument] : llvm::enumerate(function.getArguments())) {
    bool hasRows = llvm::is_contained(getDims(argument), dims[dim]);
    isOfInput |= hasRows;
    for (unsigned other = 0; other < function.getNumResults(); ++other) {
      if (!names.arePaired(function, index, other))
        continue;
      hasState = true;
      isOfState |= hasRows || other == output;
    }
  }
  if (!isOfInput || !hasState || isOfState)
    return std::nullopt;
  return adze::host::LastRows{output, dim, all.getPosition(), 0};
}

/// Returns a new symbol after those of the inputs, which must be unused.
std::optional<unsigned> LastRowFinder::takeSymbol(unsigned all) {
  unsigned symbol = 0;
  for (Type type : function.getArgumentTypes())
    forEachSymbol(type,
                  [&](unsigned used) { symbol = std::max(symbol, used + 1); });
  for (adze::host::LastRows rows : adze::host::getLastRows(function))
    symbol = std::max(symbol, rows.symbol + 1);
  bool isUsed = false;
  auto look = [&](unsigned used) { isUsed |= used == symbol; };
  block.walk([&](Operation *op) {
    for (Type type : op->getResultTypes())
      forEachSymbol(type, look);
    op->getAttrDictionary().walk([&](AffineMapAttr map) {
      for (AffineExpr expr : map.getValue().getResults())
        forEachSymbol(expr, look);
    });
    ArrayRef<int64_t> bound;
    if (auto bind = dyn_cast<BindOp>(op))
      bound = bind.getSymbols();
    else if (auto assign = dyn_cast<AssignOp>(op))
      bound = assign.getSymbols();
    else if (auto call = dyn_cast<CallOp>(op))
      bound = call.getSymbols();
    isUsed |= llvm::is_contained(bound, int64_t(symbol));
  });
  if (isUsed)
    return std::nullopt;
  Builder builder(function.getContext());
  auto set = [&](StringRef name, Attribute value, Attribute none) {
    SmallVector<Attribute> values;
    if (auto old = function->getAttrOfType<ArrayAttr>(name))
      llvm::append_range(values, old);
    values.resize(std::max<size_t>(values.size(), symbol + 1), none);
    values[symbol] = value;
    function->setAttr(name, builder.getArrayAttr(values));
  };
  Attribute noName = builder.getStringAttr("");
  set(adze::host::symbolsAttr, noName, noName);
  if (auto ranges =
          function->getAttrOfType<ArrayAttr>(adze::host::symbolRangesAttr)) {
    auto range = cast<DenseI64ArrayAttr>(ranges[all]);
    set(adze::host::symbolRangesAttr,
        builder.getDenseI64ArrayAttr({0, range[1], range[2]}),
        builder.getDenseI64ArrayAttr({0, -1, -1}));
  }
  return symbol;
}

/// Selects the ops that only `returned` depends on, from the last to the first,
/// so that all users of a value are visited before its definition.
void LastRowFinder::collect(Value returned, int64_t dim) {
  DenseMap<Value, int64_t> wanted{{returned, dim}};
  chosen.clear();
  for (Operation &op : llvm::reverse(block.without_terminator())) {
    if (op.getNumResults() != 1 || op.getNumRegions() != 0)
      continue;
    Value result = op.getResult(0);
    auto found = wanted.find(result);
    if (found == wanted.end() || found->second < 0)
      continue;
    bool isRead = llvm::all_of(result.getUses(), [&](OpOperand &use) {
      return use.getOwner() == block.getTerminator()
                 ? result == returned
                 : chosen.contains(use.getOwner());
    });
    std::optional<RowDims> dims =
        isRead ? getRowDims(&op, found->second) : std::nullopt;
    if (!dims)
      continue;
    for (auto [operand, own] : llvm::zip_equal(op.getOperands(), *dims)) {
      // -1: other users need all rows
      auto [entry, isNew] = wanted.insert({operand, own});
      if (!isNew && entry->second != own)
        entry->second = -1;
    }
    chosen.insert({&op, {wanted.lookup(result), *dims}});
  }
}

/// Returns the last `number` rows of a value.
Value LastRowFinder::getLast(OpBuilder &b, Value value, int64_t dim,
                             AffineExpr number) {
  Value &rows = last[{value, dim}];
  if (rows)
    return rows;
  return rows = createSlice(b, value.getLoc(), value, dim,
                            getDims(value)[dim] - number, number);
}

void LastRowFinder::apply(adze::host::LastRows rows) {
  AffineExpr number = getAffineSymbolExpr(rows.symbol, function.getContext());
  last.clear();
  for (auto &[op, row] : llvm::reverse(chosen)) {
    auto &[dim, dims] = row;
    OpBuilder b(op);
    IRMapping mapping;
    for (auto [operand, own] : llvm::zip_equal(op->getOperands(), dims))
      if (own >= 0)
        mapping.map(operand, getLast(b, operand, own, number));
    Operation *copy = b.clone(*op, mapping);
    Value result = op->getResult(0);
    Dims sizes = getDims(result);
    sizes[dim] = number;
    copy->getResult(0).setType(makeType(getElement(result), sizes));
    last[{result, dim}] = copy->getResult(0);
  }
  Operation *terminator = block.getTerminator();
  Value returned = terminator->getOperand(rows.output);
  terminator->setOperand(rows.output, last.lookup({returned, rows.dim}));
  for (auto &[op, row] : chosen)
    if (op->use_empty())
      op->erase();
}

unsigned LastRowFinder::run() {
  SmallVector<Attribute> list;
  Builder builder(function.getContext());
  for (unsigned output = 0; output < function.getNumResults(); ++output) {
    std::optional<adze::host::LastRows> rows = match(output);
    if (!rows)
      continue;
    collect(block.getTerminator()->getOperand(output), rows->dim);
    if (llvm::none_of(chosen, [](auto &entry) {
          return isa<MatmulOp, WordMatmulOp, BlockMatmulOp>(entry.first);
        }))
      continue;
    std::optional<unsigned> symbol = takeSymbol(rows->all);
    if (!symbol)
      continue;
    rows->symbol = *symbol;
    apply(*rows);
    list.push_back(builder.getDenseI64ArrayAttr(
        {rows->output, rows->dim, rows->all, rows->symbol}));
    function->setAttr(adze::host::lastRowsAttr, builder.getArrayAttr(list));
  }
  if (!list.empty())
    function.setFunctionType(builder.getFunctionType(
        function.getArgumentTypes(), block.getTerminator()->getOperandTypes()));
  return list.size();
}

namespace {

class FindLastRowsPass final
    : public adze::graph::impl::FindLastRowsPassBase<FindLastRowsPass> {
public:
  using FindLastRowsPassBase::FindLastRowsPassBase;

  void runOnOperation() override {
    func::FuncOp function = getOperation();
    if (function.isExternal() || function.isPrivate() ||
        !function.getBody().hasOneBlock() ||
        function->hasAttr(adze::host::lastRowsAttr) ||
        function->hasAttr(adze::host::kernelAttr))
      return;
    llvm::Expected<StateNames> names = StateNames::parse(pairs);
    if (!names) {
      function.emitError(llvm::toString(names.takeError()));
      return signalPassFailure();
    }
    if (!names->isNone())
      numOutputs = LastRowFinder(function, *names).run();
  }
};

} // namespace
