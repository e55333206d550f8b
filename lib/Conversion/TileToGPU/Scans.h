// Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
//
// Scans of tiles, and exchanges of values between the threads of a warp.
#ifndef ADZE_LIB_CONVERSION_TILETOGPU_SCANS_H
#define ADZE_LIB_CONVERSION_TILETOGPU_SCANS_H

#include "KernelLowering.h"

namespace adze::togpu {

/// Returns the value of the thread whose number differs in the bits of
/// `distance`, by shuffles of 32 bits.
mlir::Value shuffle(mlir::OpBuilder &b, mlir::Location loc, mlir::Value v,
                    int64_t distance);

/// Lowers a scan: of the adjacent registers of a thread, of the totals of
/// threads, and of those of groups of registers.
class ScanLowering {
public:
  ScanLowering(KernelLowering &k, tile::ScanOp scan)
      : k(k), b(k.b), loc(k.loc), scan(scan), kind(scan.getKind()),
        axes(k.axesFor(scan.getSource())), axis(axes[scan.getDim()]) {}

  void run();

private:
  mlir::Value combine(mlir::Value earlier, mlir::Value later);
  Fragment scanWarp(Fragment &totals, uint64_t mask);
  void scanWarps(Fragment &totals, Fragment &earlier, uint64_t mask);
  Fragment carryTotals(mlir::ArrayRef<int64_t> groups, const Fragment &totals,
                       const Fragment &earlier);

  KernelLowering &k;
  mlir::OpBuilder &b;
  mlir::Location loc;
  tile::ScanOp scan;
  tile::ReduceKind kind;
  Axes axes;
  const Axis *axis;    ///< that of the scan
  mlir::Value neutral; ///< element of the kind
};

} // namespace adze::togpu

#endif // ADZE_LIB_CONVERSION_TILETOGPU_SCANS_H
