// The addresses of slots in the arena are known to be aligned, so a kernel between two of
// them has one version. An output belongs to the caller: its kernel checks the address.
// RUN: atranslate %s --target=cuda:sm_90a --emit=ptx -o - | FileCheck %s

// CHECK-LABEL: .entry softmax_1
// CHECK-NOT: and.b64 %{{.*}}, 15
// CHECK: ld.global.v4
// CHECK-NOT: and.b64 %{{.*}}, 15
// CHECK-NOT: ld.global.b32
// CHECK: st.global.v4
// CHECK-NOT: st.global.b32
// CHECK: ret;

// CHECK-LABEL: .entry softmax_2
// CHECK: and.b64 %{{.*}}, 15
// CHECK: st.global.b32

func.func @main(%x: tensor<64x1024xf32> {graph.name = "x"}) -> (tensor<256x256xf32> {graph.name = "y"}) {
  %0 = graph.softmax %x {axis = 1 : i64} : (tensor<64x1024xf32>) -> tensor<64x1024xf32>
  %1 = graph.reshape %0 : (tensor<64x1024xf32>) -> tensor<128x512xf32>
  %2 = graph.softmax %1 {axis = 1 : i64} : (tensor<128x512xf32>) -> tensor<128x512xf32>
  %3 = graph.reshape %2 : (tensor<128x512xf32>) -> tensor<256x256xf32>
  %4 = graph.softmax %3 {axis = 1 : i64} : (tensor<256x256xf32>) -> tensor<256x256xf32>
  return %4 : tensor<256x256xf32>
}
