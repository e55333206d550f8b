// A row by a matrix in panels, each of which is read once from beginning to end, so the
// hardware prefetches it. The rows of a row-major matrix are far apart: those of the fourth
// step ahead are prefetched.
// RUN: aopt %s -tile-specialize -convert-tile-to-vector -canonicalize -cse -split-input-file | FileCheck %s

#panels = affine_map<(d0, d1) -> (d1 floordiv 32, d0, d1 mod 32)>
// CHECK-LABEL: func.func @panels(
// CHECK: scf.for {{.*}} iter_args
// CHECK-NOT: memref.prefetch %arg1
// CHECK-COUNT-2: vector.load %arg1{{.*}} : memref<4x512x32xf32>, vector<16xf32>
// CHECK-COUNT-2: vector.fma
// CHECK: scf.yield
// CHECK-NOT: memref.prefetch %arg1
// CHECK: return
tile.kernel @panels(%a: memref<1x512xf32>, %b: memref<512x128xf32, #panels>, %y: memref<1x128xf32>) {
  %c4 = arith.constant 4 : index
  %c32 = arith.constant 32 : index
  %p = tile.program_id (%c4) : index
  %col = arith.muli %p, %c32 : index
  %f0 = arith.constant 0.0 : f32
  %zero = tile.broadcast %f0 to [1, 32] : f32 -> tensor<1x32xf32>
  %ta = tile.load %a[0, 0] sizes [1, 512] : memref<1x512xf32> -> tensor<1x512xf32>
  %tb = tile.load %b[0, %col] sizes [512, 32] : memref<512x128xf32, #panels> -> tensor<512x32xf32>
  %d = tile.dot %ta, %tb, %zero : tensor<1x512xf32>, tensor<512x32xf32>, tensor<1x32xf32>
  tile.store %d, %y[0, %col] : tensor<1x32xf32>, memref<1x128xf32>
  tile.return
}

// -----

// CHECK-LABEL: func.func @as_it_lies(
// CHECK: scf.for %[[K:.*]] = %c0 to %c512
// CHECK: %[[AHEAD:.*]] = arith.addi %[[K]], %c4
// CHECK-NEXT: memref.prefetch %arg1[%[[AHEAD]], %{{.*}}], read
tile.kernel @as_it_lies(%a: memref<1x512xf32>, %b: memref<512x128xf32>, %y: memref<1x128xf32>) {
  %c4 = arith.constant 4 : index
  %c32 = arith.constant 32 : index
  %p = tile.program_id (%c4) : index
  %col = arith.muli %p, %c32 : index
  %f0 = arith.constant 0.0 : f32
  %zero = tile.broadcast %f0 to [1, 32] : f32 -> tensor<1x32xf32>
  %ta = tile.load %a[0, 0] sizes [1, 512] : memref<1x512xf32> -> tensor<1x512xf32>
  %tb = tile.load %b[0, %col] sizes [512, 32] : memref<512x128xf32> -> tensor<512x32xf32>
  %d = tile.dot %ta, %tb, %zero : tensor<1x512xf32>, tensor<512x32xf32>, tensor<1x32xf32>
  tile.store %d, %y[0, %col] : tensor<1x32xf32>, memref<1x128xf32>
  tile.return
}
