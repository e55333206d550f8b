// RUN: aopt %s -convert-tile-to-linalg -split-input-file | FileCheck %s

#pack = affine_map<(k, n) -> (n floordiv 32, k, n mod 32)>

// CHECK-LABEL: func.func @gemm_programs(
// CHECK-LABEL: func.func @gemm(
// CHECK-SAME: %[[X:[a-z0-9]+]]: memref<8x64xf32>, %[[W:[a-z0-9]+]]: memref<1x64x32xf32>
// CHECK-SAME: %[[LO:[a-z0-9]+]]: index, %[[HI:[a-z0-9]+]]: index)
// CHECK: scf.for %{{.*}} = %[[LO]] to %[[HI]]
tile.kernel @gemm(%x: memref<8x64xf32>, %w: memref<64x32xf32, #pack>, %y: memref<8x32xf32>) {
  %f = arith.constant 0.0 : f32
  // CHECK: linalg.fill
  %z = tile.broadcast %f to [8, 32] : f32 -> tensor<8x32xf32>
  // CHECK: tensor.generate
  // CHECK: arith.cmpi ult
  // CHECK: memref.load %[[X]]
  %a = tile.load %x[0, 0] sizes [8, 64] : memref<8x64xf32> -> tensor<8x64xf32>
  // CHECK: tensor.generate
  // CHECK: memref.load %[[W]][%{{.*}}, %{{.*}}, %{{.*}}] : memref<1x64x32xf32>
  %b = tile.load %w[0, 0] sizes [64, 32] : memref<64x32xf32, #pack> -> tensor<64x32xf32>
  // CHECK: linalg.generic {{.*}} iterator_types = ["parallel", "parallel", "reduction"]
  %d = tile.dot %a, %b, %z : tensor<8x64xf32>, tensor<64x32xf32>, tensor<8x32xf32>
  // CHECK: scf.if
  // CHECK: memref.store
  tile.store %d, %y[0, 0] : tensor<8x32xf32>, memref<8x32xf32>
  tile.return
}

// -----

// CHECK-LABEL: func.func @rows(
tile.kernel @rows(%x: memref<8x64xf32>, %y: memref<8xf32>) {
  // CHECK: tensor.generate
  %t = tile.load %x[0, 0] sizes [8, 64] pad 1.0 : f32 : memref<8x64xf32> -> tensor<8x64xf32>
  // CHECK: linalg.generic
  // CHECK: arith.negf
  %n = arith.negf %t : tensor<8x64xf32>
  // CHECK: linalg.reduce
  // CHECK: arith.maximumf
  %m = tile.reduce max %n dim 1 : tensor<8x64xf32> -> tensor<8xf32>
  tile.store %m, %y[0] : tensor<8xf32>, memref<8xf32>
  tile.return
}

// -----

// Each element of a scan combines those before it in a loop.
// CHECK-LABEL: func.func @scan(
tile.kernel @scan(%x: memref<4x8xf32>, %y: memref<4x8xf32>) {
  %t = tile.load %x[0, 0] sizes [4, 8] : memref<4x8xf32> -> tensor<4x8xf32>
  // CHECK: tensor.generate
  // CHECK: tensor.generate
  // CHECK: ^bb0(%[[I:.*]]: index, %[[J:.*]]: index):
  // CHECK: scf.for %[[K:.*]] = %c0{{.*}} to %[[I]] step %c1{{.*}} iter_args(%[[SUM:.*]] = %{{.*}})
  // CHECK: %[[E:.*]] = tensor.extract %{{.*}}[%[[K]], %[[J]]]
  // CHECK: arith.addf %[[SUM]], %[[E]]
  %s = tile.scan add %t dim 0 exclusive : tensor<4x8xf32>
  tile.store %s, %y[0, 0] : tensor<4x8xf32>, memref<4x8xf32>
  tile.return
}

// -----

// A loop over the elements of a scatter stores those whose positions are in bounds.
// CHECK-LABEL: func.func @scatter(
// CHECK-SAME: %[[Y:[a-z0-9]+]]: memref<?x64xf32>
tile.kernel @scatter(%x: memref<4x8xf32>, %i: memref<4x8xi32>, %y: memref<?x64xf32> {adze.dims = affine_map<()[s0] -> (s0, 64)>}) {
  %t = tile.load %x[0, 0] sizes [4, 8] : memref<4x8xf32> -> tensor<4x8xf32>
  %at = tile.load %i[0, 0] sizes [4, 8] : memref<4x8xi32> -> tensor<4x8xi32>
  // CHECK: scf.for %[[R:.*]] = %c0{{.*}} to %c4
  // CHECK: scf.for %[[C:.*]] = %c0{{.*}} to %c8
  // CHECK: %[[ROW:.*]] = arith.addi %[[R]], %c2
  // CHECK: %[[E:.*]] = tensor.extract %{{.*}}[%[[R]], %[[C]]] : tensor<4x8xi32>
  // CHECK: %[[MOVED:.*]] = arith.index_cast %[[E]]
  // CHECK: %[[COLUMN:.*]] = arith.addi %[[MOVED]], %c1
  // CHECK: arith.cmpi ult, %[[ROW]], %{{.*}}
  // CHECK: arith.cmpi ult, %[[COLUMN]], %c64
  // CHECK: scf.if
  // CHECK: memref.store %{{.*}}, %[[Y]][%[[ROW]], %[[COLUMN]]]
  tile.scatter %t, %y[2, 1] at %at along 1 dims [0, -1] : tensor<4x8xf32>, memref<?x64xf32>, tensor<4x8xi32>
  tile.return
}

