// RUN: aopt %s --convert-graph-to-tile --tile-choose-schedule -o %t.mlir
// RUN: FileCheck %s <%t.mlir
// RUN: cuda-emulate %t.mlir --symbols=19 --tolerance=1e-2 --int-limit=2000000000 | FileCheck %s --check-prefix=EMULATED
// RUN: aopt %t.mlir --tile-specialize=target=cuda --convert-tile-to-gpu --canonicalize --cse | FileCheck %s --check-prefix=GPU

// An operand that may be rounded is multiplied by the matrix instruction of a warp. Few tiles
// get small blocks.
// CHECK: tile.kernel @rounded(
// CHECK-SAME: tile.params.cuda = {BLOCK_M = 64 : i64, BLOCK_N = 32 : i64}
// CHECK: arith.truncf %{{.*}} : tensor<?x?xf32> to tensor<?x?xbf16>
// CHECK: %[[W:.*]] = arith.truncf %{{.*}} : tensor<?x?xf32> to tensor<?x?xbf16>
// CHECK: %[[RIGHT:.*]] = tile.transpose %[[W]] perm [1, 0]
// CHECK: tile.dot %{{.*}}, %[[RIGHT]], %{{.*}} : tensor<?x?xbf16>, tensor<?x?xbf16>, tensor<?x?xf32>
// EMULATED: rounded: {{[1-9].*}} agree

// A thread loads a word once for its eight elements, which it stores as one vector.
// GPU-LABEL: llvm.func @rounded(
// GPU-COUNT-2: llvm.load %{{.*}} : !llvm.ptr<1> -> i32
// GPU-NOT: llvm.load %{{.*}} -> i32
// GPU: arith.shrui %{{.*}}, %c12_i32
// GPU: llvm.store %{{.*}} : vector<8xbf16>, !llvm.ptr<3>
// GPU: nvvm.ldmatrix
// GPU: nvvm.mma.sync

#gpu = #tile.cuda<chip = "sm_90a", multiprocessors = 132, shared_bytes = 232448,
    units = [#tile.unit<"mma", bf16 * bf16 + f32, [16, 8, 16]>]>
#x = affine_map<()[s0] -> (s0, 4, 4, 8)>
#y = affine_map<()[s0] -> (s0, 64)>
module attributes {tile.targets = [#gpu]} {
  func.func private @rounded(%x: tensor<?x4x4x8xf32, #x>, %w: tensor<64x4x4xi32>, %s: tensor<64x4xf32>) -> tensor<?x64xf32, #y> attributes {adze.kernel} {
    %0 = graph.block_matmul %x, %w, %s {bits = 4 : i64, graph.precision = bf16} : (tensor<?x4x4x8xf32, #x>, tensor<64x4x4xi32>, tensor<64x4xf32>) -> tensor<?x64xf32, #y>
    return %0 : tensor<?x64xf32, #y>
  }
}
