// Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
//
// Groups the ops of a block into kernels. Groups are sets of ops; a group grows
// only if the graph of groups stays acyclic.
#ifndef ADZE_LIB_DIALECT_GRAPH_TRANSFORMS_GROUPING_H
#define ADZE_LIB_DIALECT_GRAPH_TRANSFORMS_GROUPING_H

#include "BlockOrder.h"
#include "llvm/ADT/DenseSet.h"

namespace adze::graph {

struct Group {
  llvm::SmallVector<mlir::Operation *> ops; // in the order of the block
  mlir::Operation *anchor = nullptr;        // null: pointwise or data movement
  bool isMoved = false; // stored at positions made of digits of its indices
  unsigned first = 0, last = 0; // positions in the block
};

/// Returns true if both ops reduce the same dims of values of one shape.
bool reduceAlike(mlir::Operation *lhs, mlir::Operation *rhs);
/// Returns true if the group has more than a reduction and ops on its results.
bool usesWholeRows(const Group &group);
/// Returns the reason why the data movement of the group costs more inside of
/// the kernel of `anchor` than as a separate kernel, or an empty string.
llvm::StringRef whyMovedBefore(const Group &group, mlir::Operation *anchor);
/// Returns true if the input of the convolution is transposed to channels last
/// by a separate kernel: groups of channels are read at once (bytes, elements
/// that a CPU's unit multiplies in groups, copies of a GPU), or elements are
/// read often.
bool readsChannelsLast(ConvOp op);
/// Returns the reason why a value that is inserted at several positions is not
/// computed there, or an empty string.
llvm::StringRef whyNoPiece(const Group &producer, InsertSliceOp insert);
/// Returns the reason why the kernel of a scatter cannot compute the updates
/// from the values of the producer, or an empty string.
llvm::StringRef whyNotScattered(const Group &producer,
                                mlir::Operation *scatter);
/// Returns true if the group permutes dims.
bool hasTranspose(const Group &group);

/// The groups of one block.
class Grouping {
public:
  /// A group has at most `mostOps` ops. With `fuses`, groups will be joined.
  Grouping(mlir::Block &block, unsigned mostOps, bool fuses);

  void fuse();
  /// Joins convolutions of a chain if the tensors between them have more bytes,
  /// and if moving these costs more than the recomputation.
  void joinChains(int64_t leastBytes, int64_t flopsPerByte);
  /// Makes kernels that read f32 tensors which other kernels convert from 8-bit
  /// integers read the integers and convert them.
  void recomputeConversions();
  /// Emits remarks on why groups with data dependences are separate, if remarks
  /// are enabled.
  void reportRefusals();
  /// Returns the groups that have ops.
  std::vector<Group> takeGroups();

private:
  void copyMovement(mlir::Operation *op);
  void recomputeConversion(mlir::Operation *op);
  void growEpilogue(mlir::Operation *op);
  bool growMove(TransposeOp op);
  bool isLoaded(mlir::Operation *op, unsigned movement,
                unsigned depth = 0) const;
  bool followsMove(mlir::Operation *op, unsigned into) const;
  llvm::SmallVector<unsigned> findEpilogues(mlir::Operation *op);
  bool growRows(mlir::Operation *op);
  bool isReadOutside(mlir::Operation *op) const;
  bool growReduction(mlir::Operation *op);
  llvm::SmallVector<unsigned> findReductions(mlir::Operation *op,
                                             mlir::ValueRange sources);
  ConvOp findNextInChain(unsigned index) const;
  void joinRows(unsigned into, llvm::ArrayRef<unsigned> others);
  void joinProducer(InsertSliceOp op);
  void joinConsumer(unsigned index);
  /// Returns the reason why the kernel of the consumer cannot compute the
  /// values of the producer on demand, or an empty string.
  llvm::StringRef whyNoPrologue(const Group &producer,
                                const Group &consumer) const;
  bool acceptsPrologue(const Group &producer, const Group &consumer) const {
    return whyNoPrologue(producer, consumer).empty();
  }
  llvm::StringRef whyApart(mlir::OpOperand &use, mlir::Value source,
                           unsigned from, unsigned to);
  llvm::StringRef whyNotMerged(unsigned from, unsigned to);
  llvm::StringRef whyStored(unsigned from, unsigned to) const;
  /// Emits remarks on why other kernels compute the operands of the group, one
  /// for each pair of user and producer.
  void reportEdges(unsigned index);

  std::optional<unsigned> getGroup(mlir::Value value) const {
    mlir::Operation *op = value.getDefiningOp();
    auto it = op ? groupOf.find(op) : groupOf.end();
    return it == groupOf.end() ? std::nullopt : std::optional(it->second);
  }
  bool makesCycle(unsigned from, unsigned to);
  bool canMerge(unsigned from, unsigned to);
  void merge(unsigned from, unsigned into);
  bool isSmall(unsigned lhs, unsigned rhs) const;

  bool feedsMaskOnly(const Group &producer, AttentionOp attention) const;
  bool joinsEpilogue(const Group &producer, mlir::Operation *anchor) const;

  llvm::DenseSet<mlir::Operation *> indexOps; // copies for one user
  Predecessors predecessors;
  unsigned mostOps;
  std::vector<Group> groups;
  llvm::DenseMap<mlir::Operation *, unsigned> groupOf;
  llvm::DenseMap<mlir::Operation *, unsigned> positions;
  /// Reductions by the values that their elements are computed from.
  llvm::DenseMap<mlir::Value, llvm::SmallVector<mlir::Operation *>> reductions;
};

/// Returns true for ops that only determine the source of an element, and are
/// cheap to duplicate.
bool isMovement(mlir::Operation *op);
/// Returns true for a broadcast of one constant element that only recurrent
/// layers read, as their initial states. Their kernels have no prologue.
bool isInnerSplat(mlir::Operation *op);

/// Returns true if the producer is keys or values of a narrow type, which
/// attention extends as it reads them. This applies to CPUs, as GPU
/// instructions read both operands from memory.
bool widensOperand(const Group &producer, AttentionOp attention);

} // namespace adze::graph

#endif // ADZE_LIB_DIALECT_GRAPH_TRANSFORMS_GROUPING_H
