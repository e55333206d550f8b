// Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
//
// Lowers one kernel, or one phase of it, to scf and vector ops. Tiles are
// computed on demand, one slice (the interval of a class in an iteration of the
// enclosing loops) at a time. Elements of a tile are in *registers*, which are
// 1-D vectors along one of its dimensions or scalars, or in scratch memory.
#ifndef ADZE_CONVERSION_TILETOVECTOR_KERNELLOWERING_H
#define ADZE_CONVERSION_TILETOVECTOR_KERNELLOWERING_H

#include "Dialect/Tile/IR/PhysicalType.h"
#include "DimClasses.h"
#include "KernelFunctions.h"
#include "Registers.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/STLFunctionalExtras.h"

namespace adze::tile {

class KernelLowering {
public:
  /// Lowers `root`, a kernel without phases or a phase, before `b`.
  KernelLowering(mlir::Operation *root, CpuTargetAttr target,
                 const KernelFrame &frame, mlir::OpBuilder b);
  mlir::LogicalResult run();
  std::pair<mlir::Operation *, std::string> getFailure() const {
    return failure;
  }

private:
  friend class MatrixDots; // MatrixDots.cpp, MatrixBlocks.cpp
  // Driver.cpp: the loops around the body
  void forEachWindow(llvm::function_ref<void(const Window &)> f);
  void splitLoops(size_t depth), splitLoop(size_t depth, int64_t full);
  void splitAt(size_t depth, const Slice &slice);
  void splitToEnd(size_t, int64_t, mlir::Value end, SettledRef bounded);
  void splitAround(size_t, const RunInterior &in, mlir::Value end, SettledRef);
  std::optional<std::pair<Window, int64_t>> commonEnd(int c);
  mlir::Value splitEnd(int, int64_t full, llvm::SmallVector<Settled> &bounded);
  void versions(), version(bool isFast), findLimits();

  // Body.cpp: ops in program order
  void body(mlir::Block &block);
  void bodyOp(mlir::Operation *op);
  void anchor(mlir::Value tile), store(StoreOp store);
  void forOp(mlir::scf::ForOp loop), ifOp(mlir::scf::IfOp branch);
  bool fitsRegisters(mlir::Value tile), isShared(mlir::Operation *op);
  void findWanted(), afterRoot(), forget(mlir::Block &block);
  Handover planHandover(mlir::ValueRange values);
  Carried handOver(mlir::ValueRange values, Handover &to);
  void receive(mlir::ValueRange, mlir::ValueRange flat, const Handover &from);
  void copyTo(mlir::Value, const Kept &buffer), materialise(mlir::Value tile);

  // Loops.cpp: loops over a class
  using ChunkBody = llvm::function_ref<Carried(llvm::ArrayRef<mlir::Value>)>;
  Carried forChunks(int c, int64_t step, Carried init, ChunkBody body,
                    mlir::Value limit = {}, const Window *target = {});
  Carried chunkLoop(int c, int64_t step, mlir::Value from, mlir::Value to,
                    Carried init, ChunkBody body);
  void forAllChunks(llvm::ArrayRef<int> classes,
                    llvm::function_ref<void()> body, const Window *to = {});
  void forParts(mlir::Value tile, llvm::function_ref<void()> body);
  Slice slice(int c) const;
  llvm::SmallVector<int> loopedClasses(mlir::Value tile);

  // Emit.cpp: tiles on demand
  Registers emit(mlir::Value tile, bool scalars = false);
  bool isWalkedNow(mlir::Value tile);
  Registers compute(mlir::Value tile, const Layout &layout);
  Registers elementwise(mlir::Operation *op, const Layout &layout);
  Registers broadcast(BroadcastOp op, const Layout &layout);
  Registers iota(IotaOp, const Layout &), reshape(ReshapeOp, const Layout &);
  Registers transpose(TransposeOp op, const Layout &layout);
  Registers constant(mlir::Operation *op, const Layout &layout);
  Carried tabled(mlir::DenseElementsAttr row, const Layout &layout);
  std::optional<Registers> lookup(mlir::Value tile, const Layout &layout);
  Layout layoutOf(mlir::Value tile, bool scalars = false);
  mlir::Type registerType(mlir::Value tile, const Layout &layout);
  mlir::Value splat(mlir::Value scalar, mlir::Type type);
  mlir::Value elementOf(const Registers &from, llvm::ArrayRef<int64_t> at);
  void remember(mlir::Value tile, const Registers &);

