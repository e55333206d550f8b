// RUN: aopt %s --convert-kernel-to-llvm --split-input-file --verify-diagnostics | FileCheck %s

// The entry point loads the pointers; the body's do not alias.
// CHECK-LABEL: llvm.func @copy(
// CHECK-SAME: %[[PTRS:arg[0-9]+]]: !llvm.ptr, %[[SYMS:arg[0-9]+]]: !llvm.ptr, %{{.*}}: i64, %{{.*}}: i64, %[[SCRATCH:arg[0-9]+]]: !llvm.ptr)
// CHECK: llvm.getelementptr %[[PTRS]][1]
// CHECK: llvm.call @copy.body(%{{.*}}, %{{.*}}, %[[SYMS]], %[[SCRATCH]])
// CHECK-LABEL: llvm.func internal @copy.body(
// CHECK-SAME: !llvm.ptr {llvm.noalias}
// CHECK-SAME: no_inline
func.func @copy(%x: memref<4xf32>, %y: memref<4xf32>) attributes {adze.kernel} {
  %c0 = arith.constant 0 : index
  %v = memref.load %x[%c0] : memref<4xf32>
  memref.store %v, %y[%c0] : memref<4xf32>
  return
}
// By default, a kernel is one program.
// CHECK-LABEL: llvm.func @copy_programs(%{{.*}}: !llvm.ptr) -> i64
// CHECK: %[[ONE:.*]] = llvm.mlir.constant(1 : index) : i64
// CHECK: llvm.return %[[ONE]]

// -----

// The memory of a result may be that of an operand, but not that of another one.
// CHECK-LABEL: llvm.func internal @add.body(
// CHECK-SAME: %arg0: !llvm.ptr {llvm.noalias}, %arg1: !llvm.ptr, %arg2: !llvm.ptr, %{{.*}}: !llvm.ptr {llvm.noalias}, %{{.*}}: !llvm.ptr {llvm.noalias})
func.func @add(%x: memref<4xf32>, %y: memref<4xf32>, %z: memref<4xf32> {adze.in_place = 1 : i64}) attributes {adze.kernel} {
  %c0 = arith.constant 0 : index
  %v = memref.load %x[%c0] : memref<4xf32>
  %w = memref.load %y[%c0] : memref<4xf32>
  %t = arith.addf %v, %w : f32
  memref.store %t, %z[%c0] : memref<4xf32>
  return
}

// -----

// Sizes are read from the symbols, in the body and in the number of programs.
// CHECK-LABEL: llvm.func internal @rows.body(
// CHECK-SAME: %{{.*}}: !llvm.ptr {llvm.noalias}, %[[LO:arg[0-9]+]]: i64, %{{.*}}: i64, %[[SYMS:arg[0-9]+]]: !llvm.ptr {llvm.noalias}
// CHECK: %[[PLACE:.*]] = llvm.getelementptr %[[SYMS]][1] : (!llvm.ptr) -> !llvm.ptr, i64
// CHECK: llvm.load %[[PLACE]] : !llvm.ptr -> i64
// CHECK: llvm.mul %{{.*}}, %[[LO]]
func.func @rows(%x: memref<4x?xf32> {adze.dims = affine_map<()[s0, s1] -> (4, s1)>}, %lo: index, %hi: index) attributes {adze.kernel} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %n = memref.dim %x, %c1 : memref<4x?xf32>
  %at = arith.muli %n, %lo : index
  %f = arith.constant 0.0 : f32
  memref.store %f, %x[%c0, %at] : memref<4x?xf32>
  return
}
// CHECK-LABEL: llvm.func @rows_programs(%{{.*}}: !llvm.ptr) -> i64
// CHECK-NOT: unrealized_conversion_cast
func.func @rows_programs(%x: memref<4x?xf32>) -> index {
  %c1 = arith.constant 1 : index
  %n = memref.dim %x, %c1 : memref<4x?xf32>
  return %n : index
}

// -----

// Allocations are parts of the scratch memory, aligned to 64 bytes.
// CHECK-LABEL: llvm.func internal @scratch.body(
// CHECK-SAME: %[[SCRATCH:arg[0-9]+]]: !llvm.ptr {llvm.noalias})
// CHECK: llvm.getelementptr %[[SCRATCH]]
// CHECK-NOT: malloc
func.func @scratch(%x: memref<?xf32> {adze.dims = affine_map<()[s0] -> (s0)>}) attributes {adze.kernel} {
  %c0 = arith.constant 0 : index
  %n = memref.dim %x, %c0 : memref<?xf32>
  %a = memref.alloc(%n) : memref<?xf32>
  %b = memref.alloc() : memref<2048xf32>
  %v = memref.load %a[%c0] : memref<?xf32>
  memref.store %v, %b[%c0] : memref<2048xf32>
  memref.dealloc %a : memref<?xf32>
  return
}
// CHECK-LABEL: llvm.func @scratch_scratch(%{{.*}}: !llvm.ptr) -> i64

