// RUN: aopt %s --pass-pipeline="builtin.module(tile-specialize,convert-tile-to-vector,canonicalize,cse)" --split-input-file | FileCheck %s

// Rows of windows are stored to their destinations; along the columns, vectors stay
// vectors.
// CHECK-LABEL: func.func @windows(
// CHECK-SAME: %{{.*}}: memref<98x40xf32>, %{{.*}}: memref<40x32xf32>, %[[Y:.*]]: memref<7x14x32xf32>
// CHECK-NOT: tile.view
// CHECK: affine.apply
// CHECK: vector.store %{{.*}}, %[[Y]][{{.*}}] : memref<7x14x32xf32>, vector<16xf32>
// CHECK-NOT: maskedstore
// CHECK-NOT: memref.store
#w = affine_map<(m, n) -> ((m mod 49) floordiv 7, (m floordiv 49) * 7 + m mod 7, n)>
tile.kernel @windows(%a: memref<98x40xf32>, %b: memref<40x32xf32>, %y: memref<7x14x32xf32>) {
  %zero = arith.constant 0.0 : f32
  %v = tile.view %y sizes [98, 32] : memref<7x14x32xf32> to memref<98x32xf32, #w>
  %x = tile.load %a[0, 0] sizes [98, 40] : memref<98x40xf32> -> tensor<98x40xf32>
  %w = tile.load %b[0, 0] sizes [40, 32] : memref<40x32xf32> -> tensor<40x32xf32>
  %c = tile.broadcast %zero to [98, 32] : f32 -> tensor<98x32xf32>
  %d = tile.dot %x, %w, %c : tensor<98x40xf32>, tensor<40x32xf32>, tensor<98x32xf32>
  tile.store %d, %v[0, 0] : tensor<98x32xf32>, memref<98x32xf32, #w>
  tile.return
}

// -----

// Channels to pixels of a larger image: a vector has parts of two rows, whose starts are
// static. The number of rows is dynamic.
// CHECK-LABEL: func.func @pixels(
// CHECK: vector.shuffle %[[V:.*]], %{{.*}} [0, 1, 4, 5, 8, 9, 12, 13] : vector<16xf32>
// CHECK: vector.store %{{.*}} : memref<?x64xf32>, vector<8xf32>
// CHECK: vector.shuffle %[[V]], %{{.*}} [2, 3, 6, 7, 10, 11, 14, 15] : vector<16xf32>
// CHECK-NOT: memref.store
#p = affine_map<(m, n) -> (m * 2 + n mod 4 floordiv 2, n floordiv 4 * 2 + n mod 2)>
tile.kernel @pixels(%a: memref<?x40xf32>, %b: memref<40x128xf32>, %y: memref<?x64xf32>) {
  %c0 = arith.constant 0 : index
  %c8 = arith.constant 8 : index
  %c4 = arith.constant 4 : index
  %c32 = arith.constant 32 : index
  %zero = arith.constant 0.0 : f32
  %m = memref.dim %a, %c0 : memref<?x40xf32>
  %g = arith.ceildivui %m, %c8 : index
  %i, %j = tile.program_id (%g, %c4) : index, index
  %row = arith.muli %i, %c8 : index
  %col = arith.muli %j, %c32 : index
  %v = tile.view %y sizes [%m, 128] : memref<?x64xf32> to memref<?x128xf32, #p>
  %x = tile.load %a[%row, 0] sizes [8, 40] : memref<?x40xf32> -> tensor<8x40xf32>
  %w = tile.load %b[0, %col] sizes [40, 32] : memref<40x128xf32> -> tensor<40x32xf32>
  %c = tile.broadcast %zero to [8, 32] : f32 -> tensor<8x32xf32>
  %d = tile.dot %x, %w, %c : tensor<8x40xf32>, tensor<40x32xf32>, tensor<8x32xf32>
  tile.store %d, %v[%row, %col] : tensor<8x32xf32>, memref<?x128xf32, #p>
  tile.return
}

// -----

