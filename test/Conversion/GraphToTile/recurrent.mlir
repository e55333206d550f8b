// RUN: aopt %s --convert-graph-to-tile=remarks=true --split-input-file --verify-diagnostics | FileCheck %s

// Steps are the last dim of the grid, in order. The first one begins with the initial
// states, the others with those stored by the previous one; weights are in panels, one
// matrix per gate. The sums of a gate are stored in memory until those of the others are
// computed.
// CHECK: #[[PANELS:.*]] = affine_map<(d0, d1, d2) -> (d0, d2 floordiv 32, d1, d2 mod 32)>
// CHECK-LABEL: tile.kernel @lstm
// CHECK-SAME: %[[X:arg0]]: memref<5x2x256xf32>, %[[W:arg1]]: memref<4x64x64xf32, #[[PANELS]]>, %[[H:arg2]]: {{[^,]*}}, %[[C:arg3]]: {{[^,]*}}, %[[Y:arg4]]: {{[^,]*}}, %[[LAST:arg5]]: {{[^,]*}}, %[[CELL:arg6]]:
// CHECK-DAG: %[[BM:.*]] = tile.param "BLOCK_M"
// CHECK-DAG: %[[BN:.*]] = tile.param "BLOCK_N"
// CHECK: %[[P:.*]]:3 = tile.program_id(%{{.*}}, %{{.*}}, %c5) ordered
// CHECK: %[[ROW:.*]] = arith.muli %[[P]]#0, %[[BM]]
// CHECK: %[[UNIT:.*]] = arith.muli %[[P]]#1, %[[BN]]
// CHECK: %[[BEFORE:.*]] = arith.subi %[[P]]#2, %c1
// CHECK: %[[AT:.*]] = arith.maxsi %[[BEFORE]], %c0
// CHECK: %[[STATE:.*]] = tile.scratch [%[[BM]], 64]
// CHECK: %[[IN:.*]] = tile.scratch [%[[BM]], %[[BN]]]
// CHECK: %[[OUT:.*]] = tile.scratch [%[[BM]], %[[BN]]]
// CHECK: %[[FIRST:.*]] = arith.cmpi eq, %[[P]]#2, %c0
// CHECK: scf.if %[[FIRST]] {
// CHECK: tile.store %{{.*}}, %[[LAST]][%[[ROW]], %[[UNIT]]]
// CHECK: %[[C0:.*]] = tile.load %[[C]][%[[ROW]], %[[UNIT]]]
// CHECK: tile.store %[[C0]], %[[CELL]][%[[ROW]], %[[UNIT]]]
// CHECK: %[[H0:.*]] = tile.load %[[H]][%[[ROW]], 0]
// CHECK: tile.store %[[H0]], %[[STATE]][0, 0]
// CHECK: } else {
// CHECK: %[[HT:.*]] = tile.load %[[Y]][%[[AT]], %[[ROW]], 0]
// CHECK: tile.store %[[HT]], %[[STATE]][0, 0]
// CHECK: tile.phase
// CHECK: %[[XI:.*]] = tile.load %[[X]][%[[P]]#2, %[[ROW]], %[[UNIT]]]
// CHECK: %[[WI:.*]] = tile.load %[[W]][0, 0, %[[UNIT]]] sizes [64, %[[BN]]]
// CHECK: %[[DI:.*]] = tile.dot %{{.*}}, %[[WI]], %[[XI]]
// CHECK: tile.store %[[DI]], %[[IN]][0, 0]
// CHECK: tile.phase
// CHECK: tile.dot
// CHECK: tile.store %{{.*}}, %[[OUT]][0, 0]
// CHECK: tile.phase
// CHECK: tile.dot
// CHECK: tile.phase
// CHECK: tile.dot
// CHECK: tile.phase
// CHECK: %[[CT:.*]] = tile.load %[[CELL]][%[[ROW]], %[[UNIT]]]
// CHECK: tile.load %[[IN]][0, 0] sizes [%[[BM]], %[[BN]]]
// CHECK: tile.load %[[OUT]][0, 0] sizes [%[[BM]], %[[BN]]]
// CHECK: tile.store %[[Z:.*]], %[[Y]][%[[P]]#2, %[[ROW]], %[[UNIT]]]
// CHECK: tile.store %[[Z]], %[[LAST]][%[[ROW]], %[[UNIT]]]
// CHECK: tile.store %{{.*}}, %[[CELL]][%[[ROW]], %[[UNIT]]]
// CHECK-NOT: tile.store
// CHECK: func.func @main
// CHECK: host.launch @lstm({{.*}}) {steps = 5 : i64}
func.func private @lstm(%x: tensor<5x2x256xf32>, %w: tensor<4x64x64xf32>, %h: tensor<2x64xf32>, %c: tensor<2x64xf32>) -> (tensor<5x2x64xf32>, tensor<2x64xf32>, tensor<2x64xf32>) attributes {adze.kernel} {
  %0:3 = graph.recurrent %x weights %w state %h memory %c {cell = #graph.cell<lstm>, activations = ["sigmoid", "tanh", "tanh"], alphas = array<f64: 0.0, 0.0, 0.0>, betas = array<f64: 0.0, 0.0, 0.0>} : (tensor<5x2x256xf32>, tensor<4x64x64xf32>, tensor<2x64xf32>, tensor<2x64xf32>) -> (tensor<5x2x64xf32>, tensor<2x64xf32>, tensor<2x64xf32>)
  return %0#0, %0#1, %0#2 : tensor<5x2x64xf32>, tensor<2x64xf32>, tensor<2x64xf32>
}
func.func @main(%x: tensor<5x2x256xf32>, %h: tensor<2x64xf32>) -> tensor<5x2x64xf32> {
  %w = graph.constant dense<0.5> : tensor<4x64x64xf32>
  %0:3 = host.launch @lstm(%x, %w, %h, %h) : (tensor<5x2x256xf32>, tensor<4x64x64xf32>, tensor<2x64xf32>, tensor<2x64xf32>) -> (tensor<5x2x64xf32>, tensor<2x64xf32>, tensor<2x64xf32>)
  return %0#0 : tensor<5x2x64xf32>
}

// -----

// Weights that fit a core's second-level cache: blocks of rows are groups, which a thread
// keeps for all steps; the programs of a group are contiguous. Few rows are one group,
// and larger weights are shared.
// CHECK-LABEL: tile.kernel @rows
// CHECK: %[[P:.*]]:3 = tile.program_id(%[[UNITS:.*]], %[[ROWS:.*]], %c5) ordered
// CHECK: %[[ROW:.*]] = arith.muli %[[P]]#1, %c10
// CHECK: %[[UNIT:.*]] = arith.muli %[[P]]#0,
// CHECK: tile.store %{{.*}}, %{{.*}}[%[[P]]#2, %[[ROW]], %[[UNIT]]]
// CHECK: host.launch @rows({{.*}}) {groups = 2 : i64, steps = 5 : i64}
func.func private @rows(%x: tensor<5x20x64xf32>, %w: tensor<1x64x64xf32>, %h: tensor<20x64xf32>) -> (tensor<5x20x64xf32>, tensor<20x64xf32>) attributes {adze.kernel} {
  %0:2 = graph.recurrent %x weights %w state %h {cell = #graph.cell<rnn>, activations = ["tanh"], alphas = array<f64: 0.0>, betas = array<f64: 0.0>} : (tensor<5x20x64xf32>, tensor<1x64x64xf32>, tensor<20x64xf32>) -> (tensor<5x20x64xf32>, tensor<20x64xf32>)
  return %0#0, %0#1 : tensor<5x20x64xf32>, tensor<20x64xf32>
}
func.func @main(%x: tensor<5x20x64xf32>, %h: tensor<20x64xf32>) -> tensor<5x20x64xf32> {
  %w = graph.constant dense<0.5> : tensor<1x64x64xf32>
  %0:2 = host.launch @rows(%x, %w, %h) : (tensor<5x20x64xf32>, tensor<1x64x64xf32>, tensor<20x64xf32>) -> (tensor<5x20x64xf32>, tensor<20x64xf32>)
  return %0#0 : tensor<5x20x64xf32>
}

// -----

// CHECK-LABEL: tile.kernel @large
// CHECK: tile.param "BLOCK_M"
// CHECK: host.launch @large({{.*}}) {steps = 5 : i64}
func.func private @large(%x: tensor<5x20x1024xf32>, %w: tensor<1x1024x1024xf32>, %h: tensor<20x1024xf32>) -> (tensor<5x20x1024xf32>, tensor<20x1024xf32>) attributes {adze.kernel} {
  %0:2 = graph.recurrent %x weights %w state %h {cell = #graph.cell<rnn>, activations = ["tanh"], alphas = array<f64: 0.0>, betas = array<f64: 0.0>} : (tensor<5x20x1024xf32>, tensor<1x1024x1024xf32>, tensor<20x1024xf32>) -> (tensor<5x20x1024xf32>, tensor<20x1024xf32>)
  return %0#0, %0#1 : tensor<5x20x1024xf32>, tensor<20x1024xf32>
}
func.func @main(%x: tensor<5x20x1024xf32>, %h: tensor<20x1024xf32>) -> tensor<5x20x1024xf32> {
  %w = graph.constant dense<0.5> : tensor<1x1024x1024xf32>
  %0:2 = host.launch @large(%x, %w, %h) : (tensor<5x20x1024xf32>, tensor<1x1024x1024xf32>, tensor<20x1024xf32>) -> (tensor<5x20x1024xf32>, tensor<20x1024xf32>)
  return %0#0 : tensor<5x20x1024xf32>
}

// -----

// Without steps, the states are the initial ones; in reverse, the previous step is at the
// next index.
#x = affine_map<()[s0, s1] -> (s0, s1, 16)>
#s = affine_map<()[s0, s1] -> (s1, 16)>
// CHECK-LABEL: tile.kernel @unknown
// CHECK: %[[T:.*]] = memref.dim
// CHECK: %[[MOST:.*]] = arith.maxsi %[[T]], %[[ONE:[^ ]*]]
// CHECK: %[[P:.*]]:3 = tile.program_id(%{{.*}}, %{{.*}}, %[[MOST]]) ordered
// CHECK: %[[LAST:.*]] = arith.subi %[[T]], %[[ONE]]
// CHECK: %[[PLACE:.*]] = arith.subi %[[LAST]], %[[P]]#2
// CHECK: %[[NEXT:.*]] = arith.addi %[[PLACE]], %[[ONE]]
// CHECK: arith.minsi %[[NEXT]], %[[LAST]]
// CHECK: %[[IS:.*]] = arith.cmpi slt, %[[P]]#2, %[[T]]
// CHECK: scf.if %[[IS]] {
// CHECK: host.launch @unknown({{.*}}) {groups = #{{.*}}, steps = #{{.*}}}
func.func private @unknown(%x: tensor<?x?x16xf32, #x>, %w: tensor<1x16x16xf32>, %h: tensor<?x16xf32, #s>) -> (tensor<?x?x16xf32, #x>, tensor<?x16xf32, #s>) attributes {adze.kernel} {
  %0:2 = graph.recurrent %x weights %w state %h {cell = #graph.cell<rnn>, activations = ["tanh"], alphas = array<f64: 0.0>, betas = array<f64: 0.0>, reverse = true} : (tensor<?x?x16xf32, #x>, tensor<1x16x16xf32>, tensor<?x16xf32, #s>) -> (tensor<?x?x16xf32, #x>, tensor<?x16xf32, #s>)
  return %0#0, %0#1 : tensor<?x?x16xf32, #x>, tensor<?x16xf32, #s>
}
func.func @main(%x: tensor<?x?x16xf32, #x>, %w: tensor<1x16x16xf32>, %h: tensor<?x16xf32, #s>) -> tensor<?x?x16xf32, #x> attributes {graph.symbols = ["t", "b"]} {
  %0:2 = host.launch @unknown(%x, %w, %h) : (tensor<?x?x16xf32, #x>, tensor<1x16x16xf32>, tensor<?x16xf32, #s>) -> (tensor<?x?x16xf32, #x>, tensor<?x16xf32, #s>)
  return %0#0 : tensor<?x?x16xf32, #x>
}

// -----

// With dynamic rows, a single one is detected at run time and computed separately.
// Otherwise the sums stay in registers: absent rows are not computed.
#x = affine_map<()[s0] -> (5, s0, 64)>
#y = affine_map<()[s0] -> (5, s0, 16)>
#s = affine_map<()[s0] -> (s0, 16)>
// CHECK-LABEL: tile.kernel @unknown_rows
// CHECK: %[[ONE:.*]] = arith.cmpi eq, %{{.*}}, %c1
// CHECK: scf.if %[[ONE]] {
// CHECK-COUNT-4: tile.dot {{.*}}tensor<1x16xf32>
// CHECK: } else {
// CHECK: tile.dot {{.*}}tensor<4x16xf32>
// CHECK-NOT: tile.phase
// CHECK-COUNT-3: tile.dot
// CHECK: host.launch @unknown_rows({{.*}}) {groups = #{{.*}}, steps = 5 : i64}
func.func private @unknown_rows(%x: tensor<5x?x64xf32, #x>, %w: tensor<4x16x16xf32>, %h: tensor<?x16xf32, #s>) -> (tensor<5x?x16xf32, #y>, tensor<?x16xf32, #s>, tensor<?x16xf32, #s>) attributes {adze.kernel} {
  %0:3 = graph.recurrent %x weights %w state %h memory %h {cell = #graph.cell<lstm>, activations = ["sigmoid", "tanh", "tanh"], alphas = array<f64: 0.0, 0.0, 0.0>, betas = array<f64: 0.0, 0.0, 0.0>} : (tensor<5x?x64xf32, #x>, tensor<4x16x16xf32>, tensor<?x16xf32, #s>, tensor<?x16xf32, #s>) -> (tensor<5x?x16xf32, #y>, tensor<?x16xf32, #s>, tensor<?x16xf32, #s>)
  return %0#0, %0#1, %0#2 : tensor<5x?x16xf32, #y>, tensor<?x16xf32, #s>, tensor<?x16xf32, #s>
}
func.func @main(%x: tensor<5x?x64xf32, #x>, %w: tensor<4x16x16xf32>, %h: tensor<?x16xf32, #s>) -> tensor<5x?x16xf32, #y> attributes {graph.symbols = ["b"]} {
  %0:3 = host.launch @unknown_rows(%x, %w, %h) : (tensor<5x?x64xf32, #x>, tensor<4x16x16xf32>, tensor<?x16xf32, #s>) -> (tensor<5x?x16xf32, #y>, tensor<?x16xf32, #s>, tensor<?x16xf32, #s>)
  return %0#0 : tensor<5x?x16xf32, #y>
}

// -----

// Dependent products: the even steps of the grid store the operand of the second product
// to the memory of the last state, the odd ones read it for all units; an additional step
// stores the last state.
// CHECK-LABEL: tile.kernel @two_products
// CHECK-SAME: %[[X:arg0]]: memref<5x2x48xf32>, %[[W:arg1]]: {{.*}}, %[[H:arg2]]: {{[^,]*}}, %[[Y:arg3]]: {{[^,]*}}, %[[LAST:arg4]]:
// CHECK: %[[P:.*]]:3 = tile.program_id(%{{.*}}, %{{.*}}, %c11) ordered
// CHECK: %[[HALF:.*]] = arith.divui %[[P]]#2, %c2
// CHECK: %[[T:.*]] = arith.minsi %[[HALF]], %c4
// CHECK: %[[STATE:.*]] = tile.scratch
// CHECK: %[[HELD:.*]] = tile.scratch
// CHECK: %[[OVER:.*]] = arith.cmpi sge, %[[P]]#2, %c10
// CHECK: scf.if %[[OVER]] {
// CHECK: %[[END:.*]] = tile.load %[[Y]][4,
// CHECK: tile.store %[[END]], %[[LAST]]
// CHECK: } else {
// CHECK: %[[ODD:.*]] = arith.remui %[[P]]#2, %c2
// CHECK: tile.store %{{.*}}, %[[STATE]]
// CHECK: tile.store %{{.*}}, %[[STATE]]
// CHECK: %[[EVEN:.*]] = arith.cmpi eq, %[[ODD]], %c0
// CHECK: scf.if %[[EVEN]] {
// CHECK: tile.dot
// CHECK-NOT: tile.dot
// CHECK: tile.store %{{.*}}, %[[LAST]]
// CHECK: } else {
// CHECK: %[[LEFT:.*]] = tile.load %[[LAST]]
// CHECK: tile.store %[[LEFT]], %[[HELD]]
// CHECK-COUNT-2: tile.dot
// CHECK-NOT: tile.dot
// CHECK: tile.store %{{.*}}, %[[Y]][%[[T]],
// CHECK: host.launch @two_products({{.*}}) {steps = 11 : i64}
func.func private @two_products(%x: tensor<5x2x48xf32>, %w: tensor<3x16x16xf32>, %h: tensor<2x16xf32>) -> (tensor<5x2x16xf32>, tensor<2x16xf32>) attributes {adze.kernel} {
  %0:2 = graph.recurrent %x weights %w state %h {cell = #graph.cell<gru>, activations = ["sigmoid", "tanh"], alphas = array<f64: 0.0, 0.0>, betas = array<f64: 0.0, 0.0>} : (tensor<5x2x48xf32>, tensor<3x16x16xf32>, tensor<2x16xf32>) -> (tensor<5x2x16xf32>, tensor<2x16xf32>)
  return %0#0, %0#1 : tensor<5x2x16xf32>, tensor<2x16xf32>
}
func.func @main(%x: tensor<5x2x48xf32>, %w: tensor<3x16x16xf32>, %h: tensor<2x16xf32>) -> tensor<2x16xf32> {
  %0:2 = host.launch @two_products(%x, %w, %h) : (tensor<5x2x48xf32>, tensor<3x16x16xf32>, tensor<2x16xf32>) -> (tensor<5x2x16xf32>, tensor<2x16xf32>)
  return %0#1 : tensor<2x16xf32>
}

// -----

// Rows of several lengths end at different steps.
// CHECK-LABEL: func.func private @two_products_of_lengths
// expected-remark @+1 {{rows of several lengths run steps of two dependent products}}
func.func private @two_products_of_lengths(%x: tensor<5x2x48xf32>, %w: tensor<3x16x16xf32>, %h: tensor<2x16xf32>, %l: tensor<2xi32>) -> (tensor<5x2x16xf32>, tensor<2x16xf32>) attributes {adze.kernel} {
  %0:2 = graph.recurrent %x weights %w state %h lengths %l {cell = #graph.cell<gru>, activations = ["sigmoid", "tanh"], alphas = array<f64: 0.0, 0.0>, betas = array<f64: 0.0, 0.0>} : (tensor<5x2x48xf32>, tensor<3x16x16xf32>, tensor<2x16xf32>, tensor<2xi32>) -> (tensor<5x2x16xf32>, tensor<2x16xf32>)
  return %0#0, %0#1 : tensor<5x2x16xf32>, tensor<2x16xf32>
}

// -----

// CHECK-LABEL: func.func private @half
// expected-remark @+1 {{the state requires a wider type than its own}}
func.func private @half(%x: tensor<5x2x16xf16>, %w: tensor<1x16x16xf16>, %h: tensor<2x16xf16>) -> (tensor<5x2x16xf16>, tensor<2x16xf16>) attributes {adze.kernel} {
  %0:2 = graph.recurrent %x weights %w state %h {cell = #graph.cell<rnn>, activations = ["tanh"], alphas = array<f64: 0.0>, betas = array<f64: 0.0>} : (tensor<5x2x16xf16>, tensor<1x16x16xf16>, tensor<2x16xf16>) -> (tensor<5x2x16xf16>, tensor<2x16xf16>)
  return %0#0, %0#1 : tensor<5x2x16xf16>, tensor<2x16xf16>
}

// -----

// A row that begins late requires zeros as its first state.
// CHECK-LABEL: func.func private @late
// expected-remark @+1 {{rows of several lengths run in reverse from an initial state}}
func.func private @late(%x: tensor<5x2x16xf32>, %w: tensor<1x16x16xf32>, %h: tensor<2x16xf32>, %l: tensor<2xi32>) -> (tensor<5x2x16xf32>, tensor<2x16xf32>) attributes {adze.kernel} {
  %0:2 = graph.recurrent %x weights %w state %h lengths %l {cell = #graph.cell<rnn>, activations = ["tanh"], alphas = array<f64: 0.0>, betas = array<f64: 0.0>, reverse = true} : (tensor<5x2x16xf32>, tensor<1x16x16xf32>, tensor<2x16xf32>, tensor<2xi32>) -> (tensor<5x2x16xf32>, tensor<2x16xf32>)
  return %0#0, %0#1 : tensor<5x2x16xf32>, tensor<2x16xf32>
}
// CHECK-LABEL: tile.kernel @late_zeros
func.func private @late_zeros(%x: tensor<5x2x16xf32>, %w: tensor<1x16x16xf32>, %l: tensor<2xi32>) -> (tensor<5x2x16xf32>, tensor<2x16xf32>) attributes {adze.kernel} {
  %h = graph.constant dense<0.0> : tensor<2x16xf32>
  %0:2 = graph.recurrent %x weights %w state %h lengths %l {cell = #graph.cell<rnn>, activations = ["tanh"], alphas = array<f64: 0.0>, betas = array<f64: 0.0>, reverse = true} : (tensor<5x2x16xf32>, tensor<1x16x16xf32>, tensor<2x16xf32>, tensor<2xi32>) -> (tensor<5x2x16xf32>, tensor<2x16xf32>)
  return %0#0, %0#1 : tensor<5x2x16xf32>, tensor<2x16xf32>
}

// -----

// Weights of bytes: a program quantizes the states of its rows with a scale and a zero
// point per row, and subtracts the zero point times the sums of the weights from the
// products.
// CHECK: #[[WORDS:.*]] = affine_map<(d0, d1, d2) -> (d0, d2 floordiv 16, d1 floordiv 4, d2 mod 16, d1 mod 4)>
// CHECK-LABEL: tile.kernel @bytes
// CHECK-SAME: %[[W:arg1]]: memref<1x16x16xi8, #[[WORDS]]>
// CHECK: %[[BYTES:.*]] = tile.scratch [%{{.*}}, 16] : memref<?x16xi8>
// CHECK: tile.phase
// CHECK: tile.reduce min
// CHECK: tile.reduce max
// CHECK: tile.store %{{.*}}, %[[SCALES:[a-z0-9_]+]][0] : tensor<?xf32>
// CHECK: tile.store %{{.*}}, %[[ZEROS:[a-z0-9_]+]][0] : tensor<?xi32>
// CHECK: tile.store %{{.*}}, %[[BYTES]][0, 0]
// CHECK: tile.phase
// CHECK: %[[Q:.*]] = tile.load %[[BYTES]][0, 0]
// CHECK: %[[DOT:.*]] = tile.dot %[[Q]], %{{.*}} compute <ui8 * si8 + si32>
// CHECK: tile.load %[[ZEROS]][0]
// CHECK: tile.load %[[SCALES]][0]
// CHECK: arith.subi %[[DOT]]
// CHECK: arith.sitofp
func.func private @bytes(%x: tensor<5x2x16xf32>, %w: tensor<1x16x16xi8>, %h: tensor<2x16xf32>, %s: tensor<1x16xf32>, %t: tensor<1x16xi32>) -> (tensor<5x2x16xf32>, tensor<2x16xf32>) attributes {adze.kernel} {
  %0:2 = graph.recurrent %x weights %w state %h scales %s sums %t {cell = #graph.cell<rnn>, activations = ["tanh"], alphas = array<f64: 0.0>, betas = array<f64: 0.0>} : (tensor<5x2x16xf32>, tensor<1x16x16xi8>, tensor<2x16xf32>, tensor<1x16xf32>, tensor<1x16xi32>) -> (tensor<5x2x16xf32>, tensor<2x16xf32>)
  return %0#0, %0#1 : tensor<5x2x16xf32>, tensor<2x16xf32>
}
func.func @main(%x: tensor<5x2x16xf32>, %h: tensor<2x16xf32>, %s: tensor<1x16xf32>, %t: tensor<1x16xi32>) -> tensor<2x16xf32> {
  %w = graph.constant dense<5> : tensor<1x16x16xi8>
  %0:2 = host.launch @bytes(%x, %w, %h, %s, %t) : (tensor<5x2x16xf32>, tensor<1x16x16xi8>, tensor<2x16xf32>, tensor<1x16xf32>, tensor<1x16xi32>) -> (tensor<5x2x16xf32>, tensor<2x16xf32>)
  return %0#1 : tensor<2x16xf32>
}

// -----

// A depth that is not a multiple of four bytes.
// CHECK-LABEL: func.func private @ragged_bytes
// expected-remark @+1 {{a depth that is not a multiple of the group}}
func.func private @ragged_bytes(%x: tensor<5x2x6xf32>, %w: tensor<1x6x6xi8>, %h: tensor<2x6xf32>, %s: tensor<1x6xf32>, %t: tensor<1x6xi32>) -> (tensor<5x2x6xf32>, tensor<2x6xf32>) attributes {adze.kernel} {
  %0:2 = graph.recurrent %x weights %w state %h scales %s sums %t {cell = #graph.cell<rnn>, activations = ["tanh"], alphas = array<f64: 0.0>, betas = array<f64: 0.0>} : (tensor<5x2x6xf32>, tensor<1x6x6xi8>, tensor<2x6xf32>, tensor<1x6xf32>, tensor<1x6xi32>) -> (tensor<5x2x6xf32>, tensor<2x6xf32>)
  return %0#0, %0#1 : tensor<5x2x6xf32>, tensor<2x6xf32>
}
