// Versions of a kernel share no load: the one for aligned addresses has vectors only.
// Results of 16 bits use approximate functions.
// RUN: atranslate %s --target=cuda:sm_90a --emit=ptx -o - | FileCheck %s

// CHECK-LABEL: .entry gelu_0
// CHECK: and.b64 %{{.*}}, 15
// CHECK-NOT: ld.global
// CHECK: bra
// CHECK: ld.global.b16
// CHECK: ex2.approx.ftz.f32
// CHECK: st.global.b16
// CHECK: ld.global.v4.b32
// CHECK-NOT: ld.global.b16
// CHECK: ex2.approx.ftz.f32
// CHECK-NOT: st.global.b16
// CHECK: st.global.v4.b32
// CHECK: ret;
func.func @main(%x: tensor<512x512xf16> {graph.name = "x"}) -> (tensor<512x512xf16> {graph.name = "y"}) {
  %0 = graph.gelu %x : (tensor<512x512xf16>) -> tensor<512x512xf16>
  return %0 : tensor<512x512xf16>
}