// Adjacent elements at a distance of three: as many masked stores as vectors over which
// they are spread.
// CHECK-LABEL: func.func @spread(
// CHECK: vector.shuffle %[[V:.*]], %{{.*}} [0, 0, 0, 1, 0, 0, 2,
// CHECK: vector.maskedstore
// CHECK-NOT: memref.store
#s = affine_map<(m, n) -> (m, n mod 32 * 3 + n floordiv 32)>
tile.kernel @spread(%a: memref<8x40xf32>, %b: memref<40x96xf32>, %y: memref<8x96xf32>) {
  %c3 = arith.constant 3 : index
  %c32 = arith.constant 32 : index
  %zero = arith.constant 0.0 : f32
  %j = tile.program_id (%c3) : index
  %col = arith.muli %j, %c32 : index
  %v = tile.view %y sizes [8, 96] : memref<8x96xf32> to memref<8x96xf32, #s>
  %x = tile.load %a[0, 0] sizes [8, 40] : memref<8x40xf32> -> tensor<8x40xf32>
  %w = tile.load %b[0, %col] sizes [40, 32] : memref<40x96xf32> -> tensor<40x32xf32>
  %c = tile.broadcast %zero to [8, 32] : f32 -> tensor<8x32xf32>
  %d = tile.dot %x, %w, %c : tensor<8x40xf32>, tensor<40x32xf32>, tensor<8x32xf32>
  tile.store %d, %v[0, %col] : tensor<8x32xf32>, memref<8x96xf32, #s>
  tile.return
}

// -----

// The start of a vector in threes is unknown: element by element.
// CHECK-LABEL: func.func @unknown(
// CHECK-NOT: vector.store
// CHECK: memref.store
#u = affine_map<(m, n) -> (m, n mod 3 * 32 + n floordiv 3)>
tile.kernel @unknown(%a: memref<8x40xf32>, %b: memref<40x96xf32>, %y: memref<8x96xf32>) {
  %c3 = arith.constant 3 : index
  %c32 = arith.constant 32 : index
  %zero = arith.constant 0.0 : f32
  %j = tile.program_id (%c3) : index
  %col = arith.muli %j, %c32 : index
  %v = tile.view %y sizes [8, 96] : memref<8x96xf32> to memref<8x96xf32, #u>
  %x = tile.load %a[0, 0] sizes [8, 40] : memref<8x40xf32> -> tensor<8x40xf32>
  %w = tile.load %b[0, %col] sizes [40, 32] : memref<40x96xf32> -> tensor<40x32xf32>
  %c = tile.broadcast %zero to [8, 32] : f32 -> tensor<8x32xf32>
  %d = tile.dot %x, %w, %c : tensor<8x40xf32>, tensor<40x32xf32>, tensor<8x32xf32>
  tile.store %d, %v[0, %col] : tensor<8x32xf32>, memref<8x96xf32, #u>
  tile.return
}

// -----

// The tile is wider than the view: after its four columns, the digits of an index
// continue at other columns, 12 at that of 1. These lanes are not stored, and do not
// prevent other stores.
// CHECK-LABEL: func.func @narrow(
// CHECK: vector.shuffle %{{.*}}, %{{.*}} [0, 2, 4, 6, 8, 10, 1, 3, 5, 7, 9, 11, 13, 15, 0, 0] : vector<16xf32>
// CHECK: vector.maskedstore
#n = affine_map<(m, n) -> (m * 12 + n mod 2 * 6 + n floordiv 2)>
tile.kernel @narrow(%a: memref<33x40xf32>, %b: memref<40x4xf32>, %y: memref<396xf32>) {
  %c33 = arith.constant 33 : index
  %zero = arith.constant 0.0 : f32
  %i = tile.program_id (%c33) : index
  %v = tile.view %y sizes [33, 4] : memref<396xf32> to memref<33x4xf32, #n>
  %x = tile.load %a[%i, 0] sizes [1, 40] : memref<33x40xf32> -> tensor<1x40xf32>
  %w = tile.load %b[0, 0] sizes [40, 16] : memref<40x4xf32> -> tensor<40x16xf32>
  %c = tile.broadcast %zero to [1, 16] : f32 -> tensor<1x16xf32>
  %d = tile.dot %x, %w, %c : tensor<1x40xf32>, tensor<40x16xf32>, tensor<1x16xf32>
  tile.store %d, %v[%i, 0] : tensor<1x16xf32>, memref<33x4xf32, #n>
  tile.return
}
