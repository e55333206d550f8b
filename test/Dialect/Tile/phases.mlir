// RUN: aopt %s --split-input-file --verify-diagnostics | FileCheck %s
// RUN: aopt %s --split-input-file --verify-diagnostics -tile-specialize -convert-tile-to-vector | FileCheck %s --check-prefix=VECTOR

// CHECK-LABEL: tile.kernel @two
// CHECK: %[[V:.*]] = tile.scratch [4, %{{.*}}] : memref<4x?xf32>
// CHECK: tile.phase {
// CHECK: tile.store %{{.*}}, %[[V]][0, 0]
// CHECK: scf.for
// CHECK: tile.phase {
// CHECK: tile.load %[[V]]
// A phase begins when the previous one has ended.
// VECTOR-LABEL: func.func @two(
// VECTOR: %[[V:.*]] = memref.alloca() {{.*}}: memref<4x64xf32>
// VECTOR: math.exp
// VECTOR: vector.store %{{.*}}, %[[V]]
// VECTOR: vector.load %[[V]]
tile.kernel @two(%x: memref<?x64xf32>, %y: memref<?x64xf32>) attributes {tile.params = {N = 64 : i64}} {
  %n = tile.param "N" : index
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %c4 = arith.constant 4 : index
  %rows = memref.dim %x, %c0 : memref<?x64xf32>
  %g = arith.ceildivui %rows, %c4 : index
  %p = tile.program_id (%g) : index
  %row = arith.muli %p, %c4 : index
  %v = tile.scratch [4, %n] : memref<4x?xf32>
  tile.phase {
    %a = tile.load %x[%row, 0] sizes [4, %n] : memref<?x64xf32> -> tensor<4x?xf32>
    %b = math.exp %a : tensor<4x?xf32>
    tile.store %b, %v[0, 0] : tensor<4x?xf32>, memref<4x?xf32>
  }
  scf.for %i = %c0 to %c2 step %c1 {
    %at = arith.muli %i, %c2 : index
    %to = arith.addi %row, %at : index
    tile.phase {
      %a = tile.load %v[%at, 0] sizes [2, %n] : memref<4x?xf32> -> tensor<2x?xf32>
      %b = arith.addf %a, %a : tensor<2x?xf32>
      tile.store %b, %y[%to, 0] : tensor<2x?xf32>, memref<?x64xf32>
    }
  }
  tile.return
}

// -----

// One of two passes, depending on the sizes.
// CHECK-LABEL: tile.kernel @choice
// CHECK: scf.if
// CHECK: tile.phase {
// CHECK: } else {
// CHECK: tile.phase {
// VECTOR-LABEL: func.func @choice(
// VECTOR: scf.if
// VECTOR: math.exp
// VECTOR: } else {
// VECTOR: math.absf
tile.kernel @choice(%x: memref<?x64xf32>, %y: memref<?x64xf32>) {
  %c0 = arith.constant 0 : index
  %c4 = arith.constant 4 : index
  %rows = memref.dim %x, %c0 : memref<?x64xf32>
  %few = arith.cmpi ult, %rows, %c4 : index
  %p = tile.program_id (%rows) : index
  scf.if %few {
    tile.phase {
      %a = tile.load %x[%p, 0] sizes [1, 64] : memref<?x64xf32> -> tensor<1x64xf32>
      %b = math.exp %a : tensor<1x64xf32>
      tile.store %b, %y[%p, 0] : tensor<1x64xf32>, memref<?x64xf32>
    }
  } else {
    tile.phase {
      %a = tile.load %x[%p, 0] sizes [1, 64] : memref<?x64xf32> -> tensor<1x64xf32>
      %b = math.absf %a : tensor<1x64xf32>
      tile.store %b, %y[%p, 0] : tensor<1x64xf32>, memref<?x64xf32>
    }
  }
  tile.return
}

// -----

tile.kernel @outside(%x: memref<64xf32>, %y: memref<64xf32>) {
  // expected-error @+1 {{expected tiles only inside of the kernel's phases}}
  %a = tile.load %x[0] sizes [64] : memref<64xf32> -> tensor<64xf32>
  tile.phase {
    tile.store %a, %y[0] : tensor<64xf32>, memref<64xf32>
  }
  tile.return
}

// -----

tile.kernel @nested(%x: memref<64xf32>) {
  tile.phase {
    // expected-error @+1 {{expected a kernel, or scf.for or scf.if without results around it, but got 'tile.phase'}}
    tile.phase {
    }
  }
  tile.return
}

// -----

tile.kernel @sizes(%x: memref<64xf32>) {
  // expected-error @+1 {{expected sizes 4, 8, but got 4, 9}}
  %v = tile.scratch [4, 9] : memref<4x8xf32>
  tile.return
}
