// Kernels for sm_90 and later wait for the previous launches by themselves: before they
// access memory, and kernels with tensor maps after their barriers are ready. Products let
// the next one begin after their last loop, and other kernels at once. The module declares
// this to the run time.
// RUN: atranslate %s --target=cuda:sm_90a --emit=ptx -o - | FileCheck %s
// RUN: atranslate %s --target=cuda:sm_80 --emit=ptx -o - | FileCheck %s --check-prefix=OLD

// CHECK: .entry matmul_0(
// CHECK: mbarrier.init.shared
// CHECK-NOT: griddepcontrol
// CHECK: bar.sync
// CHECK-NOT: cp.async.bulk.tensor
// CHECK: griddepcontrol.wait
// CHECK-NOT: griddepcontrol
// CHECK: cp.async.bulk.tensor
// CHECK: griddepcontrol.launch_dependents

// A product by threads is launched after the previous launches, so it does not wait.
// CHECK: .entry matmul_1(
// CHECK-NOT: griddepcontrol.wait
// CHECK: fma.rn.f32
// CHECK: griddepcontrol.launch_dependents
// CHECK-NOT: griddepcontrol.wait

// CHECK: .entry relu_0(
// CHECK-NOT: {{ld|st}}.global
// CHECK: griddepcontrol.launch_dependents
// CHECK-NOT: {{ld|st}}.global
// CHECK: griddepcontrol.wait
// CHECK: st.global

// OLD: .entry relu_0(
// OLD-NOT: griddepcontrol
func.func @main(%x: tensor<256x128xf16>, %w: tensor<128x128xf16>, %a: tensor<256x128xf32>, %b: tensor<128x128xf32>, %v: tensor<?xf32, affine_map<()[s0] -> (s0)>>) -> (tensor<256x128xf16>, tensor<256x128xf32>, tensor<?xf32, affine_map<()[s0] -> (s0)>>) {
  %y = graph.matmul %x, %w : (tensor<256x128xf16>, tensor<128x128xf16>) -> tensor<256x128xf16>
  %z = graph.matmul %a, %b : (tensor<256x128xf32>, tensor<128x128xf32>) -> tensor<256x128xf32>
  %r = graph.relu %v : (tensor<?xf32, affine_map<()[s0] -> (s0)>>) -> tensor<?xf32, affine_map<()[s0] -> (s0)>>
  return %y, %z, %r : tensor<256x128xf16>, tensor<256x128xf32>, tensor<?xf32, affine_map<()[s0] -> (s0)>>
}
