// Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
//
// Emits prefetches.
#include "Dialect/Tile/Analysis/IndexRange.h"
#include "KernelLowering.h"
#include "Reader.h"
#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace adze::tile;

/// The prefetch distance of rows of B, in steps. Measured on Emerald Rapids: at
/// 32 steps, the lines ahead do not fit into the first-level cache.
static constexpr int64_t prefetchDistance = 4;

static void ask(OpBuilder &b, Location loc, Value memref, ValueRange indices,
                bool isWrite = false, unsigned locality = 3) {
  memref::PrefetchOp::create(b, loc, memref, indices, isWrite, locality,
                             /*isDataCache=*/true);
}

/// Prefetches a part of the next panel of B while a block of rows runs through
/// the current one. All blocks of rows together prefetch the whole panel.
/// Without this, the first block waits for memory at each new panel.
bool KernelLowering::prefetchNextPanel(DotOp op, const Window &self,
                                       const Layout &layout) {
  auto logical = cast<MemRefType>(self.memref.getType());
  auto type = cast<MemRefType>(mapped(self.memref).getType());
  int rows = classes.of(op.getLhs())[0];
  auto row = context.find(rows);
  if (type == logical || !type.hasStaticShape() || row == context.end() ||
      !row->second.start || !classes.isSplit(rows))
    return false;
  std::optional<unsigned> panel = getPanelDim(logical);
  if (!panel)
    return false;
  ArrayRef<int64_t> sizes = type.getShape();
  // The index of the current cache line of the panel, and the number of its
  // lines.
  SmallVector<Value> at = getAccess(self, layout, 0).indices;
  SmallVector<Value> digits;
  AffineExpr k = b.getAffineConstantExpr(0);
  int64_t depth = 1;
  for (unsigned dim = *panel + 1; dim + 1 < sizes.size(); ++dim) {
    k = k * sizes[dim] + b.getAffineDimExpr(digits.size());
    depth *= sizes[dim];
    digits.push_back(at[dim]);
    at[dim] = index(0);
  }
  AffineExpr block =
      b.getAffineDimExpr(digits.size()).floorDiv(classes.step(rows));
  digits.push_back(row->second.start);
  constexpr int64_t lineBits = 512;
  int64_t line = lineBits / type.getElementTypeBitWidth(), width = sizes.back();
  // The share of each step of k, so that all blocks of rows together cover the
  // panel.
  AffineExpr share = b.getAffineConstantExpr(
      llvm::divideCeil(width, llvm::divideCeil(classes.size(rows),
                                               uint64_t(classes.step(rows)))));
  int64_t asked = cast<AffineConstantExpr>(share).getValue();
  Value end = ends.lookup(rows);
  if (end) { // a single block prefetches all of it where it waits in any case
    Value blocks =
        b.createOrFold<arith::CeilDivSIOp>(loc, end, index(classes.step(rows)));
    digits.push_back(
        b.createOrFold<arith::CeilDivSIOp>(loc, index(width), blocks));
    share = b.getAffineSymbolExpr(0);
    asked = atEnd ? width : line;
  }
  AffineExpr element = (block * depth + k) * share + depth * width;
  at.back() = affine::AffineApplyOp::create(
      b, loc, AffineMap::get(digits.size() - bool(end), bool(end), element),
      digits);
  for (int64_t part = 0; part < asked;
       part += line, at.back() = add(at.back(), line))
    ask(b, loc, mapped(self.memref), at);
  return true;
}

/// Returns the distance in bytes of consecutive rows of a left operand in the
/// memory that it is read from: -1 if it is dynamic, nothing if the contracted
/// dimension is not contiguous.
static std::optional<int64_t> getPitch(const Window &window) {
  auto type = cast<MemRefType>(window.memref.getType());
  int64_t offset;
  SmallVector<int64_t> strides;
  auto isPlain = [](const SmallVector<Digit, 1> &digits) {
    return digits.size() == 1 && digits.front().step == 1;
  };
  if (window.indices || !llvm::all_of(window.dims, isPlain) ||
      failed(type.getStridesAndOffset(strides, offset)) ||
      strides[window.dims[1].front().dim] != 1)
    return std::nullopt;
  int64_t pitch = strides[window.dims[0].front().dim];
  return ShapedType::isDynamic(pitch)
             ? -1
             : pitch * type.getElementTypeBitWidth() / 8;
}

