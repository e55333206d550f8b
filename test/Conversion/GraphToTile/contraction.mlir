// RUN: aopt %s --convert-graph-to-tile --split-input-file | FileCheck %s
// RUN: aopt %s --tile-attach-targets=cuda=sm_90a --convert-graph-to-tile --split-input-file | FileCheck %s --check-prefix=ANY

// A constant right operand is packed in panels; bias and activation run on the
// accumulator before the single store.
// CHECK-DAG: #[[PANELS:.*]] = affine_map<(d0, d1) -> (d1 floordiv 32, d0, d1 mod 32)>
// CHECK: tile.kernel @linear(%[[X:.*]]: memref<128x768xf32>, %[[W:.*]]: memref<768x3072xf32, #[[PANELS]]>, %[[B:.*]]: memref<3072xf32>, %[[Y:.*]]: memref<128x3072xf32>)
// CHECK-SAME: tile.params = {BLOCK_K = 768 : i64, BLOCK_M = 128 : i64, BLOCK_N = {{.*}} : i64}
// CHECK-DAG: %[[BM:.*]] = tile.param "BLOCK_M"
// CHECK-DAG: %[[BN:.*]] = tile.param "BLOCK_N"
// CHECK-DAG: %[[BK:.*]] = tile.param "BLOCK_K"
// CHECK: %[[P:.*]]:2 = tile.program_id
// CHECK: %[[ROW:.*]] = arith.muli %[[P]]#0, %[[BM]]
// CHECK: %[[COL:.*]] = arith.muli %[[P]]#1, %[[BN]]
// CHECK: %[[ACC:.*]] = scf.for %[[K:.*]] = %{{.*}} to %{{.*}} step %[[BK]] iter_args(%[[C:.*]] =
// CHECK: %[[A:.*]] = tile.load %[[X]][%[[ROW]], %[[K]]] sizes [%[[BM]], %[[BK]]]
// CHECK: %[[V:.*]] = tile.load %[[W]][%[[K]], %[[COL]]] sizes [%[[BK]], %[[BN]]]
// CHECK: %[[D:.*]] = tile.dot %[[A]], %[[V]], %[[C]]
// CHECK: scf.yield %[[D]]
// CHECK: %[[BIAS:.*]] = tile.load %[[B]][%[[COL]]] sizes [%[[BN]]]
// CHECK: %[[WIDE:.*]] = tile.broadcast %[[BIAS]] to [%[[BM]], %[[BN]]] dims [1]
// CHECK: %[[S:.*]] = arith.addf %[[ACC]], %[[WIDE]]
// CHECK: %[[R:.*]] = arith.maximumf %[[S]]
// CHECK-NEXT: tile.store %[[R]], %[[Y]][%[[ROW]], %[[COL]]]
// CHECK-NEXT: tile.return
// CHECK-NOT: func.func private
func.func @main(%x: tensor<128x768xf32>, %b: tensor<3072xf32>) -> tensor<128x3072xf32> {
  %w = graph.constant dense<1.0> : tensor<768x3072xf32>
  %0 = host.launch @linear(%x, %w, %b) : (tensor<128x768xf32>, tensor<768x3072xf32>, tensor<3072xf32>) -> tensor<128x3072xf32>
  return %0 : tensor<128x3072xf32>
}
func.func private @linear(%x: tensor<128x768xf32>, %w: tensor<768x3072xf32>, %b: tensor<3072xf32>) -> tensor<128x3072xf32> attributes {adze.kernel} {
  %0 = graph.matmul %x, %w : (tensor<128x768xf32>, tensor<768x3072xf32>) -> tensor<128x3072xf32>
  %1 = graph.add %0, %b : (tensor<128x3072xf32>, tensor<3072xf32>) -> tensor<128x3072xf32>
  %2 = graph.relu %1 : (tensor<128x3072xf32>) -> tensor<128x3072xf32>
  return %2 : tensor<128x3072xf32>
}

