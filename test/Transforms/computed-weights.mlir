// The run time transforms filters: those of kernels that take them packed have the layout
// of the argument, and equal ones have one offset.
// RUN: aopt %s --split-input-file --assign-destinations --plan-memory --verify-diagnostics | FileCheck %s

// CHECK-LABEL: func.func @main
// CHECK-SAME: adze.computed_bytes = 4992 : i64
// CHECK: %[[W:.*]] = host.constant dense<5.000000e-01> : tensor<20x8x1x2xf32> {offset = 0 : i64}
// CHECK: %[[M:.*]] = host.constant dense<{{.*}}> : tensor<3x2xf32> {offset = 1280 : i64}
// CHECK: %[[V:.*]] = host.transform %[[W]], %[[M]] {offset = 0 : i64} : memref<20x8x1x2xf32>, memref<3x2xf32> -> memref<3x8x20xf32>
// CHECK: %[[U:.*]] = host.transform %{{.*}}, %{{.*}} {layout = #{{.*}}, offset = 1920 : i64}
// CHECK: host.launch @packed(%{{.*}}, %[[U]], %{{.*}})
// CHECK: host.transform %{{.*}}, %{{.*}} {layout = #{{.*}}, offset = 1920 : i64}
// CHECK: host.launch @packed
// CHECK: host.launch @dense(%[[V]], %{{.*}})
#panels = affine_map<(d0, d1, d2) -> (d2 floordiv 16, d0, d1, d2 mod 16)>
func.func @main(%x: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>) attributes {graph.symbols = []} {
  %w = graph.constant dense<0.5> : tensor<20x8x1x2xf32>
  %u = graph.transform_filter %w {matrix = dense<[[1.0, 0.0], [0.5, 0.5], [0.0, 1.0]]> : tensor<3x2xf32>} : (tensor<20x8x1x2xf32>) -> tensor<3x8x20xf32>
  %0 = host.launch @packed(%x, %u) : (tensor<4xf32>, tensor<3x8x20xf32>) -> tensor<4xf32>
  %1 = host.launch @packed(%0, %u) : (tensor<4xf32>, tensor<3x8x20xf32>) -> tensor<4xf32>
  %2 = host.launch @dense(%u) : (tensor<3x8x20xf32>) -> tensor<4xf32>
  return %1, %2 : tensor<4xf32>, tensor<4xf32>
}
func.func private @packed(memref<4xf32>, memref<3x8x20xf32, #panels>, memref<4xf32>) attributes {adze.kernel}
func.func private @dense(memref<3x8x20xf32>, memref<4xf32>) attributes {adze.kernel}

// -----

func.func @main(%w: tensor<2x3x1x2xf32>) -> tensor<4xf32> attributes {graph.symbols = []} {
  // expected-error @+1 {{expected a filter that is a constant}}
  %u = graph.transform_filter %w {matrix = dense<1.0> : tensor<3x2xf32>} : (tensor<2x3x1x2xf32>) -> tensor<3x3x2xf32>
  %0 = host.launch @dense(%u) : (tensor<3x3x2xf32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}
func.func private @dense(memref<3x3x2xf32>, memref<4xf32>) attributes {adze.kernel}
