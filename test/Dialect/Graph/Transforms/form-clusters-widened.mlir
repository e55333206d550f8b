// Attention widens keys and values of few bits when it reads them; further computation is
// a separate kernel.
// RUN: aopt %s --graph-form-clusters --split-input-file | FileCheck %s

#q = affine_map<()[s0, s1] -> (1, 4, s0, 64)>
#k = affine_map<()[s0, s1] -> (1, 4, s1, 64)>
#f = affine_map<()[s0, s1] -> (1, 4, s1, 1)>

// CHECK-LABEL: func.func @widened(
// CHECK: graph.cluster({{.*}}) anchor "attention" : {{.*}}x64xf16, {{.*}}x64xi8
// CHECK-DAG: graph.cast %{{.*}}xf16
// CHECK-DAG: graph.cast %{{.*}}xi8
// CHECK-DAG: graph.mul
// CHECK: graph.attention
// CHECK-NOT: graph.cluster
// CHECK: return
func.func @widened(%q: tensor<1x4x?x64xf32, #q>, %k: tensor<1x4x?x64xf16, #k>, %v: tensor<1x4x?x64xi8, #k>, %vs: tensor<1x4x?x1xf32, #f>) -> tensor<1x4x?x64xf32, #q> {
  %0 = graph.cast %k : (tensor<1x4x?x64xf16, #k>) -> tensor<1x4x?x64xf32, #k>
  %1 = graph.cast %v : (tensor<1x4x?x64xi8, #k>) -> tensor<1x4x?x64xf32, #k>
  %2 = graph.mul %1, %vs : (tensor<1x4x?x64xf32, #k>, tensor<1x4x?x1xf32, #f>) -> tensor<1x4x?x64xf32, #k>
  %3 = graph.attention %q, %0, %2 {scale = 0.125 : f64} : (tensor<1x4x?x64xf32, #q>, tensor<1x4x?x64xf32, #k>, tensor<1x4x?x64xf32, #k>) -> tensor<1x4x?x64xf32, #q>
  return %3 : tensor<1x4x?x64xf32, #q>
}

// -----

#q = affine_map<()[s0, s1] -> (1, 4, s0, 64)>
#k = affine_map<()[s0, s1] -> (1, 4, s1, 64)>

// CHECK-LABEL: func.func @computed(
// CHECK: graph.cluster{{.*}} anchor "pointwise"
// CHECK: graph.cast
// CHECK: graph.exp
// CHECK: graph.cluster{{.*}} anchor "attention" : {{.*}}x64xf32, {{.*}}x64xf32
func.func @computed(%q: tensor<1x4x?x64xf32, #q>, %k: tensor<1x4x?x64xf16, #k>) -> tensor<1x4x?x64xf32, #q> {
  %0 = graph.cast %k : (tensor<1x4x?x64xf16, #k>) -> tensor<1x4x?x64xf32, #k>
  %1 = graph.exp %0 : (tensor<1x4x?x64xf32, #k>) -> tensor<1x4x?x64xf32, #k>
  %2 = graph.attention %q, %1, %1 {scale = 0.125 : f64} : (tensor<1x4x?x64xf32, #q>, tensor<1x4x?x64xf32, #k>, tensor<1x4x?x64xf32, #k>) -> tensor<1x4x?x64xf32, #q>
  return %2 : tensor<1x4x?x64xf32, #q>
}