// -----

// Batches of attention heads: transposes before and after are part of loads and stores.
// Sizes come from the arguments.
#x = affine_map<()[s0, s1] -> (s0, s1, 12, 64)>
#t = affine_map<()[s0, s1] -> (s0, 12, s1, 64)>
#s = affine_map<()[s0, s1] -> (s0, 12, s1, s1)>
// CHECK: tile.kernel @heads(%[[S:.*]]: memref<?x12x?x?xf32> {adze.dims = {{.*}}}, %[[V:.*]]: memref<?x?x12x64xf32> {{.*}}, %[[Y:.*]]: memref<?x?x12x64xf32>
// CHECK: %[[SEQ:.*]] = memref.dim %[[S]], %c2
// CHECK: %[[P:.*]]:3 = tile.program_id
// CHECK: %[[H:.*]] = arith.remui %[[P]]#2, %c12
// CHECK: %[[N:.*]] = arith.divui %[[P]]#2, %c12
// CHECK: %[[OUT:.*]] = memref.subview %[[Y]]
// CHECK: %[[PART:.*]] = memref.subview %[[S]]
// CHECK: scf.for %[[K:.*]] = %{{.*}} to %[[SEQ]]
// CHECK: tile.load %[[PART]][%[[N]], %[[H]], %{{.*}}, %[[K]]]
// CHECK: tile.load %[[V]][%[[N]], %[[K]], %[[H]], %{{.*}}] sizes [%{{.*}}, %{{.*}}] dims [1, 3]
// CHECK: tile.store %{{.*}}, %[[OUT]][%[[N]], %{{.*}}, %[[H]], %{{.*}}] dims [1, 3]
// ANY: tile.kernel @heads
// ANY-NOT: memref.subview
// ANY: tile.return
func.func private @heads(%s: tensor<?x12x?x?xf32, #s>, %v: tensor<?x?x12x64xf32, #x>) -> tensor<?x?x12x64xf32, #x> attributes {adze.kernel} {
  %0 = graph.transpose %v {perm = array<i64: 0, 2, 1, 3>} : (tensor<?x?x12x64xf32, #x>) -> tensor<?x12x?x64xf32, #t>
  %1 = graph.matmul %s, %0 : (tensor<?x12x?x?xf32, #s>, tensor<?x12x?x64xf32, #t>) -> tensor<?x12x?x64xf32, #t>
  %2 = graph.transpose %1 {perm = array<i64: 0, 2, 1, 3>} : (tensor<?x12x?x64xf32, #t>) -> tensor<?x?x12x64xf32, #x>
  return %2 : tensor<?x?x12x64xf32, #x>
}

// -----

// f16 is summed in f32 and rounded once; a transposed operand is loaded in its layout.
// CHECK-LABEL: tile.kernel @half
// CHECK: scf.for {{.*}} -> (tensor<?x?xf32>)
// CHECK: tile.load %arg1[%{{.*}}, %{{.*}}] sizes [%{{.*}}, %{{.*}}] dims [1, 0]
// CHECK: tile.dot {{.*}} : tensor<?x?xf16>, tensor<?x?xf16>, tensor<?x?xf32>
// CHECK: arith.truncf %{{.*}} : tensor<?x?xf32> to tensor<?x?xf16>
func.func private @half(%x: tensor<8x64xf16>, %w: tensor<32x64xf16>) -> tensor<8x32xf16> attributes {adze.kernel} {
  %0 = graph.matmul %x, %w {transpose_b = true} : (tensor<8x64xf16>, tensor<32x64xf16>) -> tensor<8x32xf16>
  return %0 : tensor<8x32xf16>
}

// -----

// A constant batch of matrices is packed in panels.
// CHECK: #[[MAP:.*]] = affine_map<(d0, d1, d2) -> (d0, d2 floordiv 32, d1, d2 mod 32)>
// CHECK: tile.kernel @products(%{{.*}}: memref<36x49x64xf32>, %{{.*}}: memref<36x64x96xf32, #[[MAP]]>
func.func @main(%x: tensor<36x49x64xf32>) -> tensor<36x49x96xf32> {
  %w = graph.constant dense<1.0> : tensor<36x64x96xf32>
  %0 = host.launch @products(%x, %w) : (tensor<36x49x64xf32>, tensor<36x64x96xf32>) -> tensor<36x49x96xf32>
  return %0 : tensor<36x49x96xf32>
}
func.func private @products(%x: tensor<36x49x64xf32>, %w: tensor<36x64x96xf32>) -> tensor<36x49x96xf32> attributes {adze.kernel} {
  %0 = graph.matmul %x, %w : (tensor<36x49x64xf32>, tensor<36x64x96xf32>) -> tensor<36x49x96xf32>
  return %0 : tensor<36x49x96xf32>
}

// -----

// A dynamic number of rows is divided into equal parts of whole register blocks, at most
// a block each: loads and stores end with the part. If other targets use the kernel as
// well, blocks are smaller and of equal size.
#m = affine_map<()[s0] -> (s0, 768)>
// CHECK: tile.kernel @unknown_rows(%[[X:arg0]]: memref<?x768xf32>
// CHECK-SAME: BLOCK_M = 128
// CHECK: %[[BM:.*]] = tile.param "BLOCK_M"
// CHECK: %[[COUNT:.*]] = arith.ceildivui %[[ROWS:.*]], %[[BM]]
// CHECK: %[[PARTS:.*]] = arith.maxsi %[[COUNT]], %c1
// CHECK: %[[EACH:.*]] = arith.ceildivui %[[ROWS]], %[[PARTS]]
// CHECK: %[[UNITS:.*]] = arith.ceildivui %[[EACH]], %c8
// CHECK: %[[PART:.*]] = arith.muli %[[UNITS]], %c8
// CHECK: %[[STEP:.*]] = arith.maxsi %[[PART]], %c8
// CHECK: %[[GRID:.*]] = arith.ceildivui %[[ROWS]], %[[STEP]]
// CHECK: %[[P:.*]]:2 = tile.program_id(%[[GRID]],
// CHECK: %[[ROW:.*]] = arith.muli %[[P]]#0, %[[STEP]]
// CHECK: %[[NEXT:.*]] = arith.addi %[[ROW]], %[[STEP]]
// CHECK: %[[END:.*]] = arith.minsi %[[NEXT]], %[[ROWS]]
// CHECK-DAG: %[[A:.*]] = memref.subview %[[X]][0, 0] [%[[END]], 768]
// CHECK-DAG: %[[Y:.*]] = memref.subview %arg2[0, 0] [%[[END]], 768]
// CHECK: tile.load %[[A]][%[[ROW]],
// CHECK: tile.store %{{.*}}, %[[Y]][%[[ROW]],
// ANY: tile.kernel @unknown_rows
// ANY-SAME: BLOCK_M = 64
// ANY-NOT: memref.subview
// ANY: tile.return
func.func @main(%x: tensor<?x768xf32, #m>) -> tensor<?x768xf32, #m> attributes {graph.symbols = ["m"]} {
  %w = graph.constant dense<1.0> : tensor<768x768xf32>
  %0 = host.launch @unknown_rows(%x, %w) : (tensor<?x768xf32, #m>, tensor<768x768xf32>) -> tensor<?x768xf32, #m>
  return %0 : tensor<?x768xf32, #m>
}
func.func private @unknown_rows(%x: tensor<?x768xf32, #m>, %w: tensor<768x768xf32>) -> tensor<?x768xf32, #m> attributes {adze.kernel} {
  %0 = graph.matmul %x, %w : (tensor<?x768xf32, #m>, tensor<768x768xf32>) -> tensor<?x768xf32, #m>
  return %0 : tensor<?x768xf32, #m>
}

// -----

// Blocks of columns end with panels, for static and dynamic rows: 960 columns are 5 times
// 192, and each of 37 panels is a block. Few rows have narrower blocks, as there are few
// programs: for 43 panels one each, for 44 two.
#x = affine_map<()[s0] -> (s0, 160)>
#y = affine_map<()[s0] -> (s0, 960)>
#z = affine_map<()[s0] -> (s0, 1184)>
// CHECK: tile.kernel @even_columns
// CHECK-SAME: BLOCK_N = 192
func.func private @even_columns(%x: tensor<?x160xf32, #x>, %w: tensor<160x960xf32>) -> tensor<?x960xf32, #y> attributes {adze.kernel} {
  %0 = graph.matmul %x, %w : (tensor<?x160xf32, #x>, tensor<160x960xf32>) -> tensor<?x960xf32, #y>
  return %0 : tensor<?x960xf32, #y>
}
// CHECK: tile.kernel @odd_panels
// CHECK-SAME: BLOCK_N = 32
func.func private @odd_panels(%x: tensor<?x160xf32, #x>, %w: tensor<160x1184xf32>) -> tensor<?x1184xf32, #z> attributes {adze.kernel} {
  %0 = graph.matmul %x, %w : (tensor<?x160xf32, #x>, tensor<160x1184xf32>) -> tensor<?x1184xf32, #z>
  return %0 : tensor<?x1184xf32, #z>
}
// CHECK: tile.kernel @known_rows
// CHECK-SAME: BLOCK_M = 128
// CHECK-SAME: BLOCK_N = 32
func.func private @known_rows(%x: tensor<128x160xf32>, %w: tensor<160x1376xf32>) -> tensor<128x1376xf32> attributes {adze.kernel} {
  %0 = graph.matmul %x, %w : (tensor<128x160xf32>, tensor<160x1376xf32>) -> tensor<128x1376xf32>
  return %0 : tensor<128x1376xf32>
}
// CHECK: tile.kernel @even_panels
// CHECK-SAME: BLOCK_M = 128
// CHECK-SAME: BLOCK_N = 64
func.func private @even_panels(%x: tensor<128x160xf32>, %w: tensor<160x1408xf32>) -> tensor<128x1408xf32> attributes {adze.kernel} {
  %0 = graph.matmul %x, %w : (tensor<128x160xf32>, tensor<160x1408xf32>) -> tensor<128x1408xf32>
  return %0 : tensor<128x1408xf32>
}
func.func @main(%x: tensor<?x160xf32, #x>, %y: tensor<128x160xf32>) -> (tensor<?x960xf32, #y>, tensor<?x1184xf32, #z>, tensor<128x1376xf32>, tensor<128x1408xf32>) attributes {graph.symbols = ["m"]} {
  %u = graph.constant dense<0.5> : tensor<160x960xf32>
  %v = graph.constant dense<0.5> : tensor<160x1184xf32>
  %w = graph.constant dense<0.5> : tensor<160x1376xf32>
  %e = graph.constant dense<0.5> : tensor<160x1408xf32>
  %0 = host.launch @even_columns(%x, %u) : (tensor<?x160xf32, #x>, tensor<160x960xf32>) -> tensor<?x960xf32, #y>
  %1 = host.launch @odd_panels(%x, %v) : (tensor<?x160xf32, #x>, tensor<160x1184xf32>) -> tensor<?x1184xf32, #z>
  %2 = host.launch @known_rows(%y, %w) : (tensor<128x160xf32>, tensor<160x1376xf32>) -> tensor<128x1376xf32>
  %3 = host.launch @even_panels(%y, %e) : (tensor<128x160xf32>, tensor<160x1408xf32>) -> tensor<128x1408xf32>
  return %0, %1, %2, %3 : tensor<?x960xf32, #y>, tensor<?x1184xf32, #z>, tensor<128x1376xf32>, tensor<128x1408xf32>
}
