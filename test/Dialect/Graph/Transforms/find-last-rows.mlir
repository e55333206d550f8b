// In a function with states, the caller chooses how many of the last rows of a result it
// gets: only these are computed.
// RUN: aopt %s -graph-find-last-rows -split-input-file | FileCheck %s
// RUN: aopt %s -graph-find-last-rows=pairs=none -split-input-file | FileCheck %s --check-prefix=OFF
// RUN: aopt %s -graph-find-last-rows=pairs=old=new -split-input-file | FileCheck %s --check-prefix=NAMED

// OFF-NOT: graph.last_rows

#past = affine_map<()[s0, s1, s2] -> (s0, s1, 4)>
#x = affine_map<()[s0, s1, s2] -> (s0, s2, 4)>
#y = affine_map<()[s0, s1, s2] -> (s0, s2, 9)>

// The symbol follows those of the inputs. Rows with other users, as those of %0, are
// computed for all and sliced; an operand without rows stays. A result with more rows
// than the inputs does not qualify.
// CHECK-DAG: #[[START:[^ ]+]] = affine_map<()[s0, s1, s2, s3] -> (0, s2 - s3, 0)>
// CHECK-DAG: #[[ROWS:[^ ]+]] = affine_map<()[s0, s1, s2, s3] -> (s0, s3, 4)>
// CHECK-DAG: #[[LOGITS:[^ ]+]] = affine_map<()[s0, s1, s2, s3] -> (s0, s3, 9)>
// CHECK-LABEL: func.func @decoder(
// CHECK-SAME: -> (tensor<?x?x9xf32, #[[LOGITS]]>
// CHECK-SAME: graph.last_rows = [array<i64: 0, 1, 2, 3>], graph.symbols = ["batch", "past", "rows", ""]
// CHECK: %[[ALL:[^ ]+]] = graph.exp %{{[^ ]+}} : (tensor<?x?x4xf32, #[[X:[^>]+]]>)
// CHECK: %[[LAST:[^ ]+]] = graph.slice %[[ALL]] {starts = #[[START]], steps = array<i64: 1, 1, 1>} : {{.*}} -> tensor<?x?x4xf32, #[[ROWS]]>
// CHECK: %[[NORM:[^ ]+]] = graph.rms_norm %[[LAST]], %{{[^ ]+}} {{.*}} -> tensor<?x?x4xf32, #[[ROWS]]>
// CHECK: %[[SUM:[^ ]+]] = graph.add %[[NORM]], %[[LAST]]
// CHECK: %[[Y:[^ ]+]] = graph.matmul %[[SUM]], %{{[^ ]+}} : {{.*}} -> tensor<?x?x9xf32, #[[LOGITS]]>
// CHECK: %[[PRESENT:[^ ]+]] = graph.concat %{{[^ ]+}}, %[[ALL]]
// CHECK: return %[[Y]], %[[PRESENT]]
func.func @decoder(%past: tensor<?x?x4xf32, #past> {graph.name = "past"}, %x: tensor<?x?x4xf32, #x> {graph.name = "x"}, %w: tensor<4x9xf32>, %s: tensor<4xf32>)
    -> (tensor<?x?x9xf32, #y> {graph.name = "y"}, tensor<?x?x4xf32, affine_map<()[s0, s1, s2] -> (s0, s1 + s2, 4)>> {graph.name = "present"})
    attributes {graph.symbols = ["batch", "past", "rows"]} {
  %0 = graph.exp %x : (tensor<?x?x4xf32, #x>) -> tensor<?x?x4xf32, #x>
  %1 = graph.rms_norm %0, %s {axis = 2 : i64} : (tensor<?x?x4xf32, #x>, tensor<4xf32>) -> tensor<?x?x4xf32, #x>
  %2 = graph.add %1, %0 : (tensor<?x?x4xf32, #x>, tensor<?x?x4xf32, #x>) -> tensor<?x?x4xf32, #x>
  %3 = graph.matmul %2, %w : (tensor<?x?x4xf32, #x>, tensor<4x9xf32>) -> tensor<?x?x9xf32, #y>
  %4 = graph.concat %past, %0 {axis = 1 : i64} : (tensor<?x?x4xf32, #past>, tensor<?x?x4xf32, #x>) -> tensor<?x?x4xf32, affine_map<()[s0, s1, s2] -> (s0, s1 + s2, 4)>>
  return %3, %4 : tensor<?x?x9xf32, #y>, tensor<?x?x4xf32, affine_map<()[s0, s1, s2] -> (s0, s1 + s2, 4)>>
}

// -----

// Sums over rows, moves and views: the cumulative sum is computed for all rows, later ops
// for the last ones.
// CHECK-LABEL: func.func @moved(
// CHECK: %[[SUM:[^ ]+]] = graph.cumsum
// CHECK: %[[LAST:[^ ]+]] = graph.slice %[[SUM]] {starts = #{{[^,]+}}, steps = array<i64: 1, 1, 1>} : {{.*}} -> tensor<4x1x?xf32, #[[LAST_MAP:[^>]+]]>
// CHECK: %[[T:[^ ]+]] = graph.transpose %[[LAST]] {perm = array<i64: 1, 2, 0>} : {{.*}} -> tensor<1x?x4xf32, #{{[^>]+}}>
// CHECK: %[[R:[^ ]+]] = graph.reshape %[[T]] : {{.*}} -> tensor<1x?x2x2xf32, #{{[^>]+}}>
// CHECK: %[[M:[^ ]+]] = graph.reduce_max %[[R]] {axes = array<i64: 3>, keepdims = false}
// CHECK: graph.matmul %[[M]]
#p = affine_map<()[s0, s1] -> (1, s0, 4)>
#r = affine_map<()[s0, s1] -> (4, 1, s1)>
#t = affine_map<()[s0, s1] -> (1, s1, 4)>
#v = affine_map<()[s0, s1] -> (1, s1, 2, 2)>
#m = affine_map<()[s0, s1] -> (1, s1, 2)>
#z = affine_map<()[s0, s1] -> (1, s1, 9)>
func.func @moved(%past: tensor<1x?x4xf32, #p> {graph.name = "past"}, %x: tensor<4x1x?xf32, #r> {graph.name = "x"}, %w: tensor<2x9xf32>)
    -> (tensor<1x?x9xf32, #z> {graph.name = "y"}, tensor<1x?x4xf32, #p> {graph.name = "present"}) {
  %0 = graph.cumsum %x {axis = 2 : i64} : (tensor<4x1x?xf32, #r>) -> tensor<4x1x?xf32, #r>
  %1 = graph.transpose %0 {perm = array<i64: 1, 2, 0>} : (tensor<4x1x?xf32, #r>) -> tensor<1x?x4xf32, #t>
  %2 = graph.reshape %1 : (tensor<1x?x4xf32, #t>) -> tensor<1x?x2x2xf32, #v>
  %3 = graph.reduce_max %2 {axes = array<i64: 3>, keepdims = false} : (tensor<1x?x2x2xf32, #v>) -> tensor<1x?x2xf32, #m>
  %4 = graph.matmul %3, %w : (tensor<1x?x2xf32, #m>, tensor<2x9xf32>) -> tensor<1x?x9xf32, #z>
  return %4, %past : tensor<1x?x9xf32, #z>, tensor<1x?x4xf32, #p>
}

// -----

// Without a state: a batch of images is not a sequence of tokens. With --state, the pair
// has another name.
// CHECK-LABEL: func.func @stateless(
// CHECK-NOT: graph.last_rows
// CHECK: return
// NAMED-LABEL: func.func @stateless(
// NAMED-SAME: graph.last_rows = [array<i64: 0, 0, 0, 1>]
#n = affine_map<()[s0] -> (s0, 4)>
#c = affine_map<()[s0] -> (s0, 9)>
func.func @stateless(%x: tensor<?x4xf32, #n> {graph.name = "x"}, %w: tensor<4x9xf32>, %h: tensor<3xf32> {graph.name = "old"})
    -> (tensor<?x9xf32, #c> {graph.name = "y"}, tensor<3xf32> {graph.name = "new"}) {
  %0 = graph.exp %x : (tensor<?x4xf32, #n>) -> tensor<?x4xf32, #n>
  %1 = graph.matmul %0, %w : (tensor<?x4xf32, #n>, tensor<4x9xf32>) -> tensor<?x9xf32, #c>
  %2 = graph.exp %h : (tensor<3xf32>) -> tensor<3xf32>
  return %1, %2 : tensor<?x9xf32, #c>, tensor<3xf32>
}

// -----

// The dim is that of a state: a batch. And a result without a product.
// CHECK-LABEL: func.func @batch(
// CHECK-NOT: graph.last_rows
// CHECK: return
#s = affine_map<()[s0, s1] -> (s0, 4)>
#l = affine_map<()[s0, s1] -> (s0, 9)>
#e = affine_map<()[s0, s1] -> (1, s1, 4)>
func.func @batch(%h: tensor<?x4xf32, #s> {graph.name = "h_in"}, %x: tensor<1x?x4xf32, #e> {graph.name = "x"}, %w: tensor<4x9xf32>)
    -> (tensor<?x9xf32, #l> {graph.name = "y"}, tensor<1x?x4xf32, #e> {graph.name = "z"}, tensor<?x4xf32, #s> {graph.name = "h_out"}) {
  %0 = graph.matmul %h, %w : (tensor<?x4xf32, #s>, tensor<4x9xf32>) -> tensor<?x9xf32, #l>
  %1 = graph.exp %x : (tensor<1x?x4xf32, #e>) -> tensor<1x?x4xf32, #e>
  %2 = graph.exp %h : (tensor<?x4xf32, #s>) -> tensor<?x4xf32, #s>
  return %0, %1, %2 : tensor<?x9xf32, #l>, tensor<1x?x4xf32, #e>, tensor<?x4xf32, #s>
}

// -----

// The symbol after those of the inputs is that of a data-dependent size.
// CHECK-LABEL: func.func @taken(
// CHECK-NOT: graph.last_rows
// CHECK: return
#q = affine_map<()[s0] -> (s0, 4)>
#k = affine_map<()[s0] -> (s0, 9)>
func.func @taken(%h: tensor<3xf32> {graph.name = "h_in"}, %x: tensor<?x4xf32, #q> {graph.name = "x"}, %n: tensor<1xi64>, %w: tensor<4x9xf32>)
    -> (tensor<?x9xf32, #k> {graph.name = "y"}, tensor<3xf32> {graph.name = "h_out"}) {
  graph.bind %n {symbols = array<i64: 1>} : tensor<1xi64>
  %0 = graph.matmul %x, %w : (tensor<?x4xf32, #q>, tensor<4x9xf32>) -> tensor<?x9xf32, #k>
  %1 = graph.exp %h : (tensor<3xf32>) -> tensor<3xf32>
  return %0, %1 : tensor<?x9xf32, #k>, tensor<3xf32>
}