/// Prefetches the next block of rows of A while the current one is multiplied,
/// one line of each row in turn. Rows at distant addresses are separate
/// streams, which the hardware detects only after each has begun, or never if
/// each row has its own pages. This is skipped if the second-level cache holds
/// all of them, and if a step has so few products that the instructions of a
/// prefetch delay them: 6 x 2 vectors of AVX2 took 1.7 times as long on Zen 3.
void KernelLowering::prefetchNextRows(DotOp op) {
  constexpr int64_t farBytes = 1024, lineBits = 512, fewRows = 4,
                    fewBytes = 512; // of the accumulators
  auto load = op.getLhs().getDefiningOp<LoadOp>();
  if (!load || load->getBlock() != op->getBlock() || scratchOf(op.getLhs()) ||
      layoutOf(op.getResult()).total() * target.getVectorBytes() < fewBytes)
    return;
  Window self = window(load);
  Layout next = layoutOf(op.getLhs(), /*scalars=*/true);
  int rows = next.classes[0];
  int64_t step = classes.step(rows);
  int64_t bits = tileType(op.getLhs()).getElementTypeBitWidth();
  bool isHeld = classes.size(rows) * classes.size(next.classes[1]) * bits / 8 <=
                getStageBytes(target);
  std::optional<int64_t> pitch = getPitch(self);
  if (!pitch || (*pitch >= 0 && *pitch < farBytes) || isBorder(self) ||
      !next.slices[0].start || !next.slices[1].start || step < fewRows ||
      isHeld)
    return;
  int64_t line = lineBits / bits;
  AffineExpr row = (b.getAffineDimExpr(0) % line * step).floorDiv(line);
  Value ahead = affine::AffineApplyOp::create(b, loc, AffineMap::get(1, 0, row),
                                              next.slices[1].start);
  next.slices[0].start = add(next.slices[0].start, ahead);
  next.slices[0].at += step;
  next.slices[0].size = 1;
  next.counts.assign(next.counts.size(), 1);
  ask(b, loc, mapped(self.memref), getAccess(self, next, 0).indices,
      /*isWrite=*/false, /*locality=*/2);
}

/// Prefetches the next rows of A, and of B the next panel. If no other block
/// reads the current panel and its rows are not adjacent, prefetches the rows
/// of B a few steps ahead instead.
void KernelLowering::prefetch(DotOp op) {
  prefetchNextRows(op);
  auto load = dyn_cast_if_present<LoadOp>(getReader(op.getRhs()));
  if (!load || scratchOf(op.getRhs()))
    return;
  Window self = window(load);
  Layout layout = layoutOf(load.getResult());
  if (layout.lanes == 1 || !isContiguous(self, layout))
    return;
  if (prefetchNextPanel(op, self, layout))
    return;
  if (load->hasAttr(kAheadAttribute)) {
    for (int64_t i = 0, e = layout.total(); i < e; ++i)
      prefetchAhead(self, layout, i);
    return;
  }
  // A panel with adjacent rows that is read once is prefetched by the hardware;
  // software prefetches would only occupy load slots.
  auto logical = cast<MemRefType>(self.memref.getType());
  if (mapped(self.memref).getType() != logical && getPanelDim(logical))
    return;
  Layout ahead = layout;
  ahead.slices[0].at += prefetchDistance;
  for (int64_t i = 0, e = ahead.total(); i < e; ++i)
    ask(b, loc, mapped(self.memref), getAccess(self, ahead, i).indices);
}

/// Returns true if the memory of this window can be prefetched at the slices of
/// `layout`.
bool KernelLowering::mayAsk(const Window &window, const Layout &layout) {
  if (!map.contains(window.memref) ||
      ArrayRef<int>(classes.of(window.tile)) != ArrayRef<int>(layout.classes) ||
      isBorder(window) || !isContiguous(window, layout))
    return false;
  return llvm::all_of(window.offsets, [&](OpFoldResult offset) {
    return getConstantIntValue(offset) || map.contains(cast<Value>(offset));
  });
}

/// Prefetches later rows while a row of a staged operand is copied, as rows are
/// short and at distant addresses.
void KernelLowering::prefetchCopied(const Staged &stage) {
  constexpr int64_t bytesAhead = 4096, fewest = 2, most = 16;
  SmallVector<int> own = classes.of(stage.dot.getRhs());
  for (Operation *op : stage.sources) {
    auto load = dyn_cast<LoadOp>(op);
    if (!load)
      continue;
    Window self = window(load);
    Layout ahead = layoutOf(load.getResult());
    auto depth = llvm::find(ahead.classes, own[0]);
    if (ahead.lanes == 1 || depth == ahead.classes.end() ||
        !mayAsk(self, ahead))
      continue;
    int64_t bytes = classes.padded(own[1]) *
                    tileType(load.getResult()).getElementTypeBitWidth() / 8;
    ahead.slices[depth - ahead.classes.begin()].at +=
        std::clamp(bytesAhead / bytes, fewest, most);
    for (int64_t i = 0, e = ahead.total(); i < e; ++i)
      ask(b, loc, mapped(self.memref), getAccess(self, ahead, i).indices);
  }
}

