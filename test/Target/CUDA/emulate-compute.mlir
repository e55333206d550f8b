// RUN: cuda-emulate %s | FileCheck %s
// RUN: cuda-emulate %s --block-threads=32 | FileCheck %s
// RUN: cuda-emulate %s --block-threads=512 | FileCheck %s

// Reductions, dots, loops and changes of layout against the interpreter.

// CHECK: columns: 2 programs of {{.*}} agree
tile.kernel @columns(%x: memref<50x30xf32>, %y: memref<30xf32>, %z: memref<30xf32>) {
  %c2 = arith.constant 2 : index
  %c15 = arith.constant 15 : index
  %p = tile.program_id (%c2) : index
  %o = arith.muli %p, %c15 : index
  %t = tile.load %x[0, %o] sizes [50, 15] : memref<50x30xf32> -> tensor<50x15xf32>
  %s = tile.reduce add %t dim 0 : tensor<50x15xf32> -> tensor<15xf32>
  %m = tile.reduce max %t dim 0 : tensor<50x15xf32> -> tensor<15xf32>
  tile.store %s, %y[%o] : tensor<15xf32>, memref<30xf32>
  tile.store %m, %z[%o] : tensor<15xf32>, memref<30xf32>
  tile.return
}

// A row too long for registers is read twice, in loops.
// CHECK: long_rows: 2 programs of {{.*}} agree
tile.kernel @long_rows(%x: memref<2x40000xf32>, %y: memref<2x40000xf32>) {
  %c2 = arith.constant 2 : index
  %p = tile.program_id (%c2) : index
  %t = tile.load %x[%p, 0] sizes [1, 40000] : memref<2x40000xf32> -> tensor<1x40000xf32>
  %m = tile.reduce max %t dim 1 : tensor<1x40000xf32> -> tensor<1xf32>
  %b = tile.broadcast %m to [1, 40000] dims [0] : tensor<1xf32> -> tensor<1x40000xf32>
  %d = arith.subf %t, %b : tensor<1x40000xf32>
  tile.store %d, %y[%p, 0] : tensor<1x40000xf32>, memref<2x40000xf32>
  tile.return
}

// CHECK: layer_norm: 3 programs of {{.*}} agree
tile.kernel @layer_norm(%x: memref<9x50xf32>, %g: memref<50xf32>, %y: memref<9x50xf32>) {
  %c3 = arith.constant 3 : index
  %f = arith.constant 0.02 : f32
  %e = arith.constant 1.0e-5 : f32
  %p = tile.program_id (%c3) : index
  %r = arith.muli %p, %c3 : index
  %inv = tile.broadcast %f to [3] : f32 -> tensor<3xf32>
  %eps = tile.broadcast %e to [3] : f32 -> tensor<3xf32>
  %t = tile.load %x[%r, 0] sizes [3, 50] : memref<9x50xf32> -> tensor<3x50xf32>
  %s = tile.reduce add %t dim 1 : tensor<3x50xf32> -> tensor<3xf32>
  %mean = arith.mulf %s, %inv : tensor<3xf32>
  %mb = tile.broadcast %mean to [3, 50] dims [0] : tensor<3xf32> -> tensor<3x50xf32>
  %d = arith.subf %t, %mb : tensor<3x50xf32>
  %q = arith.mulf %d, %d : tensor<3x50xf32>
  %v = tile.reduce add %q dim 1 : tensor<3x50xf32> -> tensor<3xf32>
  %vm = math.fma %v, %inv, %eps : tensor<3xf32>
  %rs = math.rsqrt %vm : tensor<3xf32>
  %rb = tile.broadcast %rs to [3, 50] dims [0] : tensor<3xf32> -> tensor<3x50xf32>
  %gl = tile.load %g[0] sizes [50] : memref<50xf32> -> tensor<50xf32>
  %gb = tile.broadcast %gl to [3, 50] dims [1] : tensor<50xf32> -> tensor<3x50xf32>
  %n = arith.mulf %d, %rb : tensor<3x50xf32>
  %o = arith.mulf %n, %gb : tensor<3x50xf32>
  tile.store %o, %y[%r, 0] : tensor<3x50xf32>, memref<9x50xf32>
  tile.return
}

