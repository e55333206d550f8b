// RUN: cuda-emulate %s --symbols=37,5 | FileCheck %s

// All kinds of windows against the interpreter: steps, transposition, single elements,
// negative offsets, views, packings, indices and in-place updates.

#any32 = affine_map<()[s0, s1] -> (s0, 32)>
#any = affine_map<()[s0, s1] -> (s0, s1)>
#packed = affine_map<(k, n) -> (n floordiv 16, k, n mod 16)>
#vnni = affine_map<(o, i, r) -> (o floordiv 8, r, i floordiv 4, o mod 8, i mod 4)>

// CHECK: strided: 10 programs of {{.*}} agree
tile.kernel @strided(%x: memref<2x21x19x6xf32>, %y: memref<2x5x10x6xf32>) {
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %c4 = arith.constant 4 : index
  %c5 = arith.constant 5 : index
  %oy, %n = tile.program_id (%c5, %c2) : index, index
  %iy4 = arith.muli %oy, %c4 : index
  %iy = arith.subi %iy4, %c1 : index
  %t = tile.load %x[%n, %iy, -1, 0] sizes [12, 8] dims [2, 3] strides [2, 1] pad 1.5 : f32
      : memref<2x21x19x6xf32> -> tensor<12x8xf32>
  tile.store %t, %y[%n, %oy, 0, 0] : tensor<12x8xf32>, memref<2x5x10x6xf32>
  tile.return
}

// CHECK: nchw: 6 programs of {{.*}} agree
tile.kernel @nchw(%x: memref<3x7x9x11xf32>, %y: memref<3x9x11x7xf32>) {
  %c2 = arith.constant 2 : index
  %c3 = arith.constant 3 : index
  %c6 = arith.constant 6 : index
  %p, %n = tile.program_id (%c2, %c3) : index, index
  %h = arith.muli %p, %c6 : index
  %t = tile.load %x[%n, 0, %h, 0] sizes [6, 16, 8] dims [2, 3, 1] : memref<3x7x9x11xf32> -> tensor<6x16x8xf32>
  tile.store %t, %y[%n, %h, 0, 0] : tensor<6x16x8xf32>, memref<3x9x11x7xf32>
  tile.return
}

// CHECK: pack: 1 programs of {{.*}} agree
tile.kernel @pack(%x: memref<24x48xf32>, %y: memref<24x48xf32, #packed>, %z: memref<48x24xf32>) {
  %t = tile.load %x[0, 0] sizes [24, 48] : memref<24x48xf32> -> tensor<24x48xf32>
  tile.store %t, %y[0, 0] : tensor<24x48xf32>, memref<24x48xf32, #packed>
  tile.store %t, %z[0, 0] dims [1, 0] : tensor<24x48xf32>, memref<48x24xf32>
  tile.return
}

// CHECK: unpack: 3 programs of {{.*}} agree
tile.kernel @unpack(%x: memref<16x8x3xi8, #vnni>, %y: memref<16x8x3xi8>) {
  %c3 = arith.constant 3 : index
  %p = tile.program_id (%c3) : index
  %t = tile.load %x[0, 0, %p] sizes [16, 8] dims [0, 1] : memref<16x8x3xi8, #vnni> -> tensor<16x8xi8>
  tile.store %t, %y[0, 0, %p] dims [0, 1] : tensor<16x8xi8>, memref<16x8x3xi8>
  tile.return
}