  // Contract.cpp: dot and reduce
  Registers dot(DotOp, const Layout &), dotOfOperands(DotOp, const Layout &);
  void dotStep(DotOp op, const Layout &layout, Carried &sums);
  mlir::Value multiplyAdd(mlir::Value x, mlir::Value y, mlir::Value sum);
  mlir::Value widen(mlir::Value, mlir::Type element, bool isUnsigned = false);
  void prepareOperand(mlir::Value operand, bool isRhs);
  void prepareOperands(DotOp op), prepareGroups(DotOp op);
  bool isReadInPlace(mlir::Value, bool isRhs), hasGroupsInPlace(DotOp op);
  mlir::Value contractedEnd(DotOp op, mlir::ValueRange operands);
  Registers foldAccumulators(ReduceOp, const Layout &, const Registers &sums);
  Registers reduce(ReduceOp op, const Layout &layout);
  mlir::Value combine(ReduceOp op, mlir::Value x, mlir::Value y);
  llvm::SmallVector<mlir::Value> horizontal(ReduceOp op,
                                            llvm::ArrayRef<mlir::Value> of);
  void neutraliseDead(ReduceOp op, Registers &registers);

  // BorderRows.cpp: rows that may be outside of memory
  int64_t borderRowsAlong(DotOp op);
  BorderRows findBorderRows(DotOp op);
  Registers readBorderRows();
  mlir::Value padRow(mlir::MemRefType row, mlir::Attribute pad),
      rowOrPad(const Window &, const Layout &, int64_t index),
      rowOrPad(const Window &, const Access &, int64_t size);
  Carried ifAnyRow(Carried sums, llvm::function_ref<Carried(Carried)> body);

  // GroupDot.cpp: dots in groups of the depth
  Registers dotOfGroups(DotOp op, Registers acc, mlir::Value end);
  Carried readRows(DotOp op, const Layout &result), readColumns(DotOp op);
  Located groupsAt(DotOp op, const Layout &layout, int64_t index);

  // Prefetch.cpp: prefetches
  void prefetch(DotOp), prefetchNextRows(DotOp), prefetchCopied(const Staged &);
  bool prefetchNextPanel(DotOp op, const Window &self, const Layout &layout);
  bool mayAsk(const Window &window, const Layout &layout);
  void prefetchStores(const Layout &), prefetchElements(const Layout &),
      prefetchRows(const Layout &, llvm::ArrayRef<RowsAhead> asked),
      prefetchAhead(const Window &, const Layout &, int64_t index);
  llvm::SmallVector<RowsAhead, 2> rowsAsked(mlir::Operation *at);

  // DotProduct.cpp: dots with lanes along the contracted dimension
  Registers dotAlongDepth(DotOp op, Registers acc);
  Carried sumColumns(DotOp op, int64_t vectors, int64_t columns);
  Carried forDepth(DotOp op, int64_t step, Carried sums, ChunkBody body);

  // Stage.cpp: operands copied before the loops over blocks
  mlir::LogicalResult planStage(DotOp dot);
  mlir::LogicalResult findSources(mlir::Value value, Staged &result, int rows);
  bool isStagedOnly(mlir::Operation *), isReadByRows(const Staged &),
      isWorthStaging(DotOp dot);
  Kept panelOf(const Staged &stage), makeWaiting(mlir::Value tile);
  void cloneSources(const Staged &stage, mlir::Block *block);
  void copyPanels(const Staged &), copyLoops(const Staged &, size_t depth);
  std::optional<mlir::Value> stageInside(const Staged &stage);
  void findStages(), copyStages(), openDepthLoop();
  mlir::scf::ForOp findDepthLoop(DotOp dot);
  Carried depthBody(mlir::ValueRange accumulators, Handover &plan);
  void depthStep(mlir::Block::iterator rest, mlir::Block::iterator end);

  // Windows.cpp, Access.cpp: memory
  Window window(LoadOp load), window(StoreOp store), window(GatherOp gather);
  Window window(ReshapeOp reshapeOfLoad);
  std::optional<Window> windowOf(mlir::Operation *op);
  Registers read(const Window &window, const Layout &layout);
  mlir::Value gatherRegister(const Window &, const Layout &, int64_t index,
                             mlir::Value at, mlir::Value pad);
  std::optional<Registers> readShuffled(const Window &, const Layout &,
                                        mlir::Value pad);
  mlir::Value shuffled(const Window &, const Layout &, const ShuffledLoad &load,
                       int64_t index, mlir::Value pad);
  std::optional<Layout> alongMemory(const Window &, const Layout &, int64_t);
  std::optional<Registers> readTransposed(const Window &, const Layout &,
                                          mlir::Value pad),
      readSpread(const Window &, const Layout &, mlir::Value pad);
  bool writeTransposed(const Window &, const Registers &),
      writePieces(const Window &, const Registers &);
  void write(const Window &window, const Registers &registers);
  Access getAccess(const Window &, const Layout &, int64_t, int64_t shift = 0);
  mlir::Value gatherShift; // along the indexed dim, of the current element
  mlir::Value position(const Window &, const Layout &, int64_t dim,
                       llvm::ArrayRef<int64_t> coordinates);
  mlir::Value digitPosition(const Window &, int64_t tileDim, size_t digit,
                            const Slice &slice, int64_t at);
  mlir::Value readRegister(const Window &, const Layout &, int64_t,
                           mlir::Value);
  void writeRegister(const Window &, const Layout &, int64_t, mlir::Value value,
                     bool streams = false);
  void writeSpread(const Window &, const Layout &, int64_t, mlir::Value,
                   int64_t);
  std::optional<LanePlaces> lanesOf(const Window &, const Layout &, int64_t);
  bool isRun(const Window &, const Layout &), picksByStep(int c),
      picksRows(const Window &, const Layout &);
  void writeRegisters(const Window &, const Registers &, bool streams);
  mlir::Value streamsTo(const Window &window, const Layout &layout);
  bool isReadBack(mlir::Value), isDead(const Layout &, int64_t index),
      isContiguous(const Window &, const Layout &, int64_t step = 1);

