// RUN: aopt %s --convert-graph-to-tile | FileCheck %s
// RUN: aopt %s --convert-graph-to-tile -o %t.mlir
// RUN: cuda-emulate %t.mlir --symbols=2 --tolerance=1e-3 --int-limit=2000000000 | FileCheck %s --check-prefix=FEW
// RUN: cuda-emulate %t.mlir --symbols=19 --tolerance=1e-3 --int-limit=2000000000 | FileCheck %s --check-prefix=MANY

// The bits of an element are placed below the first bit of the significand of
// 1.0, and no integer is converted. The version for few rows computes one row
// in a program, and divides the depth among warps: four adjacent products are
// added before they are scaled. That for many rows is a product of tiles in steps
// along the depth. A step has whole blocks, or whole words of a block. The
// elements of a word are pairs at equal places of its halves.
// CHECK: tile.kernel @int4(
// CHECK-SAME: adze.versions = [@int4_few]
// CHECK: %[[K:.*]] = tile.param "BLOCK_K"
// CHECK: %[[X:.*]] = memref.collapse_shape %{{.*}} {{\[}}[0], [1, 2, 3]] : memref<?x4x4x8xf32> into memref<?x128xf32>
// CHECK: %[[BLOCKS:.*]] = arith.ceildivui %[[K]], %c32
// CHECK: %[[OF_STEP:.*]] = arith.ceildivui %[[K]], %c8
// CHECK: %[[WORDS:.*]] = arith.minui %[[OF_STEP]], %c4
// CHECK: scf.for %[[AT:.*]] = %{{.*}} to %c128 step %[[K]]
// CHECK: %[[IN_BLOCK:.*]] = arith.remui %[[AT]], %c32
// CHECK: %[[WORD:.*]] = arith.divui %[[IN_BLOCK]], %c8
// CHECK: %[[BLOCK:.*]] = arith.divui %[[AT]], %c32
// CHECK: tile.load %{{.*}}[%{{.*}}, %[[BLOCK]], %[[WORD]]] sizes [%{{.*}}, %[[BLOCKS]], %[[WORDS]]] : memref<24x4x4xi32>
// CHECK: %[[HIGH:.*]] = arith.shli
// CHECK: %[[ONE:.*]] = arith.ori %[[HIGH]]
// CHECK: arith.bitcast %[[ONE]] : tensor<?x?x?x8xi32> to tensor<?x?x?x8xf32>
// CHECK: %[[LEFT:.*]] = tile.load %[[X]][%{{.*}}, %[[AT]]]
// CHECK: %[[ROWS:.*]] = tile.reshape %{{.*}} : tensor<?x?x?x8xf32> -> tensor<?x?xf32>
// CHECK-NEXT: %[[RIGHT:.*]] = tile.transpose %[[ROWS]] perm [1, 0]
// CHECK: tile.dot %[[LEFT]], %[[RIGHT]], %{{.*}} : tensor<?x?xf32>, tensor<?x?xf32>, tensor<?x?xf32>
// CHECK: tile.kernel @int4_few(
// CHECK: %[[PARTS:.*]] = tile.param "PARTS"
// CHECK: arith.muli %[[PARTS]], %c4
// CHECK: tile.reshape {{.*}} to [%{{.*}}, %[[PARTS]], 4, 4]
// CHECK: %[[SIDES:.*]] = tile.reduce add {{.*}} dim 5 : tensor<?x?x4x4x2x4xf32>
// CHECK: %[[SUMS:.*]] = tile.reduce add %[[SIDES]] dim 4
// CHECK: math.fma %{{.*}}, %{{.*}}, %[[SUMS]] : tensor<?x?x4x4xf32>
// CHECK: arith.addf %{{.*}} : tensor<?x?xf32>

// FEW-DAG: int4_few: {{[1-9].*}} agree
// FEW-DAG: int4: 0 programs
// FEW-DAG: bytes: {{.*}} agree
// MANY-DAG: int4: {{[1-9].*}} agree
// MANY-DAG: int4_few: 0 programs

#gpu = #tile.cuda<chip = "sm_90a", multiprocessors = 132, shared_bytes = 232448>
#x = affine_map<()[s0] -> (s0, 4, 4, 8)>
#y = affine_map<()[s0] -> (s0, 24)>
module attributes {tile.targets = [#gpu]} {
  func.func private @int4(%x: tensor<?x4x4x8xf32, #x>, %w: tensor<24x4x4xi32>, %s: tensor<24x4xf32>) -> tensor<?x24xf32, #y> attributes {adze.kernel} {
    %0 = graph.block_matmul %x, %w, %s {bits = 4 : i64} : (tensor<?x4x4x8xf32, #x>, tensor<24x4x4xi32>, tensor<24x4xf32>) -> tensor<?x24xf32, #y>
    return %0 : tensor<?x24xf32, #y>
  }
  func.func private @bytes(%x: tensor<9x4x4x4xf32>, %w: tensor<24x4x4xi32>, %s: tensor<24x4xf32>) -> tensor<9x24xf32> attributes {adze.kernel} {
    %0 = graph.block_matmul %x, %w, %s {bits = 8 : i64} : (tensor<9x4x4x4xf32>, tensor<24x4x4xi32>, tensor<24x4xf32>) -> tensor<9x24xf32>
    return %0 : tensor<9x24xf32>
  }
}
