// Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
//
// The classes of the host dialect, and the attributes of the host program and
// its kernels from assign-destinations to the module.
#ifndef ADZE_DIALECT_HOST_IR_HOST_H
#define ADZE_DIALECT_HOST_IR_HOST_H

#include "mlir/Bytecode/BytecodeOpInterface.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/Dialect.h"
#include "mlir/IR/OpImplementation.h"
#include "mlir/IR/SymbolTable.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

#include "Dialect/Host/IR/HostDialect.h.inc"
#define GET_OP_CLASSES
#include "Dialect/Host/IR/HostOps.h.inc"

namespace adze::host {

/// An attribute of a function: it is a kernel.
inline constexpr llvm::StringLiteral kernelAttr = "adze.kernel";
/// An attribute of an argument with dynamic dims: an affine map ()[s0, ..] ->
/// (sizes).
inline constexpr llvm::StringLiteral dimsAttr = "adze.dims";
/// An attribute of the host program: a map from the symbols to sizes that must
/// not be negative. (They are if a window is larger than its input.)
inline constexpr llvm::StringLiteral sizesAttr = "adze.sizes";
/// An attribute of an argument of the host program: the element type of the
/// graph, if the memref does not have it (signedness).
inline constexpr llvm::StringLiteral dtypeAttr = "adze.dtype";
/// Attributes of the host program: the number of its arguments that are inputs
/// (the others are outputs), and the results of plan-memory, which are maps of
/// the symbols whose greatest result is the value. The arena also includes the
/// ends of slots that follow others.
inline constexpr llvm::StringLiteral numInputsAttr = "adze.num_inputs";
inline constexpr llvm::StringLiteral arenaBytesAttr = "adze.arena_bytes";
inline constexpr llvm::StringLiteral arenaLowerBoundAttr =
    "adze.arena_lower_bound";
inline constexpr llvm::StringLiteral weightsBytesAttr = "adze.weights_bytes";
/// An attribute of the host program: the bytes of the weights that the run time
/// computes.
inline constexpr llvm::StringLiteral computedBytesAttr = "adze.computed_bytes";
/// A unit attribute of the host program: its functions in the LLVM dialect are
/// in the module.
inline constexpr llvm::StringLiteral loweredAttr = "adze.lowered";
/// An attribute of the host program: the number of its boxes.
inline constexpr llvm::StringLiteral numBoxesAttr = "adze.num_boxes";
/// An attribute of a kernel: the reason why it has no tile form, or no device
/// code.
inline constexpr llvm::StringLiteral refusalAttr = "adze.refusal";
/// An attribute of a kernel: the other kernels that compute its results. For
/// given sizes only one of them has programs.
inline constexpr llvm::StringLiteral versionsAttr = "adze.versions";
/// A unit attribute of a launch: its kernel is another version of the kernel of
/// the launch before it, and runs instead of it for other sizes.
inline constexpr llvm::StringLiteral otherVersionAttr = "adze.other_version";
/// An attribute of a launch: its arithmetic operations, an integer or a map of
/// the symbols.
inline constexpr llvm::StringLiteral flopsAttr = "adze.flops";
/// An attribute of a launch: there is no device code for its kernel, so it runs
/// on the CPU.
inline constexpr llvm::StringLiteral hostFallbackAttr = "adze.host_fallback";
/// An attribute of a launch, for reports: the bytes (an integer or a map of the
/// symbols) that fusion avoided to store and load.
inline constexpr llvm::StringLiteral bytesSavedAttr = "adze.bytes_saved";
/// Attributes of a launch whose kernel accesses parts of its tensors only: the
/// bytes read and written, for profiles and reports.
inline constexpr llvm::StringLiteral bytesReadAttr = "adze.bytes_read";
inline constexpr llvm::StringLiteral bytesWrittenAttr = "adze.bytes_written";
/// An attribute of a result argument of a kernel: the operand of which the
/// result replaces a part. The result is in the memory of the operand.
inline constexpr llvm::StringLiteral tiedAttr = "adze.tied";
/// An attribute of a result argument of a kernel: the number of an operand in
/// whose memory launches may store the result.
inline constexpr llvm::StringLiteral inPlaceAttr = "adze.in_place";
/// The functions that convert-host-to-llvm makes for launch i are named prefix
/// + i.
inline constexpr llvm::StringLiteral flopsFunction = "adze_flops.";
inline constexpr llvm::StringLiteral bytesReadFunction = "adze_bytes_read.";
inline constexpr llvm::StringLiteral bytesWrittenFunction =
    "adze_bytes_written.";
inline constexpr llvm::StringLiteral placesFunction = "adze_places.";
/// The functions for state i of the program are named prefix + i.
inline constexpr llvm::StringLiteral stateRowsFunction = "adze_state_rows.";
inline constexpr llvm::StringLiteral stateDropFunction = "adze_state_drop.";
/// The names of arguments, and of symbols (on the function).
inline constexpr llvm::StringLiteral nameAttr = "graph.name";
inline constexpr llvm::StringLiteral symbolsAttr = "graph.symbols";
/// The first strings of the table of strings (on the function).
inline constexpr llvm::StringLiteral stringsAttr = "graph.strings";
/// The known ranges of the symbols: [min, max, common] for each; -1 is unknown.
inline constexpr llvm::StringLiteral symbolRangesAttr = "graph.symbol_ranges";

/// The alignment of all places in the arena and the weights, in bytes.
inline constexpr int64_t placeAlignment = 64;

/// Returns the layout of host.transform: panels of outputs, each with all rows
/// one after the other, and groups of inputs.
mlir::AffineMap getTransformLayout(mlir::MLIRContext *context, int64_t panel,
                                   int64_t group);

/// Returns the expression of a Host_Bytes attribute (0 if absent).
mlir::AffineExpr getBytesExpr(mlir::Attribute attr, mlir::MLIRContext *context);

/// Returns the bytes of a place, or 0 if they are unknown. A view has the bytes
/// of its source.
mlir::AffineExpr getPlaceBytes(mlir::Value place);

/// Returns the bytes from the beginning of a place to the end of the place that
/// it is a part of, or null for a state, whose size only the run time knows.
mlir::AffineExpr getBytesToEnd(mlir::Value place);

/// Returns the attribute of `expr`: an integer if it is constant.
mlir::Attribute getBytesAttr(mlir::AffineExpr expr);

/// Returns the number of symbols that are bound by the shapes of inputs. Later
/// symbols are bound while the program runs.
unsigned getNumInputSymbols(mlir::Operation *program);

/// Returns one more than the highest symbol of the expression.
unsigned getNumSymbolsUsed(mlir::AffineExpr expr);
unsigned getNumSymbolsUsed(mlir::AffineMap map);

/// Returns the map of the results, which has the symbols that they use. The map
/// of a program has its named symbols, too.
mlir::AffineMap getSymbolMap(llvm::ArrayRef<mlir::AffineExpr> results,
                             mlir::MLIRContext *context);
mlir::AffineMap getSymbolMap(llvm::ArrayRef<mlir::AffineExpr> results,
                             mlir::Operation *program);

} // namespace adze::host

#endif // ADZE_DIALECT_HOST_IR_HOST_H