/// Returns true if the memory belongs to the program, and so is in the caches.
static bool isScratch(Value memref) {
  return argumentOf(memref).getDefiningOp<ScratchOp>() != nullptr;
}

/// Prefetches the destination of these slices of a tile for writing, once for
/// each cache line.
void KernelLowering::prefetchStores(const Layout &layout) {
  constexpr int64_t lineBits = 512;
  forEachWindow([&](const Window &window) {
    if (!isa<StoreOp>(window.op) || !mayAsk(window, layout) ||
        streamsTo(window, layout) || isScratch(window.memref))
      return;
    int64_t bits =
        cast<MemRefType>(window.memref.getType()).getElementTypeBitWidth();
    for (int64_t i = 0, e = layout.total(); i < e; ++i)
      if (layout.laneDim < 0 ||
          layout.coordinates(i)[layout.laneDim] * bits % lineBits == 0)
        ask(b, loc, mapped(window.memref), getAccess(window, layout, i).indices,
            /*isWrite=*/true);
  });
}

/// Returns the same part of a later row: the nearest row that is far enough for
/// the memory latency, and near enough to still be in the first-level cache
/// when it is used. With `rows`, the distance is given.
static std::optional<Layout> rowsAhead(const DimClasses &classes,
                                       const Window &window,
                                       const Layout &layout, int64_t rows) {
  constexpr int64_t farBytes = 12 * 1024, usualBytes = 8 * 1024;
  auto type = cast<MemRefType>(window.memref.getType());
  int64_t length = type.getDimSize(window.dims[layout.laneDim].back().dim);
  int64_t bytes = ShapedType::isDynamic(length)
                      ? usualBytes
                      : length * type.getElementTypeBitWidth() / 8;
  // The rows are the steps of the split dimension nearest to that of the row.
  int64_t rowDim = -1, nearest = -1;
  for (auto [i, c] : llvm::enumerate(layout.classes))
    if (classes.isSplit(c) && classes.lanes(c) == 1 &&
        !window.dims[i].empty() && window.dims[i].back().dim > nearest) {
      rowDim = i;
      nearest = window.dims[i].back().dim;
    }
  if (rowDim < 0)
    return std::nullopt;
  Layout next = layout;
  if (!rows)
    rows = llvm::divideCeil(farBytes, std::max<int64_t>(bytes, 1));
  next.slices[rowDim].at +=
      llvm::alignTo(rows, classes.step(layout.classes[rowDim]));
  return next;
}

/// Returns the bytes of a row that a reduction reads.
static int64_t rowBytes(const DimClasses &classes, ReduceOp walk) {
  Value source = walk.getSource();
  int64_t bytes = tileType(source).getElementTypeBitWidth() / 8;
  for (int c : classes.of(source))
    bytes *= classes.isSplit(c) ? 1 : classes.padded(c);
  return bytes;
}

/// Returns the later rows that a reduction over a row, or a store, prefetches.
/// If non-temporal stores stall the core, stores and reductions alternate, and
/// a row has to be requested before a reduction reads it. Math functions on
/// each element leave time for two long rows, which are moved to nearer cache
/// levels one after the other. The hardware prefetches the rows of a single
/// reduction, and further prefetches only help very long rows. With several
/// reductions, memory is idle during those that read the row again.
SmallVector<RowsAhead, 2> KernelLowering::rowsAsked(Operation *at) {
  constexpr int64_t longBytes = 8 * 1024, veryLongBytes = 16 * 1024;
  using Asked = SmallVector<RowsAhead, 2>;
  auto store = dyn_cast<StoreOp>(at);
  if (!classes.storesApart()) {
    bool slides = classes.slides();
    if (!store || !wanted.empty() || !(classes.readsRows() || slides))
      return {};
    // Sliding windows read a row again later; until then it is in the second
    // level.
    return Asked{{0, slides && target.has(CpuTrait::nontemporal_stores_stall)
                         ? 2u
                         : 3u}};
  }
  SmallVector<ReduceOp> walks;
  root->walk([&](ReduceOp walk) { walks.push_back(walk); });
  int64_t bytes = rowBytes(classes, walks.back());
  bool isLast = at == walks.back(), isLong = bytes >= longBytes;
  if (!wanted.empty())
    return !isLast ? Asked{} : isLong ? Asked{{2, 2}, {1, 3}} : Asked{{1, 3}};
  if (walks.size() == 1)
    return store && bytes > veryLongBytes ? Asked{{1, 3}} : Asked{};
  return isLast || (isLong && !store) ? Asked{{1, 2}} : Asked{};
}