  // Borders.cpp: bounds of windows
  Proof proof(const Window &window, int64_t memDim);
  bool limited(const Window &, int64_t), isProven(const Window &, int64_t);
  int64_t contractedDim(const Window &window);
  bool isTail(const Window &, int64_t), isUnproven(const Window &, int64_t),
      isClamped(const Window &, int64_t, const Layout * = {}),
      isChecked(const Window &, int64_t, const Layout * = {}),
      isDecided(const Window &, int64_t), isOutside(const Window &, int64_t);
  int classAlong(const Window &window, int64_t memDim);
  Interior interior(int c, int64_t full);
  std::optional<RunInterior> runInterior(int, mlir::Value end, SettledRef);
  llvm::SmallVector<Settled> boundedWith(const Window &, int64_t dim, int c);
  bool isBorder(const Window &), hasUnproven(const Window &),
      endsWith(int, SettledRef), checksInLoops();
  mlir::Value runtimeBound(mlir::OpFoldResult index, bool upper);
  mlir::Value runtimeBoundOf(mlir::Operation *op, bool upper);
  mlir::Value extent(mlir::Value memref, int64_t dim), inBounds(const Window &);
  mlir::Value limitOf(int, bool most = false, const Window *of = {});

  // Scratch.cpp
  Kept scratchFor(mlir::Value tile), makeBuffer(mlir::Value tile);
  void spill(const Kept &kept, const Registers &registers);
  Registers reload(const Kept &kept, mlir::Value tile, const Layout &layout);
  Registers reshapeFromScratch(ReshapeOp, const Kept &, const Layout &);
  std::optional<Kept> scratchOf(mlir::Value tile);
  llvm::SmallVector<mlir::Value> scratchIndices(const Kept &, const Layout &,
                                                llvm::ArrayRef<int64_t> at);

  mlir::Block &rootBlock() { return root->getRegion(0).front(); }
  mlir::Value index(int64_t value), add(mlir::Value x, mlir::Value y);
  mlir::Value add(mlir::Value x, int64_t y) { return y ? add(x, index(y)) : x; }
  mlir::Value mapped(mlir::OpFoldResult value);
  void fail(mlir::Operation *op, llvm::StringRef why);

  mlir::Operation *root;
  CpuTargetAttr target;
  DimClasses classes;
  mlir::OpBuilder b;
  mlir::Location loc;
  mlir::IRMapping map;
  std::pair<mlir::Operation *, std::string> failure;
  mlir::Block *entry;
  llvm::DenseMap<int, Slice> context;
  // The run-time ends of classes and of copies, and offsets of parts in slices.
  llvm::DenseMap<int, mlir::Value> ends, copyEnds, parts;
  llvm::SmallVector<Scope> scopes;
  llvm::DenseMap<mlir::Value, Kept> buffers, groups;
  int64_t scratchBytes = 0; // of these buffers
  llvm::MapVector<mlir::Value, Staged> stages;
  mlir::scf::ForOp depthLoop;         // moved out of the loops over blocks
  mlir::Value depthRuns;              // null: at least one iteration
  llvm::DenseSet<mlir::Value> wanted; // stored to scratch when computed
  llvm::DenseMap<mlir::Value, bool> invariant; // operands of dots; rhs: true
  llvm::SmallVector<mlir::Value> pending;      // wanted and just computed
  llvm::SmallVector<int> looping; // classes that a root iterates over now
  llvm::DenseMap<int, llvm::SmallVector<std::pair<Window, int64_t>, 0>> limits;
  llvm::DenseSet<int> inside, outside; // classes below their limits, or beyond
  llvm::DenseSet<Settled> settled;     // in bounds
  AlongDepth alongDepth; // of the current dot, as are its border rows
  BorderRows borderRows;
  llvm::DenseMap<std::pair<mlir::Type, mlir::Attribute>, mlir::Value> padRows;
  int overBorder = -1; // class whose steps cross the border
  bool atEnd = false,  // in the last, partial step of one
      fast = true, staging = false, inOrder = false, failed = false;
  llvm::DenseSet<mlir::Operation *> hoisted; // scalars cloned in advance
  llvm::DenseMap<int64_t, mlir::Value> constants;
  Streams streams;
};

} // namespace adze::tile

#endif // ADZE_CONVERSION_TILETOVECTOR_KERNELLOWERING_H
