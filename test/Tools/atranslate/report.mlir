// The report of a module, kernel by kernel.
// RUN: rm -rf %t && mkdir %t && cd %t
// Weights, with the launches that read them.
// RUN: atranslate %examples/digits/digits.onnx -o d.so --report=d.json && FileCheck %s --check-prefix=WEIGHTS < d.json
// RUN: atranslate %s -o m.so --mcpu=x86-64-v3 --report=r.json && FileCheck %s < r.json
// RUN: atranslate %s -O0 -o m.so --target=cpu --mcpu=x86-64-v3 --report=r.html && FileCheck %s --check-prefix=HTML < r.html
// The report describes a compilation, also if the module is in a cache.
// RUN: atranslate %s -o m.so --cache=c && rm r.json && atranslate %s -o m.so --cache=c --report=r.json && test -s r.json

// RUN: atranslate %s -o m.so --report=r.txt 2> err; test $? = 2
// RUN: FileCheck %s --check-prefix=NAME < err
// RUN: atranslate %s -o - --emit=tile --report=r.json 2> err; test $? = 2
// RUN: FileCheck %s --check-prefix=TEXT < err
// RUN: atranslate %s -o m.so --report=no/such/folder/r.json 2> err; test $? = 1
// NAME: error: expected --report=FILE.json or FILE.html, but got 'r.txt'
// TEXT: error: --report needs the host program

// 8 rows of 16 times 16 x 4, and the bias: 2*8*16*4 + 8*4 operations.
// CHECK: "model": "report"
// CHECK: "opt_level": 2
// CHECK: "cpu:x86-64-v3"
// CHECK: "cache_bytes": {
// CHECK-NEXT: "l2": 524288,
// CHECK-NEXT: "l3": 16777216
// CHECK: "traits": []
// CHECK: "symbols": {
// CHECK-NEXT: "n": 8
// CHECK: "weights_bytes": {{[0-9]+}}
// CHECK: "launches": 1
// CHECK: "kind": "tile"
// CHECK: "nodes": [
// CHECK-NEXT: "mm",
// CHECK-NEXT: "act"
// CHECK: "type": "f32 ?x16"
// CHECK-NEXT: "bytes": 512
// CHECK: "outputs": [
// CHECK: "type": "f32 ?x4"
// CHECK-NEXT: "bytes": 128
// CHECK: "bytes_written": 128
// CHECK: "flops": {{[1-9][0-9]+}}
// CHECK: "parameters": {
// CHECK-NEXT: "{{[A-Z_]+}}": {{[1-9]}}
// The imported graph, the slots in memory, and the code size.
// CHECK: "nodes": [
// CHECK-NEXT: {
// CHECK-NEXT: "op": "input",
// CHECK-NEXT: "nodes": [
// CHECK-NEXT: "x"
// CHECK: "op": "graph.matmul",
// CHECK-NEXT: "nodes": [
// CHECK-NEXT: "mm"
// CHECK-NEXT: ],
// CHECK-NEXT: "type": "f32 ?x4",
// CHECK-NEXT: "inputs": [
// CHECK-NEXT: 0
// CHECK-NEXT: ],
// CHECK-NEXT: "weights": [
// CHECK-NEXT: "f32 16x4"
// CHECK: "op": "graph.relu",
// CHECK: "inputs": [
// CHECK-NEXT: 1
// CHECK: "op": "output",
// CHECK-NEXT: "nodes": [
// CHECK-NEXT: "y"
// CHECK: "slots": []
// CHECK-NEXT: "weights": [],
// CHECK-NEXT: "functions": {
// CHECK-NEXT: "matmul_relu_0": {
// CHECK-NEXT: "code_bytes": {
// CHECK-NEXT: "x86-64-v3": {{[1-9][0-9]+}}
// CHECK-NEXT: },
// CHECK-NEXT: "text": "tile.kernel @matmul_relu_0

// WEIGHTS: "slots": [
// WEIGHTS: "weights": [
// WEIGHTS-NEXT: {
// WEIGHTS-NEXT: "type": "f32 32",
// WEIGHTS-NEXT: "bytes": 128,
// WEIGHTS-NEXT: "kernels": [
// WEIGHTS-NEXT: 2
// WEIGHTS-NEXT: ]

// The page contains the same JSON. At -O0 the product is stored, and read by the next
// kernel.
// HTML: <title>report</title>
// HTML: <script type="application/json" id="report-data">{
// HTML: "opt_level": 0,
// HTML: "n": 8
// HTML: "kind": "reference"
// HTML: "kind": "reference"
// HTML: "place": "arena",
// HTML-NEXT: "slot": 0,
// HTML-NEXT: "from": [
// HTML-NEXT: 0
// HTML: "slots": [
// HTML-NEXT: {
// HTML-NEXT: "type": "f32 ?x4",
// HTML-NEXT: "offset": 0,
// HTML-NEXT: "bytes": 128,
// HTML-NEXT: "first": 0,
// HTML-NEXT: "last": 1
// HTML: <script type="application/json" id="profile-data">null</script>

func.func @main(%x: tensor<?x16xf32, affine_map<()[s0] -> (s0, 16)>> {graph.name = "x"})
    -> (tensor<?x4xf32, affine_map<()[s0] -> (s0, 4)>> {graph.name = "y"})
    attributes {graph.symbols = ["n"], graph.symbol_ranges = [array<i64: 1, 64, 8>]} {
  %w = graph.constant dense<0.5> : tensor<16x4xf32>
  %0 = graph.matmul %x, %w : (tensor<?x16xf32, affine_map<()[s0] -> (s0, 16)>>, tensor<16x4xf32>) -> tensor<?x4xf32, affine_map<()[s0] -> (s0, 4)>> loc("mm"("m.onnx":1:0))
  %1 = graph.relu %0 : (tensor<?x4xf32, affine_map<()[s0] -> (s0, 4)>>) -> tensor<?x4xf32, affine_map<()[s0] -> (s0, 4)>> loc("act"("m.onnx":2:0))
  return %1 : tensor<?x4xf32, affine_map<()[s0] -> (s0, 4)>>
}
