// RUN: aopt %s --tile-fuse-steps --convert-tile-to-gpu | FileCheck %s
// RUN: cuda-emulate %s --symbols=5,3 --tolerance=1e-4 --without-each=cluster.wait | FileCheck %s --check-prefix=EMULATED
// RUN: sed 's/sm_90a"/sm_80"/; s/features = \[tma\]/features = []/' %s > %t.mlir
// RUN: aopt %t.mlir --tile-fuse-steps --convert-tile-to-gpu | FileCheck %s --check-prefix=LAUNCHES
// RUN: cuda-emulate %t.mlir --symbols=5,3 --tolerance=1e-4 | FileCheck %s --check-prefix=SAME
// RUN: sed 's/constant 2 :/constant 1 :/; s/constant 16 :/constant 32 :/; s/x16x/x32x/g; s/, 16\]/, 32]/g' %t.mlir > %t.one
// RUN: aopt %t.one --tile-fuse-steps --convert-tile-to-gpu | FileCheck %s --check-prefix=ONE
// RUN: cuda-emulate %t.one --symbols=5,3 --tolerance=1e-4 | FileCheck %s --check-prefix=EACH
// RUN: aopt %t.one --tile-fuse-steps --convert-tile-to-linalg | FileCheck %s --check-prefix=LOOPS
// RUN: not aopt %s --tile-fuse-steps --convert-tile-to-linalg 2>&1 | FileCheck %s --check-prefix=REFUSED

// The programs of a group are the blocks of a cluster, which loop over the steps. The
// weights are copied to shared memory before the loop, as they are equal in all steps. The
// input is loaded before the product, so that both overlap.
// CHECK-LABEL: llvm.func @steps(
// CHECK-NOT: adze.ordered
// CHECK-SAME: nvvm.cluster_dim = array<i32: 2, 1, 1>
// CHECK: llvm.store %{{.*}} : vector<{{.*}}>, !llvm.ptr<3>
// CHECK: scf.for
// CHECK: llvm.load %{{.*}} : !llvm.ptr<1> -> f32
// CHECK: math.fma
// A thread stores to the same elements of the last argument in all steps: no barrier.
// CHECK: math.tanh
// CHECK-NOT: gpu.barrier
// CHECK: nvvm.cluster.arrive
// CHECK-NEXT: nvvm.cluster.wait
// CHECK: llvm.return
// One launch has the programs of one step.
// CHECK-LABEL: llvm.func @steps_cuda_programs(
// CHECK-NOT: llvm.mul
// CHECK: llvm.return

// Without clusters, a launch runs one step.
// LAUNCHES-LABEL: llvm.func @steps(
// LAUNCHES-SAME: adze.ordered
// LAUNCHES-NOT: nvvm.cluster.wait

// A group of one program is a block of threads, which waits for itself. Its operations are in
// order in loops, too; those of several programs are not.
// ONE-LABEL: llvm.func @steps(
// ONE-NOT: nvvm.cluster
// ONE: scf.for
// ONE: gpu.barrier
// ONE-NOT: nvvm.cluster
// EACH: steps: 15 programs of {{.*}} agree
// LOOPS-LABEL: func.func @steps(
// LOOPS: scf.for
// LOOPS-NOT: tile.
// LOOPS: return
// REFUSED: error: unsupported: 2 programs of a kernel wait for each other, which loops cannot do

// EMULATED: steps: 30 programs of 256 threads agree
// EMULATED-NEXT: steps: without nvvm.cluster.wait 0: argument 2 differs
// SAME: steps: 30 programs of 128 threads agree

#all = affine_map<()[s0, s1] -> (s0, s1, 32)>
module attributes {tile.targets = [#tile.cuda<chip = "sm_90a", shared_bytes = 232448, units = [], features = [tma]>]} {
tile.kernel @steps(%x: memref<?x?x32xf32> {adze.dims = #all}, %w: memref<32x32xf32> {tile.align = 64 : i64, tile.constant}, %y: memref<?x?x32xf32> {adze.dims = #all}, %z: memref<?x32xf32> {adze.dims = affine_map<()[s0, s1] -> (s1, 32)>}) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %c16 = arith.constant 16 : index
  %f0 = arith.constant 0.0 : f32
  %n = memref.dim %y, %c0 : memref<?x?x32xf32>
  %m = memref.dim %y, %c1 : memref<?x?x32xf32>
  %i, %j, %t = tile.program_id(%c2, %m, %n) ordered grouped : index, index, index
  %u = arith.muli %i, %c16 : index
  %s = arith.subi %t, %c1 : index
  %before = arith.maxsi %s, %c0 : index
  %input = tile.load %x[%t, %j, %u] sizes [1, 16] : memref<?x?x32xf32> -> tensor<1x16xf32>
  %previous = tile.load %y[%before, %j, 0] sizes [1, 32] {tile.earlier} : memref<?x?x32xf32> -> tensor<1x32xf32>
  %none = tile.broadcast %f0 to [1, 32] : f32 -> tensor<1x32xf32>
  %first = arith.cmpi eq, %t, %c0 : index
  %isFirst = tile.broadcast %first to [1, 32] : i1 -> tensor<1x32xi1>
  %h = arith.select %isFirst, %none, %previous : tensor<1x32xi1>, tensor<1x32xf32>
  %weights = tile.load %w[0, %u] sizes [32, 16] : memref<32x32xf32> -> tensor<32x16xf32>
  %zero = tile.broadcast %f0 to [1, 16] : f32 -> tensor<1x16xf32>
  %product = tile.dot %h, %weights, %zero : tensor<1x32xf32>, tensor<32x16xf32>, tensor<1x16xf32>
  %sum = arith.addf %input, %product : tensor<1x16xf32>
  %r = math.tanh %sum : tensor<1x16xf32>
  tile.store %r, %y[%t, %j, %u] : tensor<1x16xf32>, memref<?x?x32xf32>
  tile.store %r, %z[%j, %u] : tensor<1x16xf32>, memref<?x32xf32>
  tile.return
}
}
