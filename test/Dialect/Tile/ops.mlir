// Every op round-trips, with parameters still unbound and with static sizes.
// RUN: aopt %s | aopt | FileCheck %s

#pack = affine_map<(k, n) -> (n floordiv 32, k, n mod 32)>

// CHECK-LABEL: tile.kernel @parametric
// CHECK-SAME: tile.align = 64
// CHECK-SAME: attributes {tile.params = {BLOCK = 64 : i64}}
tile.kernel @parametric(%x: memref<?x56x64xf32> {tile.align = 64 : i64},
                        %w: memref<64x64xf32, #pack>, %y: memref<?x64xf32>)
    attributes {tile.params = {BLOCK = 64 : i64}} {
  // CHECK: %[[B:.*]] = tile.param "BLOCK" in [8, 64] : index
  %b = tile.param "BLOCK" in [8, 64] : index
  %c0 = arith.constant 0 : index
  %n = memref.dim %x, %c0 : memref<?x56x64xf32>
  %g = arith.ceildivui %n, %b : index
  // CHECK: %[[P:.*]]:2 = tile.program_id(%{{.*}}, %{{.*}}) : index, index
  %p, %q = tile.program_id (%g, %g) : index, index
  // CHECK: tile.load %{{.*}}[%[[P]]#0, -1, %[[P]]#1] sizes [%[[B]], 8] dims [1, 2] strides [2, 1] pad 1.000000e+00 : f32
  %t = tile.load %x[%p, -1, %q] sizes [%b, 8] dims [1, 2] strides [2, 1] pad 1.0 : f32
      : memref<?x56x64xf32> -> tensor<?x8xf32>
  // CHECK: tile.load %{{.*}}[%{{.*}}, 0] sizes [8, 64] : memref<64x64xf32, #{{.*}}> -> tensor<8x64xf32>
  %v = tile.load %w[%p, 0] sizes [8, 64] : memref<64x64xf32, #pack> -> tensor<8x64xf32>
  %f = arith.constant 0.0 : f32
  // CHECK: tile.broadcast %{{.*}} to [%[[B]], 64] : f32 -> tensor<?x64xf32>
  %z = tile.broadcast %f to [%b, 64] : f32 -> tensor<?x64xf32>
  // CHECK: tile.dot %{{.*}}, %{{.*}}, %{{.*}} : tensor<?x8xf32>, tensor<8x64xf32>, tensor<?x64xf32>
  %d = tile.dot %t, %v, %z : tensor<?x8xf32>, tensor<8x64xf32>, tensor<?x64xf32>
  // CHECK: tile.store %{{.*}}, %{{.*}}[%{{.*}}, 0] : tensor<?x64xf32>, memref<?x64xf32>
  tile.store %d, %y[%p, 0] : tensor<?x64xf32>, memref<?x64xf32>
  tile.return
}

// CHECK-LABEL: tile.kernel @compute
tile.kernel @compute(%x: memref<8x64xf32>, %y: memref<8xf32>, %z: memref<16x32xf32>) {
  // CHECK: tile.load
  %t = tile.load %x[0, 0] sizes [8, 64] : memref<8x64xf32> -> tensor<8x64xf32>
  // CHECK: tile.reduce max %{{.*}} dim 1 : tensor<8x64xf32> -> tensor<8xf32>
  %m = tile.reduce max %t dim 1 : tensor<8x64xf32> -> tensor<8xf32>
  // CHECK: tile.broadcast %{{.*}} to [8, 64] dims [0] : tensor<8xf32> -> tensor<8x64xf32>
  %b = tile.broadcast %m to [8, 64] dims [0] : tensor<8xf32> -> tensor<8x64xf32>
  // CHECK: tile.iota dim 1 to [8, 64] : tensor<8x64xi32>
  %i = tile.iota dim 1 to [8, 64] : tensor<8x64xi32>
  // CHECK: tile.gather %{{.*}}[0, 0] at %{{.*}} along 1 dims [0, -1] pad 2.000000e+00 : f32 : memref<8x64xf32>, tensor<8x64xi32> -> tensor<8x64xf32>
  %g = tile.gather %x[0, 0] at %i along 1 dims [0, -1] pad 2.0 : f32 : memref<8x64xf32>, tensor<8x64xi32> -> tensor<8x64xf32>
  // CHECK: tile.gather %{{.*}}[0, 0] at %{{.*}} along 1 dims [0, -1] strides [2, 1] : memref<8x64xf32>
  %gs = tile.gather %x[0, 0] at %i along 1 dims [0, -1] strides [2, 1] : memref<8x64xf32>, tensor<8x64xi32> -> tensor<8x64xf32>
  // CHECK: tile.scan add %{{.*}} dim 1 exclusive : tensor<8x64xf32>
  %sc = tile.scan add %t dim 1 exclusive : tensor<8x64xf32>
  // CHECK: tile.scan umin %{{.*}} dim 0 : tensor<8x64xi32>
  %sm = tile.scan umin %i dim 0 : tensor<8x64xi32>
  // CHECK: tile.scatter %{{.*}}, %{{.*}}[0, 0] at %{{.*}} along 1 dims [0, -1] : tensor<8x64xf32>, memref<8x64xf32>, tensor<8x64xi32>
  tile.scatter %g, %x[0, 0] at %i along 1 dims [0, -1] : tensor<8x64xf32>, memref<8x64xf32>, tensor<8x64xi32>
  // CHECK: tile.scatter %{{.*}}, %{{.*}}[0, 0] at %{{.*}} along 1 dims [0, -1] combine max : tensor<8x64xf32>
  tile.scatter %g, %x[0, 0] at %i along 1 dims [0, -1] combine max : tensor<8x64xf32>, memref<8x64xf32>, tensor<8x64xi32>
  // CHECK: tile.reduce or %{{.*}} dim 0 : tensor<8x64xi32> -> tensor<64xi32>
  %o = tile.reduce or %i dim 0 : tensor<8x64xi32> -> tensor<64xi32>
  %s = arith.addf %g, %b : tensor<8x64xf32>
  // CHECK: tile.reshape %{{.*}} to [32, 16] : tensor<8x64xf32> -> tensor<32x16xf32>
  %r = tile.reshape %s to [32, 16] : tensor<8x64xf32> -> tensor<32x16xf32>
  // CHECK: tile.bitcast %{{.*}} to f16 : tensor<8x64xi32> -> tensor<8x64x2xf16>
  %h = tile.bitcast %i to f16 : tensor<8x64xi32> -> tensor<8x64x2xf16>
  %bytes = arith.trunci %i : tensor<8x64xi32> to tensor<8x64xi8>
  // CHECK: tile.byte_lookup %{{.*}} in dense<7> : tensor<256xi8> : tensor<8x64xi8>
  %l = tile.byte_lookup %bytes in dense<7> : tensor<256xi8> : tensor<8x64xi8>
  // CHECK: tile.transpose %{{.*}} perm [1, 0] : tensor<32x16xf32> -> tensor<16x32xf32>
  %u = tile.transpose %r perm [1, 0] : tensor<32x16xf32> -> tensor<16x32xf32>
  tile.store %m, %y[0] : tensor<8xf32>, memref<8xf32>
  tile.store %u, %z[0, 0] : tensor<16x32xf32>, memref<16x32xf32>
  tile.return
}

// Steps, one after the other.
// CHECK-LABEL: tile.kernel @steps
tile.kernel @steps(%y: memref<8x4xf32>) {
  %c4 = arith.constant 4 : index
  %c8 = arith.constant 8 : index
  // CHECK: tile.program_id(%{{.*}}, %{{.*}}) ordered : index, index
  %p, %t = tile.program_id (%c4, %c8) ordered : index, index
  tile.return
}

// Steps of groups, and a barrier of a group.
// CHECK-LABEL: tile.kernel @groups
tile.kernel @groups(%y: memref<8x4xf32>) {
  %c4 = arith.constant 4 : index
  %c8 = arith.constant 8 : index
  // CHECK: tile.program_id(%{{.*}}, %{{.*}}) ordered grouped : index, index
  %p, %t = tile.program_id (%c4, %c8) ordered grouped : index, index
  tile.return
}

// CHECK-LABEL: tile.kernel @barrier
tile.kernel @barrier(%y: memref<4xf32>) {
  %c4 = arith.constant 4 : index
  %p = tile.program_id (%c4) : index
  %v = tile.load %y[%p] sizes [1] : memref<4xf32> -> tensor<1xf32>
  // CHECK: tile.barrier {programs = 4 : i64}
  tile.barrier {programs = 4 : i64}
  tile.store %v, %y[%p] : tensor<1xf32>, memref<4xf32>
  tile.return
}

// CHECK-LABEL: tile.kernel @view
tile.kernel @view(%x: memref<?x8xf32>) {
  %c0 = arith.constant 0 : index
  %n = memref.dim %x, %c0 : memref<?x8xf32>
  // CHECK: tile.view %{{.*}} sizes [%{{.*}}, 2, 4] : memref<?x8xf32> to memref<?x2x4xf32, #{{.*}}>
  %v = tile.view %x sizes [%n, 2, 4] : memref<?x8xf32> to memref<?x2x4xf32, affine_map<(n, i, j) -> (n, j * 2 + i)>>
  %t = tile.load %v[0, 0, 0] sizes [2, 4] : memref<?x2x4xf32, affine_map<(n, i, j) -> (n, j * 2 + i)>> -> tensor<2x4xf32>
  tile.return
}
