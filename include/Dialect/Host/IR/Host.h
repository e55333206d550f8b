// Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
//
// The host dialect's classes, and the attributes that the host program and its
// kernels carry from assign-destinations to the module.
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

/// On a function: it is a kernel.
inline constexpr llvm::StringLiteral kernelAttr = "adze.kernel";
/// On an argument with dynamic dims: affine map ()[s0, ..] -> (its sizes).
inline constexpr llvm::StringLiteral dimsAttr = "adze.dims";
/// On the host program: a map of the symbols to sizes that must not be negative
/// (a window larger than what it moves over makes them so).
inline constexpr llvm::StringLiteral sizesAttr = "adze.sizes";
/// On an argument of the host program: the graph's element type, where the
/// memref's cannot say it (signedness).
inline constexpr llvm::StringLiteral dtypeAttr = "adze.dtype";
/// On the host program: how many of its arguments are inputs (the rest are
/// outputs), and what plan-memory found: maps of the symbols, of which the
/// greatest result counts. The arena also reaches to the ends of slots that lie
/// behind others.
inline constexpr llvm::StringLiteral numInputsAttr = "adze.num_inputs";
inline constexpr llvm::StringLiteral arenaBytesAttr = "adze.arena_bytes";
inline constexpr llvm::StringLiteral arenaLowerBoundAttr =
    "adze.arena_lower_bound";
inline constexpr llvm::StringLiteral weightsBytesAttr = "adze.weights_bytes";
/// On the host program: how many boxes it has.
inline constexpr llvm::StringLiteral numBoxesAttr = "adze.num_boxes";
/// On a kernel: why it has no tile form, or no code for a device.
inline constexpr llvm::StringLiteral refusalAttr = "adze.refusal";
/// On a launch: its arithmetic operations, an integer or a map of the symbols.
inline constexpr llvm::StringLiteral flopsAttr = "adze.flops";
/// On a launch: a device has no code for its kernel, which the CPU runs then.
inline constexpr llvm::StringLiteral hostFallbackAttr = "adze.host_fallback";
/// On a launch, for reports: the bytes (an integer or a map of the symbols)
/// that were not stored and loaded because of fusion.
inline constexpr llvm::StringLiteral bytesSavedAttr = "adze.bytes_saved";
/// On a launch whose kernel reads or writes parts of its tensors only: the
/// bytes, for profiles and reports.
inline constexpr llvm::StringLiteral bytesReadAttr = "adze.bytes_read";
inline constexpr llvm::StringLiteral bytesWrittenAttr = "adze.bytes_written";
/// On a kernel's argument for a result: the operand of which it replaces a
/// part. The result lies in the operand's memory.
inline constexpr llvm::StringLiteral tiedAttr = "adze.tied";
/// Functions that convert-host-to-llvm makes for launch i: prefix + i.
inline constexpr llvm::StringLiteral flopsFunction = "adze_flops.";
inline constexpr llvm::StringLiteral bytesReadFunction = "adze_bytes_read.";
inline constexpr llvm::StringLiteral bytesWrittenFunction =
    "adze_bytes_written.";
inline constexpr llvm::StringLiteral placesFunction = "adze_places.";
/// The same for state i of the program.
inline constexpr llvm::StringLiteral stateRowsFunction = "adze_state_rows.";
inline constexpr llvm::StringLiteral stateDropFunction = "adze_state_drop.";
/// Names of arguments, and of symbols (on the function).
inline constexpr llvm::StringLiteral nameAttr = "graph.name";
inline constexpr llvm::StringLiteral symbolsAttr = "graph.symbols";
/// The first strings of the run's table (on the function).
inline constexpr llvm::StringLiteral stringsAttr = "graph.strings";
/// What is known of the symbols' values: [min, max, common] each, -1: nothing.
inline constexpr llvm::StringLiteral symbolRangesAttr = "graph.symbol_ranges";

/// Of every place in the arena and the weights, in bytes.
inline constexpr int64_t placeAlignment = 64;

/// The expression that a Host_Bytes attribute stands for (0 if absent).
mlir::AffineExpr getBytesExpr(mlir::Attribute attr, mlir::MLIRContext *context);

/// The bytes of a place, 0 where they are not known; a view is as large as what
/// it is a view of.
mlir::AffineExpr getPlaceBytes(mlir::Value place);

/// The bytes from the beginning of a place to the end of what it is a part of.
mlir::AffineExpr getBytesToEnd(mlir::Value place);

/// The attribute for `expr`: an integer where it is constant.
mlir::Attribute getBytesAttr(mlir::AffineExpr expr);

/// How many symbols the inputs' shapes give: those from this number on get
/// their values while the program runs.
unsigned getNumInputSymbols(mlir::Operation *program);

/// One more than the highest symbol that occurs.
unsigned getNumSymbolsUsed(mlir::AffineExpr expr);
unsigned getNumSymbolsUsed(mlir::AffineMap map);

} // namespace adze::host

#endif // ADZE_DIALECT_HOST_IR_HOST_H
