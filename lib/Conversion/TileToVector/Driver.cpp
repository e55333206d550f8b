// Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
//
// The functions that a kernel becomes: its programs, the loops over split
// classes, and the two versions of the body (all in bounds, and border).
#include "KernelLowering.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"

using namespace mlir;
using namespace adze::tile;

KernelLowering::KernelLowering(KernelOp kernel, VectorUnit unit)
    : kernel(kernel), unit(unit),
      classes(kernel, unit, needsProgramOrder(kernel)), b(kernel),
      loc(kernel.getLoc()), inOrder(needsProgramOrder(kernel)) {}

//===--- Helpers ----------------------------------------------------------===//

void KernelLowering::fail(Operation *op, StringRef why) {
  if (!failed)
    failure = {op, why.str()};
  failed = true;
}

/// Constants live at the top of the function, once each.
Value KernelLowering::index(int64_t value) {
  Value &constant = constants[value];
  if (!constant) {
    OpBuilder atEntry = OpBuilder::atBlockBegin(entry);
    constant = arith::ConstantIndexOp::create(atEntry, kernel.getLoc(), value);
  }
  return constant;
}

Value KernelLowering::add(Value x, Value y) {
  return b.createOrFold<arith::AddIOp>(loc, x, y);
}

Value KernelLowering::mapped(OpFoldResult value) {
  auto self = dyn_cast<Value>(value);
  if (!self || self.getType().isIndex())
    if (std::optional<int64_t> constant = getConstantIntValue(value))
      return index(*constant);
  return map.lookup(self);
}

//===--- Program order ----------------------------------------------------===//

/// The kernel argument behind a chain of views.
static Value argumentOf(Value memref) {
  while (auto view = memref.getDefiningOp<ViewLikeOpInterface>())
    memref = view.getViewSource();
  return memref;
}

static bool isSameWindow(LoadOp load, StoreOp store) {
  return load.getMemref() == store.getMemref() &&
         load->getBlock() == store->getBlock() &&
         load.getMixedOffsets() == store.getMixedOffsets() &&
         load.getMemDims() == store.getMemDims() &&
         load.getSteps() == store.getSteps() &&
         load.getType() == store.getValue().getType();
}

/// Is all that is computed from this tile stored by `store` alone, in its
/// block?
static bool feedsOnly(Value tile, StoreOp store) {
  return llvm::all_of(tile.getUsers(), [&](Operation *user) {
    if (user == store)
      return true;
    return user->getBlock() == store->getBlock() &&
           user->hasTrait<OpTrait::Elementwise>() &&
           feedsOnly(user->getResult(0), store);
  });
}

/// Memory of results that is written in one part of the kernel and read in a
/// later one, which puts what it makes of an element in its place.
static bool isRewritten(LoadOp load, ArrayRef<StoreOp> stores,
                        KernelOp kernel) {
  Block &body = kernel.getBody().front();
  auto isBefore = [&](Operation *x, Operation *y) {
    Operation *first = body.findAncestorOpInBlock(*x),
              *second = body.findAncestorOpInBlock(*y);
    return first != second && first->isBeforeInBlock(second);
  };
  auto last = llvm::find_if(
      stores, [&](StoreOp store) { return isSameWindow(load, store); });
  return last != stores.end() && feedsOnly(load.getResult(), *last) &&
         llvm::all_of(stores, [&](StoreOp store) {
           return store == *last ||
                  (store.getMemref() == load.getMemref() &&
                   (isBefore(store, load) || isBefore(*last, store)));
         });
}

bool adze::tile::needsProgramOrder(KernelOp kernel) {
  DenseMap<Value, SmallVector<StoreOp>> stores;
  kernel.walk([&](StoreOp store) {
    stores[argumentOf(store.getMemref())].push_back(store);
  });
  WalkResult walk = kernel.walk([&](Operation *op) {
    Value memref;
    if (isa<memref::StoreOp>(op)) // must not run again for each slice
      return WalkResult::interrupt();
    if (auto load = dyn_cast<LoadOp>(op))
      memref = load.getMemref();
    else if (auto gather = dyn_cast<GatherOp>(op))
      memref = gather.getMemref();
    else if (auto scalar = dyn_cast<memref::LoadOp>(op))
      memref = scalar.getMemRef();
    else
      return WalkResult::advance();
    auto it = stores.find(argumentOf(memref));
    if (it == stores.end())
      return WalkResult::advance();
    auto load = dyn_cast<LoadOp>(op);
    bool same = load && it->second.size() == 1 &&
                isSameWindow(load, it->second.front());
    bool isFree = same || (load && isRewritten(load, it->second, kernel));
    return isFree ? WalkResult::advance() : WalkResult::interrupt();
  });
  return walk.wasInterrupted();
}

//===--- Functions --------------------------------------------------------===//

