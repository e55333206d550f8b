// Gathers with constant indices: one load and one shuffle per register.
// RUN: aopt %s -tile-specialize -convert-tile-to-vector -canonicalize -cse -split-input-file | FileCheck %s

// Each lane reads the second element of its four, in a loop over vectors: all loaded
// elements exist.
// CHECK-LABEL: func.func @within(
// CHECK-NOT: vector.gather
// CHECK-NOT: vector.maskedload
// CHECK: %[[X:.*]] = vector.load %arg0[{{.*}}] : memref<8x128xf32>, vector<16xf32>
// CHECK: vector.shuffle %[[X]], %[[X]] [1, 1, 1, 1, 5, 5, 5, 5, 9, 9, 9, 9, 13, 13, 13, 13]
// CHECK-NOT: vector.gather
tile.kernel @within(%x: memref<8x128xf32>, %y: memref<8x128xf32>) {
  %i = tile.iota dim 0 to [128] : tensor<128xindex>
  %four = arith.constant dense<4> : tensor<128xindex>
  %one = arith.constant dense<1> : tensor<128xindex>
  %r = arith.remui %i, %four : tensor<128xindex>
  %f = arith.subi %i, %r : tensor<128xindex>
  %p = arith.addi %f, %one : tensor<128xindex>
  %b = tile.broadcast %p to [8, 128] dims [1] : tensor<128xindex> -> tensor<8x128xindex>
  %t = tile.gather %x[0, 0] at %b along 1 dims [0, -1] : memref<8x128xf32>, tensor<8x128xindex> -> tensor<8x128xf32>
  tile.store %t, %y[0, 0] : tensor<8x128xf32>, memref<8x128xf32>
  tile.return
}

// -----

