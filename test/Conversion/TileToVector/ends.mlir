// RUN: aopt %s -tile-specialize -convert-tile-to-vector -canonicalize -cse -split-input-file | FileCheck %s

// Several stores with equal ends: a block that covers the class has no loop, and half of
// it runs for one or two rows. Stores with different ends require all rows.
// CHECK-LABEL: func.func @stores_alike(
// CHECK: %[[REST:.*]] = arith.remsi %[[END:.*]], %c4 : index
// CHECK: %[[ALL:.*]] = arith.cmpi eq, %[[END]], %c4 : index
// CHECK: scf.if %[[ALL]] {
// CHECK-NOT: scf.if
// CHECK-COUNT-4: math.sqrt
// CHECK-COUNT-8: vector.store
// CHECK: %[[ANY:.*]] = arith.cmpi sgt, %[[REST]], %c0 : index
// CHECK: scf.if %[[ANY]] {
// CHECK: %[[MORE:.*]] = arith.cmpi sgt, %[[REST]], %c2 : index
// CHECK: scf.if %[[MORE]] {
// CHECK-COUNT-4: math.sqrt
// CHECK: } else {
// CHECK-COUNT-2: math.sqrt
// CHECK-NOT: math.sqrt
// CHECK-LABEL: func.func @stores_apart(
// CHECK-NOT: arith.remsi
// CHECK: return
tile.kernel @stores_alike(
    %x: memref<?x16xf32> {adze.dims = affine_map<()[s0] -> (s0, 16)>},
    %y: memref<?x16xf32> {adze.dims = affine_map<()[s0] -> (s0, 16)>},
    %z: memref<3x?x16xf32> {adze.dims = affine_map<()[s0] -> (3, s0, 16)>}) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c4 = arith.constant 4 : index
  %n = memref.dim %x, %c0 : memref<?x16xf32>
  %g = arith.ceildivui %n, %c4 : index
  %p = tile.program_id (%g) : index
  %i = arith.muli %p, %c4 : index
  %l = tile.load %x[%i, 0] sizes [4, 16] : memref<?x16xf32> -> tensor<4x16xf32>
  %r = math.sqrt %l : tensor<4x16xf32>
  tile.store %r, %y[%i, 0] : tensor<4x16xf32>, memref<?x16xf32>
  tile.store %r, %z[%c1, %i, 0] dims [1, 2] : tensor<4x16xf32>, memref<3x?x16xf32>
  tile.return
}
tile.kernel @stores_apart(
    %x: memref<?x16xf32> {adze.dims = affine_map<()[s0, s1] -> (s0, 16)>},
    %y: memref<?x16xf32> {adze.dims = affine_map<()[s0, s1] -> (s0, 16)>},
    %z: memref<?x16xf32> {adze.dims = affine_map<()[s0, s1] -> (s1, 16)>}) {
  %c0 = arith.constant 0 : index
  %c4 = arith.constant 4 : index
  %n = memref.dim %x, %c0 : memref<?x16xf32>
  %g = arith.ceildivui %n, %c4 : index
  %p = tile.program_id (%g) : index
  %i = arith.muli %p, %c4 : index
  %l = tile.load %x[%i, 0] sizes [4, 16] : memref<?x16xf32> -> tensor<4x16xf32>
  %r = math.sqrt %l : tensor<4x16xf32>
  tile.store %r, %y[%i, 0] : tensor<4x16xf32>, memref<?x16xf32>
  tile.store %r, %z[%i, 0] : tensor<4x16xf32>, memref<?x16xf32>
  tile.return
}

// -----

// Panels that are not a multiple of a vector: if a window begins with a panel and stays
// in it, its columns are contiguous, and those beyond are masked; others are assembled
// element by element.
#panels = affine_map<(d0, d1) -> (d1 floordiv 24, d0, d1 mod 24)>
// CHECK-LABEL: func.func @one_panel(
// CHECK: scf.for
// CHECK: vector.load %arg1{{.*}}, vector<16xf32>
// CHECK: vector.maskedload %arg1{{.*}}vector<16xf32>
// CHECK-NOT: memref.load %arg1
// CHECK: return
// CHECK-LABEL: func.func @across_panels(
// CHECK-NOT: vector.load %arg1
// CHECK: memref.load %arg1
tile.kernel @one_panel(%x: memref<8x64xf32>, %w: memref<64x48xf32, #panels>, %y: memref<8x48xf32>) {
  %c2 = arith.constant 2 : index
  %c24 = arith.constant 24 : index
  %p = tile.program_id (%c2) : index
  %j = arith.muli %p, %c24 : index
  %f = arith.constant 0.0 : f32
  %z = tile.broadcast %f to [8, 24] : f32 -> tensor<8x24xf32>
  %l = tile.load %x[0, 0] sizes [8, 64] : memref<8x64xf32> -> tensor<8x64xf32>
  %r = tile.load %w[0, %j] sizes [64, 24] : memref<64x48xf32, #panels> -> tensor<64x24xf32>
  %d = tile.dot %l, %r, %z : tensor<8x64xf32>, tensor<64x24xf32>, tensor<8x24xf32>
  tile.store %d, %y[0, %j] : tensor<8x24xf32>, memref<8x48xf32>
  tile.return
}
tile.kernel @across_panels(%x: memref<8x64xf32>, %w: memref<64x48xf32, #panels>, %y: memref<8x48xf32>) {
  %c3 = arith.constant 3 : index
  %c16 = arith.constant 16 : index
  %p = tile.program_id (%c3) : index
  %j = arith.muli %p, %c16 : index
  %f = arith.constant 0.0 : f32
  %z = tile.broadcast %f to [8, 16] : f32 -> tensor<8x16xf32>
  %l = tile.load %x[0, 0] sizes [8, 64] : memref<8x64xf32> -> tensor<8x64xf32>
  %r = tile.load %w[0, %j] sizes [64, 16] : memref<64x48xf32, #panels> -> tensor<64x16xf32>
  %d = tile.dot %l, %r, %z : tensor<8x64xf32>, tensor<64x16xf32>, tensor<8x16xf32>
  tile.store %d, %y[0, %j] : tensor<8x16xf32>, memref<8x48xf32>
  tile.return
}

