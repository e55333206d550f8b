// RUN: aopt %s --convert-tile-to-gpu | FileCheck %s
// RUN: cuda-emulate %s | FileCheck %s --check-prefix=EMULATED

// Threads of a warp combine results of all types by shuffles of 32 bits: 64 bits are two,
// and fewer are extended. Only the results of warps pass through shared memory: with 256
// threads, eight.
// CHECK-LABEL: llvm.func @i64(
// CHECK: gpu.shuffle xor %{{.*}} : i32
// CHECK-COUNT-8: llvm.load %{{.*}} : !llvm.ptr<3>
// CHECK-NOT: llvm.load %{{.*}} : !llvm.ptr<3>
// CHECK: llvm.return
// EMULATED-DAG: i64: 1 programs of 256 threads agree
// CHECK-LABEL: llvm.func @i8(
// CHECK: gpu.shuffle xor %{{.*}} : i32
// CHECK-COUNT-8: llvm.load %{{.*}} : !llvm.ptr<3>
// CHECK-NOT: llvm.load %{{.*}} : !llvm.ptr<3>
// CHECK: llvm.return
// EMULATED-DAG: i8: 1 programs of 256 threads agree
// CHECK-LABEL: llvm.func @i16(
// CHECK: gpu.shuffle xor %{{.*}} : i32
// CHECK-COUNT-8: llvm.load %{{.*}} : !llvm.ptr<3>
// CHECK-NOT: llvm.load %{{.*}} : !llvm.ptr<3>
// CHECK: llvm.return
// EMULATED-DAG: i16: 1 programs of 256 threads agree
// CHECK-LABEL: llvm.func @f64(
// CHECK: gpu.shuffle xor %{{.*}} : i32
// CHECK-COUNT-8: llvm.load %{{.*}} : !llvm.ptr<3>
// CHECK-NOT: llvm.load %{{.*}} : !llvm.ptr<3>
// CHECK: llvm.return
// EMULATED-DAG: f64: 1 programs of 256 threads agree
// CHECK-LABEL: llvm.func @f16(
// CHECK: gpu.shuffle xor %{{.*}} : i32
// CHECK-COUNT-8: llvm.load %{{.*}} : !llvm.ptr<3>
// CHECK-NOT: llvm.load %{{.*}} : !llvm.ptr<3>
// CHECK: llvm.return
// EMULATED-DAG: f16: 1 programs of 256 threads agree
// CHECK-LABEL: llvm.func @i32(
// CHECK: gpu.shuffle xor
// CHECK-COUNT-8: llvm.load %{{.*}} : !llvm.ptr<3>
// CHECK-NOT: llvm.load %{{.*}} : !llvm.ptr<3>
// CHECK: llvm.return
// EMULATED-DAG: i32: 1 programs of 256 threads agree

tile.kernel @i64(%x: memref<1x1024xi64> {tile.align = 64 : i64}, %y: memref<1xi64>) {
  %t = tile.load %x[0, 0] sizes [1, 1024] : memref<1x1024xi64> -> tensor<1x1024xi64>
  %r = tile.reduce max %t dim 1 : tensor<1x1024xi64> -> tensor<1xi64>
  tile.store %r, %y[0] : tensor<1xi64>, memref<1xi64>
  tile.return
}

tile.kernel @i8(%x: memref<1x1024xi8> {tile.align = 64 : i64}, %y: memref<1xi8>) {
  %t = tile.load %x[0, 0] sizes [1, 1024] : memref<1x1024xi8> -> tensor<1x1024xi8>
  %r = tile.reduce max %t dim 1 : tensor<1x1024xi8> -> tensor<1xi8>
  tile.store %r, %y[0] : tensor<1xi8>, memref<1xi8>
  tile.return
}

tile.kernel @i16(%x: memref<1x1024xi16> {tile.align = 64 : i64}, %y: memref<1xi16>) {
  %t = tile.load %x[0, 0] sizes [1, 1024] : memref<1x1024xi16> -> tensor<1x1024xi16>
  %r = tile.reduce min %t dim 1 : tensor<1x1024xi16> -> tensor<1xi16>
  tile.store %r, %y[0] : tensor<1xi16>, memref<1xi16>
  tile.return
}

tile.kernel @f64(%x: memref<1x1024xf64> {tile.align = 64 : i64}, %y: memref<1xf64>) {
  %t = tile.load %x[0, 0] sizes [1, 1024] : memref<1x1024xf64> -> tensor<1x1024xf64>
  %r = tile.reduce add %t dim 1 : tensor<1x1024xf64> -> tensor<1xf64>
  tile.store %r, %y[0] : tensor<1xf64>, memref<1xf64>
  tile.return
}

tile.kernel @f16(%x: memref<1x1024xf16> {tile.align = 64 : i64}, %y: memref<1xf16>) {
  %t = tile.load %x[0, 0] sizes [1, 1024] : memref<1x1024xf16> -> tensor<1x1024xf16>
  %r = tile.reduce max %t dim 1 : tensor<1x1024xf16> -> tensor<1xf16>
  tile.store %r, %y[0] : tensor<1xf16>, memref<1xf16>
  tile.return
}

tile.kernel @i32(%x: memref<1x1024xi32> {tile.align = 64 : i64}, %y: memref<1xi32>) {
  %t = tile.load %x[0, 0] sizes [1, 1024] : memref<1x1024xi32> -> tensor<1x1024xi32>
  %r = tile.reduce add %t dim 1 : tensor<1x1024xi32> -> tensor<1xi32>
  tile.store %r, %y[0] : tensor<1xi32>, memref<1xi32>
  tile.return
}