func::FuncOp KernelLowering::makeFunction(StringRef name, bool isBody) {
  SmallVector<Type> types;
  for (Type type : kernel.getArgumentTypes()) {
    auto memref = dyn_cast<MemRefType>(type);
    types.push_back(memref ? Type(getPhysicalType(memref)) : type);
  }
  SmallVector<Type> results;
  if (isBody)
    types.append(2, b.getIndexType());
  else
    results.push_back(b.getIndexType());
  OpBuilder beside(kernel);
  auto created = func::FuncOp::create(beside, kernel.getLoc(), name,
                                      b.getFunctionType(types, results));
  for (unsigned i = 0, e = kernel.getNumArguments(); i < e; ++i)
    if (DictionaryAttr attributes = kernel.getArgAttrDict(i))
      created.setArgAttrs(i, attributes);
  for (NamedAttribute attribute : kernel->getDiscardableAttrs())
    created->setAttr(attribute.getName(), attribute.getValue());
  if (isBody) // what convert-kernel-to-llvm looks for
    created->setAttr("adze.kernel", b.getUnitAttr());
  entry = created.addEntryBlock();
  constants.clear();
  map.clear();
  hoisted.clear();
  for (auto [from, to] :
       llvm::zip(kernel.getArguments(), entry->getArguments()))
    map.map(from, to);
  b.setInsertionPointToEnd(entry);
  return created;
}

/// Clones a scalar op; dims of packed memory are known and static.
static void cloneScalar(OpBuilder &b, Operation *op, IRMapping &map) {
  if (auto dim = dyn_cast<memref::DimOp>(op)) {
    auto type = dyn_cast<MemRefType>(dim.getSource().getType());
    std::optional<int64_t> which = dim.getConstantIndex();
    if (type && which && !type.isDynamicDim(*which)) {
      map.map(dim.getResult(), arith::ConstantIndexOp::create(
                                   b, op->getLoc(), type.getDimSize(*which))
                                   .getResult());
      return;
    }
  }
  b.clone(*op, map);
}

/// Clones the scalars at the top of the kernel that need nothing else; with
/// `upTo`, only those before it.
void KernelLowering::cloneHoisted(Operation *upTo) {
  for (Operation &op : kernel.getBody().front().without_terminator()) {
    if (&op == upTo)
      return;
    bool isPlain = op.getNumRegions() == 0 && op.getNumResults() > 0 &&
                   isMemoryEffectFree(&op) && !isa<ProgramIdOp>(op) &&
                   llvm::none_of(op.getOperands(), isTile) &&
                   llvm::none_of(op.getResults(), isTile);
    bool isReady = llvm::all_of(op.getOperands(),
                                [&](Value v) { return map.contains(v); });
    if (isPlain && isReady && hoisted.insert(&op).second)
      cloneScalar(b, &op, map);
  }
}

void KernelLowering::makePrograms() {
  makeFunction((kernel.getName() + "_programs").str(), /*isBody=*/false);
  ProgramIdOp ids = kernel.getProgramId();
  Value product = index(1);
  if (ids) {
    cloneHoisted(ids);
    for (Value size : ids.getGrid()) {
      if (!map.contains(size))
        return fail(ids, "expected a grid computed from dims and constants");
      product = b.createOrFold<arith::MulIOp>(loc, product, map.lookup(size));
    }
  }
  func::ReturnOp::create(b, loc, product);
  for (Operation &op : llvm::make_early_inc_range(llvm::reverse(*entry)))
    if (isOpTriviallyDead(&op))
      op.erase();
}

/// The loop over linear program ids, dimension 0 of the grid fastest.
void KernelLowering::programLoop() {
  unsigned arguments = kernel.getNumArguments();
  cloneHoisted(kernel.getProgramId());
  auto loop = scf::ForOp::create(b, loc, entry->getArgument(arguments),
                                 entry->getArgument(arguments + 1), index(1));
  b.setInsertionPointToStart(loop.getBody());
  if (ProgramIdOp ids = kernel.getProgramId()) {
    hoisted.insert(ids);
    Value linear = loop.getInductionVar();
    size_t rank = ids.getGrid().size();
    for (size_t i = 0; i + 1 < rank; ++i) {
      Value size = mapped(ids.getGrid()[i]);
      map.map(ids.getIds()[i],
              arith::RemUIOp::create(b, loc, linear, size).getResult());
      linear = arith::DivUIOp::create(b, loc, linear, size);
    }
    map.map(ids.getIds()[rank - 1], linear);
  }
  cloneHoisted(nullptr);
}

//===--- Split classes and versions ---------------------------------------===//

/// Register blocks wholly outside of what is stored need not run.
Value KernelLowering::splitEnd(int c, int64_t full) {
  SmallVector<StoreOp> stores;
  kernel.walk([&](StoreOp store) { stores.push_back(store); });
  Value end = index(full);
  if (stores.size() != 1)
    return end;
  Window target = window(stores.front());
  SmallVector<int> dims = classes.of(target.tile);
  for (auto [i, digits] : llvm::enumerate(target.dims)) {
    if (dims[i] != c || digits.size() != 1 || digits.front().step != 1)
      continue;
    int64_t dim = digits.front().dim;
    Value offset = runtimeBound(target.offsets[dim], /*upper=*/false);
    if (!offset || !map.contains(target.memref) ||
        proof(target, dim) != Proof::none)
      continue;
    Value left =
        b.createOrFold<arith::SubIOp>(loc, extent(target.memref, dim), offset);
    end = b.createOrFold<arith::MinSIOp>(loc, end, left);
  }
  return end;
}

