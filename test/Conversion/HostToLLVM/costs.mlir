// RUN: aopt %s --convert-host-to-llvm | FileCheck %s

func.func private @k(memref<?xf32>, memref<?xf32>) attributes {adze.kernel}

// Costs are only for profiles: their code is not optimized, and launches of equal cost
// share it.
// CHECK-LABEL: llvm.func @adze_bytes_read.0(
// CHECK-SAME: attributes {no_inline, optimize_none}
// CHECK: llvm.load
// CHECK: llvm.mul
// CHECK-LABEL: llvm.func @adze_bytes_written.0(
// CHECK: llvm.call @adze_bytes_read.0(%arg0)
// CHECK-LABEL: llvm.func @adze_bytes_read.1(
// CHECK: llvm.call @adze_bytes_read.0(%arg0)
func.func @equal_costs(%x: memref<?xf32> {adze.dims = affine_map<()[s0] -> (s0)>}, %y: memref<?xf32> {adze.dims = affine_map<()[s0] -> (s0)>}, %z: memref<?xf32> {adze.dims = affine_map<()[s0] -> (s0)>}) attributes {
    adze.num_inputs = 1 : i64, adze.arena_bytes = affine_map<() -> (64)>,
    adze.symbols = ["n"]} {
  host.launch @k(%x, %y) : (memref<?xf32>, memref<?xf32>) -> ()
  host.launch @k(%x, %z) : (memref<?xf32>, memref<?xf32>) -> ()
  return
}
