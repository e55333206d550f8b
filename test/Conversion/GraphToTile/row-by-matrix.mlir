// RUN: aopt %s --convert-graph-to-tile | FileCheck %s

// A row by a row-major matrix that is read in place: programs read long parts of its rows.
// CHECK: tile.kernel @wide({{.*}}BLOCK_N = 256 : i64
// CHECK: tile.kernel @narrow({{.*}}BLOCK_N = 64 : i64
// Columns that are not whole vectors are copied, so more programs are better.
// CHECK: tile.kernel @ragged({{.*}}BLOCK_N = 128 : i64
// CHECK: tile.kernel @dynamic({{.*}}BLOCK_N = 32 : i64
#b = affine_map<()[s0] -> (1024, s0)>
#y = affine_map<()[s0] -> (1, s0)>
module attributes {tile.targets = [#tile.cpu<chip = "x86-64-v4", vector_bytes = 64, caches = [2097152, 33554432]>]} {
  func.func @main(%x: tensor<1x1024xf32>, %w: tensor<1024x1024xf32>, %n: tensor<1024x128xf32>, %r: tensor<1024x1000xf32>, %d: tensor<1024x?xf32, #b>)
      -> (tensor<1x1024xf32>, tensor<1x128xf32>, tensor<1x1000xf32>, tensor<1x?xf32, #y>) attributes {graph.symbols = ["N"]} {
    %0 = host.launch @wide(%x, %w) : (tensor<1x1024xf32>, tensor<1024x1024xf32>) -> tensor<1x1024xf32>
    %1 = host.launch @narrow(%x, %n) : (tensor<1x1024xf32>, tensor<1024x128xf32>) -> tensor<1x128xf32>
    %2 = host.launch @ragged(%x, %r) : (tensor<1x1024xf32>, tensor<1024x1000xf32>) -> tensor<1x1000xf32>
    %3 = host.launch @dynamic(%x, %d) : (tensor<1x1024xf32>, tensor<1024x?xf32, #b>) -> tensor<1x?xf32, #y>
    return %0, %1, %2, %3 : tensor<1x1024xf32>, tensor<1x128xf32>, tensor<1x1000xf32>, tensor<1x?xf32, #y>
  }
  func.func private @wide(%x: tensor<1x1024xf32>, %b: tensor<1024x1024xf32>) -> tensor<1x1024xf32> attributes {adze.kernel} {
    %0 = graph.matmul %x, %b : (tensor<1x1024xf32>, tensor<1024x1024xf32>) -> tensor<1x1024xf32>
    return %0 : tensor<1x1024xf32>
  }
  func.func private @narrow(%x: tensor<1x1024xf32>, %b: tensor<1024x128xf32>) -> tensor<1x128xf32> attributes {adze.kernel} {
    %0 = graph.matmul %x, %b : (tensor<1x1024xf32>, tensor<1024x128xf32>) -> tensor<1x128xf32>
    return %0 : tensor<1x128xf32>
  }
  func.func private @ragged(%x: tensor<1x1024xf32>, %b: tensor<1024x1000xf32>) -> tensor<1x1000xf32> attributes {adze.kernel} {
    %0 = graph.matmul %x, %b : (tensor<1x1024xf32>, tensor<1024x1000xf32>) -> tensor<1x1000xf32>
    return %0 : tensor<1x1000xf32>
  }
  func.func private @dynamic(%x: tensor<1x1024xf32>, %b: tensor<1024x?xf32, #b>) -> tensor<1x?xf32, #y> attributes {adze.kernel} {
    %0 = graph.matmul %x, %b : (tensor<1x1024xf32>, tensor<1024x?xf32, #b>) -> tensor<1x?xf32, #y>
    return %0 : tensor<1x?xf32, #y>
  }
}
