// RUN: cuda-emulate %s --without-each=. > %t
// RUN: FileCheck %s < %t

// A product whose operands are copied to a ring, without each of its commits, waits and
// barriers in turn: the emulator notices all.
// CHECK-DAG: product: 1 programs of 128 threads agree
// CHECK-DAG: product: without nvvm.cp.async.commit.group 0: argument 2 differs
// CHECK-DAG: product: without nvvm.cp.async.commit.group 1: argument 2 differs
// CHECK-DAG: product: without nvvm.cp.async.commit.group 2: argument 2 differs
// CHECK-DAG: product: without nvvm.cp.async.wait.group 0: a block ends while copies write its shared memory
// CHECK-DAG: product: without gpu.barrier 0: argument 2 differs
// CHECK-DAG: product: without nvvm.cp.async.commit.group 3: a block ends while copies write its shared memory
// CHECK-NOT: NOT NOTICED
module attributes {tile.targets = [#tile.cuda<chip = "sm_90a", multiprocessors = 132, shared_bytes = 232448>]} {
tile.kernel @product(%x: memref<16x200xf32> {tile.align = 64 : i64}, %w: memref<200x32xf32> {tile.align = 64 : i64}, %y: memref<16x32xf32> {tile.align = 64 : i64}) {
  %a = tile.load %x[0, 0] sizes [16, 200] : memref<16x200xf32> -> tensor<16x200xf32>
  %b = tile.load %w[0, 0] sizes [200, 32] : memref<200x32xf32> -> tensor<200x32xf32>
  %z = arith.constant dense<0.0> : tensor<16x32xf32>
  %d = tile.dot %a, %b, %z : tensor<16x200xf32>, tensor<200x32xf32>, tensor<16x32xf32>
  tile.store %d, %y[0, 0] : tensor<16x32xf32>, memref<16x32xf32>
  tile.return
}
}
