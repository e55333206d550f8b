// Convolutions of groups with fewer inputs than outputs (1 for 2, 4 and 8, 2 for 4), with
// channels and widths that are not whole blocks, of static and dynamic sizes, have the
// same results as the reference path for vectors of 16, 8 and 4 lanes, and the same bits
// on one and two threads.
// RUN: rm -rf %t && mkdir -p %t/0 %t/1 %t/2 %t/3 %t/4
// RUN: atranslate -O0 %s -o %t/0.so && atranslate %s -o %t/1.so && atranslate --mcpu=x86-64-v3 %s -o %t/2.so && atranslate --mcpu=x86-64 %s -o %t/3.so
// DEFINE: %{h} = 9
// DEFINE: %{w} = 20
// DEFINE: %{shape} = --shape ad=2x%{h}x%{w}x32 --shape bd=2x%{h}x%{w}x20 --shape cd=2x%{h}x%{w}x16 --shape dd=2x%{h}x%{w}x8 --shape ed=2x%{h}x%{w}x16
// DEFINE: %{expect} = --range-tol 1e-5 --expect asy=%t/0/asy.npy --expect ady=%t/0/ady.npy --expect bsy=%t/0/bsy.npy --expect bdy=%t/0/bdy.npy --expect csy=%t/0/csy.npy \
// DEFINE:   --expect cdy=%t/0/cdy.npy --expect dsy=%t/0/dsy.npy --expect ddy=%t/0/ddy.npy --expect esy=%t/0/esy.npy --expect edy=%t/0/edy.npy
// DEFINE: %{check} = arun %t/0.so --random %{shape} --output-dir %t/0 && \
// DEFINE:   arun %t/1.so --random %{shape} --threads 1 --output-dir %t/1 %{expect} && \
// DEFINE:   arun %t/2.so --random %{shape} --threads 1 --output-dir %t/2 %{expect} && \
// DEFINE:   arun %t/3.so --random %{shape} --threads 1 --output-dir %t/3 %{expect} && \
// DEFINE:   arun %t/1.so --random %{shape} --threads 2 --output-dir %t/4 && diff -r %t/1 %t/4
// RUN: %{check}
// REDEFINE: %{h} = 2
// REDEFINE: %{w} = 3
// RUN: %{check}
// REDEFINE: %{w} = 45
// RUN: %{check}

