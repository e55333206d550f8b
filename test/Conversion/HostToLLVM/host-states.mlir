// RUN: aopt %s --convert-host-to-llvm | FileCheck %s
// RUN: sed -e 's/@k(%x, %b, %b)/& {adze.host_fallback}/' %s | aopt --convert-host-to-llvm | FileCheck %s --check-prefix=PLACES

// If the CPU runs the kernel for a device, only the run time knows the bytes of the state.
// PLACES-LABEL: llvm.func @adze_places.0(
// PLACES-SAME: %[[BYTES:[a-z0-9]*]]: !llvm.ptr) {
// PLACES: llvm.getelementptr %[[BYTES]][0]
// PLACES-NOT: llvm.getelementptr %[[BYTES]]
// PLACES: llvm.return

func.func private @k(memref<1x4xf32>, memref<?x4xf32>, memref<?x4xf32> {adze.tied = 1 : i64}) attributes {adze.kernel}

// The buffer of a state comes from the run time; formulas compute its number of rows, and
// how many of them the output lacks.
// CHECK-LABEL: llvm.func @adze_state_rows.0(
// CHECK: llvm.load
// CHECK: llvm.add
// CHECK-LABEL: llvm.func @adze_state_drop.0(
// CHECK: %[[NONE:.*]] = llvm.mlir.constant(0 : i64)
// CHECK-NEXT: llvm.return %[[NONE]]
// CHECK-LABEL: llvm.func @adze_run(
// A table of an older run time lacks the function: its size is compared.
// CHECK: llvm.mlir.constant(128 : i32)
// CHECK: llvm.icmp "uge"
// CHECK: llvm.getelementptr %{{.*}}[0, 16]
// CHECK: %[[BUFFER:.*]] = llvm.call %{{.*}}(%{{.*}}, %{{.*}}) : !llvm.ptr, (!llvm.ptr, i32) -> !llvm.ptr
// CHECK: llvm.icmp "ne" %[[BUFFER]]
func.func @main(%p: memref<?x4xf32> {adze.dims = affine_map<()[s0] -> (s0, 4)>}, %x: memref<1x4xf32>, %y: memref<?x4xf32> {adze.dims = affine_map<()[s0] -> (s0 + 1, 4)>}) attributes {
    adze.num_inputs = 2 : i64, graph.symbols = ["past", ""],
    graph.states = [#graph.state<input = 0, output = 0, kind = rows, pitch = 1, rows = affine_map<()[s0] -> (s0 + 1)>, drop = affine_map<() -> (0)>>]} {
  %b = host.state 0 {pitch = 1 : i64} : memref<?x4xf32>
  host.launch @k(%x, %b, %b) : (memref<1x4xf32>, memref<?x4xf32>, memref<?x4xf32>) -> ()
  return
}
