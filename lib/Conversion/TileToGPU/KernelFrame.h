// Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
//
// The arguments of a kernel, and the parts of its tiles in a thread.
#ifndef ADZE_LIB_CONVERSION_TILETOGPU_KERNELFRAME_H
#define ADZE_LIB_CONVERSION_TILETOGPU_KERNELFRAME_H

#include "Dialect/Tile/IR/Faults.h"
#include "KernelPlan.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/IR/IRMapping.h"

namespace adze::togpu {

/// A kernel argument, or a view of one, with its strides and offset.
struct MemView {
  mlir::Value base; ///< !llvm.ptr<1>
  mlir::Type elementType;
  llvm::SmallVector<mlir::OpFoldResult> sizes, strides; ///< of the logical dims
  mlir::AffineMap map; ///< logical to physical indices; null: the strides hold
  llvm::SmallVector<mlir::OpFoldResult> physicalStrides; ///< with a map
  mlir::Value origin;  ///< the pointer of the argument
  int64_t divisor = 0; ///< divides the elements from origin to base; 0: none
  unsigned align = 0;  ///< of origin, in bytes; 0: the element's
};

/// Values defined at the entry of a kernel, for both versions of its body.
struct KernelFrame {
  llvm::DenseMap<mlir::Value, MemView> views;
  mlir::IRMapping map; ///< scalars of the kernel
  /// Of type index. The threads of a cluster have consecutive ids.
  mlir::Value threadId, programId;
  mlir::Value faults; ///< !llvm.ptr<1>, the records; null: no checks
  std::string sharedSymbol, zeroSymbol;
};

/// One dimension of a tile in this thread: the position of register r is
/// base[r] + offset[r].
struct Axis {
  Spread spread;
  llvm::SmallVector<mlir::Value> base;
  llvm::SmallVector<int64_t> offset;
  llvm::SmallVector<mlir::Value> valid; ///< null: always inside of the tile
  int64_t vec = 1; ///< registers in groups of vec are adjacent

  int64_t regs() const { return base.size(); }
};
using Axes = llvm::SmallVector<const Axis *>;
/// The elements of a tile in a thread, row-major over the registers of its
/// axes.
using Fragment = llvm::SmallVector<mlir::Value>;
using Registers = llvm::ArrayRef<int64_t>;

/// Returns the elements that a thread has of a tile with these axes, or of
/// those from the axis `first` on.
int64_t countElements(const Axes &axes, unsigned first = 0);
/// Calls f(register of each axis, linear index) in row-major order.
void forEachElement(const Axes &axes,
                    llvm::function_ref<void(Registers, int64_t)> f);

/// A tile in shared memory, in a padded row-major layout.
struct SharedTile {
  mlir::Type elementType;
  int64_t offset = 0; ///< in bytes
  llvm::SmallVector<int64_t> strides;
  mlir::Value start; ///< elements before the first one; null: none
};

/// When and where an operand of a dot is brought to be multiplied.
enum class OperandPlace {
  Chunks,   ///< in shared memory, chunk by chunk
  Whole,    ///< in shared memory, computed before the first chunk
  Kept,     ///< in shared memory before a loop around the dot
  Ahead,    ///< in shared memory, copied before the iteration of the loop
  Registers ///< computed where a unit multiplies it
};

/// An operand of a dot.
struct Operand {
  mlir::Value tile;
  unsigned kDim;
  OperandPlace place = OperandPlace::Chunks;
  SharedTile shared, staged; ///< as (k, other), and in the order of the tile
  mlir::Type type;           ///< of the product
  bool isUnits = false;      ///< a unit multiplies it
  bool isReused = false;     ///< in memory that another product had before
  int64_t chunk = 0;         ///< of k, multiplied at a time
  int64_t stages = 1;        ///< chunks in shared memory; 1: no ring of them
  int64_t stageElements = 0; ///< between two stages

  bool isWhole() const { return place == OperandPlace::Whole; }

  /// Returns true if elements along k are adjacent in memory.
  bool isAlongDepth() const;
  /// Returns true if it has rows along k in shared memory.
  bool hasRowsAlongDepth() const;
  /// Returns the end of its stages in shared memory, in bytes.
  int64_t getEnd() const {
    return shared.offset + stages * stageElements * bytesOf(shared.elementType);
  }
};

/// The values of `count` that a thread combines: its own. Its `group` is one of
/// `groups`, and contains the threads with the same values.
struct Share {
  const Axis *own = nullptr;
  mlir::Value group;
  int64_t count = 1, groups = 1;
};

/// Emits an affine expression over non-negative indices.
mlir::Value expandAffine(mlir::OpBuilder &b, mlir::Location loc,
                         mlir::AffineExpr e, llvm::ArrayRef<mlir::Value> dims,
                         llvm::ArrayRef<mlir::Value> symbols);
llvm::SmallVector<mlir::OpFoldResult>
rowMajorStrides(mlir::OpBuilder &b, mlir::Location loc,
                llvm::ArrayRef<mlir::OpFoldResult> sizes);

/// A condition that is checked at the entry of a kernel, and guards its fast
/// version.
struct Condition {
  mlir::Value value; ///< a pointer or an index
  int64_t multipleOf;
};

} // namespace adze::togpu

#endif // ADZE_LIB_CONVERSION_TILETOGPU_KERNELFRAME_H
