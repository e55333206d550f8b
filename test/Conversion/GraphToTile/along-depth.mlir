// A constant right operand of tf32 is contiguous along the depth, as wgmma requires;
// another operand must have that layout. CPUs compute in f32.
// RUN: aopt %s --convert-graph-to-tile --tile-choose-schedule=remarks --verify-diagnostics | FileCheck %s
// RUN: sed -e '/expected-remark/d; s/\[#gpu\]/[#tile.cpu<chip = "x", vector_bytes = 64, caches = [1048576, 33554432]>]/' %s | aopt --convert-graph-to-tile | FileCheck %s --check-prefix=CPU

// CHECK: #[[COLUMNS:.*]] = affine_map<(d0, d1) -> (d1, d0)>
// CHECK: tile.kernel @constant({{.*}}: memref<64x512xf32, #[[COLUMNS]]>
// CHECK-SAME: tile.schedule = #tile.schedule<unit = "wgmma"
// CHECK: tile.dot {{.*}} compute <tf32 * tf32 + f32>
// CHECK: tile.kernel @rows({{.*}}: memref<512x64xf32>,
// CHECK-SAME: tile.schedule = #tile.schedule<unit = "wgmma"
// CHECK: tile.kernel @columns(
// CHECK-SAME: tile.schedule = #tile.schedule<unit = "threads"
// CHECK: tile.kernel @strict(
// CHECK-SAME: tile.schedule = #tile.schedule<unit = "threads", dims = [#tile.dim<"threads", {{[0-9]+}}>, #tile.dim<"split", 1>]>

// CPU: affine_map<(d0, d1) -> (d1 floordiv [[PANEL:.*]], d0, d1 mod [[PANEL]])>

#gpu = #tile.cuda<chip = "sm_90a", multiprocessors = 132, shared_bytes = 232448,
  units = [#tile.unit<"wgmma", tf32 * tf32 + f32, [64, 256, 8]>], features = [tma]>
#x = affine_map<()[s0] -> (s0, 64)>
#y = affine_map<()[s0] -> (s0, 512)>
module attributes {tile.targets = [#gpu]} {
  func.func @main(%x: tensor<?x64xf32, #x>, %b: tensor<512x64xf32>, %c: tensor<64x512xf32>)
      -> (tensor<?x512xf32, #y>, tensor<?x512xf32, #y>, tensor<?x512xf32, #y>, tensor<?x512xf32, #y>)
      attributes {graph.symbols = ["N"]} {
    %w = graph.constant dense<1.0> : tensor<64x512xf32>
    %0 = host.launch @constant(%x, %w) : (tensor<?x64xf32, #x>, tensor<64x512xf32>) -> tensor<?x512xf32, #y>
    %1 = host.launch @rows(%x, %b) : (tensor<?x64xf32, #x>, tensor<512x64xf32>) -> tensor<?x512xf32, #y>
    %2 = host.launch @columns(%x, %c) : (tensor<?x64xf32, #x>, tensor<64x512xf32>) -> tensor<?x512xf32, #y>
    %3 = host.launch @strict(%x, %c) : (tensor<?x64xf32, #x>, tensor<64x512xf32>) -> tensor<?x512xf32, #y>
    return %0, %1, %2, %3 : tensor<?x512xf32, #y>, tensor<?x512xf32, #y>, tensor<?x512xf32, #y>, tensor<?x512xf32, #y>
  }
  func.func private @constant(%x: tensor<?x64xf32, #x>, %w: tensor<64x512xf32>) -> tensor<?x512xf32, #y> attributes {adze.kernel} {
    %0 = graph.matmul %x, %w {graph.precision = tf32} : (tensor<?x64xf32, #x>, tensor<64x512xf32>) -> tensor<?x512xf32, #y>
    return %0 : tensor<?x512xf32, #y>
  }
  func.func private @rows(%x: tensor<?x64xf32, #x>, %w: tensor<512x64xf32>) -> tensor<?x512xf32, #y> attributes {adze.kernel} {
    %0 = graph.matmul %x, %w {graph.precision = tf32, transpose_b = true} : (tensor<?x64xf32, #x>, tensor<512x64xf32>) -> tensor<?x512xf32, #y>
    return %0 : tensor<?x512xf32, #y>
  }
  // expected-remark @below {{no matrix unit of sm_90a is used: an operand is not contiguous along the depth}}
  func.func private @columns(%x: tensor<?x64xf32, #x>, %w: tensor<64x512xf32>) -> tensor<?x512xf32, #y> attributes {adze.kernel} {
    %0 = graph.matmul %x, %w {graph.precision = tf32} : (tensor<?x64xf32, #x>, tensor<64x512xf32>) -> tensor<?x512xf32, #y>
    return %0 : tensor<?x512xf32, #y>
  }
  // expected-remark @below {{no matrix unit of sm_90a is used: no unit of sm_90a for its element types}}
  func.func private @strict(%x: tensor<?x64xf32, #x>, %w: tensor<64x512xf32>) -> tensor<?x512xf32, #y> attributes {adze.kernel} {
    %0 = graph.matmul %x, %w : (tensor<?x64xf32, #x>, tensor<64x512xf32>) -> tensor<?x512xf32, #y>
    return %0 : tensor<?x512xf32, #y>
  }
}