// -----

// Rows of an operand that may be out of bounds are copied up to the end of the depth, which
// is dynamic, and not to that of the block.
// CHECK-LABEL: func.func @operand(
// CHECK-SAME: %[[X:arg0]]: memref<?x?xf32>
// CHECK: %[[COPY:.*]] = memref.alloca() {{.*}} : memref<4x256xf32>
// CHECK: %[[DEPTH:.*]] = memref.dim %[[X]], %c1
// CHECK: %[[END:.*]] = arith.minsi %[[DEPTH]], %c256
// CHECK: scf.for %{{.*}} = %c0 to %[[END]] step %c{{[0-9]+}} {
// CHECK: vector.maskedload %[[X]]
// CHECK: vector.store %{{.*}}, %[[COPY]]
// CHECK-NOT: to %c256
tile.kernel @operand(%x: memref<?x?xf32>, %w: memref<?x16xf32>, %y: memref<?x16xf32>) {
  %zero = arith.constant dense<0.0> : tensor<4x16xf32>
  %c0 = arith.constant 0 : index
  %c4 = arith.constant 4 : index
  %m = memref.dim %x, %c0 : memref<?x?xf32>
  %blocks = arith.ceildivui %m, %c4 : index
  %id = tile.program_id(%blocks) : index
  %row = arith.muli %id, %c4 : index
  %a = tile.load %x[%row, 0] sizes [4, 256] : memref<?x?xf32> -> tensor<4x256xf32>
  %b = tile.load %w[0, 0] sizes [256, 16] : memref<?x16xf32> -> tensor<256x16xf32>
  %d = tile.dot %a, %b, %zero : tensor<4x256xf32>, tensor<256x16xf32>, tensor<4x16xf32>
  tile.store %d, %y[%row, 0] : tensor<4x16xf32>, memref<?x16xf32>
  tile.return
}

// -----

// An operand that is also read otherwise is copied with its padding.
// CHECK-LABEL: func.func @shared(
// CHECK: %[[COPY:.*]] = memref.alloca() {{.*}} : memref<4x256xf32>
// CHECK: vector.store %{{.*}}, %[[COPY]]
// CHECK: scf.for %{{.*}} to %c256 step
// CHECK-NEXT: vector.store %[[PAD:.*]], %[[COPY]]
// CHECK-NEXT: vector.store %[[PAD]], %[[COPY]]
tile.kernel @shared(%x: memref<?x?xf32>, %w: memref<?x16xf32>, %y: memref<?x16xf32>, %z: memref<?xf32>) {
  %zero = arith.constant dense<0.0> : tensor<4x16xf32>
  %c0 = arith.constant 0 : index
  %c4 = arith.constant 4 : index
  %m = memref.dim %x, %c0 : memref<?x?xf32>
  %blocks = arith.ceildivui %m, %c4 : index
  %id = tile.program_id(%blocks) : index
  %row = arith.muli %id, %c4 : index
  %a = tile.load %x[%row, 0] sizes [4, 256] : memref<?x?xf32> -> tensor<4x256xf32>
  %b = tile.load %w[0, 0] sizes [256, 16] : memref<?x16xf32> -> tensor<256x16xf32>
  %d = tile.dot %a, %b, %zero : tensor<4x256xf32>, tensor<256x16xf32>, tensor<4x16xf32>
  %s = tile.reduce max %a dim 1 : tensor<4x256xf32> -> tensor<4xf32>
  tile.store %d, %y[%row, 0] : tensor<4x16xf32>, memref<?x16xf32>
  tile.store %s, %z[%row] : tensor<4xf32>, memref<?xf32>
  tile.return
}
