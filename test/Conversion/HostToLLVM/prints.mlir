// RUN: aopt %s --convert-kernel-to-llvm --split-input-file | FileCheck %s --check-prefix=KERNEL
// RUN: aopt %s --convert-host-to-llvm --split-input-file | FileCheck %s --check-prefix=HOST

// The print function of the run time is the pointer after the kernel's own.
// KERNEL-DAG: llvm.mlir.global private constant @adze_print.kernel.0("prints\00")
// KERNEL-DAG: llvm.mlir.global private constant @adze_print.label.0("x\00")
// KERNEL-LABEL: llvm.func @prints(
// KERNEL-SAME: %[[PTRS:arg[0-9]+]]: !llvm.ptr
// KERNEL: llvm.getelementptr %[[PTRS]][1]
// KERNEL: llvm.call @prints.body(
// KERNEL-LABEL: llvm.func internal @prints.body(
// KERNEL-SAME: %arg0: !llvm.ptr {llvm.noalias}, %[[PRINT:arg1]]: !llvm.ptr
// KERNEL: llvm.call %[[PRINT]](%{{.*}}, %{{.*}}, %{{.*}}, %{{.*}}) : !llvm.ptr, (!llvm.ptr, !llvm.ptr, !llvm.ptr, !llvm.ptr) -> ()
func.func @prints(%x: memref<4xf64>, %lo: index, %hi: index) attributes {adze.kernel} {
  %place = memref.alloca() : memref<4xf64>
  tile.print "x" of [%lo], %place : memref<4xf64>
  return
}

// -----

// A kernel that does not print has its own pointers only.
// KERNEL-LABEL: llvm.func @silent(
// KERNEL-NOT: getelementptr %{{.*}}[1]
// KERNEL: llvm.call @silent.body(
func.func @silent(%x: memref<4xf64>) attributes {adze.kernel} {
  return
}

// -----

// The host program tests whether the run time can print, and stores its function.
// HOST-LABEL: llvm.func @adze_run(
// HOST-SAME: %[[TABLE:arg[0-9]+]]: !llvm.ptr
// HOST: %[[SIZE:.*]] = llvm.load %[[TABLE]]
// HOST: llvm.icmp "uge" %[[SIZE]]
// HOST: llvm.getelementptr %[[TABLE]][0, 17]
// HOST: llvm.store
func.func private @k(memref<4xf32>) attributes {adze.kernel}
func.func @main(%x: memref<4xf32>) attributes {
    adze.num_inputs = 1 : i64, adze.arena_bytes = affine_map<() -> (0)>,
    adze.arena_lower_bound = affine_map<() -> (0)>} {
  host.launch @k(%x) {adze.prints} : (memref<4xf32>) -> ()
  return
}