// -----

// Elements are combined atomically, as programs run on several threads.
// CHECK-LABEL: func.func @combine(
// CHECK: scf.if
// CHECK: %[[T:.*]] = tensor.extract
// CHECK: memref.generic_atomic_rmw %{{.*}}[%{{.*}}] : memref<64xf32>
// CHECK: %[[MAX:.*]] = arith.maximumf %{{.*}}, %[[T]]
// CHECK: memref.atomic_yield %[[MAX]]
tile.kernel @combine(%x: memref<8xf32>, %i: memref<8xi32>, %y: memref<64xf32>) {
  %t = tile.load %x[0] sizes [8] : memref<8xf32> -> tensor<8xf32>
  %at = tile.load %i[0] sizes [8] : memref<8xi32> -> tensor<8xi32>
  tile.scatter %t, %y[0] at %at along 0 dims [-1] combine max : tensor<8xf32>, memref<64xf32>, tensor<8xi32>
  tile.return
}

// -----

// A view is its memory, indexed by its map.
// CHECK-LABEL: func.func @view(
// CHECK-SAME: memref<4x6xf32>, %[[Y:[a-z0-9]+]]: memref<24xf32>
// CHECK-NOT: tile.view
// CHECK: affine.apply
// CHECK: memref.store %{{.*}}, %[[Y]]
tile.kernel @view(%x: memref<4x6xf32>, %y: memref<24xf32>) {
  %v = tile.view %y sizes [4, 6] : memref<24xf32> to memref<4x6xf32, affine_map<(i, j) -> (j * 4 + i)>>
  %t = tile.load %x[0, 0] sizes [4, 6] : memref<4x6xf32> -> tensor<4x6xf32>
  tile.store %t, %v[0, 0] : tensor<4x6xf32>, memref<4x6xf32, affine_map<(i, j) -> (j * 4 + i)>>
  tile.return
}

// -----

// Dynamic rows: each element is tested against the size; out-of-bounds elements are the
// pad, or not stored.
// CHECK-LABEL: func.func @unknown_programs(
// CHECK: %[[ROWS:.*]] = memref.dim %arg0, %c0
// CHECK: %[[COUNT:.*]] = arith.ceildivui %[[ROWS]], %c4
// CHECK: return %[[COUNT]]
// CHECK-LABEL: func.func @unknown(
// CHECK-SAME: %[[X:[a-z0-9]+]]: memref<?x8xf32>, %[[Y:[a-z0-9]+]]: memref<?x8xf32>
// CHECK: tensor.generate
// CHECK: %[[SIZE:.*]] = memref.dim %[[X]], %c0{{.*}} : memref<?x8xf32>
// CHECK: arith.cmpi ult, %{{.*}}, %[[SIZE]]
// CHECK: scf.if
// CHECK: memref.load %[[X]]
// CHECK: } else {
// CHECK: %[[END:.*]] = memref.dim %[[Y]], %c0{{.*}} : memref<?x8xf32>
// CHECK: %[[INSIDE:.*]] = arith.cmpi ult, %{{.*}}, %[[END]]
// CHECK: scf.if
// CHECK: memref.store %{{.*}}, %[[Y]]
tile.kernel @unknown(%x: memref<?x8xf32>, %y: memref<?x8xf32>) {
  %c0 = arith.constant 0 : index
  %c4 = arith.constant 4 : index
  %n = memref.dim %x, %c0 : memref<?x8xf32>
  %g = arith.ceildivui %n, %c4 : index
  %p = tile.program_id (%g) : index
  %i = arith.muli %p, %c4 : index
  %t = tile.load %x[%i, 0] sizes [4, 8] pad 2.0 : f32 : memref<?x8xf32> -> tensor<4x8xf32>
  tile.store %t, %y[%i, 0] : tensor<4x8xf32>, memref<?x8xf32>
  tile.return
}

// -----

// An element of the new dimension is in the bits that begin at its number times its width.
// CHECK-LABEL: func.func @halves(
tile.kernel @halves(%x: memref<8xi32>, %y: memref<8x2xf16>) {
  %t = tile.load %x[0] sizes [8] : memref<8xi32> -> tensor<8xi32>
  // CHECK: ^bb0(%[[I:.*]]: index, %[[HALF:.*]]: index):
  // CHECK-NEXT: %[[WORD:.*]] = tensor.extract %{{.*}}[%[[I]]] : tensor<8xi32>
  // CHECK: %[[FIRST:.*]] = arith.muli %{{.*}}, %c16_i32
  // CHECK: %[[LOW:.*]] = arith.shrui %[[WORD]], %[[FIRST]]
  // CHECK: arith.trunci %[[LOW]] : i32 to i16
  // CHECK: arith.bitcast %{{.*}} : i16 to f16
  %h = tile.bitcast %t to f16 : tensor<8xi32> -> tensor<8x2xf16>
  tile.store %h, %y[0, 0] : tensor<8x2xf16>, memref<8x2xf16>
  tile.return
}
