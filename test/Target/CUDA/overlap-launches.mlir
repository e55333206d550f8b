// Kernels for sm_90 and later wait for the previous launches by themselves, and let the
// next one begin: before they access memory, and kernels with tensor maps after their
// barriers are ready. The module declares this to the run time.
// RUN: atranslate %s --target=cuda:sm_90a --emit=ptx -o - | FileCheck %s
// RUN: atranslate %s --target=cuda:sm_80 --emit=ptx -o - | FileCheck %s --check-prefix=OLD

// CHECK: .entry matmul_0(
// CHECK: mbarrier.init.shared
// CHECK-NOT: griddepcontrol
// CHECK: bar.sync
// CHECK: griddepcontrol.launch_dependents
// CHECK-NOT: cp.async.bulk.tensor
// CHECK: griddepcontrol.wait
// CHECK: cp.async.bulk.tensor
// CHECK: .entry relu_0(
// CHECK-NOT: {{ld|st}}.global
// CHECK: griddepcontrol.launch_dependents
// CHECK-NOT: {{ld|st}}.global
// CHECK: griddepcontrol.wait
// CHECK: st.global

// OLD: .entry relu_0(
// OLD-NOT: griddepcontrol
func.func @main(%x: tensor<256x128xf16>, %w: tensor<128x128xf16>, %v: tensor<?xf32, affine_map<()[s0] -> (s0)>>) -> (tensor<256x128xf16>, tensor<?xf32, affine_map<()[s0] -> (s0)>>) {
  %y = graph.matmul %x, %w : (tensor<256x128xf16>, tensor<128x128xf16>) -> tensor<256x128xf16>
  %r = graph.relu %v : (tensor<?xf32, affine_map<()[s0] -> (s0)>>) -> tensor<?xf32, affine_map<()[s0] -> (s0)>>
  return %y, %r : tensor<256x128xf16>, tensor<?xf32, affine_map<()[s0] -> (s0)>>
}
