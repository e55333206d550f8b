// Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
//
// Branches and loops of the host program: scf around launches. Values enter and
// leave regions in memory: in slots if their size is known before the run, else
// in boxes.
#include "Assignment.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace mlir;

namespace adze {

using graph::Dims;
using graph::getDims;

/// The state of the conversion of a loop.
struct Assignment::Loop {
  graph::LoopOp op;
  SmallVector<Destination> carried, collected;
  Value number;  // place of the index of the iteration
  Value limit;   // i64
  Value proceed; // i1
  scf::WhileOp loop;
};

static RankedTensorType getTensorType(Value value) {
  return cast<RankedTensorType>(value.getType());
}

Assignment::Destination Assignment::makeDestination(Location loc, Type type) {
  Destination destination;
  auto tensor = cast<RankedTensorType>(type);
  if (isKnownEarly(tensor))
    destination.place = createSlot(loc, tensor);
  else
    destination.box = numBoxes++;
  return destination;
}

/// Binds dims of `results` that are symbols in `bound` to the sizes of
/// `values`.
void Assignment::bindDims(Location loc, ArrayRef<int64_t> bound,
                          TypeRange results, ValueRange values,
                          SmallVectorImpl<int64_t> &symbols,
                          SmallVectorImpl<AffineExpr> &exprs) {
  for (auto [result, value] : llvm::zip_equal(results, values))
    for (auto [to, from] : llvm::zip_equal(getDims(result), getDims(value))) {
      auto symbol = dyn_cast<AffineSymbolExpr>(to);
      if (!symbol || !llvm::is_contained(bound, symbol.getPosition()) ||
          llvm::is_contained(symbols, symbol.getPosition()))
        continue;
      symbols.push_back(symbol.getPosition());
      exprs.push_back(from);
    }
}

void Assignment::createAssign(Location loc, ArrayRef<int64_t> symbols,
                              ArrayRef<AffineExpr> exprs) {
  if (symbols.empty())
    return;
  host::AssignOp::create(
      builder, loc, builder.getDenseI64ArrayAttr(symbols),
      AffineMapAttr::get(host::getSymbolMap(exprs, loc.getContext())));
}

//===----------------------------------------------------------------------===//
// if
//===----------------------------------------------------------------------===//

LogicalResult Assignment::assignBranch(graph::IfOp op, Region &from, Region &to,
                                       MutableArrayRef<Destination> results) {
  Location loc = op.getLoc();
  Block &block = to.front();
  block.clear();
  block.getOperations().splice(block.end(), from.front().getOperations());
  auto yield = cast<graph::YieldOp>(block.back());
  chooseDestinations(block, yield.getOperands(), results);
  if (failed(assign(block)))
    return failure();
  builder.setInsertionPoint(yield);
  for (auto [value, result] : llvm::zip_equal(yield.getOperands(), results))
    deliver(loc, value, result);
  SmallVector<int64_t> symbols;
  SmallVector<AffineExpr> exprs;
  bindDims(loc, op.getSymbols(), op.getResultTypes(), yield.getOperands(),
           symbols, exprs);
  createAssign(loc, symbols, exprs);
  scf::YieldOp::create(builder, loc);
  return success();
}

LogicalResult Assignment::assign(graph::IfOp op) {
  Location loc = op.getLoc();
  // Each branch has its own, as values computed in place differ.
  SmallVector<Destination> thenResults;
  for (Type type : op.getResultTypes())
    thenResults.push_back(makeDestination(loc, type));
  SmallVector<Destination> elseResults = thenResults;
  Value condition = host::ReadOp::create(builder, loc, builder.getI1Type(),
                                         getPlace(op.getCondition()));
  auto branch = scf::IfOp::create(builder, loc, condition,
                                  /*withElseRegion=*/true);
  if (failed(assignBranch(op, op.getThenRegion(), branch.getThenRegion(),
                          thenResults)) ||
      failed(assignBranch(op, op.getElseRegion(), branch.getElseRegion(),
                          elseResults)))
    return failure();
  builder.setInsertionPointAfter(branch);
  for (auto [result, destination] :
       llvm::zip_equal(op.getResults(), thenResults)) {
    RankedTensorType type = getTensorType(result);
    places[result] =
        open(loc, destination, type, host::getBytesAttr(getTensorBytes(type)));
  }
  return success();
}

//===----------------------------------------------------------------------===//
// loop
//===----------------------------------------------------------------------===//

/// Sets up the places, initial values and initial sizes.
void Assignment::enterLoop(Loop &loop) {
  graph::LoopOp op = loop.op;
  Location loc = op.getLoc();
  MLIRContext *context = loc.getContext();
  auto arguments = op.getCarriedArguments();
  for (auto [init, argument] : llvm::zip_equal(op.getInits(), arguments)) {
    loop.carried.push_back(makeDestination(loc, argument.getType()));
    deliver(loc, init, loop.carried.back());
  }
  for (Type type : TypeRange(op.getResultTypes()).drop_front(arguments.size()))
    loop.collected.push_back(makeDestination(loc, type));
  if (!op.getBody().getArgument(0).use_empty())
    loop.number = createSlot(loc, getTensorType(op.getBody().getArgument(0)));
  SmallVector<int64_t> symbols;
  SmallVector<AffineExpr> exprs;
  bindDims(loc, op.getSymbols(),
           TypeRange(op.getBody().getArgumentTypes()).drop_front(),
           op.getInits(), symbols, exprs);
  // The number of iterations, and the sizes of slices before there are any.
  auto ranges = program->getAttrOfType<ArrayAttr>(host::symbolRangesAttr);
  for (int64_t symbol : op.getSymbols())
    if (!llvm::is_contained(symbols, symbol)) {
      int64_t least = 0;
      if (ranges && symbol < int64_t(ranges.size()))
        least = cast<DenseI64ArrayAttr>(ranges[symbol])[0];
      symbols.push_back(symbol);
      exprs.push_back(getAffineConstantExpr(least, context));
    }
  createAssign(loc, symbols, exprs);
  Type i1 = builder.getI1Type(), i64 = builder.getI64Type();
  if (Value limit = op.getTripCount())
    loop.limit = host::ReadOp::create(builder, loc, i64, getPlace(limit));
  else
    loop.limit = arith::ConstantIntOp::create(builder, loc, INT64_MAX, 64);
  if (Value proceed = op.getCondition())
    loop.proceed = host::ReadOp::create(builder, loc, i1, getPlace(proceed));
  else
    loop.proceed = arith::ConstantIntOp::create(builder, loc, 1, 1);
}

/// Creates `while (number < limit && proceed)` around the ops of the body.
void Assignment::createWhile(Loop &loop) {
  Location loc = loop.op.getLoc();
  Type types[] = {builder.getI64Type(), builder.getI1Type()};
  Value zero = arith::ConstantIntOp::create(builder, loc, 0, 64);
  loop.loop =
      scf::WhileOp::create(builder, loc, types, ValueRange{zero, loop.proceed});
  SmallVector<Location> locs(2, loc);
  Block *before = builder.createBlock(&loop.loop.getBefore(), {}, types, locs);
  Value more = arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::slt,
                                     before->getArgument(0), loop.limit);
  Value both =
      arith::AndIOp::create(builder, loc, more, before->getArgument(1));
  scf::ConditionOp::create(builder, loc, both, before->getArguments());
  Block *after = builder.createBlock(&loop.loop.getAfter(), {}, types, locs);
  if (loop.number)
    host::WriteOp::create(builder, loc, after->getArgument(0), loop.number);
  for (auto [argument, destination] :
       llvm::zip_equal(loop.op.getCarriedArguments(), loop.carried)) {
    RankedTensorType type = getTensorType(argument);
    places[argument] =
        open(loc, destination, type, host::getBytesAttr(getTensorBytes(type)));
  }
  places[loop.op.getBody().getArgument(0)] = loop.number;
}

