// All kinds of windows: strides, permuted and inner dims, negative offsets, padding,
// out-of-bounds parts, packed layouts. All sizes are odd.

// A pooling window: stride 2, out-of-bounds parts on all sides, padding -inf.
tile.kernel @max_pool(%x: memref<2x15x15x40xf32>, %y: memref<2x8x8x40xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %c3 = arith.constant 3 : index
  %c8 = arith.constant 8 : index
  %n, %oy = tile.program_id (%c2, %c8) : index, index
  %oy2 = arith.muli %oy, %c2 : index
  %iy0 = arith.subi %oy2, %c1 : index
  %inf = arith.constant 0xFF800000 : f32
  %init = tile.broadcast %inf to [8, 40] : f32 -> tensor<8x40xf32>
  %max = scf.for %r = %c0 to %c3 step %c1 iter_args(%a = %init) -> tensor<8x40xf32> {
    %iy = arith.addi %iy0, %r : index
    %b = scf.for %s = %c0 to %c3 step %c1 iter_args(%c = %a) -> tensor<8x40xf32> {
      %ix = arith.subi %s, %c1 : index
      %t = tile.load %x[%n, %iy, %ix, 0] sizes [8, 40] dims [2, 3] strides [2, 1] pad 0xFF800000 : f32
          : memref<2x15x15x40xf32> -> tensor<8x40xf32>
      %m = arith.maximumf %c, %t : tensor<8x40xf32>
      scf.yield %m : tensor<8x40xf32>
    }
    scf.yield %b : tensor<8x40xf32>
  }
  tile.store %max, %y[%n, %oy, 0, 0] : tensor<8x40xf32>, memref<2x8x8x40xf32>
  tile.return
}

// Channels first, three channels, kernel 5, stride 2: the first layer of a network.
#w = affine_map<(o, i, r, s) -> (o floordiv 16, r, s, i, o mod 16)>
tile.kernel @first_conv(%x: memref<1x3x23x23xf32>, %w: memref<24x3x5x5xf32, #w>,
                        %b: memref<24xf32>, %y: memref<1x12x12x24xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %c5 = arith.constant 5 : index
  %c12 = arith.constant 12 : index
  %oy = tile.program_id (%c12) : index
  %oy2 = arith.muli %oy, %c2 : index
  %iy0 = arith.subi %oy2, %c2 : index
  %f0 = arith.constant 0.0 : f32
  %zero = tile.broadcast %f0 to [12, 24] : f32 -> tensor<12x24xf32>
  %acc = scf.for %r = %c0 to %c5 step %c1 iter_args(%a0 = %zero) -> tensor<12x24xf32> {
    %iy = arith.addi %iy0, %r : index
    %a1 = scf.for %s = %c0 to %c5 step %c1 iter_args(%a = %a0) -> tensor<12x24xf32> {
      %ix = arith.subi %s, %c2 : index
      %v = tile.load %x[0, 0, %iy, %ix] sizes [12, 3] dims [3, 1] strides [2, 1]
          : memref<1x3x23x23xf32> -> tensor<12x3xf32>
      %f = tile.load %w[0, 0, %r, %s] sizes [3, 24] dims [1, 0]
          : memref<24x3x5x5xf32, #w> -> tensor<3x24xf32>
      %d = tile.dot %v, %f, %a : tensor<12x3xf32>, tensor<3x24xf32>, tensor<12x24xf32>
      scf.yield %d : tensor<12x24xf32>
    }
    scf.yield %a1 : tensor<12x24xf32>
  }
  %bias = tile.load %b[0] sizes [24] : memref<24xf32> -> tensor<24xf32>
  %bb = tile.broadcast %bias to [12, 24] dims [1] : tensor<24xf32> -> tensor<12x24xf32>
  %r = arith.addf %acc, %bb : tensor<12x24xf32>
  tile.store %r, %y[0, %oy, 0, 0] : tensor<12x24xf32>, memref<1x12x12x24xf32>
  tile.return
}

// Two rows of seven pixels make one block of fourteen.
tile.kernel @merged_rows(%x: memref<1x7x7x48xf32>, %w: memref<48x33xf32>, %y: memref<1x7x7x33xf32>) {
  %c2 = arith.constant 2 : index
  %c4 = arith.constant 4 : index
  %p = tile.program_id (%c4) : index
  %row = arith.muli %p, %c2 : index
  %v = tile.load %x[0, %row, 0, 0] sizes [2, 7, 48] : memref<1x7x7x48xf32> -> tensor<2x7x48xf32>
  %a = tile.reshape %v to [14, 48] : tensor<2x7x48xf32> -> tensor<14x48xf32>
  %b = tile.load %w[0, 0] sizes [48, 33] : memref<48x33xf32> -> tensor<48x33xf32>
  %f0 = arith.constant 0.0 : f32
  %z = tile.broadcast %f0 to [14, 33] : f32 -> tensor<14x33xf32>
  %d = tile.dot %a, %b, %z : tensor<14x48xf32>, tensor<48x33xf32>, tensor<14x33xf32>
  %r = tile.reshape %d to [2, 7, 33] : tensor<14x33xf32> -> tensor<2x7x33xf32>
  tile.store %r, %y[0, %row, 0, 0] : tensor<2x7x33xf32>, memref<1x7x7x33xf32>
  tile.return
}

