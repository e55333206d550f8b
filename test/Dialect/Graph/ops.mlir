// RUN: aopt %s --allow-unregistered-dialect | aopt --allow-unregistered-dialect | FileCheck %s
// RUN: aopt %s --allow-unregistered-dialect --mlir-print-op-generic | aopt --allow-unregistered-dialect | FileCheck %s

// CHECK: #[[HALF:.*]] = affine_map<()[s0] -> (s0 floordiv 2, 0)>
// CHECK-LABEL: func @data
func.func @data() {
  %x_reshape = "test.make"() : () -> tensor<2x12xf32>
  // CHECK: graph.reshape %{{.*}} : (tensor<2x12xf32>) -> tensor<2x3x4xf32>
  %r_reshape = graph.reshape %x_reshape : (tensor<2x12xf32>) -> tensor<2x3x4xf32>
  %x_transpose = "test.make"() : () -> tensor<2x3x4xf32>
  // CHECK: graph.transpose %{{.*}}{{.*}}: (tensor<2x3x4xf32>) -> tensor<2x4x3xf32>
  %r_transpose = graph.transpose %x_transpose {perm = array<i64: 0, 2, 1>} : (tensor<2x3x4xf32>) -> tensor<2x4x3xf32>
  %x_broadcast_to = "test.make"() : () -> tensor<3x1xf32>
  // CHECK: graph.broadcast_to %{{.*}} : (tensor<3x1xf32>) -> tensor<2x3x4xf32>
  %r_broadcast_to = graph.broadcast_to %x_broadcast_to : (tensor<3x1xf32>) -> tensor<2x3x4xf32>
  %x_concat = "test.make"() : () -> tensor<2x3xf32>
  %y_concat = "test.make"() : () -> tensor<2x5xf32>
  // CHECK: graph.concat %{{.*}}, %{{.*}}{{.*}}: (tensor<2x3xf32>, tensor<2x5xf32>) -> tensor<2x8xf32>
  %r_concat = graph.concat %x_concat, %y_concat {axis = 1 : i64} : (tensor<2x3xf32>, tensor<2x5xf32>) -> tensor<2x8xf32>
  // CHECK: %[[EMPTY:.*]] = graph.empty : () -> tensor<2x8xf32>
  %e_insert = graph.empty : () -> tensor<2x8xf32>
  // CHECK: graph.insert_slice %{{.*}}, %{{.*}}, %[[EMPTY]] {axis = 1 : i64, offsets = #{{[a-z0-9]+}}} : (tensor<2x3xf32>, tensor<2x5xf32>, tensor<2x8xf32>) -> tensor<2x8xf32>
  %r_insert = graph.insert_slice %x_concat, %y_concat, %e_insert {axis = 1 : i64, offsets = affine_map<() -> (5, 0)>} : (tensor<2x3xf32>, tensor<2x5xf32>, tensor<2x8xf32>) -> tensor<2x8xf32>
  %x_slice = "test.make"() : () -> tensor<4x10xf32>
  // CHECK: graph.slice %{{.*}}{{.*}}: (tensor<4x10xf32>) -> tensor<4x5xf32>
  %r_slice = graph.slice %x_slice {starts = array<i64: 0, 9>, steps = array<i64: 1, -2>} : (tensor<4x10xf32>) -> tensor<4x5xf32>
  %x_pad = "test.make"() : () -> tensor<2x3xf32>
  // CHECK: graph.pad %{{.*}}{{.*}}: (tensor<2x3xf32>) -> tensor<2x6xf32>
  %r_pad = graph.pad %x_pad {low = array<i64: 0, 1>, high = array<i64: 0, 2>} : (tensor<2x3xf32>) -> tensor<2x6xf32>
  %x_reverse = "test.make"() : () -> tensor<2x3xf32>
  // CHECK: graph.reverse %{{.*}}{{.*}}: (tensor<2x3xf32>) -> tensor<2x3xf32>
  %r_reverse = graph.reverse %x_reverse {axes = array<i64: 1>} : (tensor<2x3xf32>) -> tensor<2x3xf32>
  %x_trilu = "test.make"() : () -> tensor<4x4xf32>
  // CHECK: graph.trilu %{{.*}}{{.*}}: (tensor<4x4xf32>) -> tensor<4x4xf32>
  %r_trilu = graph.trilu %x_trilu {k = 1 : i64, upper = true} : (tensor<4x4xf32>) -> tensor<4x4xf32>
  %x_gather = "test.make"() : () -> tensor<100x8xf32>
  %i_gather = "test.make"() : () -> tensor<2x3xi64>
  // CHECK: graph.gather %{{.*}}, %{{.*}}{{.*}}: (tensor<100x8xf32>, tensor<2x3xi64>) -> tensor<2x3x8xf32>
  %r_gather = graph.gather %x_gather, %i_gather {axis = 0 : i64} : (tensor<100x8xf32>, tensor<2x3xi64>) -> tensor<2x3x8xf32>
  %x_gather_elements = "test.make"() : () -> tensor<4x8xf32>
  %i_gather_elements = "test.make"() : () -> tensor<4x3xi64>
  // CHECK: graph.gather_elements %{{.*}}, %{{.*}}{{.*}}: (tensor<4x8xf32>, tensor<4x3xi64>) -> tensor<4x3xf32>
  %r_gather_elements = graph.gather_elements %x_gather_elements, %i_gather_elements {axis = 1 : i64} : (tensor<4x8xf32>, tensor<4x3xi64>) -> tensor<4x3xf32>
  %x_gather_nd = "test.make"() : () -> tensor<4x8x16xf32>
  %i_gather_nd = "test.make"() : () -> tensor<5x2xi64>
  // CHECK: graph.gather_nd %{{.*}}, %{{.*}} : (tensor<4x8x16xf32>, tensor<5x2xi64>) -> tensor<5x16xf32>
  %r_gather_nd = graph.gather_nd %x_gather_nd, %i_gather_nd : (tensor<4x8x16xf32>, tensor<5x2xi64>) -> tensor<5x16xf32>
  %x_tree_leaves = "test.make"() : () -> tensor<5x4xf32>
  %t_tree_leaves:3 = "test.make"() : () -> (tensor<6xi64>, tensor<2xi32>, tensor<1xi32>)
  // CHECK: graph.tree_leaves %{{.*}} : (tensor<5x4xf32>, tensor<6xi64>, tensor<2xi32>, tensor<1xi32>) -> tensor<5x2xi32>
  %r_tree_leaves = graph.tree_leaves %x_tree_leaves, %t_tree_leaves#0, %t_tree_leaves#1, %t_tree_leaves#2 : (tensor<5x4xf32>, tensor<6xi64>, tensor<2xi32>, tensor<1xi32>) -> tensor<5x2xi32>
  %x_scatter_elements = "test.make"() : () -> tensor<4x8xf32>
  %i_scatter_elements = "test.make"() : () -> tensor<4x3xi64>
  %u_scatter_elements = "test.make"() : () -> tensor<4x3xf32>
  // CHECK: graph.scatter_elements %{{.*}}, %{{.*}}, %{{.*}}{{.*}}: (tensor<4x8xf32>, tensor<4x3xi64>, tensor<4x3xf32>) -> tensor<4x8xf32>
  %r_scatter_elements = graph.scatter_elements %x_scatter_elements, %i_scatter_elements, %u_scatter_elements {axis = 1 : i64} : (tensor<4x8xf32>, tensor<4x3xi64>, tensor<4x3xf32>) -> tensor<4x8xf32>
  // CHECK: graph.scatter_elements {{.*}}: (tensor<4x8xf32>, tensor<1x3xi64>, tensor<4x3xf32>) -> tensor<4x8xf32>
  %j_scatter_elements = "test.make"() : () -> tensor<1x3xi64>
  %s_scatter_elements = graph.scatter_elements %x_scatter_elements, %j_scatter_elements, %u_scatter_elements {axis = 1 : i64} : (tensor<4x8xf32>, tensor<1x3xi64>, tensor<4x3xf32>) -> tensor<4x8xf32>
  %x_scatter_nd = "test.make"() : () -> tensor<4x8xf32>
  %i_scatter_nd = "test.make"() : () -> tensor<3x1xi64>
  %u_scatter_nd = "test.make"() : () -> tensor<3x8xf32>
  // CHECK: graph.scatter_nd %{{.*}}, %{{.*}}, %{{.*}} : (tensor<4x8xf32>, tensor<3x1xi64>, tensor<3x8xf32>) -> tensor<4x8xf32>
  %r_scatter_nd = graph.scatter_nd %x_scatter_nd, %i_scatter_nd, %u_scatter_nd : (tensor<4x8xf32>, tensor<3x1xi64>, tensor<3x8xf32>) -> tensor<4x8xf32>
  %i_one_hot = "test.make"() : () -> tensor<4xi64>
  %v_one_hot = "test.make"() : () -> tensor<2xf32>
  // CHECK: graph.one_hot %{{.*}}, %{{.*}}{{.*}}: (tensor<4xi64>, tensor<2xf32>) -> tensor<4x10xf32>
  %r_one_hot = graph.one_hot %i_one_hot, %v_one_hot {axis = 1 : i64} : (tensor<4xi64>, tensor<2xf32>) -> tensor<4x10xf32>
  %x_non_zero = "test.make"() : () -> tensor<4x8xf32>
  // CHECK: graph.non_zero %{{.*}} : (tensor<4x8xf32>) -> tensor<2x?xi64>
  %r_non_zero = graph.non_zero %x_non_zero : (tensor<4x8xf32>) -> tensor<2x?xi64>
  %x_shape = "test.make"() : () -> tensor<4x8xf32>
  // CHECK: graph.shape %{{.*}} : (tensor<4x8xf32>) -> tensor<2xi64>
  %r_shape = graph.shape %x_shape : (tensor<4x8xf32>) -> tensor<2xi64>
  %a_range = "test.make"() : () -> tensor<i64>
  %b_range = "test.make"() : () -> tensor<i64>
  %d_range = "test.make"() : () -> tensor<i64>
  // CHECK: graph.range %{{.*}}, %{{.*}}, %{{.*}} : (tensor<i64>, tensor<i64>, tensor<i64>) -> tensor<10xi64>
  %r_range = graph.range %a_range, %b_range, %d_range : (tensor<i64>, tensor<i64>, tensor<i64>) -> tensor<10xi64>
  %x_cumsum = "test.make"() : () -> tensor<2x5xf32>
  // CHECK: graph.cumsum %{{.*}}{{.*}}: (tensor<2x5xf32>) -> tensor<2x5xf32>
  %r_cumsum = graph.cumsum %x_cumsum {axis = 1 : i64} : (tensor<2x5xf32>) -> tensor<2x5xf32>
  %x_top_k = "test.make"() : () -> tensor<2x9xf32>
  // CHECK: graph.top_k %{{.*}}{{.*}}: (tensor<2x9xf32>) -> (tensor<2x3xf32>, tensor<2x3xi64>)
  %r_top_k:2 = graph.top_k %x_top_k {axis = 1 : i64} : (tensor<2x9xf32>) -> (tensor<2x3xf32>, tensor<2x3xi64>)
  %x_resize = "test.make"() : () -> tensor<1x3x8x8xf32>
  // CHECK: graph.resize %{{.*}}{{.*}}: (tensor<1x3x8x8xf32>) -> tensor<1x3x16x16xf32>
  %r_resize = graph.resize %x_resize {scales = array<f64: 1.0, 1.0, 2.0, 2.0>, coordinates = #graph.coordinates<asymmetric>, nearest_mode = #graph.nearest_mode<floor>} : (tensor<1x3x8x8xf32>) -> tensor<1x3x16x16xf32>
  return
}

// CHECK-LABEL: func @contraction
func.func @contraction() {
  %x_matmul = "test.make"() : () -> tensor<2x5x8xf32>
  %w_matmul = "test.make"() : () -> tensor<16x8xf32>
  // CHECK: graph.matmul %{{.*}}, %{{.*}}{{.*}}: (tensor<2x5x8xf32>, tensor<16x8xf32>) -> tensor<2x5x16xf32>
  %r_matmul = graph.matmul %x_matmul, %w_matmul {transpose_b = true} : (tensor<2x5x8xf32>, tensor<16x8xf32>) -> tensor<2x5x16xf32>
  %x_conv = "test.make"() : () -> tensor<1x3x224x224xf32>
  %w_conv = "test.make"() : () -> tensor<64x3x3x3xf32>
  %b_conv = "test.make"() : () -> tensor<64xf32>
  // CHECK: graph.conv %{{.*}}, %{{.*}}, %{{.*}}{{.*}}: (tensor<1x3x224x224xf32>, tensor<64x3x3x3xf32>, tensor<64xf32>) -> tensor<1x64x112x112xf32>
  %r_conv = graph.conv %x_conv, %w_conv, %b_conv {strides = array<i64: 2, 2>, pads = array<i64: 1, 1, 1, 1>, dilations = array<i64: 1, 1>} : (tensor<1x3x224x224xf32>, tensor<64x3x3x3xf32>, tensor<64xf32>) -> tensor<1x64x112x112xf32>
  %x_conv_transpose = "test.make"() : () -> tensor<1x8x4x4xf32>
  %w_conv_transpose = "test.make"() : () -> tensor<8x3x2x2xf32>
  // CHECK: graph.conv_transpose %{{.*}}, %{{.*}}{{.*}}: (tensor<1x8x4x4xf32>, tensor<8x3x2x2xf32>) -> tensor<1x3x8x8xf32>
  %r_conv_transpose = graph.conv_transpose %x_conv_transpose, %w_conv_transpose {strides = array<i64: 2, 2>, pads = array<i64: 0, 0, 0, 0>, dilations = array<i64: 1, 1>, output_padding = array<i64: 0, 0>} : (tensor<1x8x4x4xf32>, tensor<8x3x2x2xf32>) -> tensor<1x3x8x8xf32>
  return
}

// CHECK-LABEL: func @pooling
func.func @pooling() {
  %x_lrn = "test.make"() : () -> tensor<1x64x27x27xf32>
  // CHECK: graph.lrn %{{.*}}{{.*}}: (tensor<1x64x27x27xf32>) -> tensor<1x64x27x27xf32>
  %r_lrn = graph.lrn %x_lrn {size = 5 : i64} : (tensor<1x64x27x27xf32>) -> tensor<1x64x27x27xf32>
  return
}

// CHECK-LABEL: func @reduction
func.func @reduction() {
  return
}

// CHECK-LABEL: func @attention
func.func @attention(%q: tensor<2x4x9x16xf32>, %k: tensor<2x2x7x16xf32>, %b: tensor<9x7xf32>, %m: tensor<2x1x1x7xi1>) {
  // CHECK: graph.attention %{{.*}}, %{{.*}}, %{{.*}} {scale = 2.500000e-01 : f64} :
  %0 = graph.attention %q, %k, %k {scale = 0.25 : f64} : (tensor<2x4x9x16xf32>, tensor<2x2x7x16xf32>, tensor<2x2x7x16xf32>) -> tensor<2x4x9x16xf32>
  // CHECK: graph.attention %{{.*}}, %{{.*}}, %{{.*}} bias %{{.*}} mask %{{.*}} {causal = #graph.causal<lower_right>, fill = -1.000000e+09 : f64, scale = 2.500000e-01 : f64, softcap = 3.000000e+01 : f64, zero_empty = true, zero_masked = true} :
  %1 = graph.attention %q, %k, %k bias %b mask %m {scale = 0.25 : f64, softcap = 30.0 : f64, fill = -1.0e9 : f64, causal = #graph.causal<lower_right>, zero_empty = true, zero_masked = true} : (tensor<2x4x9x16xf32>, tensor<2x2x7x16xf32>, tensor<2x2x7x16xf32>, tensor<9x7xf32>, tensor<2x1x1x7xi1>) -> tensor<2x4x9x16xf32>
  return
}

// CHECK-LABEL: func @normalization
func.func @normalization() {
  %x_layer_norm = "test.make"() : () -> tensor<2x128x768xf32>
  %s_layer_norm = "test.make"() : () -> tensor<768xf32>
  %b_layer_norm = "test.make"() : () -> tensor<768xf32>
  // CHECK: graph.layer_norm %{{.*}} scale %{{.*}} bias %{{.*}}{{.*}}: (tensor<2x128x768xf32>, tensor<768xf32>, tensor<768xf32>) -> tensor<2x128x768xf32>
  %r_layer_norm = graph.layer_norm %x_layer_norm scale %s_layer_norm bias %b_layer_norm {axis = 2 : i64, epsilon = 1.0e-5 : f64} : (tensor<2x128x768xf32>, tensor<768xf32>, tensor<768xf32>) -> tensor<2x128x768xf32>
  %x_rms_norm = "test.make"() : () -> tensor<2x768xf32>
  %s_rms_norm = "test.make"() : () -> tensor<768xf32>
  // CHECK: graph.rms_norm %{{.*}}, %{{.*}}{{.*}}: (tensor<2x768xf32>, tensor<768xf32>) -> tensor<2x768xf32>
  %r_rms_norm = graph.rms_norm %x_rms_norm, %s_rms_norm {axis = 1 : i64} : (tensor<2x768xf32>, tensor<768xf32>) -> tensor<2x768xf32>
  %x_batch_norm = "test.make"() : () -> tensor<1x64x56x56xf32>
  %s_batch_norm = "test.make"() : () -> tensor<64xf32>
  %b_batch_norm = "test.make"() : () -> tensor<64xf32>
  %m_batch_norm = "test.make"() : () -> tensor<64xf32>
  %v_batch_norm = "test.make"() : () -> tensor<64xf32>
  // CHECK: graph.batch_norm %{{.*}}, %{{.*}}, %{{.*}}, %{{.*}}, %{{.*}} : (tensor<1x64x56x56xf32>, tensor<64xf32>, tensor<64xf32>, tensor<64xf32>, tensor<64xf32>) -> tensor<1x64x56x56xf32>
  %r_batch_norm = graph.batch_norm %x_batch_norm, %s_batch_norm, %b_batch_norm, %m_batch_norm, %v_batch_norm : (tensor<1x64x56x56xf32>, tensor<64xf32>, tensor<64xf32>, tensor<64xf32>, tensor<64xf32>) -> tensor<1x64x56x56xf32>
  %x_instance_norm = "test.make"() : () -> tensor<1x3x8x8xf32>
  %s_instance_norm = "test.make"() : () -> tensor<3xf32>
  %b_instance_norm = "test.make"() : () -> tensor<3xf32>
  // CHECK: graph.instance_norm %{{.*}}, %{{.*}}, %{{.*}} : (tensor<1x3x8x8xf32>, tensor<3xf32>, tensor<3xf32>) -> tensor<1x3x8x8xf32>
  %r_instance_norm = graph.instance_norm %x_instance_norm, %s_instance_norm, %b_instance_norm : (tensor<1x3x8x8xf32>, tensor<3xf32>, tensor<3xf32>) -> tensor<1x3x8x8xf32>
  %x_group_norm = "test.make"() : () -> tensor<1x4x8x8xf32>
  %s_group_norm = "test.make"() : () -> tensor<4xf32>
  %b_group_norm = "test.make"() : () -> tensor<4xf32>
  // CHECK: graph.group_norm %{{.*}}, %{{.*}}, %{{.*}}{{.*}}: (tensor<1x4x8x8xf32>, tensor<4xf32>, tensor<4xf32>) -> tensor<1x4x8x8xf32>
  %r_group_norm = graph.group_norm %x_group_norm, %s_group_norm, %b_group_norm {groups = 2 : i64} : (tensor<1x4x8x8xf32>, tensor<4xf32>, tensor<4xf32>) -> tensor<1x4x8x8xf32>
  return
}

// CHECK-LABEL: func @cluster
func.func @cluster(%x: tensor<4x8xf32>, %w: tensor<8x4xf32>) -> tensor<4x4xf32> {
  // CHECK: graph.cluster(%[[A:.*]] = %{{.*}}, %[[B:.*]] = %{{.*}}) anchor "matmul" {tag} : (tensor<4x8xf32>, tensor<8x4xf32>) -> tensor<4x4xf32> {
  %r = graph.cluster(%a = %x, %b = %w) anchor "matmul" {tag} : (tensor<4x8xf32>, tensor<8x4xf32>) -> tensor<4x4xf32> {
    // CHECK: graph.matmul %[[A]], %[[B]]
    %0 = graph.matmul %a, %b : (tensor<4x8xf32>, tensor<8x4xf32>) -> tensor<4x4xf32>
    // CHECK: graph.yield %{{.*}} : tensor<4x4xf32>
    graph.yield %0 : tensor<4x4xf32>
  }
  return %r : tensor<4x4xf32>
}

// Dims are expressions of the symbols; a conv of a symbolic image infers its own.
// CHECK-LABEL: func @symbolic
func.func @symbolic(%x: tensor<?x3x?x?xf32, affine_map<()[s0, s1] -> (s0, 3, s1, s1)>>, %w: tensor<8x3x3x3xf32>) {
  // CHECK: graph.conv {{.*}} -> tensor<?x8x?x?xf32, {{.*}}>
  %0 = graph.conv %x, %w {strides = array<i64: 2, 2>, pads = array<i64: 1, 1, 1, 1>, dilations = array<i64: 1, 1>} : (tensor<?x3x?x?xf32, affine_map<()[s0, s1] -> (s0, 3, s1, s1)>>, tensor<8x3x3x3xf32>) -> tensor<?x8x?x?xf32, affine_map<()[s0, s1] -> (s0, 8, (s1 - 1) floordiv 2 + 1, (s1 - 1) floordiv 2 + 1)>>
  return
}

// The layout is that of the images; the filter keeps ONNX's order.
// CHECK-LABEL: func @channels_last
func.func @channels_last(%x: tensor<2x8x9x3xf32>, %w: tensor<16x3x3x3xf32>) -> tensor<2x8x9x16xf32> {
  // CHECK: graph.conv %{{.*}}, %{{.*}} {{{.*}}layout = #graph.layout<nhwc>{{.*}}} : (tensor<2x8x9x3xf32>, tensor<16x3x3x3xf32>) -> tensor<2x8x9x16xf32>
  %0 = graph.conv %x, %w {strides = array<i64: 1, 1>, pads = array<i64: 1, 1, 1, 1>, dilations = array<i64: 1, 1>, layout = #graph.layout<nhwc>} : (tensor<2x8x9x3xf32>, tensor<16x3x3x3xf32>) -> tensor<2x8x9x16xf32>
  return %0 : tensor<2x8x9x16xf32>
}

// Starts that are symbolic.
// CHECK-LABEL: func @slice_by_sizes
func.func @slice_by_sizes(%x: tensor<?x8xf32, affine_map<()[s0] -> (s0, 8)>>) {
  // CHECK: graph.slice %{{.*}} {starts = #[[HALF]], steps = array<i64: 1, 1>}
  %0 = graph.slice %x {starts = affine_map<()[s0] -> (s0 floordiv 2, 0)>, steps = array<i64: 1, 1>} : (tensor<?x8xf32, affine_map<()[s0] -> (s0, 8)>>) -> tensor<?x8xf32, affine_map<()[s0] -> (s0 - s0 floordiv 2, 8)>>
  return
}
