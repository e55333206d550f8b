// RUN: aopt %s --convert-tile-to-gpu | FileCheck %s
// RUN: cuda-emulate %s --symbols=75,41 | FileCheck %s --check-prefix=EMULATED
// RUN: sed -e '/^#from/,$d' %s | cuda-emulate - --without-each=gpu.barrier | FileCheck %s --check-prefix=WITHOUT

// A tile that is loaded along its rows and stored along its columns passes through shared
// memory, so that adjacent threads access adjacent elements on both sides.
// CHECK-LABEL: llvm.func @transpose(
// CHECK-SAME: adze.shared_bytes = 8448 : i64
// CHECK: llvm.load %{{.*}} -> vector<8xf16>
// CHECK-NOT: gpu.barrier
// CHECK: llvm.store %{{.*}} : f16, !llvm.ptr<3>
// CHECK: gpu.barrier
// CHECK: llvm.load %{{.*}} : !llvm.ptr<3> -> {{.*}}f16
// CHECK-NOT: gpu.barrier
// CHECK: llvm.store %{{.*}} : vector<8xf16>, !llvm.ptr<1>
// EMULATED: transpose: 4 programs of 256 threads agree
// WITHOUT: transpose: without gpu.barrier 0: argument 1 differs
tile.kernel @transpose(%x: memref<128x128xf16> {tile.align = 16 : i64}, %y: memref<128x128xf16> {tile.align = 16 : i64}) {
  %c2 = arith.constant 2 : index
  %c64 = arith.constant 64 : index
  %i, %j = tile.program_id (%c2, %c2) : index, index
  %row = arith.muli %i, %c64 : index
  %column = arith.muli %j, %c64 : index
  %t = tile.load %x[%column, %row] sizes [64, 64] dims [1, 0] : memref<128x128xf16> -> tensor<64x64xf16>
  tile.store %t, %y[%row, %column] : tensor<64x64xf16>, memref<128x128xf16>
  tile.return
}

#from = affine_map<()[s0, s1] -> (s0, s1)>
#to = affine_map<()[s0, s1] -> (s1, s0)>
// Sizes are dynamic, and blocks end past them.
// CHECK-LABEL: llvm.func @dynamic(
// CHECK: gpu.barrier
// CHECK: llvm.load %{{.*}} : !llvm.ptr<3> -> f32
// EMULATED: dynamic: 6 programs of 256 threads agree
tile.kernel @dynamic(%x: memref<?x?xf32> {adze.dims = #from}, %y: memref<?x?xf32> {adze.dims = #to}) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c32 = arith.constant 32 : index
  %m = memref.dim %y, %c0 : memref<?x?xf32>
  %n = memref.dim %y, %c1 : memref<?x?xf32>
  %rows = arith.ceildivui %m, %c32 : index
  %columns = arith.ceildivui %n, %c32 : index
  %j, %i = tile.program_id (%columns, %rows) : index, index
  %row = arith.muli %i, %c32 : index
  %column = arith.muli %j, %c32 : index
  %t = tile.load %x[%column, %row] sizes [32, 32] dims [1, 0] : memref<?x?xf32> -> tensor<32x32xf32>
  %e = math.absf %t : tensor<32x32xf32>
  tile.store %e, %y[%row, %column] : tensor<32x32xf32>, memref<?x?xf32>
  tile.return
}

// The channels of a block of pixels, of which an image has few, after a product: its sums
// are stored along the pixels.
// CHECK-LABEL: llvm.func @channels(
// CHECK: math.fma
// CHECK: gpu.barrier
// CHECK: llvm.store %{{.*}} : f32, !llvm.ptr<3>
// CHECK: gpu.barrier
// CHECK: llvm.load %{{.*}} : !llvm.ptr<3> -> f32
// CHECK: llvm.store %{{.*}}, !llvm.ptr<1>
// EMULATED: channels: 3 programs of 128 threads agree
tile.kernel @channels(%x: memref<3x7x11x16xf32>, %w: memref<16x40xf32>, %y: memref<3x40x7x11xf32>) {
  %c3 = arith.constant 3 : index
  %zero = arith.constant 0.0 : f32
  %n = tile.program_id (%c3) : index
  %a = tile.load %x[%n, 0, 0, 0] sizes [8, 16, 16] dims [1, 2, 3] : memref<3x7x11x16xf32> -> tensor<8x16x16xf32>
  %p = tile.reshape %a to [128, 16] : tensor<8x16x16xf32> -> tensor<128x16xf32>
  %b = tile.load %w[0, 0] sizes [16, 32] : memref<16x40xf32> -> tensor<16x32xf32>
  %init = tile.broadcast %zero to [128, 32] : f32 -> tensor<128x32xf32>
  %d = tile.dot %p, %b, %init : tensor<128x16xf32>, tensor<16x32xf32>, tensor<128x32xf32>
  %s = tile.reshape %d to [8, 16, 32] : tensor<128x32xf32> -> tensor<8x16x32xf32>
  tile.store %s, %y[%n, 0, 0, 0] dims [2, 3, 1] : tensor<8x16x32xf32>, memref<3x40x7x11xf32>
  tile.return
}

// Rows of less than a sector are stored as they are, and so are tiles in the order of
// their loads.
// CHECK-LABEL: llvm.func @short(
// CHECK-SAME: adze.shared_bytes = 0 : i64
// EMULATED: short: 1 programs of {{.*}} agree
tile.kernel @short(%x: memref<4x256xf32>, %y: memref<256x4xf32>) {
  %c1 = arith.constant 1 : index
  %p = tile.program_id (%c1) : index
  %t = tile.load %x[0, 0] sizes [256, 4] dims [1, 0] : memref<4x256xf32> -> tensor<256x4xf32>
  tile.store %t, %y[0, 0] : tensor<256x4xf32>, memref<256x4xf32>
  tile.return
}
// CHECK-LABEL: llvm.func @both(
// CHECK-SAME: adze.shared_bytes = 0 : i64
// EMULATED: both: 1 programs of {{.*}} agree
tile.kernel @both(%x: memref<64x64xf32>, %y: memref<64x64xf32>) {
  %c1 = arith.constant 1 : index
  %p = tile.program_id (%c1) : index
  %t = tile.load %x[0, 0] sizes [64, 64] dims [1, 0] : memref<64x64xf32> -> tensor<64x64xf32>
  tile.store %t, %y[0, 0] dims [1, 0] : tensor<64x64xf32>, memref<64x64xf32>
  tile.return
}
