// Reductions of each kind and dimension, integers, bools, small floats, several stores,
// loop-carried tiles in scratch memory.

tile.kernel @reduce_columns(%x: memref<13x70xf32>, %y: memref<70xf32>, %z: memref<70xf32>) {
  %t = tile.load %x[0, 0] sizes [13, 70] : memref<13x70xf32> -> tensor<13x70xf32>
  %m = tile.reduce max %t dim 0 : tensor<13x70xf32> -> tensor<70xf32>
  %mb = tile.broadcast %m to [13, 70] dims [1] : tensor<70xf32> -> tensor<13x70xf32>
  %d = arith.subf %t, %mb : tensor<13x70xf32>
  %e = math.exp %d : tensor<13x70xf32>
  %s = tile.reduce add %e dim 0 : tensor<13x70xf32> -> tensor<70xf32>
  tile.store %m, %y[0] : tensor<70xf32>, memref<70xf32>
  tile.store %s, %z[0] : tensor<70xf32>, memref<70xf32>
  tile.return
}

tile.kernel @reduce_all(%x: memref<6x5x28xf32>, %y: memref<6xf32>) {
  %t = tile.load %x[0, 0, 0] sizes [6, 5, 28] : memref<6x5x28xf32> -> tensor<6x5x28xf32>
  %a = tile.reduce add %t dim 1 : tensor<6x5x28xf32> -> tensor<6x28xf32>
  %b = tile.reduce mul %a dim 1 : tensor<6x28xf32> -> tensor<6xf32>
  tile.store %b, %y[0] : tensor<6xf32>, memref<6xf32>
  tile.return
}

tile.kernel @reduce_to_one(%x: memref<1000xf32>, %y: memref<1000xf32>) {
  %t = tile.load %x[0] sizes [1000] : memref<1000xf32> -> tensor<1000xf32>
  %m = tile.reduce min %t dim 0 : tensor<1000xf32> -> tensor<f32>
  %b = tile.broadcast %m to [1000] dims [] : tensor<f32> -> tensor<1000xf32>
  %r = arith.subf %t, %b : tensor<1000xf32>
  tile.store %r, %y[0] : tensor<1000xf32>, memref<1000xf32>
  tile.return
}

tile.kernel @integers(%x: memref<37xi32>, %y: memref<37xi32>, %o: memref<37xi32>, %u: memref<1xi32>, %v: memref<1xi32>) {
  %a = tile.load %x[0] sizes [40] : memref<37xi32> -> tensor<40xi32>
  %b = tile.load %y[0] sizes [40] : memref<37xi32> -> tensor<40xi32>
  %one = arith.constant 1 : i32
  %ones = tile.broadcast %one to [40] : i32 -> tensor<40xi32>
  %odd = arith.ori %b, %ones : tensor<40xi32>
  %q = arith.divsi %a, %odd : tensor<40xi32>
  %is = arith.cmpi slt, %q, %odd : tensor<40xi32>
  %r = arith.select %is, %q, %b : tensor<40xi1>, tensor<40xi32>
  %most = tile.reduce umax %a dim 0 : tensor<40xi32> -> tensor<i32>
  %any = tile.reduce or %b dim 0 : tensor<40xi32> -> tensor<i32>
  %mb = tile.broadcast %most to [1] dims [] : tensor<i32> -> tensor<1xi32>
  %ab = tile.broadcast %any to [1] dims [] : tensor<i32> -> tensor<1xi32>
  tile.store %r, %o[0] : tensor<40xi32>, memref<37xi32>
  tile.store %mb, %u[0] : tensor<1xi32>, memref<1xi32>
  tile.store %ab, %v[0] : tensor<1xi32>, memref<1xi32>
  tile.return
}

