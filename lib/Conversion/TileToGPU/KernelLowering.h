// Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
//
// Emits the body of one kernel for one block of threads, or for a cluster of
// blocks that compute one program.
#ifndef ADZE_LIB_CONVERSION_TILETOGPU_KERNELLOWERING_H
#define ADZE_LIB_CONVERSION_TILETOGPU_KERNELLOWERING_H

#include "KernelFrame.h"
#include <memory>

namespace adze::togpu {

class LoopRing;
class LoopStream;

class KernelLowering {
public:
  /// With `fast`, wide accesses may depend on conditions, which are collected.
  KernelLowering(tile::KernelOp kernel, KernelPlan &plan,
                 const KernelFrame &frame, bool fast)
      : kernel(kernel), plan(plan), frame(frame), map(frame.map), fast(fast),
        b(kernel.getContext()), loc(kernel.getLoc()) {}

  /// Emits the scalars and views of the kernel itself at `builder`, and adds
  /// them to the frame that `getFrame` returns.
  void lowerPrologue(mlir::OpBuilder &builder);
  const KernelFrame &getFrame() const { return frame; }

  /// Emits the body into `block`. On failure, `reason` states why.
  mlir::LogicalResult run(mlir::Block *block);

  llvm::SmallVector<Condition> conditions;
  int64_t sharedBytes = 0;
  std::string reason;

private:
  friend class Access;
  friend class ComputedPositions;
  friend class LoopRing;
  friend class LoopStream;
  friend class OperandProducer;
  friend class ScanLowering;
  friend class UnitProduct;
  struct Entry {
    Axes axes;
    Fragment fragment;
  };
  using Scope = llvm::DenseMap<mlir::Value, llvm::SmallVector<Entry, 1>>;

  // Control.
  void lowerBlock(mlir::Block &block);
  void lowerOp(mlir::Operation &op);
  void lowerScalar(mlir::Operation &op);
  void lowerView(mlir::Operation &op);
  void lowerProgramId(tile::ProgramIdOp op);
  void lowerFor(mlir::scf::ForOp loop);
  void lowerSharedFor(mlir::scf::ForOp loop);
  void lowerIf(mlir::scf::IfOp branch);
  void lowerCheck(tile::CheckOp check);
  void yieldTiles(mlir::Block &from, mlir::Value stage = {});
  void forget(mlir::Block &block);
  void fail(mlir::Operation *op, const llvm::Twine &why);

  // Tiles on demand.
  Fragment emit(mlir::Value tile, const Axes &axes);
  Fragment compute(mlir::Value tile, const Axes &axes);
  Fragment computeElementwise(mlir::Operation *op, const Axes &axes);
  Fragment computeIota(tile::IotaOp op, const Axes &axes);
  Fragment computeReshape(tile::ReshapeOp op, const Axes &axes);
  Fragment splitRegisters(tile::ReshapeOp op, const Axes &axes);
  void forParts(
      tile::ReshapeOp op, const Axes &axes,
      llvm::function_ref<void(const Axes &, const Axes &, Registers)> body);
  Fragment computeGather(tile::GatherOp op, const Axes &axes);
  Fragment computeBitcast(tile::BitcastOp op, const Axes &axes);
  Fragment computeTranspose(tile::TransposeOp op, const Axes &axes);
  Fragment computeBroadcast(tile::BroadcastOp op, const Axes &axes);
  void splitPosition(llvm::ArrayRef<unsigned> fromDims,
                     llvm::ArrayRef<int64_t> from,
                     llvm::ArrayRef<unsigned> toDims,
                     llvm::ArrayRef<int64_t> to, const Axes &point, Axes &at);
  Fragment throughShared(mlir::Value root, const Axes &axes);
  const Entry *find(mlir::Value tile, const Axes &axes);
  void remember(mlir::Value tile, const Axes &axes, Fragment fragment);
  Fragment undefined(mlir::Type elementType, const Axes &axes);

