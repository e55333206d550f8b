// RUN: aopt %s --convert-graph-to-tile -o %t.mlir
// RUN: FileCheck %s <%t.mlir
// RUN: aopt %t.mlir --tile-choose-schedule | FileCheck %s --check-prefix=SCHEDULE
// RUN: aopt %t.mlir --tile-choose-schedule --tile-specialize=target=cuda | FileCheck %s --check-prefix=SPECIAL
// RUN: aopt %t.mlir --tile-choose-schedule | cuda-emulate - --symbols=1 --tolerance=1e-2 --int-limit=2000000000 | FileCheck %s --check-prefix=FEW
// RUN: aopt %t.mlir --tile-choose-schedule | cuda-emulate - --symbols=3 --tolerance=1e-2 --int-limit=2000000000 | FileCheck %s --check-prefix=FEW
// RUN: aopt %t.mlir --tile-choose-schedule | cuda-emulate - --symbols=8 --tolerance=1e-2 --int-limit=2000000000 | FileCheck %s --check-prefix=FEW
// RUN: aopt %t.mlir --tile-choose-schedule | cuda-emulate - --symbols=9 --tolerance=1e-2 --int-limit=2000000000 | FileCheck %s --check-prefix=MANY

// The depth of 2560 is one iteration of 16 warps, each of which has a multiple of four blocks.
// SCHEDULE: tile.kernel @int4_few(
// SCHEDULE-SAME: tile.params.cuda = {PARTS = 16 : i64}
// SCHEDULE-SAME: #tile.dim<"split", 1>
// SPECIAL: tile.kernel @int4_few(
// SPECIAL: scf.for {{.*}} to %c80{{.*}} step %c128{{.*}} iter_args({{.*}} -> (tensor<8x16x16xf32>)

// Few rows of 16 bits are one tile, which the matrix instruction of a warp multiplies. Weights
// are placed in the significands of two floats at a time, so that their differences from the zero
// point are exact. Two elements of a half stay at their places in a significand of f16. Products
// are added before they are scaled.
// CHECK: tile.kernel @int4(
// CHECK-SAME: adze.versions = [@int4_to_1024, @int4_to_256, @int4_few]
// CHECK: tile.kernel @int4_few(
// CHECK: arith.cmpi ule, %{{.*}}, %c8
// CHECK: %[[BITS:.*]] = arith.andi %{{.*}} : tensor<?x?x{{.*}}x4x4xi32>
// CHECK: %[[BOTH:.*]] = arith.ori %[[BITS]]
// CHECK: %[[SUMS:.*]] = tile.bitcast %[[BOTH]] to f16 : tensor<?x?x{{.*}}x4x4xi32> -> tensor<?x?x{{.*}}x4x4x2xf16>
// CHECK: %[[EXACT:.*]] = arith.subf %[[SUMS]]
// CHECK-NOT: tile.transpose
// CHECK: %[[RIGHT:.*]] = arith.extf %[[EXACT]]
// CHECK: %[[ALL:.*]] = tile.broadcast %[[RIGHT]]
// CHECK: %[[EACH:.*]] = arith.mulf %{{.*}}, %[[ALL]] fastmath<contract> : tensor<8x?x?x{{.*}}x4x4x2xf32>
// CHECK: tile.reduce add %[[EACH]] dim 5
// CHECK: scf.yield %{{.*}} : tensor<8x?x?xf32>
// CHECK: tile.reduce add %{{.*}} dim 2 : tensor<8x?x?xf32> -> tensor<8x?xf32>

// Bytes have two places in half a word. A significand of bf16 has 7 bits, so bytes are floats
// of 32 bits, and a program computes one row.
// CHECK: tile.kernel @bytes_few(
// CHECK: tile.bitcast %{{.*}} to f16 : tensor<?x?x{{.*}}x4x2xi32> -> tensor<?x?x{{.*}}x4x2x2xf16>
// CHECK: tile.kernel @brain_bytes_few(
// CHECK: arith.cmpi ule, %{{.*}}, %c4
// CHECK-NOT: tile.bitcast
// CHECK: tile.return

// A significand of bf16 has one element of 4 bits.
// CHECK: tile.kernel @brain_few(
// CHECK: arith.divui %{{.*}}, %{{.*}} : tensor<4xi32>
// CHECK: tile.bitcast %{{.*}} to bf16 : tensor<?x?x{{.*}}x4x4xi32> -> tensor<?x?x{{.*}}x4x4x2xbf16>

// FEW-DAG: brain_few: {{[1-9].*}} agree
// FEW-DAG: int4_few: {{[1-9].*}} agree
// FEW-DAG: int4: 0 programs
// FEW-DAG: bytes_few: {{[1-9].*}} agree
// MANY-DAG: int4_to_256: {{[1-9].*}} agree
// MANY-DAG: int4_few: 0 programs

#gpu = #tile.cuda<chip = "sm_90a", multiprocessors = 132, shared_bytes = 232448,
    units = [#tile.unit<"mma", f16 * f16 + f32, [16, 8, 16]>, #tile.unit<"mma", bf16 * bf16 + f32, [16, 8, 16]>]>
#x = affine_map<()[s0] -> (s0, 80, 4, 8)>
#b = affine_map<()[s0] -> (s0, 4, 4, 4)>
#c = affine_map<()[s0] -> (s0, 4, 4, 8)>
#y = affine_map<()[s0] -> (s0, 40)>
module attributes {tile.targets = [#gpu]} {
  func.func private @int4(%x: tensor<?x80x4x8xf16, #x>, %w: tensor<40x80x4xi32>, %s: tensor<40x80xf16>) -> tensor<?x40xf16, #y> attributes {adze.kernel} {
    %0 = graph.block_matmul %x, %w, %s {bits = 4 : i64} : (tensor<?x80x4x8xf16, #x>, tensor<40x80x4xi32>, tensor<40x80xf16>) -> tensor<?x40xf16, #y>
    return %0 : tensor<?x40xf16, #y>
  }
  func.func private @bytes(%x: tensor<?x4x4x4xf16, #b>, %w: tensor<40x4x4xi32>, %s: tensor<40x4xf16>) -> tensor<?x40xf16, #y> attributes {adze.kernel} {
    %0 = graph.block_matmul %x, %w, %s {bits = 8 : i64} : (tensor<?x4x4x4xf16, #b>, tensor<40x4x4xi32>, tensor<40x4xf16>) -> tensor<?x40xf16, #y>
    return %0 : tensor<?x40xf16, #y>
  }
  func.func private @brain_bytes(%x: tensor<?x4x4x4xbf16, #b>, %w: tensor<40x4x4xi32>, %s: tensor<40x4xbf16>) -> tensor<?x40xbf16, #y> attributes {adze.kernel} {
    %0 = graph.block_matmul %x, %w, %s {bits = 8 : i64} : (tensor<?x4x4x4xbf16, #b>, tensor<40x4x4xi32>, tensor<40x4xbf16>) -> tensor<?x40xbf16, #y>
    return %0 : tensor<?x40xbf16, #y>
  }
  func.func private @brain(%x: tensor<?x4x4x8xbf16, #c>, %w: tensor<40x4x4xi32>, %s: tensor<40x4xbf16>) -> tensor<?x40xbf16, #y> attributes {adze.kernel} {
    %0 = graph.block_matmul %x, %w, %s {bits = 4 : i64} : (tensor<?x4x4x8xbf16, #c>, tensor<40x4x4xi32>, tensor<40x4xbf16>) -> tensor<?x40xbf16, #y>
    return %0 : tensor<?x40xbf16, #y>
  }
}
