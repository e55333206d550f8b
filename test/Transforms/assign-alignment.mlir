// RUN: aopt %s --assign-alignment --split-input-file | FileCheck %s

module attributes {tile.targets = [#tile.cuda<chip = "sm_90a", multiprocessors = 132, shared_bytes = 232448>]} {
  // A slot of the arena, an offset in the weights, and a buffer of the caller. The kernel
  // is launched twice; only one launch passes a part of a slot.
  func.func @main(%x: memref<64xf32>, %s: memref<?xf32>) attributes {adze.num_inputs = 2 : i64} {
    %0 = host.slot {offset = 0 : i64, size = 256 : i64} : memref<64xf32>
    %1 = host.constant dense<1.0> : tensor<64xf32> {offset = 64 : i64} -> memref<64xf32>
    host.launch @add(%x, %1, %0) : (memref<64xf32>, memref<64xf32>, memref<64xf32>) -> ()
    %2 = host.slot {offset = 256 : i64, size = 4096 : i64} : memref<1024xf32>
    %3 = host.view %2 {offset = 80 : i64} : memref<1024xf32> -> memref<64xf32>
    host.launch @add(%0, %0, %3) : (memref<64xf32>, memref<64xf32>, memref<64xf32>) -> ()
    // A slot of a dynamic size is aligned too, and so is a whole view.
    %4 = host.slot {box = 0 : i64, size = affine_map<()[s0] -> (s0 * 4)>} : memref<?xf32>
    %5 = host.view %4 : memref<?xf32> -> memref<?xf32>
    %6 = host.view %4 {offset = affine_map<()[s0] -> (s0 * 32)>} : memref<?xf32> -> memref<?xf32>
    host.launch @copy(%5, %6) : (memref<?xf32>, memref<?xf32>) -> ()
    return
  }
  // CHECK: tile.kernel @add(%{{[^:]*}}: memref<64xf32>, %{{[^:]*}}: memref<64xf32> {tile.align = 64 : i64}, %{{[^:]*}}: memref<64xf32> {tile.align = 16 : i64})
  tile.kernel @add(%x: memref<64xf32>, %w: memref<64xf32>, %y: memref<64xf32>) {
    %c0 = arith.constant 0 : index
    %0 = tile.load %x[%c0] sizes [64] : memref<64xf32> -> tensor<64xf32>
    %1 = tile.load %w[%c0] sizes [64] : memref<64xf32> -> tensor<64xf32>
    %2 = arith.addf %0, %1 : tensor<64xf32>
    tile.store %2, %y[%c0] : tensor<64xf32>, memref<64xf32>
    tile.return
  }
  // CHECK: tile.kernel @copy(%{{[^:]*}}: memref<?xf32> {tile.align = 64 : i64}, %{{[^:]*}}: memref<?xf32> {tile.align = 32 : i64})
  tile.kernel @copy(%x: memref<?xf32>, %y: memref<?xf32>) {
    %c0 = arith.constant 0 : index
    %0 = tile.load %x[%c0] sizes [64] : memref<?xf32> -> tensor<64xf32>
    tile.store %0, %y[%c0] : tensor<64xf32>, memref<?xf32>
    tile.return
  }
}

// -----

// The kernel's own attributes are kept.
module attributes {tile.targets = [#tile.cuda<chip = "sm_90a", multiprocessors = 132, shared_bytes = 232448>]} {
  func.func @main(%x: memref<64xf32>, %y: memref<64xf32>) attributes {adze.num_inputs = 1 : i64} {
    %0 = host.slot {offset = 0 : i64, size = 256 : i64} : memref<64xf32>
    host.launch @copy(%x, %0) : (memref<64xf32>, memref<64xf32>) -> ()
    host.launch @copy(%0, %y) : (memref<64xf32>, memref<64xf32>) -> ()
    return
  }
  // CHECK: tile.kernel @copy(%{{[^:]*}}: memref<64xf32> {tile.align = 16 : i64}, %{{[^:]*}}: memref<64xf32>)
  tile.kernel @copy(%x: memref<64xf32> {tile.align = 16 : i64}, %y: memref<64xf32>) {
    %c0 = arith.constant 0 : index
    %0 = tile.load %x[%c0] sizes [64] : memref<64xf32> -> tensor<64xf32>
    tile.store %0, %y[%c0] : tensor<64xf32>, memref<64xf32>
    tile.return
  }
}

// -----

// Kernels for CPUs have none.
module attributes {tile.targets = [#tile.cpu<chip = "x86-64-v3", vector_bytes = 32, caches = [1048576, 33554432]>]} {
  func.func @main(%y: memref<64xf32>) attributes {adze.num_inputs = 0 : i64} {
    %0 = host.slot {offset = 0 : i64, size = 256 : i64} : memref<64xf32>
    host.launch @copy(%0, %y) : (memref<64xf32>, memref<64xf32>) -> ()
    return
  }
  // CHECK: tile.kernel @copy(%{{[^:]*}}: memref<64xf32>, %{{[^:]*}}: memref<64xf32>)
  tile.kernel @copy(%x: memref<64xf32>, %y: memref<64xf32>) {
    %c0 = arith.constant 0 : index
    %0 = tile.load %x[%c0] sizes [64] : memref<64xf32> -> tensor<64xf32>
    tile.store %0, %y[%c0] : tensor<64xf32>, memref<64xf32>
    tile.return
  }
}