void KernelLowering::splitLoops(size_t depth) {
  if (depth == classes.splitOrder().size())
    return versions();
  int c = classes.splitOrder()[depth];
  int64_t size = classes.size(c), step = classes.step(c);
  int64_t full = size / step * step;
  splitLoop(depth, full);
  if (full < size) {
    int64_t rest = size - full;
    if (step % classes.lanes(c) == 0)
      rest = llvm::alignTo(rest, classes.lanes(c));
    splitAt(depth, {Value(), full, rest});
  }
}

void KernelLowering::splitAt(size_t depth, const Slice &self) {
  context[classes.splitOrder()[depth]] = self;
  splitLoops(depth + 1);
}

/// The full steps of a split class: a loop, and those of a border whose place
/// is known one by one, so that their loads need no conditions at run time.
void KernelLowering::splitLoop(size_t depth, int64_t full) {
  int c = classes.splitOrder()[depth];
  int64_t step = classes.step(c);
  Value end = splitEnd(c, full);
  Interior in = interior(c, full);
  if (getConstantIntValue(end) != full)
    in = {0, full, {}};
  for (int64_t at = 0; at < in.begin; at += step)
    splitAt(depth, {Value(), at, step});
  if (in.end - in.begin == step) {
    splitAt(depth, {Value(), in.begin, step});
  } else if (in.end > in.begin) {
    auto loop =
        scf::ForOp::create(b, loc, index(in.begin),
                           in.end == full ? end : index(in.end), index(step));
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToStart(loop.getBody());
    auto outer = settled;
    settled.insert_range(in.bounded);
    splitAt(depth, {loop.getInductionVar(), 0, step});
    settled = outer;
  }
  for (int64_t at = in.end; at < full; at += step)
    splitAt(depth, {Value(), at, step});
}

void KernelLowering::version(bool isFast) {
  fast = isFast;
  scopes.emplace_back();
  body(kernel.getBody().front());
  scopes.pop_back();
  forget(kernel.getBody().front());
}

void KernelLowering::versions() {
  Value condition;
  bool known = true, needed = false;
  forEachWindow([&](const Window &window) {
    if (!known || !hasUnproven(window))
      return;
    needed = true;
    Value holds = inBounds(window);
    known &= holds != nullptr;
    if (holds)
      condition =
          condition
              ? arith::AndIOp::create(b, loc, condition, holds).getResult()
              : holds;
  });
  if (!needed)
    return version(/*isFast=*/true);
  if (!known)
    return version(/*isFast=*/false);
  auto branch = scf::IfOp::create(b, loc, condition, /*withElse=*/true);
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(branch.thenBlock());
  version(/*isFast=*/true);
  b.setInsertionPointToStart(branch.elseBlock());
  version(/*isFast=*/false);
}

void KernelLowering::forEachWindow(llvm::function_ref<void(const Window &)> f) {
  kernel.walk([&](Operation *op) {
    // A load that only reshapes see is read as their window.
    bool throughReshape = isa<LoadOp>(op) && !op->use_empty() &&
                          llvm::all_of(op->getUsers(), [&](Operation *user) {
                            SmallVector<int64_t> dims;
                            auto reshape = dyn_cast<ReshapeOp>(user);
                            return reshape && !isUnitReshape(reshape, dims);
                          });
    if (auto reshape = dyn_cast<ReshapeOp>(op)) {
      SmallVector<int64_t> dims;
      if (isUnitReshape(reshape, dims))
        return;
    }
    if (throughReshape || isStagedOnly(op))
      return;
    if (std::optional<Window> window = windowOf(op))
      f(*window);
  });
}

//===--- The whole --------------------------------------------------------===//

LogicalResult KernelLowering::check() {
  if (Value tile = classes.conflict()) {
    Operation *op = tile.getDefiningOp();
    fail(op ? op : kernel.getOperation(),
         "expected no tile with two dimensions that run together");
  }
  kernel.walk([&](Operation *op) {
    auto view = dyn_cast<ViewLikeOpInterface>(op);
    auto type = view ? dyn_cast<MemRefType>(view.getViewSource().getType())
                     : MemRefType();
    if (type && getPhysicalType(type) != type)
      fail(op, "expected views of plain memory, not of packed memory or bools");
  });
  return success(!failed);
}

LogicalResult KernelLowering::run() {
  if (::failed(check()))
    return reportFailure();
  makePrograms();
  programs = cast<func::FuncOp>(entry->getParentOp());
  if (failed)
    return reportFailure();
  function = makeFunction(kernel.getName(), /*isBody=*/true);
  func::ReturnOp::create(b, loc);
  b.setInsertionPoint(entry->getTerminator());
  programLoop();
  findWanted();
  findStages();
  findLimits();
  scopes.emplace_back();
  openDepthLoop();
  copyStages();
  splitLoops(0);
  return reportFailure();
}

LogicalResult KernelLowering::reportFailure() {
  if (!failed)
    return success();
  if (function)
    function.erase();
  if (programs)
    programs.erase();
  return mlir::failure();
}
