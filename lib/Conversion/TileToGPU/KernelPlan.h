// Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
//
// The distribution of the tiles of a specialised kernel over the threads of a
// block, or of a cluster of blocks.
#ifndef ADZE_LIB_CONVERSION_TILETOGPU_KERNELPLAN_H
#define ADZE_LIB_CONVERSION_TILETOGPU_KERNELPLAN_H

#include "Contractions.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

namespace adze::togpu {

constexpr int64_t kWarp = 32; ///< threads
/// The greatest size of a dim that one thread may hold.
constexpr int64_t kShortDim = 8;

/// The distribution of one dimension over the threads of a program. In each
/// part, register r of the thread with digit t holds position (r / vec) *
/// inPart() * vec + t * vec + r % vec.
struct Spread {
  int64_t size = 1;      ///< of the dimension
  int64_t threads = 1;   ///< a power of two
  int64_t shift = 0;     ///< t = (thread id >> shift) & (inPart() - 1)
  int64_t vec = 1;       ///< adjacent positions in one thread
  int64_t regs = 1;      ///< positions of a thread at a time
  int64_t chunks = 1;    ///< > 1: a loop covers the dimension
  int64_t parts = 1;     ///< contiguous, which threads share: a power of two
  int64_t partShift = 0; ///< the part: (thread id >> partShift) & (parts - 1)

  int64_t inPart() const { return threads / parts; }
  uint64_t mask() const {
    return uint64_t(inPart() - 1) << shift | uint64_t(parts - 1) << partShift;
  }
  bool operator==(const Spread &o) const {
    return size == o.size && threads == o.threads && shift == o.shift &&
           vec == o.vec && regs == o.regs && chunks == o.chunks &&
           parts == o.parts && partShift == o.partShift;
  }
  /// Returns true if some threads hold positions past the end.
  bool ragged() const { return chunks * threads * regs != size; }
};

/// Distributes `sizes`, `order[0]` first, over the thread bits outside of
/// `used`. The first dimension gets `vec` adjacent positions in each thread if
/// its size allows.
llvm::SmallVector<Spread> spreadDims(llvm::ArrayRef<int64_t> sizes,
                                     llvm::ArrayRef<unsigned> order,
                                     int64_t threads, int64_t vec,
                                     uint64_t used = 0);

/// Returns the dimension of a loaded tile along which elements are adjacent in
/// memory, or -1.
int64_t innermostTileDim(tile::LoadOp load);
int64_t innermostTileDim(tile::StoreOp store);
/// Returns the dimensions of a tile from the contiguous one outwards, as
/// implied by the loads that compute it. Those of an operand of a product are
/// found through reshapes and transposes, too: it is copied to shared memory in
/// any order.
llvm::SmallVector<unsigned> memoryOrder(mlir::Value tile,
                                        bool isOperand = false);

/// Dimensions of the source and the result of a reshape that hold the same
/// elements; dimensions of size 1 are in no group.
struct ReshapeGroup {
  llvm::SmallVector<unsigned, 2> from, to;
  bool kept() const { return from.size() == 1 && to.size() == 1; }
};
llvm::SmallVector<ReshapeGroup> reshapeGroups(llvm::ArrayRef<int64_t> from,
                                              llvm::ArrayRef<int64_t> to);

/// Returns the distribution of these dimensions of a shape, which are one
/// dimension with the distribution `whole` in row-major order, over the threads
/// that have their positions. Fails if positions of a vector are in several
/// rows.
mlir::FailureOr<llvm::SmallVector<Spread>>
splitSpread(Spread whole, llvm::ArrayRef<int64_t> shape,
            llvm::ArrayRef<unsigned> dims);

/// Returns the tile that the op stores, or null.
mlir::Value getStored(mlir::Operation *op);

/// Dimension classes and their distribution. Two dimensions are in one class if
/// an operation relates their positions.
class KernelPlan {
public:
  /// With `threads` 0, the number is chosen here. A program is computed by the
  /// threads of `blocks` blocks: a cluster. The number of the block is in the
  /// highest bits of the thread id. Blocks share the tiles of a program, or
  /// the depth of its product.
  KernelPlan(tile::KernelOp kernel, int64_t threads, int64_t blocks = 1);