/// Copies slices of collected results after those of earlier iterations.
void Assignment::deliverSlices(Loop &loop) {
  graph::LoopOp op = loop.op;
  Location loc = op.getLoc();
  size_t first = op.getInits().size();
  for (auto [index, slice] : llvm::enumerate(op.getYieldedSlices())) {
    RankedTensorType type = getTensorType(slice);
    AffineExpr bytes = getTensorBytes(type);
    AffineExpr count = getAffineSymbolExpr(*op.getCount(), loc.getContext());
    Attribute offset = host::getBytesAttr(count * bytes);
    Destination &destination = loop.collected[index];
    Value place;
    if (destination.box) {
      Dims dims = getDims(type);
      dims.insert(dims.begin(), count + 1);
      place = open(loc, destination,
                   graph::makeType(type.getElementType(), dims), offset);
    } else {
      place =
          open(loc, destination, getTensorType(op.getResult(first + index)));
    }
    ++counts.copies;
    host::CopyOp::create(builder, loc, getPlace(slice),
                         createView(loc, place, getPlaceType(type), offset),
                         host::getBytesAttr(bytes));
  }
}

/// Copies the carried values of the next iteration. Values that another carried
/// value overwrites are copied to temporaries first.
void Assignment::deliverCarried(Loop &loop) {
  graph::LoopOp op = loop.op;
  Location loc = op.getLoc();
  auto arguments = op.getCarriedArguments();
  SmallVector<Value> sources;
  for (auto [value, argument] :
       llvm::zip_equal(op.getYieldedCarried(), arguments)) {
    Value source = value == argument ? Value() : getPlace(value);
    if (source && llvm::is_contained(arguments, getReshapeRoot(value))) {
      Value aside = createSlot(loc, getTensorType(value));
      host::CopyOp::create(
          builder, loc, source, aside,
          host::getBytesAttr(getTensorBytes(getTensorType(value))));
      source = aside;
    }
    sources.push_back(source);
  }
  for (auto [value, source, destination] :
       llvm::zip_equal(op.getYieldedCarried(), sources, loop.carried)) {
    if (!source)
      continue;
    ++counts.copies;
    RankedTensorType type = getTensorType(value);
    host::CopyOp::create(builder, loc, source, open(loc, destination, type),
                         host::getBytesAttr(getTensorBytes(type)));
  }
}