#x16 = affine_map<()[s0, s1] -> (2, s0, s1, 16)>
#x20 = affine_map<()[s0, s1] -> (2, s0, s1, 20)>
#x32 = affine_map<()[s0, s1] -> (2, s0, s1, 32)>
#x8 = affine_map<()[s0, s1] -> (2, s0, s1, 8)>
#y32_2 = affine_map<()[s0, s1] -> (2, (s0 + 1) floordiv 2, (s1 + 1) floordiv 2, 32)>
#y40_1 = affine_map<()[s0, s1] -> (2, s0, s1, 40)>
#y64_1 = affine_map<()[s0, s1] -> (2, s0, s1, 64)>
#y64_2 = affine_map<()[s0, s1] -> (2, (s0 + 1) floordiv 2, (s1 + 1) floordiv 2, 64)>
func.func @main(
    %as: tensor<2x11x21x32xf32> {graph.name = "as"}, %asw: tensor<64x1x7x7xf32> {graph.name = "asw"},
    %ad: tensor<2x?x?x32xf32, #x32> {graph.name = "ad"}, %adw: tensor<64x1x7x7xf32> {graph.name = "adw"},
    %bs: tensor<2x11x21x20xf32> {graph.name = "bs"}, %bsw: tensor<40x1x3x3xf32> {graph.name = "bsw"},
    %bd: tensor<2x?x?x20xf32, #x20> {graph.name = "bd"}, %bdw: tensor<40x1x3x3xf32> {graph.name = "bdw"},
    %cs: tensor<2x11x21x16xf32> {graph.name = "cs"}, %csw: tensor<64x1x5x5xf32> {graph.name = "csw"},
    %cd: tensor<2x?x?x16xf32, #x16> {graph.name = "cd"}, %cdw: tensor<64x1x5x5xf32> {graph.name = "cdw"},
    %ds: tensor<2x11x21x8xf32> {graph.name = "ds"}, %dsw: tensor<64x1x3x3xf32> {graph.name = "dsw"},
    %dd: tensor<2x?x?x8xf32, #x8> {graph.name = "dd"}, %ddw: tensor<64x1x3x3xf32> {graph.name = "ddw"},
    %es: tensor<2x11x21x16xf32> {graph.name = "es"}, %esw: tensor<32x2x3x3xf32> {graph.name = "esw"},
    %ed: tensor<2x?x?x16xf32, #x16> {graph.name = "ed"}, %edw: tensor<32x2x3x3xf32> {graph.name = "edw"})
    -> (tensor<2x6x11x64xf32> {graph.name = "asy"},
        tensor<2x?x?x64xf32, #y64_2> {graph.name = "ady"},
        tensor<2x11x21x40xf32> {graph.name = "bsy"},
        tensor<2x?x?x40xf32, #y40_1> {graph.name = "bdy"},
        tensor<2x11x21x64xf32> {graph.name = "csy"},
        tensor<2x?x?x64xf32, #y64_1> {graph.name = "cdy"},
        tensor<2x11x21x64xf32> {graph.name = "dsy"},
        tensor<2x?x?x64xf32, #y64_1> {graph.name = "ddy"},
        tensor<2x6x11x32xf32> {graph.name = "esy"},
        tensor<2x?x?x32xf32, #y32_2> {graph.name = "edy"}) attributes {graph.symbols = ["h", "w"]} {
  %asy = graph.conv %as, %asw {group = 32 : i64, strides = array<i64: 2, 2>, pads = array<i64: 3, 3, 3, 3>, dilations = array<i64: 1, 1>, layout = #graph.layout<nhwc>} : (tensor<2x11x21x32xf32>, tensor<64x1x7x7xf32>) -> tensor<2x6x11x64xf32>
  %ady = graph.conv %ad, %adw {group = 32 : i64, strides = array<i64: 2, 2>, pads = array<i64: 3, 3, 3, 3>, dilations = array<i64: 1, 1>, layout = #graph.layout<nhwc>} : (tensor<2x?x?x32xf32, #x32>, tensor<64x1x7x7xf32>) -> tensor<2x?x?x64xf32, #y64_2>
  %bsy = graph.conv %bs, %bsw {group = 20 : i64, strides = array<i64: 1, 1>, pads = array<i64: 1, 1, 1, 1>, dilations = array<i64: 1, 1>, layout = #graph.layout<nhwc>} : (tensor<2x11x21x20xf32>, tensor<40x1x3x3xf32>) -> tensor<2x11x21x40xf32>
  %bdy = graph.conv %bd, %bdw {group = 20 : i64, strides = array<i64: 1, 1>, pads = array<i64: 1, 1, 1, 1>, dilations = array<i64: 1, 1>, layout = #graph.layout<nhwc>} : (tensor<2x?x?x20xf32, #x20>, tensor<40x1x3x3xf32>) -> tensor<2x?x?x40xf32, #y40_1>
  %csy = graph.conv %cs, %csw {group = 16 : i64, strides = array<i64: 1, 1>, pads = array<i64: 2, 2, 2, 2>, dilations = array<i64: 1, 1>, layout = #graph.layout<nhwc>} : (tensor<2x11x21x16xf32>, tensor<64x1x5x5xf32>) -> tensor<2x11x21x64xf32>
  %cdy = graph.conv %cd, %cdw {group = 16 : i64, strides = array<i64: 1, 1>, pads = array<i64: 2, 2, 2, 2>, dilations = array<i64: 1, 1>, layout = #graph.layout<nhwc>} : (tensor<2x?x?x16xf32, #x16>, tensor<64x1x5x5xf32>) -> tensor<2x?x?x64xf32, #y64_1>
  %dsy = graph.conv %ds, %dsw {group = 8 : i64, strides = array<i64: 1, 1>, pads = array<i64: 1, 1, 1, 1>, dilations = array<i64: 1, 1>, layout = #graph.layout<nhwc>} : (tensor<2x11x21x8xf32>, tensor<64x1x3x3xf32>) -> tensor<2x11x21x64xf32>
  %ddy = graph.conv %dd, %ddw {group = 8 : i64, strides = array<i64: 1, 1>, pads = array<i64: 1, 1, 1, 1>, dilations = array<i64: 1, 1>, layout = #graph.layout<nhwc>} : (tensor<2x?x?x8xf32, #x8>, tensor<64x1x3x3xf32>) -> tensor<2x?x?x64xf32, #y64_1>
  %esy = graph.conv %es, %esw {group = 8 : i64, strides = array<i64: 2, 2>, pads = array<i64: 1, 1, 1, 1>, dilations = array<i64: 1, 1>, layout = #graph.layout<nhwc>} : (tensor<2x11x21x16xf32>, tensor<32x2x3x3xf32>) -> tensor<2x6x11x32xf32>
  %edy = graph.conv %ed, %edw {group = 8 : i64, strides = array<i64: 2, 2>, pads = array<i64: 1, 1, 1, 1>, dilations = array<i64: 1, 1>, layout = #graph.layout<nhwc>} : (tensor<2x?x?x16xf32, #x16>, tensor<32x2x3x3xf32>) -> tensor<2x?x?x32xf32, #y32_2>
  return %asy, %ady, %bsy, %bdy, %csy, %cdy, %dsy, %ddy, %esy, %edy : tensor<2x6x11x64xf32>, tensor<2x?x?x64xf32, #y64_2>, tensor<2x11x21x40xf32>, tensor<2x?x?x40xf32, #y40_1>, tensor<2x11x21x64xf32>, tensor<2x?x?x64xf32, #y64_1>, tensor<2x11x21x64xf32>, tensor<2x?x?x64xf32, #y64_1>, tensor<2x6x11x32xf32>, tensor<2x?x?x32xf32, #y32_2>
}