// CHECK: integers: 1 programs of {{.*}} agree
tile.kernel @integers(%x: memref<7x33xi64>, %a: memref<7xi64>, %b: memref<33xi64>, %c: memref<7xi64>, %d: memref<7xi64>) {
  %t = tile.load %x[0, 0] sizes [7, 33] pad -5 : i64 : memref<7x33xi64> -> tensor<7x33xi64>
  %s = tile.reduce add %t dim 1 : tensor<7x33xi64> -> tensor<7xi64>
  %m = tile.reduce min %t dim 0 : tensor<7x33xi64> -> tensor<33xi64>
  %u = tile.reduce umax %t dim 1 : tensor<7x33xi64> -> tensor<7xi64>
  %o = tile.reduce or %t dim 1 : tensor<7x33xi64> -> tensor<7xi64>
  tile.store %s, %a[0] : tensor<7xi64>, memref<7xi64>
  tile.store %m, %b[0] : tensor<33xi64>, memref<33xi64>
  tile.store %u, %c[0] : tensor<7xi64>, memref<7xi64>
  tile.store %o, %d[0] : tensor<7xi64>, memref<7xi64>
  tile.return
}

// CHECK: quantised: 2 programs of {{.*}} agree
tile.kernel @quantised(%x: memref<20x36xi8>, %w: memref<36x24xi8>, %y: memref<20x24xi32>) {
  %c2 = arith.constant 2 : index
  %c10 = arith.constant 10 : index
  %z = arith.constant 0 : i32
  %p = tile.program_id (%c2) : index
  %r = arith.muli %p, %c10 : index
  %zero = tile.broadcast %z to [10, 24] : i32 -> tensor<10x24xi32>
  %a = tile.load %x[%r, 0] sizes [10, 36] : memref<20x36xi8> -> tensor<10x36xi8>
  %b = tile.load %w[0, 0] sizes [36, 24] : memref<36x24xi8> -> tensor<36x24xi8>
  %d = tile.dot %a, %b, %zero : tensor<10x36xi8>, tensor<36x24xi8>, tensor<10x24xi32>
  tile.store %d, %y[%r, 0] : tensor<10x24xi32>, memref<20x24xi32>
  tile.return
}

// x times its transpose: both dimensions of the product are one class.
// CHECK: gram: 1 programs of {{.*}} agree
tile.kernel @gram(%x: memref<24x40xf32>, %y: memref<24x24xf32>) {
  %z = arith.constant 0.0 : f32
  %zero = tile.broadcast %z to [24, 24] : f32 -> tensor<24x24xf32>
  %t = tile.load %x[0, 0] sizes [24, 40] : memref<24x40xf32> -> tensor<24x40xf32>
  %u = tile.transpose %t perm [1, 0] : tensor<24x40xf32> -> tensor<40x24xf32>
  %d = tile.dot %t, %u, %zero : tensor<24x40xf32>, tensor<40x24xf32>, tensor<24x24xf32>
  %v = tile.transpose %d perm [1, 0] : tensor<24x24xf32> -> tensor<24x24xf32>
  %s = arith.addf %d, %v : tensor<24x24xf32>
  tile.store %s, %y[0, 0] : tensor<24x24xf32>, memref<24x24xf32>
  tile.return
}

// CHECK: chain: 2 programs of {{.*}} agree
tile.kernel @chain(%x: memref<32x48xf16>, %w: memref<48x40xf16>, %v: memref<40x16xf32>, %y: memref<32x16xf32>, %n: memref<16xf32>) {
  %c2 = arith.constant 2 : index
  %c16 = arith.constant 16 : index
  %z = arith.constant 0.0 : f32
  %p = tile.program_id (%c2) : index
  %r = arith.muli %p, %c16 : index
  %z1 = tile.broadcast %z to [16, 40] : f32 -> tensor<16x40xf32>
  %z2 = tile.broadcast %z to [16, 16] : f32 -> tensor<16x16xf32>
  %a = tile.load %x[%r, 0] sizes [16, 48] : memref<32x48xf16> -> tensor<16x48xf16>
  %b = tile.load %w[0, 0] sizes [48, 40] : memref<48x40xf16> -> tensor<48x40xf16>
  %h = tile.dot %a, %b, %z1 : tensor<16x48xf16>, tensor<48x40xf16>, tensor<16x40xf32>
  %g = arith.maximumf %h, %z1 : tensor<16x40xf32>
  %c = tile.load %v[0, 0] sizes [40, 16] : memref<40x16xf32> -> tensor<40x16xf32>
  %d = tile.dot %g, %c, %z2 : tensor<16x40xf32>, tensor<40x16xf32>, tensor<16x16xf32>
  tile.store %d, %y[%r, 0] : tensor<16x16xf32>, memref<32x16xf32>
  tile.return
}

