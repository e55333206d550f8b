// RUN: cuda-emulate %s --symbols=37,45 | FileCheck %s
// RUN: cuda-emulate %s --symbols=1,3 | FileCheck %s
// RUN: cuda-emulate %s --symbols=16,64 | FileCheck %s

// A ring with dynamic rows and depth, whose nested loops are one loop over all chunks.
// The sums of the second loop are those of windows that end within a step.
// CHECK: product: {{.*}} agree
#x = affine_map<()[s0, s1] -> (s0, s1)>
#w = affine_map<()[s0, s1] -> (s1, 32)>
#y = affine_map<()[s0, s1] -> (s0, 32)>
module attributes {tile.targets = [#tile.cuda<chip = "sm_90a", multiprocessors = 132, shared_bytes = 232448>]} {
tile.kernel @product(%x: memref<?x?xf32> {adze.dims = #x}, %w: memref<?x32xf32> {adze.dims = #w}, %y: memref<?x32xf32> {adze.dims = #y}) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c3 = arith.constant 3 : index
  %c16 = arith.constant 16 : index
  %c32 = arith.constant 32 : index
  %rows = memref.dim %x, %c0 : memref<?x?xf32>
  %depth = memref.dim %x, %c1 : memref<?x?xf32>
  %grid = arith.ceildivui %rows, %c16 : index
  %p = tile.program_id (%grid) : index
  %m = arith.muli %p, %c16 : index
  %z = arith.constant dense<0.0> : tensor<16x32xf32>
  %sum = scf.for %r = %c0 to %c3 step %c1 iter_args(%outer = %z) -> (tensor<16x32xf32>) {
    %inner = scf.for %k = %c0 to %depth step %c32 iter_args(%acc = %outer) -> (tensor<16x32xf32>) {
      %row = arith.addi %m, %r : index
      %a = tile.load %x[%row, %k] sizes [16, 32] : memref<?x?xf32> -> tensor<16x32xf32>
      %b = tile.load %w[%k, 0] sizes [32, 32] : memref<?x32xf32> -> tensor<32x32xf32>
      %d = tile.dot %a, %b, %acc : tensor<16x32xf32>, tensor<32x32xf32>, tensor<16x32xf32>
      scf.yield %d : tensor<16x32xf32>
    }
    scf.yield %inner : tensor<16x32xf32>
  }
  tile.store %sum, %y[%m, 0] : tensor<16x32xf32>, memref<?x32xf32>
  tile.return
}
}
