// Operands that cp.async copies to rings of chunks in shared memory, against the
// interpreter: convolutions in f32 with strides, zeros beyond the image and loops over taps
// and channels, and products whose k ends within a chunk, by threads and by warps.
// DEFINE: %{change} =
// DEFINE: %{emulate} = sed -e '%{change}' %s | aopt --convert-graph-to-tile --tile-choose-schedule | cuda-emulate - --tolerance=1e-3 | FileCheck %s
// CHECK-DAG: conv: {{.*}} agree
// CHECK-DAG: product: {{.*}} agree
// CHECK-DAG: narrow: {{.*}} agree

// RUN: %{emulate}
// REDEFINE: %{change} = s/2, 2>, pads/1, 1>, pads/; s/46x46x20/23x23x20/g
// RUN: %{emulate}
// REDEFINE: %{change} = s/40x70/40x64/g; s/70x90/64x90/g
// RUN: %{emulate}

// The copies are in the code, and nothing else stores to shared memory.
// RUN: aopt %s --convert-graph-to-tile --tile-choose-schedule --tile-specialize=target=cuda --convert-tile-to-gpu | FileCheck %s --check-prefix=CODE
// CODE: llvm.func @conv
// CODE-NOT: llvm.store {{.*}}!llvm.ptr<3>
// CODE: nvvm.cp.async.shared.global
// CODE: nvvm.cp.async.wait.group 2

module attributes {tile.targets = [#tile.cuda<chip = "sm_90a", multiprocessors = 132, shared_bytes = 232448,
    units = [#tile.unit<"mma", f16 * f16 + f32, [16, 8, 16]>], features = [tma]>]} {
  func.func @main(%x: tensor<1x46x46x20xf32>, %a: tensor<40x70xf32>, %h: tensor<40x80xf16>) -> (tensor<1x23x23x32xf32>, tensor<40x90xf32>, tensor<40x96xf16>) {
    %w = graph.constant dense<1.0> : tensor<32x20x3x3xf32>
    %b = graph.constant dense<1.0> : tensor<70x90xf32>
    %c = graph.constant dense<1.0> : tensor<80x96xf16>
    %0 = host.launch @conv(%x, %w) : (tensor<1x46x46x20xf32>, tensor<32x20x3x3xf32>) -> tensor<1x23x23x32xf32>
    %1 = host.launch @product(%a, %b) : (tensor<40x70xf32>, tensor<70x90xf32>) -> tensor<40x90xf32>
    %2 = host.launch @narrow(%h, %c) : (tensor<40x80xf16>, tensor<80x96xf16>) -> tensor<40x96xf16>
    return %0, %1, %2 : tensor<1x23x23x32xf32>, tensor<40x90xf32>, tensor<40x96xf16>
  }
  func.func private @conv(%x: tensor<1x46x46x20xf32>, %w: tensor<32x20x3x3xf32>) -> tensor<1x23x23x32xf32> attributes {adze.kernel} {
    %0 = graph.conv %x, %w {strides = array<i64: 2, 2>, pads = array<i64: 1, 1, 1, 1>, dilations = array<i64: 1, 1>, layout = #graph.layout<nhwc>} : (tensor<1x46x46x20xf32>, tensor<32x20x3x3xf32>) -> tensor<1x23x23x32xf32>
    return %0 : tensor<1x23x23x32xf32>
  }
  func.func private @product(%a: tensor<40x70xf32>, %b: tensor<70x90xf32>) -> tensor<40x90xf32> attributes {adze.kernel} {
    %0 = graph.matmul %a, %b : (tensor<40x70xf32>, tensor<70x90xf32>) -> tensor<40x90xf32>
    return %0 : tensor<40x90xf32>
  }
  func.func private @narrow(%a: tensor<40x80xf16>, %b: tensor<80x96xf16>) -> tensor<40x96xf16> attributes {adze.kernel} {
    %0 = graph.matmul %a, %b : (tensor<40x80xf16>, tensor<80x96xf16>) -> tensor<40x96xf16>
    return %0 : tensor<40x96xf16>
  }
}
