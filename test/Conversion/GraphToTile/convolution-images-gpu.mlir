// RUN: aopt %s --tile-attach-targets=cuda=sm_90a --convert-graph-to-tile --tile-choose-schedule | FileCheck %s

// Images of dynamic size are assumed to have 256 pixels along each dim of the model's input,
// and so 16 after four layers with stride 2: their blocks are smaller.
// CHECK-LABEL: tile.kernel @large(
// CHECK-SAME: BLOCK_X = 64 : i64, BLOCK_Y = 2 : i64
// CHECK-LABEL: tile.kernel @small(
// CHECK-SAME: BLOCK_X = 16 : i64, BLOCK_Y = 1 : i64
#large = affine_map<()[s0, s1, s2] -> (s0, s1, s2, 64)>
#small = affine_map<()[s0, s1, s2] -> (s0, s1 floordiv 16, s2 floordiv 16, 64)>
func.func private @large(%x: tensor<?x?x?x64xf32, #large>, %w: tensor<64x64x3x3xf32>) -> tensor<?x?x?x64xf32, #large> attributes {adze.kernel} {
  %0 = graph.conv %x, %w {dilations = array<i64: 1, 1>, layout = #graph.layout<nhwc>, pads = array<i64: 1, 1, 1, 1>, strides = array<i64: 1, 1>} : (tensor<?x?x?x64xf32, #large>, tensor<64x64x3x3xf32>) -> tensor<?x?x?x64xf32, #large>
  return %0 : tensor<?x?x?x64xf32, #large>
}
func.func private @small(%x: tensor<?x?x?x64xf32, #small>, %w: tensor<64x64x3x3xf32>) -> tensor<?x?x?x64xf32, #small> attributes {adze.kernel} {
  %0 = graph.conv %x, %w {dilations = array<i64: 1, 1>, layout = #graph.layout<nhwc>, pads = array<i64: 1, 1, 1, 1>, strides = array<i64: 1, 1>} : (tensor<?x?x?x64xf32, #small>, tensor<64x64x3x3xf32>) -> tensor<?x?x?x64xf32, #small>
  return %0 : tensor<?x?x?x64xf32, #small>
}