#n = affine_map<()[s0] -> (s0)>
tile.kernel @bools(%x: memref<?xf32> {adze.dims = #n}, %m: memref<?xi8> {adze.dims = #n}, %y: memref<?xi8> {adze.dims = #n}) {
  %c0 = arith.constant 0 : index
  %c64 = arith.constant 64 : index
  %n = memref.dim %x, %c0 : memref<?xf32>
  %g = arith.ceildivui %n, %c64 : index
  %p = tile.program_id (%g) : index
  %i = arith.muli %p, %c64 : index
  %t = tile.load %x[%i] sizes [64] : memref<?xf32> -> tensor<64xf32>
  %b = tile.load %m[%i] sizes [64] : memref<?xi8> -> tensor<64xi8>
  %z8 = arith.constant 0 : i8
  %z = tile.broadcast %z8 to [64] : i8 -> tensor<64xi8>
  %f0 = arith.constant 0.0 : f32
  %f = tile.broadcast %f0 to [64] : f32 -> tensor<64xf32>
  %c = arith.cmpi ne, %b, %z : tensor<64xi8>
  %d = arith.cmpf ogt, %t, %f : tensor<64xf32>
  %e = arith.andi %c, %d : tensor<64xi1>
  %r = arith.extui %e : tensor<64xi1> to tensor<64xi8>
  tile.store %r, %y[%i] : tensor<64xi8>, memref<?xi8>
  tile.return
}

tile.kernel @quantised_dot(%x: memref<10x36xi8>, %w: memref<36x40xi8>, %y: memref<10x40xi32>) {
  %a = tile.load %x[0, 0] sizes [10, 36] : memref<10x36xi8> -> tensor<10x36xi8>
  %b = tile.load %w[0, 0] sizes [36, 40] : memref<36x40xi8> -> tensor<36x40xi8>
  %ua = arith.extui %a : tensor<10x36xi8> to tensor<10x36xi32>
  %three = arith.constant 3 : i32
  %zp = tile.broadcast %three to [10, 36] : i32 -> tensor<10x36xi32>
  %s = arith.subi %ua, %zp : tensor<10x36xi32>
  %z = arith.constant 0 : i32
  %acc = tile.broadcast %z to [10, 40] : i32 -> tensor<10x40xi32>
  %d = tile.dot %s, %b, %acc : tensor<10x36xi32>, tensor<36x40xi8>, tensor<10x40xi32>
  tile.store %d, %y[0, 0] : tensor<10x40xi32>, memref<10x40xi32>
  tile.return
}

tile.kernel @half_dot(%x: memref<9x20xf16>, %w: memref<20x33xf16>, %y: memref<9x33xf16>) {
  %a = tile.load %x[0, 0] sizes [9, 20] : memref<9x20xf16> -> tensor<9x20xf16>
  %b = tile.load %w[0, 0] sizes [20, 33] : memref<20x33xf16> -> tensor<20x33xf16>
  %f0 = arith.constant 0.0 : f32
  %z = tile.broadcast %f0 to [9, 33] : f32 -> tensor<9x33xf32>
  %d = tile.dot %a, %b, %z : tensor<9x20xf16>, tensor<20x33xf16>, tensor<9x33xf32>
  %e = math.tanh %d : tensor<9x33xf32>
  %r = arith.truncf %e : tensor<9x33xf32> to tensor<9x33xf16>
  tile.store %r, %y[0, 0] : tensor<9x33xf16>, memref<9x33xf16>
  tile.return
}

tile.kernel @bfloat(%x: memref<50xbf16>, %y: memref<50xbf16>) {
  %a = tile.load %x[0] sizes [50] : memref<50xbf16> -> tensor<50xbf16>
  %w = arith.extf %a : tensor<50xbf16> to tensor<50xf32>
  %e = math.exp %w : tensor<50xf32>
  %r = arith.truncf %e : tensor<50xf32> to tensor<50xbf16>
  tile.store %r, %y[0] : tensor<50xbf16>, memref<50xbf16>
  tile.return
}

tile.kernel @doubles(%x: memref<50xf64>, %y: memref<50xf64>) {
  %a = tile.load %x[0] sizes [50] : memref<50xf64> -> tensor<50xf64>
  %e = math.exp %a : tensor<50xf64>
  %f = math.fma %a, %e, %a : tensor<50xf64>
  tile.store %f, %y[0] : tensor<50xf64>, memref<50xf64>
  tile.return
}

// The index of the greatest element of each row.
tile.kernel @arg_max(%x: memref<7x100xf32>, %y: memref<7xi64>) {
  %t = tile.load %x[0, 0] sizes [7, 100] : memref<7x100xf32> -> tensor<7x100xf32>
  %m = tile.reduce max %t dim 1 : tensor<7x100xf32> -> tensor<7xf32>
  %mb = tile.broadcast %m to [7, 100] dims [0] : tensor<7xf32> -> tensor<7x100xf32>
  %is = arith.cmpf oeq, %t, %mb : tensor<7x100xf32>
  %i = tile.iota dim 1 to [7, 100] : tensor<7x100xi64>
  %big = arith.constant 1000 : i64
  %bigs = tile.broadcast %big to [7, 100] : i64 -> tensor<7x100xi64>
  %c = arith.select %is, %i, %bigs : tensor<7x100xi1>, tensor<7x100xi64>
  %r = tile.reduce min %c dim 1 : tensor<7x100xi64> -> tensor<7xi64>
  tile.store %r, %y[0] : tensor<7xi64>, memref<7xi64>
  tile.return
}

// In place, row by row.
#rows = affine_map<()[s0] -> (s0, 75)>
tile.kernel @in_place(%x: memref<?x75xf32> {adze.dims = #rows}) {
  %c0 = arith.constant 0 : index
  %c4 = arith.constant 4 : index
  %n = memref.dim %x, %c0 : memref<?x75xf32>
  %g = arith.ceildivui %n, %c4 : index
  %p = tile.program_id (%g) : index
  %row = arith.muli %p, %c4 : index
  %t = tile.load %x[%row, 0] sizes [4, 75] : memref<?x75xf32> -> tensor<4x75xf32>
  %s = tile.reduce add %t dim 1 : tensor<4x75xf32> -> tensor<4xf32>
  %b = tile.broadcast %s to [4, 75] dims [0] : tensor<4xf32> -> tensor<4x75xf32>
  %r = arith.mulf %t, %b : tensor<4x75xf32>
  tile.store %r, %x[%row, 0] : tensor<4x75xf32>, memref<?x75xf32>
  tile.return
}

// In place with a shift: elements must be loaded before they are overwritten.
tile.kernel @shift(%x: memref<300xf32>) {
  %t = tile.load %x[0] sizes [299] : memref<300xf32> -> tensor<299xf32>
  %u = tile.load %x[1] sizes [299] : memref<300xf32> -> tensor<299xf32>
  %s = arith.addf %t, %u : tensor<299xf32>
  tile.store %s, %x[1] : tensor<299xf32>, memref<300xf32>
  %v = tile.load %x[0] sizes [100] : memref<300xf32> -> tensor<100xf32>
  tile.store %v, %x[200] : tensor<100xf32>, memref<300xf32>
  tile.return
}

// Shapes change between two computations.
tile.kernel @reshaped(%x: memref<12x30xf32>, %y: memref<30x12xf32>, %z: memref<6x60xf32>) {
  %t = tile.load %x[0, 0] sizes [12, 30] : memref<12x30xf32> -> tensor<12x30xf32>
  %n = arith.negf %t : tensor<12x30xf32>
  %r = tile.reshape %n to [6, 60] : tensor<12x30xf32> -> tensor<6x60xf32>
  %s = tile.reduce add %r dim 0 : tensor<6x60xf32> -> tensor<60xf32>
  %b = tile.broadcast %s to [6, 60] dims [1] : tensor<60xf32> -> tensor<6x60xf32>
  %o = arith.mulf %r, %b : tensor<6x60xf32>
  %u = tile.transpose %n perm [1, 0] : tensor<12x30xf32> -> tensor<30x12xf32>
  tile.store %u, %y[0, 0] : tensor<30x12xf32>, memref<30x12xf32>
  tile.store %o, %z[0, 0] : tensor<6x60xf32>, memref<6x60xf32>
  tile.return
}

// A branch over tiles, and carried values that are swapped.
tile.kernel @control(%x: memref<5x200xf32>, %y: memref<5x200xf32>, %z: memref<5xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %c5 = arith.constant 5 : index
  %t = tile.load %x[0, 0] sizes [5, 200] : memref<5x200xf32> -> tensor<5x200xf32>
  %n = arith.negf %t : tensor<5x200xf32>
  %a, %b = scf.for %i = %c0 to %c5 step %c1 iter_args(%p = %t, %q = %n) -> (tensor<5x200xf32>, tensor<5x200xf32>) {
    %rem = arith.remui %i, %c2 : index
    %odd = arith.cmpi eq, %rem, %c1 : index
    %r = scf.if %odd -> tensor<5x200xf32> {
      %s = arith.addf %p, %q : tensor<5x200xf32>
      scf.yield %s : tensor<5x200xf32>
    } else {
      %s = arith.mulf %p, %q : tensor<5x200xf32>
      scf.yield %s : tensor<5x200xf32>
    }
    scf.yield %q, %r : tensor<5x200xf32>, tensor<5x200xf32>
  }
  %w = arith.subf %a, %b : tensor<5x200xf32>
  %s = tile.reduce add %w dim 1 : tensor<5x200xf32> -> tensor<5xf32>
  tile.store %w, %y[0, 0] : tensor<5x200xf32>, memref<5x200xf32>
  tile.store %s, %z[0] : tensor<5xf32>, memref<5xf32>
  tile.return
}

// A computed left or right operand of a dot.
tile.kernel @computed_operands(%x: memref<20x24xf32>, %w: memref<24x50xi8>, %s: memref<50xf32>, %y: memref<20x50xf32>) {
  %a = tile.load %x[0, 0] sizes [20, 24] : memref<20x24xf32> -> tensor<20x24xf32>
  %e = math.exp %a : tensor<20x24xf32>
  %q = tile.load %w[0, 0] sizes [24, 50] : memref<24x50xi8> -> tensor<24x50xi8>
  %f = arith.sitofp %q : tensor<24x50xi8> to tensor<24x50xf32>
  %c = tile.load %s[0] sizes [50] : memref<50xf32> -> tensor<50xf32>
  %cb = tile.broadcast %c to [24, 50] dims [1] : tensor<50xf32> -> tensor<24x50xf32>
  %b = arith.mulf %f, %cb : tensor<24x50xf32>
  %f0 = arith.constant 0.0 : f32
  %z = tile.broadcast %f0 to [20, 50] : f32 -> tensor<20x50xf32>
  %d = tile.dot %e, %b, %z : tensor<20x24xf32>, tensor<24x50xf32>, tensor<20x50xf32>
  tile.store %d, %y[0, 0] : tensor<20x50xf32>, memref<20x50xf32>
  tile.return
}
