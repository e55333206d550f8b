// Without a CUDA toolkit, functions of f32 are arithmetic, up to the largest arguments of
// sin, and functions of f64 are rejected.
// RUN: cuda-compile --no-toolkit %s | FileCheck %s --implicit-check-not=__nv_ --implicit-check-not=call
// RUN: sed 's/f32/f64/g' %s > %t.mlir && not cuda-compile --no-toolkit %t.mlir 2>&1 | FileCheck %s --check-prefix=DOUBLE

// CHECK: .visible .entry functions(
// CHECK: sqrt.rn.f32
// CHECK: fma.rn.f32
// CHECK: mul.lo.s64
// DOUBLE: error: unsupported: 'math.sin' of 'f64' on a GPU without libdevice; install the CUDA toolkit, or set CUDA_HOME
tile.kernel @functions(%x: memref<1024xf32>, %y: memref<1024xf32>) {
  %c0 = arith.constant 0 : index
  %t = tile.load %x[%c0] sizes [1024] : memref<1024xf32> -> tensor<1024xf32>
  %0 = math.sqrt %t : tensor<1024xf32>
  %1 = math.sin %0 : tensor<1024xf32>
  %2 = math.tan %1 : tensor<1024xf32>
  %3 = math.exp %2 : tensor<1024xf32>
  %4 = math.powf %3, %t : tensor<1024xf32>
  %5 = math.floor %4 : tensor<1024xf32>
  tile.store %5, %y[%c0] : tensor<1024xf32>, memref<1024xf32>
  tile.return
}
