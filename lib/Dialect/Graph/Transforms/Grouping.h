// Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
//
// Which ops of a block run as one kernel. Groups are sets of ops; a group grows
// only where the graph of groups stays without cycles.
#ifndef ADZE_LIB_DIALECT_GRAPH_TRANSFORMS_GROUPING_H
#define ADZE_LIB_DIALECT_GRAPH_TRANSFORMS_GROUPING_H

#include "BlockOrder.h"
#include "llvm/ADT/DenseSet.h"

namespace adze::graph {

struct Group {
  llvm::SmallVector<mlir::Operation *> ops; // in the order of the block
  mlir::Operation *anchor = nullptr;        // null: pointwise or movement
  bool isMoved = false; // stored at places made of digits of its indices
  unsigned first = 0, last = 0; // positions in the block
};

/// Whether both ops reduce the same dims of values of one shape.
bool reduceAlike(mlir::Operation *lhs, mlir::Operation *rhs);
/// Whether the group is more than a reduction with what follows from its
/// results.
bool usesWholeRows(const Group &group);
/// Why the group's movement costs more on the way into the kernel of `anchor`
/// than by itself; empty: it does not.
llvm::StringRef whyMovedBefore(const Group &group, mlir::Operation *anchor);
/// Whether dims are moved in the group.
bool hasTranspose(const Group &group);

/// The groups of one block.
class Grouping {
public:
  /// `mostOps`: in one group. `fuses`: groups will be joined.
  Grouping(mlir::Block &block, unsigned mostOps, bool fuses);

  void fuse();
  /// Convolutions one after the other join where what lies between them has
  /// more bytes, and where these cost more than what is done twice then.
  void joinChains(int64_t leastBytes, int64_t flopsPerByte);
  /// Kernels that read f32 tensors that others convert from 8-bit integers read
  /// the integers and convert them.
  void recomputeConversions();
  /// Says why groups that read from one another are apart, where somebody
  /// listens to remarks.
  void tellRefusals();
  /// Groups that still have ops.
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
  /// Why the consumer's kernel cannot compute the producer's values on the way;
  /// empty: it can.
  llvm::StringRef whyNoPrologue(const Group &producer,
                                const Group &consumer) const;
  bool acceptsPrologue(const Group &producer, const Group &consumer) const {
    return whyNoPrologue(producer, consumer).empty();
  }
  llvm::StringRef whyApart(mlir::OpOperand &use, mlir::Value source,
                           unsigned from, unsigned to);
  llvm::StringRef whyNotMerged(unsigned from, unsigned to);
  llvm::StringRef whyStored(unsigned from, unsigned to) const;
  /// Says why what the group reads is computed by other kernels, one reason for
  /// each op that reads and op that computes.
  void tellEdges(unsigned index);

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

  llvm::DenseSet<mlir::Operation *> indexOps; // copies for one reader
  Predecessors predecessors;
  unsigned mostOps;
  std::vector<Group> groups;
  llvm::DenseMap<mlir::Operation *, unsigned> groupOf;
  llvm::DenseMap<mlir::Operation *, unsigned> positions;
  /// Reductions so far by what their elements are computed from.
  llvm::DenseMap<mlir::Value, llvm::SmallVector<mlir::Operation *>> reductions;
};

/// Ops that only say where an element comes from; cheap to compute twice.
bool isMovement(mlir::Operation *op);

/// Whether the producer is keys or values of few bits, which attention widens
/// as it reads them: on CPUs, as the instructions of GPUs take both operands
/// from memory.
bool widensOperand(const Group &producer, AttentionOp attention);

} // namespace adze::graph

#endif // ADZE_LIB_DIALECT_GRAPH_TRANSFORMS_GROUPING_H