// -----

func.func @unknown_size(%x: memref<4xindex>) attributes {adze.kernel} {
  %c0 = arith.constant 0 : index
  %n = memref.load %x[%c0] : memref<4xindex>
  // expected-error@+1 {{unsupported: expected a size computed from the kernel's argument shapes}}
  %a = memref.alloc(%n) : memref<?xf32>
  return
}

// -----

// expected-error@+1 {{expected 'adze.dims' on dynamic argument 0}}
func.func @no_dims(%x: memref<?xf32>) attributes {adze.kernel} {
  return
}

// -----

// expected-error@+1 {{expected a kernel on memrefs and at most a range of programs}}
func.func @not_memrefs(%x: f32) attributes {adze.kernel} {
  return
}

// -----

// A size of the module's symbols, in the body and for its scratch memory. A
// divisor that is 0 counts as 1.
// CHECK-LABEL: llvm.func internal @sizes.body(
// CHECK: %[[ZERO:.*]] = llvm.mlir.constant(0 : {{.*}}) : i64
// CHECK: %[[IS_ZERO:.*]] = llvm.icmp "eq" %[[DIVISOR:.*]], %{{.*}} : i64
// CHECK: %[[ONE:.*]] = llvm.mlir.constant(1 : {{.*}}) : i64
// CHECK: %[[SAFE:.*]] = llvm.select %[[IS_ZERO]], %{{.*}}, %[[DIVISOR]] : i1, i64
// CHECK: llvm.sdiv %{{.*}}, %[[SAFE]]
// CHECK-NOT: host.size
func.func @sizes(%x: memref<4xf32>) attributes {adze.kernel} {
  %n = host.size {value = affine_map<()[s0, s1] -> (s0 floordiv s1)>}
  %t = memref.alloc(%n) {alignment = 64 : i64} : memref<?xf32>
  %c0 = arith.constant 0 : index
  %f = memref.load %t[%c0] : memref<?xf32>
  memref.store %f, %x[%n] : memref<4xf32>
  return
}
// CHECK-LABEL: llvm.func @sizes_programs(

// -----
// A kernel with checks gets the records of faults, 32 bytes each. The index of the
// greatest invalid position is stored, by atomic stores, `raised` last.
// CHECK-LABEL: llvm.func @checked(
// CHECK-SAME: %{{.*}}: !llvm.ptr, %{{.*}}: !llvm.ptr, %{{.*}}: i64, %{{.*}}: i64, %{{.*}}: !llvm.ptr, %[[FAULTS:.*]]: !llvm.ptr)
// CHECK: llvm.call @checked.body({{.*}}, %[[FAULTS]])
// CHECK-LABEL: llvm.func internal @checked.body(
// CHECK-SAME: %[[FAULTS:[a-z0-9]+]]: !llvm.ptr {llvm.noalias})
// CHECK: llvm.alloca
// CHECK: llvm.intr.umax
// CHECK: llvm.icmp "uge"
// CHECK: llvm.cond_br
// CHECK: llvm.getelementptr %[[FAULTS]][72]
// CHECK: llvm.store {{.*}} atomic monotonic
// CHECK: llvm.getelementptr %[[FAULTS]][80]
// CHECK: llvm.getelementptr %[[FAULTS]][88]
// CHECK: llvm.getelementptr %[[FAULTS]][64]
// CHECK: llvm.store {{.*}} atomic monotonic
func.func @checked(%x: memref<4xindex>) attributes {adze.kernel} {
  %c0 = arith.constant 0 : index
  %c4 = arith.constant 4 : index
  %i = memref.load %x[%c0] : memref<4xindex>
  tile.check %i below %c4 fault 2 : index
  return
}

// -----
// For vectors, the kernel tests whether any position is invalid; only then it computes
// the greatest one.
// CHECK-LABEL: llvm.func internal @vectors.body(
// CHECK: %[[OUTSIDE:.*]] = llvm.icmp "uge" {{.*}} : vector<16xi64>
// CHECK: %[[ANY:.*]] = "llvm.intr.vector.reduce.or"(%[[OUTSIDE]])
// CHECK: llvm.cond_br %[[ANY]]
// CHECK: "llvm.intr.vector.reduce.umax"
func.func @vectors(%x: memref<4xindex>) attributes {adze.kernel} {
  %c0 = arith.constant 0 : index
  %c4 = arith.constant 4 : index
  %i = memref.load %x[%c0] : memref<4xindex>
  %v = vector.broadcast %i : index to vector<16xindex>
  tile.check %v below %c4 fault 0 : vector<16xindex>
  return
}

