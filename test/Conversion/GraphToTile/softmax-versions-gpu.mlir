// RUN: aopt %s --convert-graph-to-tile | FileCheck %s
// RUN: aopt %s --convert-graph-to-tile --tile-choose-schedule --tile-specialize=target=cuda --convert-tile-to-gpu | FileCheck %s --check-prefix=GPU
// RUN: aopt %s --convert-graph-to-tile | cuda-emulate - --symbols=1,3,70 | FileCheck %s --check-prefix=RESULT
// RUN: aopt %s --convert-graph-to-tile="batch-invariant" | FileCheck %s --check-prefix=INVARIANT
// RUN: sed -e 's/\[#gpu\]/[#tile.cpu<chip = "x", vector_bytes = 64, caches = [1048576, 33554432]>]/' %s | aopt --convert-graph-to-tile | FileCheck %s --check-prefix=INVARIANT

// Rows of dynamic length have two versions for GPUs, one for rows of up to 1024 elements,
// whose steps the threads of one warp process, and one for longer rows.
// CHECK: tile.kernel @softmax{{.*}}adze.versions = [@softmax_few]{{.*}}BLOCK_N = 4096
// CHECK: %[[LONG:.*]] = arith.cmpi ugt, %{{.*}}, %c1024
// CHECK: arith.select %[[LONG]]
// CHECK: tile.kernel @softmax_few{{.*}}BLOCK_N = 256
// CHECK: %[[SHORT:.*]] = arith.cmpi ule, %{{.*}}, %c1024
// CHECK: arith.select %[[SHORT]]
// CHECK: tile.kernel @static{{.*}} {
// GPU: llvm.func @softmax(
// GPU-SAME: adze.threads = 256
// GPU: llvm.func @softmax_few(
// GPU-SAME: adze.packed_programs = 8 : i64{{.*}}adze.threads = 256
// RESULT: softmax_few: {{.*}} agree
// INVARIANT-NOT: _few

#gpu = #tile.cuda<chip = "sm_90a", multiprocessors = 132, shared_bytes = 232448>
#sizes = affine_map<()[s0, s1, s2] -> (s0, s1, s2)>
module attributes {tile.targets = [#gpu]} {
  func.func private @softmax(%x: tensor<?x?x?xf32, #sizes>) -> tensor<?x?x?xf32, #sizes> attributes {adze.kernel} {
    %0 = graph.softmax %x {axis = 2 : i64} : (tensor<?x?x?xf32, #sizes>) -> tensor<?x?x?xf32, #sizes>
    return %0 : tensor<?x?x?xf32, #sizes>
  }
  // Rows of a static length are one tile.
  func.func private @static(%x: tensor<8x256xf32>) -> tensor<8x256xf32> attributes {adze.kernel} {
    %0 = graph.softmax %x {axis = 1 : i64} : (tensor<8x256xf32>) -> tensor<8x256xf32>
    return %0 : tensor<8x256xf32>
  }
}
