// Reasons why an op is not fused into the kernel of its operand, other than those in
// form-clusters-refused.mlir; one function per reason.
// RUN: aopt %s --graph-form-clusters --remarks-filter-failed=.* --split-input-file 2> %t | FileCheck %s
// RUN: FileCheck %s --check-prefix=WHY < %t

#x = affine_map<()[s0] -> (s0, 8)>
#i = affine_map<()[s0] -> (s0, 2)>
!x = tensor<?x8xf32, #x>
!w = tensor<8x8xf32>

// The model returns it as well, so it is in memory.
// WHY: fusion {{.*}}Producer=graph.transpose, {{.*}}Remark="it is also used outside of kernels"
// WHY-NOT: Remark=
// CHECK-LABEL: func.func @result
// CHECK-COUNT-2: graph.cluster
func.func @result(%x: !w, %y: !x) -> (!x, !w) attributes {graph.symbols = ["n"]} {
  %0 = graph.transpose %x {perm = array<i64: 1, 0>} : (!w) -> !w
  %1 = graph.matmul %y, %0 : (!x, !w) -> !x
  return %1, %0 : !x, !w
}

// Gathered elements are computed separately, as well as a row that is looked up if
// operands are copied.
// WHY: fusion {{.*}}Producer=graph.gather_elements, {{.*}}Remark="gathered elements are computed by a separate kernel"
// WHY-NOT: Remark=
// CHECK-LABEL: func.func @picked
func.func @picked(%x: !x, %i: tensor<?x8xi64, #x>, %w: !w) -> !x attributes {graph.symbols = ["n"]} {
  %0 = graph.gather_elements %x, %i {axis = 1 : i64} : (!x, tensor<?x8xi64, #x>) -> !x
  %1 = graph.softmax %0 {axis = 1 : i64} : (!x) -> !x
  return %1 : !x
}

// WHY: fusion {{.*}}Producer=graph.gather, {{.*}}Remark="it is a gathered operand of a concatenation"
// WHY-NOT: Remark=
// CHECK-LABEL: func.func @looked_up
func.func @looked_up(%t: !x, %i: tensor<4xi64>, %y: tensor<4x8xf32>) -> tensor<8x8xf32> attributes {graph.symbols = ["n"]} {
  %0 = graph.gather %t, %i {axis = 0 : i64} : (!x, tensor<4xi64>) -> tensor<4x8xf32>
  %1 = graph.concat %0, %y {axis = 0 : i64} : (tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<8x8xf32>
  return %1 : tensor<8x8xf32>
}

// -----

#x = affine_map<()[s0] -> (s0, 8)>
#y = affine_map<()[s0] -> (s0, 16)>
!x = tensor<?x8xf32, #x>
!y = tensor<?x16xf32, #y>
!w = tensor<8x8xf32>

// Parts of the memory of a concatenation are stored one after the other.
// WHY: fusion {{.*}}Producer=graph.insert_slice, {{.*}}Remark="it stores a slice of the consumer's operand"
// WHY-NOT: Remark=
// CHECK-LABEL: func.func @stored
func.func @stored(%x: !x, %w: !w) -> !y attributes {graph.symbols = ["n"]} {
  %d = graph.empty : () -> !y
  %0 = graph.matmul %x, %w : (!x, !w) -> !x
  %1 = graph.insert_slice %0, %d {axis = 1 : i64, offsets = affine_map<() -> (0)>} : (!x, !y) -> !y
  %2 = graph.insert_slice %x, %1 {axis = 1 : i64, offsets = affine_map<() -> (8)>} : (!x, !y) -> !y
  %3 = graph.exp %2 : (!y) -> !y
  return %3 : !y
}

// -----

#x = affine_map<()[s0] -> (s0, 3, 8)>
#t = affine_map<()[s0] -> (s0, 8, 3)>
#o = affine_map<()[s0] -> (s0, 1, 1)>
!x = tensor<?x3x8xf32, #x>
!t = tensor<?x8x3xf32, #t>
!o = tensor<?x1x1xf32, #o>

// A product with other users before it is moved, or a moved value with others; a value
// that a scan recomputes; a sum that depends on a reduction of all of its elements.
// WHY: fusion {{.*}}Category:graph.transpose {{.*}}Producer=graph.matmul, {{.*}}Remark="it has uses besides the transpose"
// WHY: fusion {{.*}}Category:graph.exp {{.*}}Producer=graph.transpose, {{.*}}Remark="the transposed result has other uses"
// WHY: fusion {{.*}}Producer=graph.cumsum, {{.*}}Remark="the producer has no epilogue"
// WHY: fusion {{.*}}Category:graph.cumsum {{.*}}Producer=graph.matmul
// WHY: fusion {{.*}}Category:graph.slice {{.*}}Producer=graph.cumsum
// WHY: fusion {{.*}}Category:graph.add {{.*}}Producer=graph.matmul, {{.*}}Remark="the kernels would depend on each other"
// CHECK-LABEL: func.func @moved
func.func @moved(%x: !x, %w: tensor<8x8xf32>) -> (!t, !x) attributes {graph.symbols = ["n"]} {
  %0 = graph.matmul %x, %w : (!x, tensor<8x8xf32>) -> !x
  %1 = graph.transpose %0 {perm = array<i64: 0, 2, 1>} : (!x) -> !t
  return %1, %0 : !t, !x
}

func.func @read_twice(%x: !x, %w: tensor<8x8xf32>) -> (!t, !t) attributes {graph.symbols = ["n"]} {
  %0 = graph.matmul %x, %w : (!x, tensor<8x8xf32>) -> !x
  %1 = graph.transpose %0 {perm = array<i64: 0, 2, 1>} : (!x) -> !t
  %2 = graph.exp %1 : (!t) -> !t
  return %1, %2 : !t, !t
}

func.func @scan(%x: !x) -> !x attributes {graph.symbols = ["n"]} {
  %0 = graph.cumsum %x {axis = 1 : i64} : (!x) -> !x
  %1 = graph.exp %0 : (!x) -> !x
  return %1 : !x
}

func.func @cycle(%x: !x, %w: tensor<8x8xf32>) -> !x attributes {graph.symbols = ["n"]} {
  %0 = graph.matmul %x, %w : (!x, tensor<8x8xf32>) -> !x
  %1 = graph.cumsum %0 {axis = 1 : i64} : (!x) -> !x
  %2 = graph.slice %1 {starts = array<i64: 0, 2, 7>, steps = array<i64: 1, 1, 1>} : (!x) -> !o
  %3 = graph.add %0, %2 : (!x, !o) -> !x
  return %3 : !x
}

// -----

// Prologues of consumers: samples are of tensors or slices, windows of whole channels or
// slices of these, filters in their layout, scans of values in memory. Rows that a kernel
// keeps are not moved.
// WHY: fusion {{.*}}Category:graph.resize {{.*}}Remark="the consumer's prologue takes slices and no other data movement"
// WHY: fusion {{.*}}Category:graph.conv {{.*}}Remark="the consumer's windows take slices of channels only"
// WHY: fusion {{.*}}Category:graph.conv {{.*}}Remark="the filter is read in its own layout"
// WHY: fusion {{.*}}Category:graph.cumsum {{.*}}Remark="the consumer's prologue cannot contain data movement"
// WHY: fusion {{.*}}Category:graph.transpose {{.*}}Remark="its kernel computes whole rows"
// WHY: fusion {{.*}}Category:graph.insert_slice {{.*}}Remark="the consumer's prologue takes slices and no other data movement"
// WHY: fusion {{.*}}Category:graph.slice {{.*}}Remark="the consumer overwrites a slice of it"
// WHY-NOT: Remark=
!i = tensor<1x8x8x32xf32>
!y = tensor<4x16xf32>
!z = tensor<4x8xf32>
// CHECK-LABEL: func.func @sampling
func.func @sampling(%x: tensor<1x8x8x4xf32>, %y: tensor<1x8x8x4xf32>) -> (tensor<1x4x16x16xf32>, tensor<1x6x12x4xf32>) {
  %0 = graph.transpose %x {perm = array<i64: 0, 3, 1, 2>} : (tensor<1x8x8x4xf32>) -> tensor<1x4x8x8xf32>
  %1 = graph.resize %0 {scales = array<f64: 1.0, 1.0, 2.0, 2.0>, mode = #graph.resize_mode<linear>} : (tensor<1x4x8x8xf32>) -> tensor<1x4x16x16xf32>
  %2 = graph.slice %y {starts = array<i64: 0, 2, 2, 0>, steps = array<i64: 1, 1, 1, 1>} : (tensor<1x8x8x4xf32>) -> tensor<1x3x6x4xf32>
  %3 = graph.resize %2 {scales = array<f64: 1.0, 2.0, 2.0, 1.0>, mode = #graph.resize_mode<linear>} : (tensor<1x3x6x4xf32>) -> tensor<1x6x12x4xf32>
  return %1, %3 : tensor<1x4x16x16xf32>, tensor<1x6x12x4xf32>
}

func.func @windows(%x: !i, %w: tensor<8x32x3x3xf32>, %v: tensor<8x16x3x3xf32>) -> (tensor<1x4x6x8xf32>, tensor<1x6x6x8xf32>) {
  %0 = graph.slice %x {starts = array<i64: 0, 2, 0, 0>, steps = array<i64: 1, 1, 1, 1>} : (!i) -> tensor<1x6x8x32xf32>
  %1 = graph.conv %0, %w {strides = array<i64: 1, 1>, pads = array<i64: 0, 0, 0, 0>, dilations = array<i64: 1, 1>, layout = #graph.layout<nhwc>} : (tensor<1x6x8x32xf32>, tensor<8x32x3x3xf32>) -> tensor<1x4x6x8xf32>
  %2 = graph.slice %x {starts = array<i64: 0, 0, 0, 16>, steps = array<i64: 1, 1, 1, 1>} : (!i) -> tensor<1x8x8x16xf32>
  %3 = graph.conv %2, %v {strides = array<i64: 1, 1>, pads = array<i64: 0, 0, 0, 0>, dilations = array<i64: 1, 1>, layout = #graph.layout<nhwc>} : (tensor<1x8x8x16xf32>, tensor<8x16x3x3xf32>) -> tensor<1x6x6x8xf32>
  return %1, %3 : tensor<1x4x6x8xf32>, tensor<1x6x6x8xf32>
}

func.func @filter(%x: !i, %w: tensor<32x8x3x3xf32>) -> tensor<1x6x6x8xf32> {
  %0 = graph.transpose %w {perm = array<i64: 1, 0, 2, 3>} : (tensor<32x8x3x3xf32>) -> tensor<8x32x3x3xf32>
  %1 = graph.conv %x, %0 {strides = array<i64: 1, 1>, pads = array<i64: 0, 0, 0, 0>, dilations = array<i64: 1, 1>, layout = #graph.layout<nhwc>} : (!i, tensor<8x32x3x3xf32>) -> tensor<1x6x6x8xf32>
  return %1 : tensor<1x6x6x8xf32>
}

func.func @moved_scan(%x: tensor<8x4xf32>) -> !z {
  %0 = graph.transpose %x {perm = array<i64: 1, 0>} : (tensor<8x4xf32>) -> !z
  %1 = graph.cumsum %0 {axis = 1 : i64} : (!z) -> !z
  return %1 : !z
}

func.func @whole_rows(%x: tensor<8x64xf32>) -> tensor<64x8xf32> {
  %0 = graph.reduce_max %x {axes = array<i64: 1>} : (tensor<8x64xf32>) -> tensor<8x1xf32>
  %1 = graph.sub %x, %0 : (tensor<8x64xf32>, tensor<8x1xf32>) -> tensor<8x64xf32>
  %2 = graph.transpose %1 {perm = array<i64: 1, 0>} : (tensor<8x64xf32>) -> tensor<64x8xf32>
  return %2 : tensor<64x8xf32>
}

func.func @inserts(%x: tensor<8x4xf32>, %y: !z, %e: !y) -> (!y, !y) {
  %d = graph.empty : () -> !y
  %0 = graph.transpose %x {perm = array<i64: 1, 0>} : (tensor<8x4xf32>) -> !z
  %1 = graph.insert_slice %0, %y, %d {axis = 1 : i64, offsets = affine_map<() -> (0, 8)>} : (!z, !z, !y) -> !y
  %2 = graph.exp %e : (!y) -> !y
  %3 = graph.slice %2 {starts = array<i64: 0, 8>, steps = array<i64: 1, 1>} : (!y) -> !z
  %4 = graph.insert_slice %3, %y, %2 {axis = 1 : i64, offsets = affine_map<() -> (0, 8)>} : (!z, !z, !y) -> !y
  return %1, %4 : !y, !y
}

// -----

// A broadcast operand does not follow elements that the kernel has moved.
// WHY: fusion {{.*}}Category:graph.add {{.*}}Producer=graph.transpose, {{.*}}Remark="the consumer broadcasts an operand along transposed dims"
// WHY-NOT: Remark=
// CHECK-LABEL: func @windows_bias
#x = affine_map<()[s0] -> (s0 * 4, 49, 16)>
#a = affine_map<()[s0] -> (s0, 2, 2, 7, 7, 16)>
#b = affine_map<()[s0] -> (s0, 2, 7, 2, 7, 16)>
func.func @windows_bias(%x: tensor<?x49x16xf32, #x>, %w: tensor<16x16xf32>, %r: tensor<16xf32>) -> tensor<?x2x7x2x7x16xf32, #b> {
  %0 = graph.matmul %x, %w : (tensor<?x49x16xf32, #x>, tensor<16x16xf32>) -> tensor<?x49x16xf32, #x>
  %1 = graph.reshape %0 : (tensor<?x49x16xf32, #x>) -> tensor<?x2x2x7x7x16xf32, #a>
  %2 = graph.transpose %1 {perm = array<i64: 0, 1, 3, 2, 4, 5>} : (tensor<?x2x2x7x7x16xf32, #a>) -> tensor<?x2x7x2x7x16xf32, #b>
  %3 = graph.add %2, %r : (tensor<?x2x7x2x7x16xf32, #b>, tensor<16xf32>) -> tensor<?x2x7x2x7x16xf32, #b>
  return %3 : tensor<?x2x7x2x7x16xf32, #b>
}

// -----

#q = affine_map<()[s0] -> (1, 4, s0, 16)>
#b = affine_map<()[s0] -> (s0, s0, 4)>
#h = affine_map<()[s0] -> (4, s0, s0)>
#s = affine_map<()[s0] -> (s0, s0)>
#u = affine_map<()[s0] -> (1, 4, s0, s0)>
!u = tensor<1x4x?x?xf32, #u>
!q = tensor<1x4x?x16xf32, #q>
!b = tensor<?x?x4xf32, #b>
!h = tensor<4x?x?xf32, #h>
!s = tensor<?x?xf32, #s>

// A bias from a table for all heads of two positions is moved once, for any users; one
// whose queries and keys are swapped is read in its layout.
// WHY: fusion {{.*}}Producer=graph.transpose, {{.*}}Remark="each score of the consumer would be in a separate cache line"
// CHECK-LABEL: func.func @one_reader
// CHECK-COUNT-2: graph.cluster
func.func @one_reader(%x: !q, %b: !b) -> !q attributes {graph.symbols = ["n"]} {
  %0 = graph.transpose %b {perm = array<i64: 2, 0, 1>} : (!b) -> !h
  %u = graph.reshape %0 : (!h) -> !u
  %1 = graph.attention %x, %x, %x bias %u {scale = 1.0 : f64} : (!q, !q, !q, !u) -> !q
  return %1 : !q
}

// CHECK-LABEL: func.func @heads_last
// CHECK: %[[B:.*]] = graph.cluster(%{{.*}} = %arg1)
// CHECK-NEXT: graph.transpose
// CHECK: graph.cluster({{.*}}%[[B]]{{.*}}) anchor "attention"
// CHECK-NEXT: graph.attention
// CHECK: graph.cluster({{.*}}%[[B]]{{.*}}) anchor "attention"
// CHECK-NEXT: graph.attention
func.func @heads_last(%x: !q, %b: !b) -> !q attributes {graph.symbols = ["n"]} {
  %0 = graph.transpose %b {perm = array<i64: 2, 0, 1>} : (!b) -> !h
  %1 = graph.attention %x, %x, %x bias %0 {scale = 1.0 : f64} : (!q, !q, !q, !h) -> !q
  %2 = graph.attention %1, %x, %x bias %0 {scale = 1.0 : f64} : (!q, !q, !q, !h) -> !q
  return %2 : !q
}

// CHECK-LABEL: func.func @keys_and_queries
// CHECK-COUNT-1: graph.cluster
// CHECK: graph.transpose
// CHECK-NEXT: graph.attention
// CHECK-NOT: graph.cluster
func.func @keys_and_queries(%x: !q, %b: !s) -> !q attributes {graph.symbols = ["n"]} {
  %0 = graph.transpose %b {perm = array<i64: 1, 0>} : (!s) -> !s
  %1 = graph.attention %x, %x, %x bias %0 {scale = 1.0 : f64} : (!q, !q, !q, !s) -> !q
  return %1 : !q
}

// -----

#x = affine_map<()[s0, s1] -> (s0, s1, 8)>
#t = affine_map<()[s0, s1] -> (s1, s0, 8)>
#y = affine_map<()[s0, s1] -> (s1, s0, 16)>
#z = affine_map<()[s0] -> (s0, 4, 8)>
#f = affine_map<()[s0] -> (4, s0, 8)>
#r = affine_map<()[s0] -> (s0, 4, 16)>
!x = tensor<?x?x8xf32, #x>
!t = tensor<?x?x8xf32, #t>
!y = tensor<?x?x16xf32, #y>
!w = tensor<8x16xf32>

// Rows whose order depends on two dynamic sizes are moved first: the product then has all
// of them as its rows.
// WHY: fusion {{.*}}Producer=graph.transpose, {{.*}}Remark="the consumer's rows would not be contiguous"
// WHY-NOT: Remark=
// CHECK-LABEL: func.func @steps_first
// CHECK: graph.cluster(%{{.*}} = %arg0) anchor "pointwise"
// CHECK: graph.cluster({{.*}}) anchor "matmul"
func.func @steps_first(%x: !x, %w: !w) -> !y attributes {graph.symbols = ["b", "s"]} {
  %0 = graph.transpose %x {perm = array<i64: 1, 0, 2>} : (!x) -> !t
  %1 = graph.matmul %0, %w : (!t, !w) -> !y
  return %1 : !y
}

// An outermost dim of dynamic size does not matter, nor does one of size 1.
// CHECK-LABEL: func.func @known_inside
// CHECK: graph.cluster({{.*}}) anchor "matmul"
// CHECK-NEXT: graph.transpose
// CHECK-NOT: graph.cluster
func.func @known_inside(%x: tensor<4x?x8xf32, #f>, %w: !w) -> tensor<?x4x16xf32, #r> attributes {graph.symbols = ["b"]} {
  %0 = graph.transpose %x {perm = array<i64: 1, 0, 2>} : (tensor<4x?x8xf32, #f>) -> tensor<?x4x8xf32, #z>
  %1 = graph.matmul %0, %w : (tensor<?x4x8xf32, #z>, !w) -> tensor<?x4x16xf32, #r>
  return %1 : tensor<?x4x16xf32, #r>
}