// -----
// LLVM vectorizes loops with checks of single positions, with one vector each; it may
// interleave loops without checks.
// CHECK-DAG: #[[ONE:.*]] = #llvm.loop_interleave<count = 1 : i32>
// CHECK-DAG: #[[LOOP:.*]] = #llvm.loop_annotation<interleave = #[[ONE]]>
// CHECK-LABEL: llvm.func internal @looped.body(
// CHECK: llvm.intr.umax
// CHECK: llvm.br {{.*}} {loop_annotation = #[[LOOP]]}
// CHECK-NOT: loop_annotation
func.func @looped(%x: memref<4xindex>) attributes {adze.kernel} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c4 = arith.constant 4 : index
  cf.br ^head(%c0 : index)
^head(%k: index):
  %more = arith.cmpi slt, %k, %c4 : index
  cf.cond_br %more, ^body, ^next
^body:
  %i = memref.load %x[%k] : memref<4xindex>
  tile.check %i below %c4 fault 0 : index
  %k1 = arith.addi %k, %c1 : index
  cf.br ^head(%k1 : index)
^next:
  cf.br ^other(%c0 : index)
^other(%j: index):
  memref.store %j, %x[%j] : memref<4xindex>
  %j1 = arith.addi %j, %c1 : index
  %again = arith.cmpi slt, %j1, %c4 : index
  cf.cond_br %again, ^other(%j1 : index), ^end
^end:
  return
}

// -----

// Registers of the matrix unit are passed from block to block.
// CHECK-LABEL: llvm.func internal @matrices.body(
// CHECK: llvm.call_intrinsic "llvm.x86.tilezero.internal"
// CHECK: ^bb{{.*}}: i64, %{{.*}}: !llvm.x86_amx):
// CHECK: llvm.call_intrinsic "llvm.x86.tileloadd64.internal"
// CHECK: llvm.call_intrinsic "llvm.x86.tdpbf16ps.internal"
// CHECK: llvm.call_intrinsic "llvm.x86.tilestored64.internal"
func.func @matrices(%x: memref<16x64xbf16>, %w: memref<32x32xbf16>, %y: memref<16x16xf32>) attributes {adze.kernel} {
  %c0 = arith.constant 0 : index
  %c32 = arith.constant 32 : index
  %c64 = arith.constant 64 : index
  %zero = amx.tile_zero : !amx.tile<16x16xf32>
  cf.br ^head(%c0, %zero : index, !amx.tile<16x16xf32>)
^head(%k: index, %sum: !amx.tile<16x16xf32>):
  %a = amx.tile_load %x[%c0, %k] : memref<16x64xbf16> into !amx.tile<16x32xbf16>
  %b = amx.tile_load %w[%c0, %c0] : memref<32x32xbf16> into !amx.tile<16x32xbf16>
  %next = amx.tile_mulf %a, %b, %sum : !amx.tile<16x32xbf16>, !amx.tile<16x32xbf16>, !amx.tile<16x16xf32>
  %after = arith.addi %k, %c32 : index
  %goes = arith.cmpi slt, %after, %c64 : index
  cf.cond_br %goes, ^head(%after, %next : index, !amx.tile<16x16xf32>), ^done
^done:
  amx.tile_store %y[%c0, %c0], %next : memref<16x16xf32>, !amx.tile<16x16xf32>
  return
}

// -----

// Functions become intrinsics if LLVM has one, and calls on scalars otherwise.
// CHECK-LABEL: llvm.func internal @functions.body(
// CHECK: llvm.sdiv
// CHECK: %[[ROOT:.*]] = llvm.intr.sqrt(%{{.*}}) : (f32) -> f32
// CHECK: llvm.intr.tan(%[[ROOT]]) : (f32) -> f32
// CHECK-COUNT-2: llvm.call @cbrtf(%{{.*}}) : (f32) -> f32
func.func @functions(%x: memref<?xf32> {adze.dims = affine_map<()[s0] -> (s0)>}) attributes {adze.kernel} {
  %c0 = arith.constant 0 : index
  %n = memref.dim %x, %c0 : memref<?xf32>
  %i = affine.apply affine_map<()[n] -> (n floordiv 2)>()[%n]
  %v = memref.load %x[%i] : memref<?xf32>
  %root = math.sqrt %v : f32
  %tangent = math.tan %root : f32
  memref.store %tangent, %x[%c0] : memref<?xf32>
  %row = vector.load %x[%i] : memref<?xf32>, vector<2xf32>
  %roots = math.cbrt %row : vector<2xf32>
  vector.store %roots, %x[%i] : memref<?xf32>, vector<2xf32>
  return
}

// -----

func.func @unknown(%x: memref<8xf32>) attributes {adze.kernel} {
  %c0 = arith.constant 0 : index
  // expected-error @+1 {{failed to legalize operation 'arith.constant'}}
  %m = arith.constant dense<0.0> : tensor<4xf32>
  %v = tensor.extract %m[%c0] : tensor<4xf32>
  memref.store %v, %x[%c0] : memref<8xf32>
  return
}