// Rows of dynamic number and length: a mask selects the existing elements.
// CHECK-LABEL: func.func @dynamic(
// CHECK-NOT: vector.gather
// CHECK: %[[INSIDE:.*]] = arith.cmpi ult, %{{.*}}, %{{.*}} : vector<16xindex>
// CHECK: %[[X:.*]] = vector.maskedload %arg0[{{.*}}], %[[INSIDE]], {{.*}} : memref<?x?xf32>
// CHECK: vector.shuffle %[[X]], %[[X]] [0, 0, 2, 2, 4, 4, 6, 6, 8, 8, 10, 10, 12, 12, 14, 14]
// CHECK-NOT: vector.gather
tile.kernel @dynamic(%x: memref<?x?xf32>, %y: memref<?x?xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c16 = arith.constant 16 : index
  %rows = memref.dim %x, %c0 : memref<?x?xf32>
  %columns = memref.dim %x, %c1 : memref<?x?xf32>
  %blocks = arith.ceildivui %columns, %c16 : index
  %id:2 = tile.program_id(%blocks, %rows) : index, index
  %column = arith.muli %id#0, %c16 : index
  %i = tile.iota dim 0 to [16] : tensor<16xindex>
  %two = arith.constant dense<2> : tensor<16xindex>
  %h = arith.divui %i, %two : tensor<16xindex>
  %p = arith.muli %h, %two : tensor<16xindex>
  %t = tile.gather %x[%id#1, %column] at %p along 1 dims [-1] : memref<?x?xf32>, tensor<16xindex> -> tensor<16xf32>
  tile.store %t, %y[%id#1, %column] dims [1] : tensor<16xf32>, memref<?x?xf32>
  tile.return
}

// -----

// Elements that are far apart, or data-dependent ones, are gathered.
// CHECK-LABEL: func.func @apart(
// CHECK-NOT: vector.shuffle
// CHECK: vector.gather
tile.kernel @apart(%x: memref<8x1024xf32>, %y: memref<8x16xf32>) {
  %i = tile.iota dim 0 to [16] : tensor<16xindex>
  %far = arith.constant dense<60> : tensor<16xindex>
  %p = arith.muli %i, %far : tensor<16xindex>
  %b = tile.broadcast %p to [8, 16] dims [1] : tensor<16xindex> -> tensor<8x16xindex>
  %t = tile.gather %x[0, 0] at %b along 1 dims [0, -1] : memref<8x1024xf32>, tensor<8x16xindex> -> tensor<8x16xf32>
  tile.store %t, %y[0, 0] : tensor<8x16xf32>, memref<8x16xf32>
  tile.return
}

// -----

// CHECK-LABEL: func.func @unknown(
// CHECK-NOT: vector.shuffle
// CHECK: vector.gather
tile.kernel @unknown(%x: memref<8x64xf32>, %z: memref<16xi32>, %y: memref<8x16xf32>) {
  %p = tile.load %z[0] sizes [16] : memref<16xi32> -> tensor<16xi32>
  %b = tile.broadcast %p to [8, 16] dims [1] : tensor<16xi32> -> tensor<8x16xi32>
  %t = tile.gather %x[0, 0] at %b along 1 dims [0, -1] : memref<8x64xf32>, tensor<8x16xi32> -> tensor<8x16xf32>
  tile.store %t, %y[0, 0] : tensor<8x16xf32>, memref<8x16xf32>
  tile.return
}

// -----

// Indices that all rows share are read once for several of them.
// CHECK-LABEL: func.func @shared(
// CHECK: vector.load %arg1[{{.*}}] : memref<64xi64>, vector<16xi64>
// CHECK-COUNT-4: vector.gather %arg0
// CHECK-NOT: vector.gather
tile.kernel @shared(%x: memref<4x64xf32>, %z: memref<64xi64>, %y: memref<4x64xf32>) {
  %p = tile.load %z[0] sizes [64] : memref<64xi64> -> tensor<64xi64>
  %b = tile.broadcast %p to [4, 64] dims [1] : tensor<64xi64> -> tensor<4x64xi64>
  %t = tile.gather %x[0, 0] at %b along 1 dims [0, -1] : memref<4x64xf32>, tensor<4x64xi64> -> tensor<4x64xf32>
  tile.store %t, %y[0, 0] : tensor<4x64xf32>, memref<4x64xf32>
  tile.return
}

// -----

// In a loop over steps of 64 columns, each step selects 32 elements further on: pairs of
// one. The remainder of the first column, a multiple of 1024, divided by 2 is zero.
// CHECK-LABEL: func.func @pairs(
// CHECK-NOT: vector.gather
// CHECK: scf.for %[[AT:.*]] = %c0 to %{{.*}} step %c64
// CHECK: %[[STEP:.*]] = arith.divui %[[AT]], %c64
// CHECK: arith.muli %[[STEP]], %c32
// CHECK: vector.shuffle %{{.*}} [0, 0, 1, 1, 2, 2, 3, 3, 4, 4, 5, 5, 6, 6, 7, 7]
// CHECK: vector.shuffle %{{.*}} [8, 8, 9, 9, 10, 10, 11, 11, 12, 12, 13, 13, 14, 14, 15, 15]
// CHECK-NOT: vector.gather
tile.kernel @pairs(%x: memref<?x?xf32>, %y: memref<?x?xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %c1024 = arith.constant 1024 : index
  %rows = memref.dim %y, %c0 : memref<?x?xf32>
  %columns = memref.dim %y, %c1 : memref<?x?xf32>
  %blocks = arith.ceildivui %columns, %c1024 : index
  %id:2 = tile.program_id(%blocks, %rows) : index, index
  %column = arith.muli %id#0, %c1024 : index
  %left = arith.remui %column, %c2 : index
  %from = arith.divui %column, %c2 : index
  %i = tile.iota dim 0 to [1024] : tensor<1024xindex>
  %l = tile.broadcast %left to [1024] : index -> tensor<1024xindex>
  %two = arith.constant dense<2> : tensor<1024xindex>
  %s = arith.addi %i, %l : tensor<1024xindex>
  %p = arith.divui %s, %two : tensor<1024xindex>
  %t = tile.gather %x[%id#1, %from] at %p along 1 dims [-1] : memref<?x?xf32>, tensor<1024xindex> -> tensor<1024xf32>
  tile.store %t, %y[%id#1, %column] dims [1] : tensor<1024xf32>, memref<?x?xf32>
  tile.return
}

// -----

// Lanes follow the indices, although the store is along the other dimension: otherwise
// each lane would read another row.
// CHECK-LABEL: func.func @turned(
// CHECK-NOT: vector.gather
// CHECK: vector.shuffle {{.*}} [0, 0, 2, 2, 4, 4, 6, 6, 8, 8, 10, 10, 12, 12, 14, 14]
// CHECK-NOT: vector.gather
tile.kernel @turned(%x: memref<16x128xf32>, %z: memref<16x128xf32>, %y: memref<128x16xf32>) {
  %i = tile.iota dim 0 to [128] : tensor<128xindex>
  %two = arith.constant dense<2> : tensor<128xindex>
  %h = arith.divui %i, %two : tensor<128xindex>
  %p = arith.muli %h, %two : tensor<128xindex>
  %b = tile.broadcast %p to [16, 128] dims [1] : tensor<128xindex> -> tensor<16x128xindex>
  %t = tile.gather %x[0, 0] at %b along 1 dims [0, -1] : memref<16x128xf32>, tensor<16x128xindex> -> tensor<16x128xf32>
  %u = tile.gather %z[0, 0] at %b along 1 dims [0, -1] : memref<16x128xf32>, tensor<16x128xindex> -> tensor<16x128xf32>
  %v = tile.gather %z[0, 0] at %b along 1 dims [0, -1] : memref<16x128xf32>, tensor<16x128xindex> -> tensor<16x128xf32>
  %s = arith.mulf %t, %u : tensor<16x128xf32>
  %r = arith.addf %s, %v : tensor<16x128xf32>
  tile.store %r, %y[0, 0] dims [1, 0] : tensor<16x128xf32>, memref<128x16xf32>
  tile.return
}