// CHECK: dynamic: 12 programs of {{.*}} agree
tile.kernel @dynamic(%x: memref<?x?xf16> {adze.dims = #any}, %y: memref<?x?xf16> {adze.dims = #any}) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c4 = arith.constant 4 : index
  %c8 = arith.constant 8 : index
  %m = memref.dim %x, %c0 : memref<?x?xf16>
  %n = memref.dim %x, %c1 : memref<?x?xf16>
  %gm = arith.ceildivui %m, %c8 : index
  %gn = arith.ceildivui %n, %c4 : index
  %gx = arith.addi %gm, %c1 : index
  %p, %q = tile.program_id (%gx, %gn) : index, index
  %r = arith.muli %p, %c8 : index
  %s = arith.muli %q, %c4 : index
  %t = tile.load %x[%r, %s] sizes [8, 4] : memref<?x?xf16> -> tensor<8x4xf16>
  %u = arith.addf %t, %t : tensor<8x4xf16>
  tile.store %u, %y[%r, %s] : tensor<8x4xf16>, memref<?x?xf16>
  tile.return
}

// CHECK: views: 2 programs of {{.*}} agree
tile.kernel @views(%x: memref<4x6x10xf32>, %y: memref<48x10xf32>) {
  %c2 = arith.constant 2 : index
  %c12 = arith.constant 12 : index
  %p = tile.program_id (%c2) : index
  %flat = memref.collapse_shape %x [[0, 1], [2]] : memref<4x6x10xf32> into memref<24x10xf32>
  %low = memref.subview %y[24, 2] [24, 7] [1, 1] : memref<48x10xf32> to memref<24x7xf32, strided<[10, 1], offset: 242>>
  %wide = memref.expand_shape %y [[0, 1], [2]] output_shape [4, 12, 10] : memref<48x10xf32> into memref<4x12x10xf32>
  %r = arith.muli %p, %c12 : index
  %t = tile.load %flat[%r, 0] sizes [12, 10] : memref<24x10xf32> -> tensor<12x10xf32>
  tile.store %t, %wide[%p, 0, 0] : tensor<12x10xf32>, memref<4x12x10xf32>
  tile.store %t, %low[%r, 0] : tensor<12x10xf32>, memref<24x7xf32, strided<[10, 1], offset: 242>>
  tile.return
}

// CHECK: embedding: 5 programs of {{.*}} agree
tile.kernel @embedding(%x: memref<201x12xf32>, %i: memref<5x3xi32>, %y: memref<5x3x12xf32>) {
  %c5 = arith.constant 5 : index
  %c100 = arith.constant 100 : i32
  %p = tile.program_id (%c5) : index
  %a = tile.load %i[%p, 0] sizes [3] : memref<5x3xi32> -> tensor<3xi32>
  %o = tile.broadcast %c100 to [3] : i32 -> tensor<3xi32>
  %b = arith.addi %a, %o : tensor<3xi32>
  %w = tile.broadcast %b to [3, 12] dims [0] : tensor<3xi32> -> tensor<3x12xi32>
  %t = tile.gather %x[0, 0] at %w along 0 dims [-1, 1] pad 7.0 : f32
      : memref<201x12xf32>, tensor<3x12xi32> -> tensor<3x12xf32>
  tile.store %t, %y[%p, 0, 0] : tensor<3x12xf32>, memref<5x3x12xf32>
  tile.return
}

// CHECK: every_second: 1 programs of {{.*}} agree
tile.kernel @every_second(%x: memref<9x12xf32>, %i: memref<12xi32>, %y: memref<5x12xf32>) {
  %a = tile.load %i[0] sizes [12] : memref<12xi32> -> tensor<12xi32>
  %w = tile.broadcast %a to [5, 12] dims [1] : tensor<12xi32> -> tensor<5x12xi32>
  %t = tile.gather %x[0, 0] at %w along 1 dims [0, -1] strides [2, 1] : memref<9x12xf32>, tensor<5x12xi32> -> tensor<5x12xf32>
  tile.store %t, %y[0, 0] : tensor<5x12xf32>, memref<5x12xf32>
  tile.return
}

// CHECK: rows_at: 4 programs of {{.*}} agree
tile.kernel @rows_at(%x: memref<201x16xf32>, %i: memref<4xi64>, %y: memref<4x16xf32>) {
  %c4 = arith.constant 4 : index
  %c100 = arith.constant 100 : index
  %p = tile.program_id (%c4) : index
  %a = memref.load %i[%p] : memref<4xi64>
  %b = arith.index_cast %a : i64 to index
  %r = arith.addi %b, %c100 : index
  %t = tile.load %x[%r, 0] sizes [16] : memref<201x16xf32> -> tensor<16xf32>
  tile.store %t, %y[%p, 0] : tensor<16xf32>, memref<4x16xf32>
  tile.return
}

// Threads read elements that others overwrite: all loads come first.
// CHECK: reverse: 1 programs of {{.*}} agree
tile.kernel @reverse(%x: memref<32x32xf32>) {
  %t = tile.load %x[0, 0] sizes [32, 32] : memref<32x32xf32> -> tensor<32x32xf32>
  tile.store %t, %x[0, 0] dims [1, 0] : tensor<32x32xf32>, memref<32x32xf32>
  %u = tile.load %x[0, 0] sizes [32, 32] : memref<32x32xf32> -> tensor<32x32xf32>
  %v = arith.addf %t, %u : tensor<32x32xf32>
  tile.store %v, %x[0, 0] : tensor<32x32xf32>, memref<32x32xf32>
  tile.return
}

// CHECK: bools: 3 programs of {{.*}} agree
tile.kernel @bools(%x: memref<100xi8>, %y: memref<100xi1>, %z: memref<100xi64>) {
  %c3 = arith.constant 3 : index
  %c40 = arith.constant 40 : index
  %zero = arith.constant 0 : i8
  %p = tile.program_id (%c3) : index
  %o = arith.muli %p, %c40 : index
  %t = tile.load %x[%o] sizes [40] : memref<100xi8> -> tensor<40xi8>
  %n = tile.broadcast %zero to [40] : i8 -> tensor<40xi8>
  %b = arith.cmpi sgt, %t, %n : tensor<40xi8>
  tile.store %b, %y[%o] : tensor<40xi1>, memref<100xi1>
  %w = arith.extsi %t : tensor<40xi8> to tensor<40xi64>
  %i = tile.iota dim 0 to [40] : tensor<40xi64>
  %s = arith.select %b, %i, %w : tensor<40xi1>, tensor<40xi64>
  tile.store %s, %z[%o] : tensor<40xi64>, memref<100xi64>
  tile.return
}

// Scalar code: threads share the iterations of a loop with disjoint stores; other stores
// are done by one thread, in order.
// CHECK: elements: 2 programs of {{.*}} agree
tile.kernel @elements(%x: memref<2x201xf32>, %i: memref<2x70xi32>, %y: memref<2x70xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %c70 = arith.constant 70 : index
  %c100 = arith.constant 100 : index
  %p = tile.program_id (%c2) : index
  scf.for %k = %c0 to %c70 step %c1 {
    %a = memref.load %i[%p, %k] : memref<2x70xi32>
    %b = arith.index_cast %a : i32 to index
    %r = arith.addi %b, %c100 : index
    %v = memref.load %x[%p, %r] : memref<2x201xf32>
    memref.store %v, %y[%p, %k] : memref<2x70xf32>
  }
  tile.return
}

// CHECK: scatter: 1 programs of {{.*}} agree
tile.kernel @scatter(%x: memref<201xf32>, %i: memref<70xi32>, %u: memref<70xf32>, %y: memref<201xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c70 = arith.constant 70 : index
  %c100 = arith.constant 100 : index
  %t = tile.load %x[0] sizes [201] : memref<201xf32> -> tensor<201xf32>
  tile.store %t, %y[0] : tensor<201xf32>, memref<201xf32>
  scf.for %k = %c0 to %c70 step %c1 {
    %a = memref.load %i[%k] : memref<70xi32>
    %b = arith.index_cast %a : i32 to index
    %r = arith.addi %b, %c100 : index
    %v = memref.load %u[%k] : memref<70xf32>
    %o = memref.load %y[%r] : memref<201xf32>
    %s = arith.addf %o, %v : f32
    memref.store %s, %y[%r] : memref<201xf32>
  }
  tile.return
}

// Memory in another order: rows of windows, whose number is dynamic, and columns that
// become pixels of a larger image, loaded and stored.
// CHECK: moved: 8 programs of {{.*}} agree
#windows = affine_map<(m, n) -> (m floordiv 21 * 21 + m mod 7 * 3 + m mod 21 floordiv 7, n)>
#pixels = affine_map<(m, n) -> (m * 4 + n floordiv 2 mod 2 * 2 + n mod 2, n floordiv 4)>
tile.kernel @moved(%x: memref<?x32xf32> {adze.dims = #any32}, %y: memref<?x32xf32> {adze.dims = #any32}, %z: memref<148x8xf32>) {
  %c0 = arith.constant 0 : index
  %c5 = arith.constant 5 : index
  %m = memref.dim %x, %c0 : memref<?x32xf32>
  %g = arith.ceildivui %m, %c5 : index
  %p = tile.program_id (%g) : index
  %o = arith.muli %p, %c5 : index
  %c21 = arith.constant 21 : index
  %q = arith.divui %m, %c21 : index
  %e = arith.muli %q, %c21 : index
  %v = tile.view %y sizes [%e, 32] : memref<?x32xf32> to memref<?x32xf32, #windows>
  %w = tile.view %x sizes [%e, 32] : memref<?x32xf32> to memref<?x32xf32, #windows>
  %u = tile.view %z sizes [%m, 32] : memref<148x8xf32> to memref<?x32xf32, #pixels>
  %a = tile.load %x[%o, 0] sizes [5, 32] : memref<?x32xf32> -> tensor<5x32xf32>
  %b = tile.load %w[%o, 0] sizes [5, 32] : memref<?x32xf32, #windows> -> tensor<5x32xf32>
  %s = arith.addf %a, %b : tensor<5x32xf32>
  tile.store %s, %v[%o, 0] : tensor<5x32xf32>, memref<?x32xf32, #windows>
  tile.store %s, %u[%o, 0] : tensor<5x32xf32>, memref<?x32xf32, #pixels>
  tile.return
}

// A window that begins at an expression of the symbols.
// CHECK: symbols: 1 programs of {{.*}} agree
tile.kernel @symbols(%x: memref<?x32xf32> {adze.dims = #any32}, %y: memref<4x32xf32>) {
  %at = host.size {value = affine_map<()[s0, s1] -> (s0 - s1 * 2)>}
  %t = tile.load %x[%at, 0] sizes [4, 32] : memref<?x32xf32> -> tensor<4x32xf32>
  tile.store %t, %y[0, 0] : tensor<4x32xf32>, memref<4x32xf32>
  tile.return
}
