// If at least 16 kernels differ in the number of rows of the tables that they gather
// from, one is compiled with these as symbols: tables of numbers, and of rows. Fewer (the
// tables of integers) are compiled separately. Same results as the reference path for any
// number of threads, from the first row to the last, and from the end.
// RUN: rm -rf %t && mkdir -p %t/0 %t/1 %t/2 && cd %t
// RUN: atranslate -O0 %s -o 0.so && atranslate %s -o 2.so
// RUN: arun 0.so --random --ids 20 --shape i=45x1 --output-dir 0
// RUN: arun 2.so --random --ids 20 --shape i=45x1 --threads 1 --output-dir 1 && diff -r 0 1
// RUN: arun 2.so --random --ids 20 --shape i=45x1 --threads 2 --output-dir 2 && diff -r 0 2
// RUN: printf '\354\377\377\377\377\377\377\377\377\377\377\377\377\377\377\377\000\000\000\000\000\000\000\000\023\000\000\000\000\000\000\000\371\377\377\377\377\377\377\377\003\000\000\000\000\000\000\000' >i.bin
// RUN: arun 0.so --random --shape i=6x1 --input i=i.bin --output-dir 0
// RUN: arun 2.so --random --shape i=6x1 --input i=i.bin --output-dir 1 && diff -r 0 1
// RUN: atranslate %s --emit=obj -o 2.o && llvm-nm 2.o | FileCheck %s
// CHECK-DAG: v0.gather_0{{$}}
// CHECK-DAG: v0.gather_33{{$}}
// CHECK-DAG: gather_0_anywhere.body
// CHECK-DAG: gather_17_anywhere.body
// CHECK-DAG: gather_34.body
// CHECK-DAG: gather_48.body
// CHECK-NOT: gather_1.body
// CHECK-NOT: gather_17.body
#i = affine_map<()[s0] -> (s0, 1)>
#p = affine_map<()[s0] -> (s0, 1, 3)>
func.func @main(%i: tensor<?x1xi64, #i> {graph.name = "i"}, %t0: tensor<20xf32> {graph.name = "t0"}, %t1: tensor<23xf32> {graph.name = "t1"}, %t2: tensor<26xf32> {graph.name = "t2"}, %t3: tensor<29xf32> {graph.name = "t3"}, %t4: tensor<32xf32> {graph.name = "t4"}, %t5: tensor<35xf32> {graph.name = "t5"}, %t6: tensor<38xf32> {graph.name = "t6"}, %t7: tensor<41xf32> {graph.name = "t7"}, %t8: tensor<44xf32> {graph.name = "t8"}, %t9: tensor<47xf32> {graph.name = "t9"}, %t10: tensor<50xf32> {graph.name = "t10"}, %t11: tensor<53xf32> {graph.name = "t11"}, %t12: tensor<56xf32> {graph.name = "t12"}, %t13: tensor<59xf32> {graph.name = "t13"}, %t14: tensor<62xf32> {graph.name = "t14"}, %t15: tensor<65xf32> {graph.name = "t15"}, %t16: tensor<68xf32> {graph.name = "t16"}, %u0: tensor<20x3xf32> {graph.name = "u0"}, %u1: tensor<21x3xf32> {graph.name = "u1"}, %u2: tensor<22x3xf32> {graph.name = "u2"}, %u3: tensor<23x3xf32> {graph.name = "u3"}, %u4: tensor<24x3xf32> {graph.name = "u4"}, %u5: tensor<25x3xf32> {graph.name = "u5"}, %u6: tensor<26x3xf32> {graph.name = "u6"}, %u7: tensor<27x3xf32> {graph.name = "u7"}, %u8: tensor<28x3xf32> {graph.name = "u8"}, %u9: tensor<29x3xf32> {graph.name = "u9"}, %u10: tensor<30x3xf32> {graph.name = "u10"}, %u11: tensor<31x3xf32> {graph.name = "u11"}, %u12: tensor<32x3xf32> {graph.name = "u12"}, %u13: tensor<33x3xf32> {graph.name = "u13"}, %u14: tensor<34x3xf32> {graph.name = "u14"}, %u15: tensor<35x3xf32> {graph.name = "u15"}, %u16: tensor<36x3xf32> {graph.name = "u16"}, %v0: tensor<20xi64> {graph.name = "v0"}, %v1: tensor<21xi64> {graph.name = "v1"}, %v2: tensor<22xi64> {graph.name = "v2"}, %v3: tensor<23xi64> {graph.name = "v3"}, %v4: tensor<24xi64> {graph.name = "v4"}, %v5: tensor<25xi64> {graph.name = "v5"}, %v6: tensor<26xi64> {graph.name = "v6"}, %v7: tensor<27xi64> {graph.name = "v7"}, %v8: tensor<28xi64> {graph.name = "v8"}, %v9: tensor<29xi64> {graph.name = "v9"}, %v10: tensor<30xi64> {graph.name = "v10"}, %v11: tensor<31xi64> {graph.name = "v11"}, %v12: tensor<32xi64> {graph.name = "v12"}, %v13: tensor<33xi64> {graph.name = "v13"}, %v14: tensor<34xi64> {graph.name = "v14"}) -> (
    tensor<?x1xf32, #i> {graph.name = "o0"}, tensor<?x1xf32, #i> {graph.name = "o1"}, tensor<?x1xf32, #i> {graph.name = "o2"}, tensor<?x1xf32, #i> {graph.name = "o3"}, tensor<?x1xf32, #i> {graph.name = "o4"}, tensor<?x1xf32, #i> {graph.name = "o5"}, tensor<?x1xf32, #i> {graph.name = "o6"}, tensor<?x1xf32, #i> {graph.name = "o7"}, tensor<?x1xf32, #i> {graph.name = "o8"}, tensor<?x1xf32, #i> {graph.name = "o9"}, tensor<?x1xf32, #i> {graph.name = "o10"}, tensor<?x1xf32, #i> {graph.name = "o11"}, tensor<?x1xf32, #i> {graph.name = "o12"}, tensor<?x1xf32, #i> {graph.name = "o13"}, tensor<?x1xf32, #i> {graph.name = "o14"}, tensor<?x1xf32, #i> {graph.name = "o15"}, tensor<?x1xf32, #i> {graph.name = "o16"}, tensor<?x1x3xf32, #p> {graph.name = "p0"}, tensor<?x1x3xf32, #p> {graph.name = "p1"}, tensor<?x1x3xf32, #p> {graph.name = "p2"}, tensor<?x1x3xf32, #p> {graph.name = "p3"}, tensor<?x1x3xf32, #p> {graph.name = "p4"}, tensor<?x1x3xf32, #p> {graph.name = "p5"}, tensor<?x1x3xf32, #p> {graph.name = "p6"}, tensor<?x1x3xf32, #p> {graph.name = "p7"}, tensor<?x1x3xf32, #p> {graph.name = "p8"}, tensor<?x1x3xf32, #p> {graph.name = "p9"}, tensor<?x1x3xf32, #p> {graph.name = "p10"}, tensor<?x1x3xf32, #p> {graph.name = "p11"}, tensor<?x1x3xf32, #p> {graph.name = "p12"}, tensor<?x1x3xf32, #p> {graph.name = "p13"}, tensor<?x1x3xf32, #p> {graph.name = "p14"}, tensor<?x1x3xf32, #p> {graph.name = "p15"}, tensor<?x1x3xf32, #p> {graph.name = "p16"}, tensor<?x1xi64, #i> {graph.name = "q0"}, tensor<?x1xi64, #i> {graph.name = "q1"}, tensor<?x1xi64, #i> {graph.name = "q2"}, tensor<?x1xi64, #i> {graph.name = "q3"}, tensor<?x1xi64, #i> {graph.name = "q4"}, tensor<?x1xi64, #i> {graph.name = "q5"}, tensor<?x1xi64, #i> {graph.name = "q6"}, tensor<?x1xi64, #i> {graph.name = "q7"}, tensor<?x1xi64, #i> {graph.name = "q8"}, tensor<?x1xi64, #i> {graph.name = "q9"}, tensor<?x1xi64, #i> {graph.name = "q10"}, tensor<?x1xi64, #i> {graph.name = "q11"}, tensor<?x1xi64, #i> {graph.name = "q12"}, tensor<?x1xi64, #i> {graph.name = "q13"}, tensor<?x1xi64, #i> {graph.name = "q14"})
    attributes {graph.symbols = ["n"]} {
  %o0 = graph.gather %t0, %i {axis = 0 : i64} : (tensor<20xf32>, tensor<?x1xi64, #i>) -> tensor<?x1xf32, #i>
  %o1 = graph.gather %t1, %i {axis = 0 : i64} : (tensor<23xf32>, tensor<?x1xi64, #i>) -> tensor<?x1xf32, #i>
  %o2 = graph.gather %t2, %i {axis = 0 : i64} : (tensor<26xf32>, tensor<?x1xi64, #i>) -> tensor<?x1xf32, #i>
  %o3 = graph.gather %t3, %i {axis = 0 : i64} : (tensor<29xf32>, tensor<?x1xi64, #i>) -> tensor<?x1xf32, #i>
  %o4 = graph.gather %t4, %i {axis = 0 : i64} : (tensor<32xf32>, tensor<?x1xi64, #i>) -> tensor<?x1xf32, #i>
  %o5 = graph.gather %t5, %i {axis = 0 : i64} : (tensor<35xf32>, tensor<?x1xi64, #i>) -> tensor<?x1xf32, #i>
  %o6 = graph.gather %t6, %i {axis = 0 : i64} : (tensor<38xf32>, tensor<?x1xi64, #i>) -> tensor<?x1xf32, #i>
  %o7 = graph.gather %t7, %i {axis = 0 : i64} : (tensor<41xf32>, tensor<?x1xi64, #i>) -> tensor<?x1xf32, #i>
  %o8 = graph.gather %t8, %i {axis = 0 : i64} : (tensor<44xf32>, tensor<?x1xi64, #i>) -> tensor<?x1xf32, #i>
  %o9 = graph.gather %t9, %i {axis = 0 : i64} : (tensor<47xf32>, tensor<?x1xi64, #i>) -> tensor<?x1xf32, #i>
  %o10 = graph.gather %t10, %i {axis = 0 : i64} : (tensor<50xf32>, tensor<?x1xi64, #i>) -> tensor<?x1xf32, #i>
  %o11 = graph.gather %t11, %i {axis = 0 : i64} : (tensor<53xf32>, tensor<?x1xi64, #i>) -> tensor<?x1xf32, #i>
  %o12 = graph.gather %t12, %i {axis = 0 : i64} : (tensor<56xf32>, tensor<?x1xi64, #i>) -> tensor<?x1xf32, #i>
  %o13 = graph.gather %t13, %i {axis = 0 : i64} : (tensor<59xf32>, tensor<?x1xi64, #i>) -> tensor<?x1xf32, #i>
  %o14 = graph.gather %t14, %i {axis = 0 : i64} : (tensor<62xf32>, tensor<?x1xi64, #i>) -> tensor<?x1xf32, #i>
  %o15 = graph.gather %t15, %i {axis = 0 : i64} : (tensor<65xf32>, tensor<?x1xi64, #i>) -> tensor<?x1xf32, #i>
  %o16 = graph.gather %t16, %i {axis = 0 : i64} : (tensor<68xf32>, tensor<?x1xi64, #i>) -> tensor<?x1xf32, #i>
  %p0 = graph.gather %u0, %i {axis = 0 : i64} : (tensor<20x3xf32>, tensor<?x1xi64, #i>) -> tensor<?x1x3xf32, #p>
  %p1 = graph.gather %u1, %i {axis = 0 : i64} : (tensor<21x3xf32>, tensor<?x1xi64, #i>) -> tensor<?x1x3xf32, #p>
  %p2 = graph.gather %u2, %i {axis = 0 : i64} : (tensor<22x3xf32>, tensor<?x1xi64, #i>) -> tensor<?x1x3xf32, #p>
  %p3 = graph.gather %u3, %i {axis = 0 : i64} : (tensor<23x3xf32>, tensor<?x1xi64, #i>) -> tensor<?x1x3xf32, #p>
  %p4 = graph.gather %u4, %i {axis = 0 : i64} : (tensor<24x3xf32>, tensor<?x1xi64, #i>) -> tensor<?x1x3xf32, #p>
  %p5 = graph.gather %u5, %i {axis = 0 : i64} : (tensor<25x3xf32>, tensor<?x1xi64, #i>) -> tensor<?x1x3xf32, #p>
  %p6 = graph.gather %u6, %i {axis = 0 : i64} : (tensor<26x3xf32>, tensor<?x1xi64, #i>) -> tensor<?x1x3xf32, #p>
  %p7 = graph.gather %u7, %i {axis = 0 : i64} : (tensor<27x3xf32>, tensor<?x1xi64, #i>) -> tensor<?x1x3xf32, #p>
  %p8 = graph.gather %u8, %i {axis = 0 : i64} : (tensor<28x3xf32>, tensor<?x1xi64, #i>) -> tensor<?x1x3xf32, #p>
  %p9 = graph.gather %u9, %i {axis = 0 : i64} : (tensor<29x3xf32>, tensor<?x1xi64, #i>) -> tensor<?x1x3xf32, #p>
  %p10 = graph.gather %u10, %i {axis = 0 : i64} : (tensor<30x3xf32>, tensor<?x1xi64, #i>) -> tensor<?x1x3xf32, #p>
  %p11 = graph.gather %u11, %i {axis = 0 : i64} : (tensor<31x3xf32>, tensor<?x1xi64, #i>) -> tensor<?x1x3xf32, #p>
  %p12 = graph.gather %u12, %i {axis = 0 : i64} : (tensor<32x3xf32>, tensor<?x1xi64, #i>) -> tensor<?x1x3xf32, #p>
  %p13 = graph.gather %u13, %i {axis = 0 : i64} : (tensor<33x3xf32>, tensor<?x1xi64, #i>) -> tensor<?x1x3xf32, #p>
  %p14 = graph.gather %u14, %i {axis = 0 : i64} : (tensor<34x3xf32>, tensor<?x1xi64, #i>) -> tensor<?x1x3xf32, #p>
  %p15 = graph.gather %u15, %i {axis = 0 : i64} : (tensor<35x3xf32>, tensor<?x1xi64, #i>) -> tensor<?x1x3xf32, #p>
  %p16 = graph.gather %u16, %i {axis = 0 : i64} : (tensor<36x3xf32>, tensor<?x1xi64, #i>) -> tensor<?x1x3xf32, #p>
  %q0 = graph.gather %v0, %i {axis = 0 : i64} : (tensor<20xi64>, tensor<?x1xi64, #i>) -> tensor<?x1xi64, #i>
  %q1 = graph.gather %v1, %i {axis = 0 : i64} : (tensor<21xi64>, tensor<?x1xi64, #i>) -> tensor<?x1xi64, #i>
  %q2 = graph.gather %v2, %i {axis = 0 : i64} : (tensor<22xi64>, tensor<?x1xi64, #i>) -> tensor<?x1xi64, #i>
  %q3 = graph.gather %v3, %i {axis = 0 : i64} : (tensor<23xi64>, tensor<?x1xi64, #i>) -> tensor<?x1xi64, #i>
  %q4 = graph.gather %v4, %i {axis = 0 : i64} : (tensor<24xi64>, tensor<?x1xi64, #i>) -> tensor<?x1xi64, #i>
  %q5 = graph.gather %v5, %i {axis = 0 : i64} : (tensor<25xi64>, tensor<?x1xi64, #i>) -> tensor<?x1xi64, #i>
  %q6 = graph.gather %v6, %i {axis = 0 : i64} : (tensor<26xi64>, tensor<?x1xi64, #i>) -> tensor<?x1xi64, #i>
  %q7 = graph.gather %v7, %i {axis = 0 : i64} : (tensor<27xi64>, tensor<?x1xi64, #i>) -> tensor<?x1xi64, #i>
  %q8 = graph.gather %v8, %i {axis = 0 : i64} : (tensor<28xi64>, tensor<?x1xi64, #i>) -> tensor<?x1xi64, #i>
  %q9 = graph.gather %v9, %i {axis = 0 : i64} : (tensor<29xi64>, tensor<?x1xi64, #i>) -> tensor<?x1xi64, #i>
  %q10 = graph.gather %v10, %i {axis = 0 : i64} : (tensor<30xi64>, tensor<?x1xi64, #i>) -> tensor<?x1xi64, #i>
  %q11 = graph.gather %v11, %i {axis = 0 : i64} : (tensor<31xi64>, tensor<?x1xi64, #i>) -> tensor<?x1xi64, #i>
  %q12 = graph.gather %v12, %i {axis = 0 : i64} : (tensor<32xi64>, tensor<?x1xi64, #i>) -> tensor<?x1xi64, #i>
  %q13 = graph.gather %v13, %i {axis = 0 : i64} : (tensor<33xi64>, tensor<?x1xi64, #i>) -> tensor<?x1xi64, #i>
  %q14 = graph.gather %v14, %i {axis = 0 : i64} : (tensor<34xi64>, tensor<?x1xi64, #i>) -> tensor<?x1xi64, #i>
  return %o0, %o1, %o2, %o3, %o4, %o5, %o6, %o7, %o8, %o9, %o10, %o11, %o12, %o13, %o14, %o15, %o16, %p0, %p1, %p2, %p3, %p4, %p5, %p6, %p7, %p8, %p9, %p10, %p11, %p12, %p13, %p14, %p15, %p16, %q0, %q1, %q2, %q3, %q4, %q5, %q6, %q7, %q8, %q9, %q10, %q11, %q12, %q13, %q14 : tensor<?x1xf32, #i>, tensor<?x1xf32, #i>, tensor<?x1xf32, #i>, tensor<?x1xf32, #i>, tensor<?x1xf32, #i>, tensor<?x1xf32, #i>, tensor<?x1xf32, #i>, tensor<?x1xf32, #i>, tensor<?x1xf32, #i>, tensor<?x1xf32, #i>, tensor<?x1xf32, #i>, tensor<?x1xf32, #i>, tensor<?x1xf32, #i>, tensor<?x1xf32, #i>, tensor<?x1xf32, #i>, tensor<?x1xf32, #i>, tensor<?x1xf32, #i>, tensor<?x1x3xf32, #p>, tensor<?x1x3xf32, #p>, tensor<?x1x3xf32, #p>, tensor<?x1x3xf32, #p>, tensor<?x1x3xf32, #p>, tensor<?x1x3xf32, #p>, tensor<?x1x3xf32, #p>, tensor<?x1x3xf32, #p>, tensor<?x1x3xf32, #p>, tensor<?x1x3xf32, #p>, tensor<?x1x3xf32, #p>, tensor<?x1x3xf32, #p>, tensor<?x1x3xf32, #p>, tensor<?x1x3xf32, #p>, tensor<?x1x3xf32, #p>, tensor<?x1x3xf32, #p>, tensor<?x1x3xf32, #p>, tensor<?x1xi64, #i>, tensor<?x1xi64, #i>, tensor<?x1xi64, #i>, tensor<?x1xi64, #i>, tensor<?x1xi64, #i>, tensor<?x1xi64, #i>, tensor<?x1xi64, #i>, tensor<?x1xi64, #i>, tensor<?x1xi64, #i>, tensor<?x1xi64, #i>, tensor<?x1xi64, #i>, tensor<?x1xi64, #i>, tensor<?x1xi64, #i>, tensor<?x1xi64, #i>, tensor<?x1xi64, #i>
}