// CHECK: merged_pixels: 3 programs of {{.*}} agree
tile.kernel @merged_pixels(%x: memref<6x9x8xf32>, %w: memref<8x12xf32>, %y: memref<6x9x12xf32>) {
  %c2 = arith.constant 2 : index
  %c3 = arith.constant 3 : index
  %z = arith.constant 0.0 : f32
  %p = tile.program_id (%c3) : index
  %r = arith.muli %p, %c2 : index
  %zero = tile.broadcast %z to [20, 12] : f32 -> tensor<20x12xf32>
  %a3 = tile.load %x[%r, -1, 0] sizes [2, 10, 8] : memref<6x9x8xf32> -> tensor<2x10x8xf32>
  %a = tile.reshape %a3 to [20, 8] : tensor<2x10x8xf32> -> tensor<20x8xf32>
  %b = tile.load %w[0, 0] sizes [8, 12] : memref<8x12xf32> -> tensor<8x12xf32>
  %d = tile.dot %a, %b, %zero : tensor<20x8xf32>, tensor<8x12xf32>, tensor<20x12xf32>
  %d3 = tile.reshape %d to [2, 10, 12] : tensor<20x12xf32> -> tensor<2x10x12xf32>
  tile.store %d3, %y[%r, -1, 0] : tensor<2x10x12xf32>, memref<6x9x12xf32>
  tile.return
}

// CHECK: depthwise: 8 programs of {{.*}} agree
tile.kernel @depthwise(%x: memref<8x13x20xf32>, %w: memref<3x3x20xf32>, %y: memref<8x13x20xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c3 = arith.constant 3 : index
  %c8 = arith.constant 8 : index
  %z = arith.constant 0.0 : f32
  %oy = tile.program_id (%c8) : index
  %iy0 = arith.subi %oy, %c1 : index
  %zero = tile.broadcast %z to [13, 20] : f32 -> tensor<13x20xf32>
  %acc = scf.for %r = %c0 to %c3 step %c1 iter_args(%a0 = %zero) -> tensor<13x20xf32> {
    %iy = arith.addi %iy0, %r : index
    %a2 = scf.for %s = %c0 to %c3 step %c1 iter_args(%a1 = %a0) -> tensor<13x20xf32> {
      %ix = arith.subi %s, %c1 : index
      %t = tile.load %x[%iy, %ix, 0] sizes [13, 20] : memref<8x13x20xf32> -> tensor<13x20xf32>
      %k = tile.load %w[%r, %s, 0] sizes [20] : memref<3x3x20xf32> -> tensor<20xf32>
      %kb = tile.broadcast %k to [13, 20] dims [1] : tensor<20xf32> -> tensor<13x20xf32>
      %f = math.fma %t, %kb, %a1 : tensor<13x20xf32>
      scf.yield %f : tensor<13x20xf32>
    }
    scf.yield %a2 : tensor<13x20xf32>
  }
  tile.store %acc, %y[%oy, 0, 0] : tensor<13x20xf32>, memref<8x13x20xf32>
  tile.return
}

// A remainder by a comparison, a branch on a scalar, a rank-0 result.
// CHECK: tail: 3 programs of {{.*}} agree
tile.kernel @tail(%x: memref<3x70xf32>, %y: memref<3xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c3 = arith.constant 3 : index
  %c32 = arith.constant 32 : index
  %c70 = arith.constant 70 : index
  %z = arith.constant 0.0 : f32
  %p = tile.program_id (%c3) : index
  %zero = tile.broadcast %z to [32] : f32 -> tensor<32xf32>
  %acc = scf.for %k = %c0 to %c70 step %c32 iter_args(%a = %zero) -> tensor<32xf32> {
    %t = tile.load %x[%p, %k] sizes [32] pad 3.0 : f32 : memref<3x70xf32> -> tensor<32xf32>
    %i = tile.iota dim 0 to [32] : tensor<32xindex>
    %kb = tile.broadcast %k to [32] : index -> tensor<32xindex>
    %at = arith.addi %i, %kb : tensor<32xindex>
    %end = tile.broadcast %c70 to [32] : index -> tensor<32xindex>
    %in = arith.cmpi ult, %at, %end : tensor<32xindex>
    %v = arith.select %in, %t, %zero : tensor<32xi1>, tensor<32xf32>
    %n = arith.addf %a, %v : tensor<32xf32>
    scf.yield %n : tensor<32xf32>
  }
  %first = arith.cmpi eq, %p, %c1 : index
  %chosen = scf.if %first -> tensor<32xf32> {
    %n = arith.negf %acc : tensor<32xf32>
    scf.yield %n : tensor<32xf32>
  } else {
    scf.yield %acc : tensor<32xf32>
  }
  %s = tile.reduce add %chosen dim 0 : tensor<32xf32> -> tensor<f32>
  tile.store %s, %y[%p] : tensor<f32>, memref<3xf32>
  tile.return
}