// Loads along one dim, stores along another, with remainders.
#mn = affine_map<()[s0, s1] -> (s0, s1)>
#nm = affine_map<()[s0, s1] -> (s1, s0)>
tile.kernel @transpose(%x: memref<?x?xf32> {adze.dims = #mn}, %y: memref<?x?xf32> {adze.dims = #nm}) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c32 = arith.constant 32 : index
  %m = memref.dim %x, %c0 : memref<?x?xf32>
  %n = memref.dim %x, %c1 : memref<?x?xf32>
  %gm = arith.ceildivui %m, %c32 : index
  %gn = arith.ceildivui %n, %c32 : index
  %p, %q = tile.program_id (%gm, %gn) : index, index
  %i = arith.muli %p, %c32 : index
  %j = arith.muli %q, %c32 : index
  %t = tile.load %x[%i, %j] sizes [32, 32] dims [1, 0] : memref<?x?xf32> -> tensor<32x32xf32>
  tile.store %t, %y[%j, %i] : tensor<32x32xf32>, memref<?x?xf32>
  tile.return
}

// Parts stored to views, so that the remainder of one does not overwrite the next.
tile.kernel @concat(%x: memref<5x24xf32>, %z: memref<5x13xf32>, %y: memref<5x37xf32>) {
  %a = memref.subview %y[0, 0] [5, 24] [1, 1] : memref<5x37xf32> to memref<5x24xf32, strided<[37, 1]>>
  %b = memref.subview %y[0, 24] [5, 13] [1, 1] : memref<5x37xf32> to memref<5x13xf32, strided<[37, 1], offset: 24>>
  %t = tile.load %x[0, 0] sizes [8, 32] : memref<5x24xf32> -> tensor<8x32xf32>
  tile.store %t, %a[0, 0] : tensor<8x32xf32>, memref<5x24xf32, strided<[37, 1]>>
  %u = tile.load %z[0, 0] sizes [8, 32] : memref<5x13xf32> -> tensor<8x32xf32>
  tile.store %u, %b[0, 0] : tensor<8x32xf32>, memref<5x13xf32, strided<[37, 1], offset: 24>>
  tile.return
}

// Strided stores, and a window that starts before the memory.
tile.kernel @strided_store(%x: memref<9x17xf32>, %y: memref<9x50xf32>) {
  %t = tile.load %x[-2, -1] sizes [12, 20] pad 3.0 : f32 : memref<9x17xf32> -> tensor<12x20xf32>
  tile.store %t, %y[-1, -2] strides [1, 3] : tensor<12x20xf32>, memref<9x50xf32>
  tile.return
}

// Elements at computed indices, some out of bounds.
tile.kernel @gather(%x: memref<11x19xf32>, %i: memref<6x19xi64>, %y: memref<6x19xf32>) {
  %idx = tile.load %i[0, 0] sizes [6, 19] : memref<6x19xi64> -> tensor<6x19xi64>
  %two = arith.constant 2 : i64
  %k = tile.broadcast %two to [6, 19] : i64 -> tensor<6x19xi64>
  %j = arith.muli %idx, %k : tensor<6x19xi64>
  %t = tile.gather %x[-1, 0] at %j along 0 dims [-1, 1] pad 9.0 : f32
      : memref<11x19xf32>, tensor<6x19xi64> -> tensor<6x19xf32>
  tile.store %t, %y[0, 0] : tensor<6x19xf32>, memref<6x19xf32>
  tile.return
}

// B transposed in memory, a remainder of K, and a block of N that extends beyond the
// edge.
#mk = affine_map<()[s0, s1, s2] -> (s0, s2)>
#nk = affine_map<()[s0, s1, s2] -> (s1, s2)>
tile.kernel @gemm_nt(%x: memref<?x?xf32> {adze.dims = #mk}, %w: memref<?x?xf32> {adze.dims = #nk},
                     %y: memref<?x?xf32> {adze.dims = #mn}) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c16 = arith.constant 16 : index
  %c24 = arith.constant 24 : index
  %c48 = arith.constant 48 : index
  %m = memref.dim %y, %c0 : memref<?x?xf32>
  %n = memref.dim %y, %c1 : memref<?x?xf32>
  %k = memref.dim %x, %c1 : memref<?x?xf32>
  %gm = arith.ceildivui %m, %c24 : index
  %gn = arith.ceildivui %n, %c48 : index
  %p, %q = tile.program_id (%gm, %gn) : index, index
  %i = arith.muli %p, %c24 : index
  %j = arith.muli %q, %c48 : index
  %f0 = arith.constant 0.0 : f32
  %z = tile.broadcast %f0 to [24, 48] : f32 -> tensor<24x48xf32>
  %acc = scf.for %h = %c0 to %k step %c16 iter_args(%s = %z) -> tensor<24x48xf32> {
    %a = tile.load %x[%i, %h] sizes [24, 16] : memref<?x?xf32> -> tensor<24x16xf32>
    %b = tile.load %w[%j, %h] sizes [16, 48] dims [1, 0] : memref<?x?xf32> -> tensor<16x48xf32>
    %d = tile.dot %a, %b, %s : tensor<24x16xf32>, tensor<16x48xf32>, tensor<24x48xf32>
    scf.yield %d : tensor<24x48xf32>
  }
  tile.store %acc, %y[%i, %j] : tensor<24x48xf32>, memref<?x?xf32>
  tile.return
}
