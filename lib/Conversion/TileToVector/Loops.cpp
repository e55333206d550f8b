// Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
//
// Emits loops over a class in steps.
#include "KernelLowering.h"
#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;
using namespace adze::tile;

Slice KernelLowering::slice(int c) const {
  auto it = context.find(c);
  return it == context.end() ? Slice{Value(), 0, classes.padded(c)}
                             : it->second;
}

Carried KernelLowering::chunkLoop(int c, int64_t step, Value from, Value to,
                                  Carried init, ChunkBody body) {
  auto loop = scf::ForOp::create(b, loc, from, to, index(step), init);
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(loop.getBody());
  scopes.emplace_back();
  context[c] = {loop.getInductionVar(), 0, step};
  SmallVector<Value> arguments(loop.getRegionIterArgs());
  Carried next = body(arguments);
  if (!init.empty())
    scf::YieldOp::create(b, loc, next);
  scopes.pop_back();
  return Carried(loop.getResults());
}

/// Returns the first chunk, from `cut` on, all of whose positions are at least
/// `end`.
static Value endOfChecks(OpBuilder &b, Location loc, Value end, Value step,
                         Value cut, Value full) {
  end = b.createOrFold<arith::CeilDivSIOp>(loc, end, step);
  end = b.createOrFold<arith::MulIOp>(loc, end, step);
  end = b.createOrFold<arith::MinSIOp>(loc, end, full);
  return b.createOrFold<arith::MaxSIOp>(loc, end, cut);
}

/// Emits `body` for each chunk of a class. Chunks in loops are full; the last,
/// partial chunk, or a single one, has a constant position. With `end`, only
/// positions before it are processed, in steps of 1. With `target`, to which
/// the body stores, chunks beyond its end are skipped. (Masked loads with no
/// active lane are slow if the address is not mapped.)
Carried KernelLowering::forChunks(int c, int64_t step, Carried carried,
                                  ChunkBody body, Value end,
                                  const Window *target) {
  SliceScope scope(context, c);
  bool wasInside = inside.erase(c);
  looping.push_back(c);
  int64_t size = classes.size(c), lanes = classes.lanes(c);
  int64_t full = size / step * step;
  if (end) {
    carried = chunkLoop(c, step, index(0), end, carried, body);
    full = size;
  } else if (full <= step && size >= step) {
    context[c] = {Value(), 0, step};
    carried = body(carried);
  } else if (Value limit = limitOf(c)) {
    Value rest = b.createOrFold<arith::RemSIOp>(loc, limit, index(step));
    Value cut = b.createOrFold<arith::SubIOp>(loc, limit, rest);
    cut = b.createOrFold<arith::MinSIOp>(loc, cut, index(full));
    inside.insert(c);
    carried = chunkLoop(c, step, index(0), cut, carried, body);
    inside.erase(c);
    // Chunks beyond all ends are filled with pads without loads.
    Value most =
        staging || target ? limitOf(c, /*most=*/true, target) : Value();
    Value checked =
        most ? endOfChecks(b, loc, most, index(step), cut, index(full))
             : index(full);
    carried = chunkLoop(c, step, cut, checked, carried, body);
    if (staging && !copyEnds.lookup(c)) {
      outside.insert(c);
      carried = chunkLoop(c, step, checked, index(full), carried, body);
      outside.erase(c);
    }
  } else if (full > 0) {
    Value last = copyEnds.lookup(c);
    carried =
        chunkLoop(c, step, index(0), last ? last : index(full), carried, body);
  }
  if (full < size) {
    int64_t rest = size - full;
    if (step % lanes == 0)
      rest = llvm::alignTo(rest, lanes);
    context[c] = {Value(), full, rest};
    carried = body(carried);
  }
  looping.pop_back();
  if (wasInside)
    inside.insert(c);
  return carried;
}

/// Returns the classes of a tile that need loops, in the order of the loops,
/// that of the lanes innermost. Classes of enclosing loops are left out.
SmallVector<int> KernelLowering::loopedClasses(Value tile) {
  SmallVector<int> result;
  for (int c : classes.of(tile))
    if (classes.isLooped(c) && !context.contains(c) &&
        !llvm::is_contained(result, c))
      result.push_back(c);
  llvm::sort(result, [&](int x, int y) {
    return std::pair(classes.laneScore(x), x) <
           std::pair(classes.laneScore(y), y);
  });
  return result;
}

void KernelLowering::forAllChunks(ArrayRef<int> list,
                                  llvm::function_ref<void()> body,
                                  const Window *target) {
  if (list.empty())
    return body();
  forChunks(
      list.front(), classes.step(list.front()), {},
      [&](ArrayRef<Value>) -> Carried {
        forAllChunks(list.drop_front(), body, target);
        return {};
      },
      /*end=*/{}, target);
}

/// Emits `body` for each part of the current slice of a tile that fits into
/// registers.
void KernelLowering::forParts(Value tile, llvm::function_ref<void()> body) {
  SmallVector<int> own = classes.of(tile);
  auto *cut = llvm::find_if(own, [&](int c) {
    return classes.isSplit(c) && classes.part(c) < slice(c).size;
  });
  if (cut == own.end())
    return body();
  int c = *cut;
  SliceScope scope(context, c);
  Slice whole = slice(c);
  int64_t step = classes.part(c), full = whole.size / step * step;
  auto run = [&](Value offset, const Slice &part) {
    parts[c] = offset;
    context[c] = part;
    scopes.emplace_back();
    body();
    scopes.pop_back();
  };
  // Values in registers are available at constant positions.
  if (classes.multipliesInBlocks())
    for (int64_t at = 0; at < full; at += step)
      run(index(at), {whole.start, whole.at + at, step});
  else {
    auto loop = scf::ForOp::create(b, loc, index(0), index(full), index(step));
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToStart(loop.getBody());
    Value at = loop.getInductionVar();
    run(at, {whole.start ? add(whole.start, at) : at, whole.at, step});
  }
  if (full < whole.size)
    run(index(full), {whole.start, whole.at + full, whole.size - full});
  parts.erase(c);
}
