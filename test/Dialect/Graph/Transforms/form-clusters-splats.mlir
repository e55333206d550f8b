// RUN: aopt %s --pass-pipeline="builtin.module(func.func(graph-form-clusters))" | FileCheck %s

// Each recurrent layer has its own initial states, so no kernel fills memory with them. One
// that another op reads, too, is computed by a kernel.
// CHECK-LABEL: func.func @states
// CHECK: graph.cluster() anchor "pointwise"
// CHECK-NEXT: graph.constant dense<1.000000e+00>
// CHECK: graph.cluster(%{{.*}} = %arg0, %{{.*}} = %arg1) anchor "recurrent"
// CHECK-NEXT: graph.constant dense<0.000000e+00> : tensor<f32>
// CHECK-NEXT: %[[Z:.*]] = graph.broadcast_to
// CHECK-NEXT: graph.recurrent %{{.*}} state %[[Z]] memory %[[Z]]
// CHECK: graph.cluster(%{{.*}}, %{{.*}}, %{{.*}}) anchor "recurrent"
// CHECK: %[[Y:.*]] = graph.broadcast_to
// CHECK: graph.recurrent %{{.*}} state %[[Y]] memory %{{.*}} {
// CHECK-NOT: graph.cluster
#x = affine_map<()[s0] -> (6, s0, 48)>
#y = affine_map<()[s0] -> (6, s0, 12)>
#h = affine_map<()[s0] -> (s0, 12)>
func.func @states(%x: tensor<6x?x48xf32, #x>, %w: tensor<4x12x12xf32>) -> (tensor<6x?x12xf32, #y>, tensor<6x?x12xf32, #y>, tensor<?x12xf32, #h>) {
  %0 = graph.constant dense<0.0> : tensor<f32>
  %1 = graph.constant dense<1.0> : tensor<f32>
  %z = graph.broadcast_to %0 : (tensor<f32>) -> tensor<?x12xf32, #h>
  %o = graph.broadcast_to %1 : (tensor<f32>) -> tensor<?x12xf32, #h>
  %a:3 = graph.recurrent %x weights %w state %z memory %z {cell = #graph.cell<lstm>, activations = ["sigmoid", "tanh", "tanh"], alphas = array<f64: 0.0, 0.0, 0.0>, betas = array<f64: 0.0, 0.0, 0.0>} : (tensor<6x?x48xf32, #x>, tensor<4x12x12xf32>, tensor<?x12xf32, #h>, tensor<?x12xf32, #h>) -> (tensor<6x?x12xf32, #y>, tensor<?x12xf32, #h>, tensor<?x12xf32, #h>)
  %b:3 = graph.recurrent %x weights %w state %z memory %o {cell = #graph.cell<lstm>, reverse = true, activations = ["sigmoid", "tanh", "tanh"], alphas = array<f64: 0.0, 0.0, 0.0>, betas = array<f64: 0.0, 0.0, 0.0>} : (tensor<6x?x48xf32, #x>, tensor<4x12x12xf32>, tensor<?x12xf32, #h>, tensor<?x12xf32, #h>) -> (tensor<6x?x12xf32, #y>, tensor<?x12xf32, #h>, tensor<?x12xf32, #h>)
  return %a#0, %b#0, %o : tensor<6x?x12xf32, #y>, tensor<6x?x12xf32, #y>, tensor<?x12xf32, #h>
}
