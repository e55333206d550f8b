// RUN: aopt %s --convert-graph-to-tile -o %t.mlir
// RUN: FileCheck %s <%t.mlir
// RUN: aopt %t.mlir --tile-choose-schedule | cuda-emulate - --symbols=3 --tolerance=1e-2 | FileCheck %s --check-prefix=EMULATED

// Programs of eight of 64 columns are fewer than the multiprocessors, so four warps read a
// column of 4864 elements at once.
// CHECK: tile.kernel @long_few(
// CHECK-SAME: tile.params = {BLOCK_N = 2 : i64}
// CHECK-NOT: scf.for
// CHECK: tile.load %arg1{{.*}} sizes [%{{.*}}, 4864]
// CHECK: tile.return
// A warp reads a column of 1024 elements at once.
// CHECK: tile.kernel @short_few(
// CHECK-SAME: tile.params = {BLOCK_N = 8 : i64}
// CHECK-NOT: scf.for
// CHECK: tile.return
// Programs of eight of 136 columns are as many as the multiprocessors.
// CHECK: tile.kernel @wide_few(
// CHECK-SAME: tile.params = {BLOCK_N = 8 : i64}
// CHECK: scf.for {{.*}} step %c1216
// EMULATED-DAG: long_few: {{[1-9].*}} agree
// EMULATED-DAG: short_few: {{[1-9].*}} agree
// EMULATED-DAG: wide_few: {{[1-9].*}} agree
#x = affine_map<()[s0] -> (s0, 4864)>
#z = affine_map<()[s0] -> (s0, 1024)>
#y = affine_map<()[s0] -> (s0, 64)>
#v = affine_map<()[s0] -> (s0, 136)>
module attributes {tile.targets = [#tile.cuda<chip = "sm_90a", multiprocessors = 16, shared_bytes = 232448>]} {
  func.func @main(%x: tensor<?x4864xf16, #x>, %z: tensor<?x1024xf16, #z>) -> (tensor<?x64xf16, #y>, tensor<?x64xf16, #y>, tensor<?x136xf16, #v>) attributes {graph.symbols = ["N"]} {
    %w = graph.constant dense<1.0> : tensor<4864x64xf16>
    %u = graph.constant dense<1.0> : tensor<1024x64xf16>
    %t = graph.constant dense<1.0> : tensor<4864x136xf16>
    %0 = host.launch @long(%x, %w) : (tensor<?x4864xf16, #x>, tensor<4864x64xf16>) -> tensor<?x64xf16, #y>
    %1 = host.launch @short(%z, %u) : (tensor<?x1024xf16, #z>, tensor<1024x64xf16>) -> tensor<?x64xf16, #y>
    %2 = host.launch @wide(%x, %t) : (tensor<?x4864xf16, #x>, tensor<4864x136xf16>) -> tensor<?x136xf16, #v>
    return %0, %1, %2 : tensor<?x64xf16, #y>, tensor<?x64xf16, #y>, tensor<?x136xf16, #v>
  }
  func.func private @long(%x: tensor<?x4864xf16, #x>, %w: tensor<4864x64xf16>) -> tensor<?x64xf16, #y> attributes {adze.kernel} {
    %0 = graph.matmul %x, %w : (tensor<?x4864xf16, #x>, tensor<4864x64xf16>) -> tensor<?x64xf16, #y>
    return %0 : tensor<?x64xf16, #y>
  }
  func.func private @short(%x: tensor<?x1024xf16, #z>, %w: tensor<1024x64xf16>) -> tensor<?x64xf16, #y> attributes {adze.kernel} {
    %0 = graph.matmul %x, %w : (tensor<?x1024xf16, #z>, tensor<1024x64xf16>) -> tensor<?x64xf16, #y>
    return %0 : tensor<?x64xf16, #y>
  }
  func.func private @wide(%x: tensor<?x4864xf16, #x>, %w: tensor<4864x136xf16>) -> tensor<?x136xf16, #v> attributes {adze.kernel} {
    %0 = graph.matmul %x, %w : (tensor<?x4864xf16, #x>, tensor<4864x136xf16>) -> tensor<?x136xf16, #v>
    return %0 : tensor<?x136xf16, #v>
  }
}