/// Prefetches later rows of all loads of the same layout while the last
/// elements of a row are computed or stored. Otherwise, reads would pause at
/// stores, and stores at reads.
void KernelLowering::prefetchRows(const Layout &layout,
                                  ArrayRef<RowsAhead> asked) {
  if (layout.lanes == 1)
    return;
  bool slides = classes.slides();
  DenseSet<Value> seen;
  forEachWindow([&](const Window &window) {
    if (!isa<LoadOp>(window.op) || isReadBack(window.memref) ||
        !mayAsk(window, layout))
      return;
    // Sliding windows read the same rows, so one window suffices.
    if (slides && !seen.insert(argumentOf(window.memref)).second)
      return;
    for (RowsAhead ahead : asked) {
      std::optional<Layout> next =
          rowsAhead(classes, window, layout, ahead.rows);
      for (int64_t i = 0, e = next ? layout.total() : 0; i < e; ++i) {
        Access at = getAccess(window, *next, i);
        if (!at.never)
          ask(b, loc, mapped(window.memref), at.indices, /*isWrite=*/false,
              ahead.locality);
      }
    }
  });
}

/// Prefetches loads one page ahead, in kernels that write by non-temporal
/// stores and compute each element from those at the same position. Arithmetic
/// fills the queues of the core, which limits outstanding reads, the hardware
/// does not prefetch across pages, and reads share buffers with these stores.
void KernelLowering::prefetchElements(const Layout &layout) {
  constexpr int64_t bytesAhead = 4096;
  if (classes.readsRows() || classes.slides() ||
      target.has(CpuTrait::nontemporal_stores_stall) || layout.lanes == 1)
    return;
  forEachWindow([&](const Window &window) {
    auto load = dyn_cast<LoadOp>(window.op);
    if (!load || isReadBack(window.memref) || !mayAsk(window, layout))
      return;
    int64_t bits = tileType(load.getResult()).getElementTypeBitWidth();
    for (int64_t i = 0, e = layout.total(); i < e; ++i) {
      Access at = getAccess(window, layout, i, /*shift=*/bytesAhead * 8 / bits);
      if (!at.never)
        ask(b, loc, mapped(window.memref), at.indices);
    }
  });
}

/// Returns true if all of this memory is known to fit into the second-level
/// cache.
static bool isSmall(Value memref, int64_t mostBytes) {
  auto type = cast<MemRefType>(memref.getType());
  return type.hasStaticShape() &&
         type.getNumElements() * type.getElementTypeBitWidth() / 8 <= mostBytes;
}

/// Prefetches the elements that a later step, or the next program, reads at the
/// position of this register, as the attribute of the load states. Rows at
/// distant addresses are too many streams for the hardware, and alternating
/// rows of two tensors are detected late.
void KernelLowering::prefetchAhead(const Window &window, const Layout &layout,
                                   int64_t registerIndex) {
  auto ahead = window.op->getAttrOfType<DenseI64ArrayAttr>(kAheadAttribute);
  if (!ahead || isSmall(window.memref, getStageBytes(target)))
    return;
  // A cache line of narrow elements covers several registers.
  constexpr int64_t lineBits = 512;
  if (layout.laneDim >= 0) {
    int64_t bits = tileType(window.tile).getElementTypeBitWidth();
    int64_t first = layout.slices[layout.laneDim].at +
                    layout.coordinates(registerIndex)[layout.laneDim];
    if (first * bits % lineBits != 0)
      return;
  }
  Access at = getAccess(window, layout, registerIndex);
  if (at.never || at.indices.size() != size_t(ahead.size()))
    return;
  for (auto [i, distance] : llvm::zip(at.indices, ahead.asArrayRef()))
    i = add(i, distance);
  ask(b, loc, mapped(window.memref), at.indices, /*isWrite=*/false,
      /*locality=*/2);
}
