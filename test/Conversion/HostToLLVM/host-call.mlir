// Calls of the run time's functions: types and static sizes of values are arguments,
// data-dependent sizes are returned in them.
// RUN: aopt %s --convert-host-to-llvm --split-input-file --verify-diagnostics | FileCheck %s

// Static sizes: no symbol is bound, and a table with calls is required.
// CHECK-LABEL: llvm.func @adze_run(
// CHECK-SAME: %[[TABLE:arg[0-9]+]]: !llvm.ptr, %[[EXEC:arg[0-9]+]]: !llvm.ptr
// CHECK: llvm.mlir.constant(96 : i32)
// CHECK: llvm.icmp "uge"
// f32 is code 2 with 32 bits: 8194; a rank; a size.
// CHECK: llvm.mlir.constant(8194 : i64)
// CHECK: llvm.mlir.constant(1 : i64)
// CHECK: llvm.mlir.constant(6 : i64)
// CHECK: llvm.call %{{.*}}(%[[EXEC]], %{{.*}}, %{{.*}}, %{{.*}}, %{{.*}}, %{{.*}}, %{{.*}}) : !llvm.ptr, (!llvm.ptr, !llvm.ptr, !llvm.ptr, !llvm.ptr, i32, i32, !llvm.ptr) -> i32
// CHECK: llvm.call %{{.*}}(%[[EXEC]], %{{.*}}, %{{.*}}, %{{.*}}) : !llvm.ptr, (!llvm.ptr, i32, !llvm.ptr, i64) -> i32
// CHECK-NOT: llvm.mlir.constant(-1 : i64)
// CHECK: llvm.return
func.func @fixed(%x: memref<6xf32>, %y: memref<6xf32>) attributes {
    adze.num_inputs = 1 : i64, adze.arena_bytes = affine_map<() -> (0)>} {
  host.call "f"(%x) {dims = affine_map<() -> (6, 6)>, ranks = array<i64: 1, 1>, symbols = array<i64: -1, -1>, types = [f32, f32]} : memref<6xf32>
  host.fetch 0 to %y {size = 24 : i64} : memref<6xf32>
  return
}

// -----

// A result of dynamic size: -1 is passed, and the symbols get its value (host->bind)
// before the result is fetched.
// A string (its number: si64) is a signed integer of kind 1: 81920; a sequence is one of
// kind 2: 147456.
// CHECK-LABEL: llvm.func @adze_run(
// CHECK-SAME: %{{[a-z0-9]+}}: !llvm.ptr, %[[EXEC:arg[0-9]+]]: !llvm.ptr
// CHECK: %[[STRING:.*]] = llvm.mlir.constant(81920 : i64)
// CHECK: %[[WORD:.*]] = llvm.getelementptr %[[NUMBERS:.*]][0]
// CHECK: llvm.store %[[STRING]], %[[WORD]]
// CHECK: llvm.mlir.constant(147456 : i64)
// CHECK: %[[NONE:.*]] = llvm.mlir.constant(-1 : i64)
// CHECK: %[[DIM:.*]] = llvm.getelementptr %[[NUMBERS]][7]
// CHECK: llvm.store %[[NONE]], %[[DIM]]
// CHECK: llvm.call {{.*}}i32, i32, !llvm.ptr) -> i32
// CHECK: %[[FROM:.*]] = llvm.getelementptr %[[NUMBERS]][7]
// CHECK: llvm.call %{{.*}}(%[[EXEC]], %{{.*}}, %[[FROM]], %{{.*}}, %{{.*}})
// CHECK: llvm.call {{.*}} (!llvm.ptr, i32, !llvm.ptr, i64) -> i32
func.func @unknown(%x: memref<?xi64> {adze.dims = affine_map<()[s0] -> (s0)>, adze.dtype = si64},
                   %s: memref<i64> {adze.dtype = !graph.sequence<tensor<?xf32>>}) attributes {
    adze.num_inputs = 2 : i64, graph.symbols = ["n", ""], adze.arena_bytes = affine_map<()[s0, s1] -> (0)>} {
  host.call "g"(%x, %s) {dims = affine_map<()[s0, s1] -> (s0, s1)>, ranks = array<i64: 1, 0, 1>, symbols = array<i64: -1, 1>, types = [si64, !graph.sequence<tensor<?xf32>>, f32]} : memref<?xi64>, memref<i64>
  %b = host.slot {box = 0 : i64, size = affine_map<()[s0, s1] -> (s1 * 4)>} : memref<?xf32>
  host.fetch 0 to %b {size = affine_map<()[s0, s1] -> (s1 * 4)>} : memref<?xf32>
  return
}

// -----

// An operator of the program is called by its row in the module's table; other functions
// by their names.
// CHECK: llvm.mlir.global private constant @adze_text.3("@1\00")
// CHECK: llvm.mlir.global private constant @adze_text.2("unique\00")
// CHECK: llvm.mlir.global private constant @adze_text.1("@0\00")
func.func @operators(%x: memref<6xf32>, %y: memref<6xf32>) attributes {
    adze.num_inputs = 1 : i64, adze.arena_bytes = affine_map<() -> (0)>} {
  host.call "com.example.F"(%x) {adze.operator = {attributes = {}, inputs = array<i64: 0>}, dims = affine_map<() -> (6, 6)>, ranks = array<i64: 1, 1>, symbols = array<i64: -1, -1>, types = [f32, f32]} : memref<6xf32>
  host.call "unique"(%x) {dims = affine_map<() -> (6, 6)>, ranks = array<i64: 1, 1>, symbols = array<i64: -1, -1>, types = [f32, f32]} : memref<6xf32>
  host.call "com.example.F"(%x) {adze.operator = {attributes = {}, inputs = array<i64: 0>}, dims = affine_map<() -> (6, 6)>, ranks = array<i64: 1, 1>, symbols = array<i64: -1, -1>, types = [f32, f32]} : memref<6xf32>
  host.fetch 0 to %y {size = 24 : i64} : memref<6xf32>
  return
}