  /// Returns the number of threads that share the elements of a tile.
  int64_t getThreads() const { return threads; }
  int64_t getProgramThreads() const { return getBlockThreads() * blocks; }
  int64_t getBlocks() const { return blocks; }
  /// Returns true if each block has whole tiles, with a part of the sums of a
  /// product until these are added.
  bool sharesDepth() const { return depthIsShared; }
  /// Returns the bytes of shared memory that a block of threads may have.
  int64_t getSharedBytes() const {
    constexpr int64_t unknown = 49152;
    return target ? target.getSharedBytes() : unknown;
  }
  int64_t getMultiprocessors() const {
    constexpr int64_t usual = 128;
    return target ? target.getMultiprocessors() : usual;
  }
  int64_t getBlockThreads() const {
    return depthIsShared ? threads : threads / blocks;
  }
  /// Returns true if the programs run in steps: as a step has few of them, the
  /// operands of a product, of so many bytes, are in shared memory at once.
  bool hasFewPrograms(int64_t bytes);
  /// Returns true if all results are f16 or bf16.
  bool isNarrow() const { return narrow; }
  /// Returns how many blocks of threads a multiprocessor should have room for.
  int64_t getResidentBlocks();
  llvm::SmallVector<int> classesOf(mlir::Value tile);
  const Spread &spreadOf(int cls) const { return spreads.find(cls)->second; }
  /// Returns the unit by which warps compute a product whose accumulators have
  /// its distribution, or null if threads multiply.
  tile::TargetUnitAttr getUnit(tile::DotOp dot);
  /// Returns true if a unit's rows are the columns of the product.
  bool isTransposed(tile::DotOp dot) const { return transposed.contains(dot); }
  /// Returns true if each thread computes the elements of an operand that its
  /// warp's unit multiplies as those of the left one.
  bool isInRegisters(tile::DotOp dot, unsigned number);
  /// Returns the contraction that ends with this reduction, or null if threads
  /// reduce.
  const Contraction *getContraction(tile::ReduceOp last) const {
    auto it = contractions.find(last);
    return it == contractions.end() ? nullptr : &it->second;
  }
  bool hasContractions() const { return !contractions.empty(); }
  /// Returns the distribution of the columns of the right operand of a
  /// contraction, which differs from that of the columns of its sums.
  Spread getOperandColumns(const Contraction &contraction);
  /// Returns true if the tile is computed at its position (dot, reduce, loop),
  /// and not on demand.
  static bool isRoot(mlir::Value tile);
  /// Returns true for a load that keeps its position, as its memory is stored
  /// to.
  bool isPinned(mlir::Value tile) const { return pinned.contains(tile); }
  /// Returns true for a store that waits until all threads have loaded.
  bool isOrdered(mlir::Operation *store) const {
    return ordered.contains(store);
  }
  /// Returns true for a loop whose iterations are distributed over the threads.
  bool isShared(mlir::Operation *loop) const { return parallel.contains(loop); }
  /// Returns true for a reshape that only splits dimensions of its source, in
  /// which each thread has the same elements of the source and the result.
  bool keepsThreads(tile::ReshapeOp op);
  /// Returns true if the computation of the tile uses a root.
  bool dependsOnRoot(mlir::Value tile);

private:
  int find(int cls);
  void unite(int a, int b);
  llvm::SmallVector<int> &idsOf(mlir::Value tile);
  void same(mlir::Value a, mlir::Value b);
  void visit(mlir::Operation *op);
  int64_t countStreamThreads(int64_t elements, int64_t each);
  void chooseThreads();
  void findTransposed();
  std::array<int, 2> getUnitClasses(tile::DotOp dot);
  /// Returns the elements of the accumulators of units. Products whose results
  /// have the same dims, such as those that add to each other, have the same.
  int64_t countUnitSums();
  int64_t countWarps(tile::DotOp dot);
  std::array<int64_t, 2> divideWarps(tile::DotOp dot);
  tile::TargetUnitAttr findUnit(tile::DotOp dot);
  bool spreadByUnit(tile::DotOp dot);
  void spreadDot(tile::DotOp dot);
  bool spreadContraction(const Contraction &contraction);
  void spreadContractions();
  bool readsConstantsOnce();
  void spreadParts();
  void spreadSplitDims();
  void spreadShortRows();
  void limitReducedDims();
  void findScattered();
  void spreadTile(mlir::Value tile);
  void limitRegisters();
  void orderMemory();
  bool isParallel(mlir::scf::ForOp loop);

  tile::KernelOp kernel;
  tile::CudaTargetAttr target; ///< may be null
  int64_t threads, blocks;
  bool depthIsShared = false;
  bool narrow;
  llvm::SmallVector<int> parent;
  llvm::SmallVector<int64_t> sizes;
  llvm::DenseMap<mlir::Value, llvm::SmallVector<int>> ids;
  llvm::DenseMap<int, Spread> spreads;
  llvm::DenseMap<int, int64_t> maxThreads; ///< of reduced classes
  llvm::DenseMap<mlir::Operation *, Contraction> contractions;
  llvm::DenseSet<mlir::Operation *> transposed; ///< products
  bool reducesUnits = false;                    ///< along the columns of a unit
  /// Classes along which loads have a step in contiguous memory, or are gathers
  /// from it: adjacent threads load adjacent elements.
  llvm::DenseSet<int> scattered;
  llvm::DenseSet<mlir::Value> pinned;
  llvm::DenseSet<mlir::Operation *> ordered, parallel;
  llvm::DenseSet<int> held; ///< in the result of a root: never looped over
};

/// Returns the number of programs, or -1 if it is dynamic.
int64_t getStaticPrograms(tile::KernelOp kernel);

/// Returns true for a loop of which one iteration is known to run.
bool runsOnce(mlir::scf::ForOp loop);

/// Returns the argument of the kernel that a view refers to.
mlir::Value argumentOf(mlir::Value memory);
/// Returns true if a load reads a matrix of constants.
bool readsConstants(tile::LoadOp load);
/// Returns the programs of a group that wait for each other in the kernel, or 0
/// if programs do not wait.
int64_t getGroup(tile::KernelOp kernel);
/// Returns true if the op is a product, or contains one.
bool hasProducts(mlir::Operation *op);
/// Returns true for an op on the top level of a kernel with products, if none
/// of them follows it.
bool followsProducts(mlir::Operation *op);
/// Returns true for the loop over the steps of a kernel.
bool isLoopOverSteps(mlir::scf::ForOp loop);

/// Returns the bytes of an element in memory, or 0 for an unsupported type.
unsigned bytesOf(mlir::Type elementType);
inline bool isTile(mlir::Value v) {
  return mlir::isa<mlir::RankedTensorType>(v.getType());
}
inline mlir::RankedTensorType tileType(mlir::Value v) {
  return mlir::cast<mlir::RankedTensorType>(v.getType());
}

} // namespace adze::togpu

#endif // ADZE_LIB_CONVERSION_TILETOGPU_KERNELPLAN_H
