// The device module keeps the code that its kernels use; the host's program is removed.
// RUN: aopt %s -adze-cuda | FileCheck %s

// CHECK-NOT: @main
// CHECK: func private @consume
// CHECK: func.func @consumed({{.*}}adze.refusal = "expected no calls"
// CHECK-NOT: @main
func.func private @consume(tensor<8xf32>)
tile.kernel @consumed(%x: memref<8xf32>) {
  %t = tile.load %x[0] sizes [8] : memref<8xf32> -> tensor<8xf32>
  func.call @consume(%t) : (tensor<8xf32>) -> ()
  tile.return
}
func.func @main(%x: tensor<8xf32>) {
  host.launch @consumed(%x) : (tensor<8xf32>) -> ()
  return
}