  // Axes.
  mlir::Value getPart(const Spread &spread);
  const Axis *makeAxis(const Spread &spread, mlir::Value start = {});
  const Axis *axisOf(int cls);
  const Axis *pointAxis(const Axis *axis, int64_t reg);
  const Axis *positionAxis(mlir::Value position, int64_t offset = 0);
  const Axis *partOf(const Axis *axis, int64_t first, int64_t count);
  const Axis *extend(const Axis *point, int64_t count);
  const Axis *stepAxis(mlir::Value first, int64_t step, int64_t count);
  Axes getClassAxes(mlir::Value tile);
  Axes axesFor(mlir::Value tile);
  Axes makeAxes(llvm::ArrayRef<int64_t> sizes, llvm::ArrayRef<unsigned> order,
                int64_t vec);
  /// Runs body in loops over the classes of the tile that need them.
  void forChunks(mlir::Value tile, llvm::function_ref<void()> body);

  // Global memory.
  Fragment loadTile(tile::LoadOp op, const Axes &axes);
  int64_t getAccessBytes(tile::LoadOp op, const Axes &axes);
  void copyTile(tile::LoadOp op, const Axes &from, const SharedTile &tile,
                const Axes &to);
  void storeTile(tile::StoreOp op);
  Axes getTurnedAxes(tile::StoreOp op);
  void storeTurned(tile::StoreOp op, const Axes &turned);
  void storeFragment(tile::StoreOp op, const Axes &axes, const Fragment &f);
  void scatterTile(tile::ScatterOp op);
  void storeScalar(mlir::memref::StoreOp op);
  mlir::Value isWriter(const Axes &axes);
  mlir::Value scalarPointer(const MemView &view, mlir::ValueRange indices);
  mlir::Value loadGuarded(const MemView &view, mlir::ValueRange indices,
                          mlir::Value guard);
  mlir::Value mappedPointer(const MemView &view,
                            llvm::ArrayRef<mlir::Value> logical);
  mlir::Value guardedPointer(mlir::Value pointer, mlir::Value guard);
  mlir::Value fromMemory(mlir::Value v, mlir::Type elementType);
  mlir::Value toMemory(mlir::Value v);
  /// Returns true if the value dominates the choice of the body's version.
  bool isAtEntry(mlir::Value v) {
    return !entry->getParent()->isAncestor(v.getParentRegion());
  }

  Fragment streamTile(tile::LoadOp op, const Axes &axes);
  Fragment takeHeld(tile::LoadOp op, const Axes &axes);

  // Shared memory.
  SharedTile allocateShared(mlir::Type elementType,
                            llvm::ArrayRef<int64_t> sizes, int64_t pad = 0);
  SharedTile materialise(mlir::Value tile);
  mlir::Value sharedPointer(const SharedTile &tile, const Axes &axes,
                            Registers regs);
  Axes withoutBounds(const Axes &axes);
  int64_t sharedVector(const SharedTile &tile, const Axes &axes, unsigned &dim);
  Fragment packShared(const SharedTile &tile, const Axes &axes,
                      const Fragment &fragment);
  void writePacked(const SharedTile &tile, const Axes &axes,
                   llvm::ArrayRef<mlir::Value> packed);
  void writeShared(const SharedTile &tile, const Axes &axes,
                   const Fragment &fragment);
  Fragment readShared(const SharedTile &tile, const Axes &axes);
  mlir::Value element(mlir::Value loaded, int64_t i, int64_t width);
  mlir::Value loadVector(mlir::Type type, mlir::Value pointer, int64_t width);
  mlir::Value makeVector(llvm::ArrayRef<mlir::Value> values);
  void storeVector(llvm::ArrayRef<mlir::Value> values, mlir::Value pointer);

