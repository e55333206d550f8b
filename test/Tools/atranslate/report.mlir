// What the module does, kernel by kernel.
// RUN: rm -rf %t && mkdir %t && cd %t
// RUN: atranslate %s -o m.so --mcpu=x86-64-v3 --report=r.json && FileCheck %s < r.json
// RUN: atranslate %s -O0 -o m.so --target=cpu --mcpu=x86-64-v3 --report=r.html && FileCheck %s --check-prefix=HTML < r.html
// The report is of a compilation, also where the module is in a cache.
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
// HTML: <title>report</title>
// HTML: -O0 for cpu:x86-64-v3
// HTML: at n=8
// HTML-COUNT-2: <td>reference</td>

func.func @main(%x: tensor<?x16xf32, affine_map<()[s0] -> (s0, 16)>> {graph.name = "x"})
    -> (tensor<?x4xf32, affine_map<()[s0] -> (s0, 4)>> {graph.name = "y"})
    attributes {graph.symbols = ["n"], graph.symbol_ranges = [array<i64: 1, 64, 8>]} {
  %w = graph.constant dense<0.5> : tensor<16x4xf32>
  %0 = graph.matmul %x, %w : (tensor<?x16xf32, affine_map<()[s0] -> (s0, 16)>>, tensor<16x4xf32>) -> tensor<?x4xf32, affine_map<()[s0] -> (s0, 4)>> loc("mm"("m.onnx":1:0))
  %1 = graph.relu %0 : (tensor<?x4xf32, affine_map<()[s0] -> (s0, 4)>>) -> tensor<?x4xf32, affine_map<()[s0] -> (s0, 4)>> loc("act"("m.onnx":2:0))
  return %1 : tensor<?x4xf32, affine_map<()[s0] -> (s0, 4)>>
}