LogicalResult Assignment::assignBody(Loop &loop) {
  graph::LoopOp op = loop.op;
  Location loc = op.getLoc();
  Block &block = loop.loop.getAfter().front();
  Block &body = op.getBody().front();
  // The region of the graph op keeps its yield until the end, as it uses the
  // values.
  SmallVector<Operation *> ops;
  for (Operation &inner : body.without_terminator())
    ops.push_back(&inner);
  for (Operation *inner : ops)
    inner->moveBefore(&block, block.end());
  for (Operation *inner : ops)
    if (failed(assign(inner)))
      return failure();
  builder.setInsertionPointToEnd(&block);
  Value proceed = block.getArgument(1);
  if (op.getCondition())
    proceed = host::ReadOp::create(builder, loc, builder.getI1Type(),
                                   getPlace(op.getYield().getOperand(0)));
  deliverSlices(loop);
  deliverCarried(loop);
  SmallVector<int64_t> symbols;
  SmallVector<AffineExpr> exprs;
  if (auto count = op.getCount()) {
    symbols.push_back(*count);
    exprs.push_back(getAffineSymbolExpr(*count, loc.getContext()) + 1);
  }
  bindDims(loc, op.getSymbols(),
           TypeRange(op.getBody().getArgumentTypes()).drop_front(),
           op.getYieldedCarried(), symbols, exprs);
  for (auto [slice, result] :
       llvm::zip_equal(op.getYieldedSlices(),
                       op.getResults().drop_front(loop.carried.size()))) {
    Dims dims = getDims(result);
    dims.erase(dims.begin());
    Type rest = graph::makeType(getTensorType(result).getElementType(), dims);
    bindDims(loc, op.getSymbols(), rest, slice, symbols, exprs);
  }
  createAssign(loc, symbols, exprs);
  Value one = arith::ConstantIntOp::create(builder, loc, 1, 64);
  Value next = arith::AddIOp::create(builder, loc, block.getArgument(0), one);
  scf::YieldOp::create(builder, loc, ValueRange{next, proceed});
  return success();
}

/// Binds the first dims of collected results.
void Assignment::bindTotals(Loop &loop) {
  graph::LoopOp op = loop.op;
  SmallVector<int64_t> symbols;
  SmallVector<AffineExpr> exprs;
  for (Value result : op.getResults().drop_front(loop.carried.size())) {
    auto total = dyn_cast<AffineSymbolExpr>(getDims(result).front());
    if (!total || !llvm::is_contained(op.getSymbols(), total.getPosition()) ||
        llvm::is_contained(symbols, total.getPosition()))
      continue;
    symbols.push_back(total.getPosition());
    exprs.push_back(getAffineSymbolExpr(*op.getCount(), op.getContext()));
  }
  createAssign(op.getLoc(), symbols, exprs);
}

LogicalResult Assignment::assign(graph::LoopOp op) {
  Loop loop;
  loop.op = op;
  enterLoop(loop);
  createWhile(loop);
  if (failed(assignBody(loop)))
    return failure();
  builder.setInsertionPointAfter(loop.loop);
  bindTotals(loop);
  loop.carried.append(loop.collected);
  for (auto [result, destination] :
       llvm::zip_equal(op.getResults(), loop.carried)) {
    RankedTensorType type = getTensorType(result);
    places[result] = open(op.getLoc(), destination, type,
                          host::getBytesAttr(getTensorBytes(type)));
  }
  return success();
}

} // namespace adze
