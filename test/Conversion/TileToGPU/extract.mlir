// The element of a tile without dims is a scalar that all threads hold.
// RUN: aopt %s --convert-tile-to-gpu -canonicalize -split-input-file -verify-diagnostics | FileCheck %s
// RUN: sed '/^\/\/ One of several/,$d; s/^\/\/ -----//' %s | cuda-emulate - | FileCheck %s --check-prefix=EMULATED

// Each step subtracts the maximum from its row, until there is no positive number.
// CHECK-LABEL: llvm.func @until(
// CHECK: scf.for {{.*}} iter_args(
// CHECK: %[[IS:.*]] = arith.cmpf ogt
// CHECK: scf.if %[[IS]]
// CHECK: gpu.barrier
// EMULATED: until: 8 programs of {{.*}} agree
tile.kernel @until(%x: memref<8x500xf32>, %y: memref<8x500xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c6 = arith.constant 6 : index
  %c8 = arith.constant 8 : index
  %p = tile.program_id (%c8) : index
  %t = tile.load %x[%p, 0] sizes [500] dims [1] : memref<8x500xf32> -> tensor<500xf32>
  %m = tile.reduce max %t dim 0 : tensor<500xf32> -> tensor<f32>
  %rest:2 = scf.for %i = %c0 to %c6 step %c1 iter_args(%last = %t, %most = %m) -> (tensor<500xf32>, tensor<f32>) {
    %s = tensor.extract %most[] : tensor<f32>
    %zero = arith.constant 0.0 : f32
    %is = arith.cmpf ogt, %s, %zero : f32
    %next:2 = scf.if %is -> (tensor<500xf32>, tensor<f32>) {
      %b = tile.broadcast %s to [500] : f32 -> tensor<500xf32>
      %less = arith.subf %last, %b : tensor<500xf32>
      %n = tile.reduce max %less dim 0 : tensor<500xf32> -> tensor<f32>
      scf.yield %less, %n : tensor<500xf32>, tensor<f32>
    } else {
      scf.yield %last, %most : tensor<500xf32>, tensor<f32>
    }
    scf.yield %next#0, %next#1 : tensor<500xf32>, tensor<f32>
  }
  tile.store %rest#0, %y[%p, 0] dims [1] : tensor<500xf32>, memref<8x500xf32>
  tile.return
}

// -----

// One of several elements is not available as a scalar.
// expected-remark@below {{kernel has no GPU form as tiles: 'tensor.extract': expected a tile without dims}}
tile.kernel @one(%x: memref<64xf32>, %y: memref<64xf32>) {
  %c0 = arith.constant 0 : index
  %t = tile.load %x[0] sizes [64] : memref<64xf32> -> tensor<64xf32>
  %s = tensor.extract %t[%c0] : tensor<64xf32>
  memref.store %s, %y[%c0] : memref<64xf32>
  tile.return
}
