// Products with residuals whose results are in the memory of the residual: 36 columns, no
// multiple of a vector, and few to many rows, on one and two threads.
// RUN: rm -rf %t && mkdir -p %t/1 %t/2
// RUN: atranslate %s -o %t/m.so --verify=differential
// RUN: atranslate %s --emit=linalg -o %t/l.mlir && aopt %t/l.mlir --assign-destinations --reuse-operands | FileCheck %s
// CHECK: host.launch @[[K:matmul_add[a-z_0-9]*]](%{{.*}}, %[[A:.*]], %[[A]])
// CHECK: host.launch @[[K]](%{{.*}}, %[[A]], %[[A]])
// CHECK: tile.kernel @[[K]]({{.*}}adze.in_place = 1 : i64{{.*}})

// With ones, the sums are 9, 9 * 9 * 9 + 9 = 738, 738 * 81 + 738 = 60516, and 60516 * 9.
// DEFINE: %{rows} = 1
// DEFINE: %{check} = python3 -c "import struct; n = %{rows} * 36; open('%t/x.bin', 'wb').write(struct.pack('f', 1) * n); open('%t/y.bin', 'wb').write(struct.pack('f', 60516 * 9) * n)" && \
// DEFINE:   arun %t/m.so --input x=%t/x.bin --shape x=%{rows}x36 --expect y=%t/y.bin --rtol 0 --atol 0 --threads 1 --output-dir %t/1 && \
// DEFINE:   arun %t/m.so --input x=%t/x.bin --shape x=%{rows}x36 --expect y=%t/y.bin --rtol 0 --atol 0 --threads 2 --output-dir %t/2 && \
// DEFINE:   arun %t/m.so --random --shape x=%{rows}x36 --threads 1 --output-dir %t/1 && \
// DEFINE:   arun %t/m.so --random --shape x=%{rows}x36 --threads 2 --output-dir %t/2 && diff -r %t/1 %t/2
// RUN: %{check}
// REDEFINE: %{rows} = 5
// RUN: %{check}
// REDEFINE: %{rows} = 203
// RUN: %{check}

#rows = affine_map<()[s0] -> (s0, 36)>
func.func @main(%x: tensor<?x36xf32, #rows> {graph.name = "x"}) -> (tensor<?x36xf32, #rows> {graph.name = "y"}) attributes {graph.symbols = ["n"]} {
  %w = graph.constant dense<0.25> : tensor<36x36xf32>
  %a = graph.matmul %x, %w : (tensor<?x36xf32, #rows>, tensor<36x36xf32>) -> tensor<?x36xf32, #rows>
  %b = graph.matmul %a, %w : (tensor<?x36xf32, #rows>, tensor<36x36xf32>) -> tensor<?x36xf32, #rows>
  %c = graph.matmul %b, %w : (tensor<?x36xf32, #rows>, tensor<36x36xf32>) -> tensor<?x36xf32, #rows>
  %d = graph.add %c, %a : (tensor<?x36xf32, #rows>, tensor<?x36xf32, #rows>) -> tensor<?x36xf32, #rows>
  %e = graph.matmul %d, %w : (tensor<?x36xf32, #rows>, tensor<36x36xf32>) -> tensor<?x36xf32, #rows>
  %f = graph.matmul %e, %w : (tensor<?x36xf32, #rows>, tensor<36x36xf32>) -> tensor<?x36xf32, #rows>
  %g = graph.add %f, %d : (tensor<?x36xf32, #rows>, tensor<?x36xf32, #rows>) -> tensor<?x36xf32, #rows>
  %y = graph.matmul %g, %w : (tensor<?x36xf32, #rows>, tensor<36x36xf32>) -> tensor<?x36xf32, #rows>
  return %y : tensor<?x36xf32, #rows>
}
