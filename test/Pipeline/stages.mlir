// A small model after each stage.
// RUN: aopt %s --adze-graph | FileCheck %s --check-prefix=GRAPH
// RUN: aopt %s --adze-graph --adze-tile | FileCheck %s --check-prefix=TILE
// RUN: atranslate %s -O0 --emit=linalg -o - | FileCheck %s --check-prefix=LINALG
// RUN: aopt %s --adze | FileCheck %s --check-prefix=ALL
// RUN: atranslate %s -o %t.so && arun %t.so --random

// GRAPH: graph.cluster
// GRAPH: graph.relu
// TILE: host.launch @
// TILE: tile.kernel
// TILE-NOT: graph.relu
// LINALG: linalg.generic
// LINALG-NOT: graph.relu
// ALL: llvm.func @adze_run
// ALL-NOT: func.func

func.func @main(%x: tensor<8x16xf32> {graph.name = "x"}) -> (tensor<8x4xf32> {graph.name = "y"}) {
  %w = graph.constant dense<0.5> : tensor<16x4xf32>
  %0 = graph.matmul %x, %w : (tensor<8x16xf32>, tensor<16x4xf32>) -> tensor<8x4xf32>
  %1 = graph.relu %0 : (tensor<8x4xf32>) -> tensor<8x4xf32>
  return %1 : tensor<8x4xf32>
}