  // Roots.
  void lowerDot(tile::DotOp dot);
  using Operands = std::array<Operand, 2>;
  llvm::SmallVector<Spread> operandSpreads(const Operand &operand);
  const Axis *stagingAxis(const Spread &spread);
  const Axis *shiftedAxis(const Axis *axis, mlir::Value start, int64_t size);
  Operand describeOperand(tile::DotOp dot, unsigned number, int64_t chunk);
  void allocate(Operand &operand);
  void allocateOperands(Operands &operands);
  Axes getPositions(const Operand &operand, const Axes &staging,
                    mlir::Value start);
  Axes getStaging(const Operand &operand);
  Fragment take(const Operand &operand, const Axes &from, const Axes &to);
  Fragment fetch(const Operand &operand, mlir::Value start);
  void put(const Operand &operand, llvm::ArrayRef<mlir::Value> packed);
  void stage(const Operand &operand, mlir::Value start);
  void stageAll(const Operand &operand);
  void stageBefore(mlir::scf::ForOp loop);
  Fragment multiply(tile::DotOp dot, const Operands &operands,
                    mlir::Value start, Fragment acc, const Axes &out);
  Fragment multiplyPipelined(tile::DotOp dot, const Operands &operands,
                             Fragment acc, const Axes &out);
  void forCopies(const Operand &operand, mlir::Value start,
                 llvm::function_ref<void(const Axes &, const Axes &)> body);
  bool mayCopy(Operand operand);
  int64_t countStages(const Operands &operands);
  const Operands &getOperands(tile::DotOp dot, bool repeats);
  void lowerScalars(llvm::ArrayRef<mlir::scf::ForOp> loops,
                    mlir::ValueRange values);
  /// Lowers nested loops around a dot whose operands are copied; returns false
  /// for other loops.
  bool lowerRing(mlir::scf::ForOp outermost);
  Fragment addBlocks(const Fragment &sums, const Operands &operands);
  Fragment multiplyRing(tile::DotOp dot, const Operands &operands,
                        llvm::ArrayRef<mlir::scf::ForOp> loops, Fragment acc,
                        const Axes &out);
  void lowerReduce(tile::ReduceOp reduce);
  Fragment multiplyByUnit(const Contraction &contraction);
  void rememberReduced(tile::ReduceOp reduce, const Axes &out,
                       const Fragment &sums);
  bool joinsNext(tile::ReduceOp reduce);
  uint64_t accumulate(tile::ReduceKind kind, const Reduced &reduced,
                      mlir::Value neutral, Fragment &sums);
  void combineThreads(tile::ReduceKind kind, Fragment &values, uint64_t mask);
  void combineThroughShared(tile::ReduceKind kind, Fragment &values,
                            uint64_t mask);
  void combine(tile::ReduceKind kind, Fragment &sums, const Fragment &other);
  mlir::Value getDigits(mlir::Value thread, uint64_t mask);
  Fragment combineWarps(tile::ReduceKind kind, const Fragment &values,
                        const Share &share, uint64_t mask);
  void combineBlocks(tile::ReduceKind kind, Fragment &sums, const Share &share,
                     uint64_t mask);
  void barrier();
  void clusterBarrier();
  mlir::Value getThreadInBlock();
  mlir::Value getRank();
  mlir::Value loadFromBlock(mlir::Type type, mlir::Value own, mlir::Value rank);

  // Scalars.
  mlir::Value constant(int64_t value);
  mlir::Value scalar(mlir::OpFoldResult value);
  mlir::Value add(mlir::Value x, mlir::Value y);
  mlir::Value multiplyBy(mlir::Value x, int64_t factor);
  mlir::Value both(mlir::Value x, mlir::Value y);
  mlir::Value toI64(mlir::Value index);
  mlir::Value convert(mlir::Value v, mlir::Type type);

  tile::KernelOp kernel;
  KernelPlan &plan;
  KernelFrame frame;
  mlir::IRMapping map;
  bool fast;
  mlir::OpBuilder b;
  mlir::Location loc;
  mlir::Block *entry = nullptr;
  llvm::SmallVector<Scope> scopes;
  llvm::DenseMap<mlir::Operation *, Entry> held; ///< loaded in advance
  unsigned sharedLoops = 0;                      ///< around the insertion point
  int64_t operandsBegin = 0, operandsEnd = 0;    ///< in shared memory
  LoopStream *streamed = nullptr; ///< while its loads are emitted
  LoopRing *ring = nullptr;       ///< of the innermost loop
  std::vector<std::unique_ptr<Axis>> axisPool;
  llvm::DenseMap<int, const Axis *> homes, chunkAxes;
  llvm::SmallVector<std::pair<llvm::SmallVector<int64_t>, Axes>> madeAxes;
  llvm::DenseMap<mlir::Value, SharedTile> spills, moved;
  llvm::DenseMap<mlir::Operation *, Operands> dotOperands;
  llvm::SmallVector<std::pair<Spread, const Axis *>> stagingAxes;
  /// By element type: the shared exchange buffer, and its elements per thread.
  llvm::DenseMap<mlir::Type, std::pair<SharedTile, int64_t>> exchanges;
};

} // namespace adze::togpu

#endif // ADZE_LIB_CONVERSION_TILETOGPU_KERNELLOWERING_H
