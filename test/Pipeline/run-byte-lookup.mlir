// Lookups whose tables are the complement of a byte, unsigned and signed: equal to computed
// ones on the reference path, and as tiles with instructions that permute bytes and without.
// RUN: rm -rf %t && mkdir -p %t && cd %t
// RUN: atranslate -O0 %s -o 0.so && atranslate %s -o 2.so && atranslate --mcpu=x86-64-v3 %s -o 3.so
// DEFINE: %{run} = --random --ids 256 --shape x=5x77
// RUN: arun 0.so %{run} --output-dir .
// RUN: arun 0.so %{run} --rtol 0 --atol 0 --expect a=c.npy --expect b=d.npy | FileCheck %s
// RUN: arun 2.so %{run} --rtol 0 --atol 0 --expect a=c.npy --expect b=d.npy | FileCheck %s
// RUN: arun 3.so %{run} --rtol 0 --atol 0 --expect a=c.npy --expect b=d.npy | FileCheck %s
// RUN: atranslate %s --emit=tile -o - | FileCheck %s --check-prefix=TILES
// CHECK: output 'd'
// TILES-COUNT-2: tile.byte_lookup
#dims = affine_map<()[s0] -> (s0, 77)>
func.func @main(%x: tensor<?x77xui8, #dims> {graph.name = "x"}) -> (tensor<?x77xui8, #dims> {graph.name = "a"}, tensor<?x77xi8, #dims> {graph.name = "b"},
    tensor<?x77xui8, #dims> {graph.name = "c"}, tensor<?x77xi8, #dims> {graph.name = "d"}) attributes {graph.symbols = ["n"]} {
  %all = graph.constant dense<255> : tensor<ui8>
  %ones = graph.constant dense<-1> : tensor<i8>
  %y = graph.cast %x : (tensor<?x77xui8, #dims>) -> tensor<?x77xi8, #dims>
  %a = graph.byte_lookup %x {table = dense<"0xFFFEFDFCFBFAF9F8F7F6F5F4F3F2F1F0EFEEEDECEBEAE9E8E7E6E5E4E3E2E1E0DFDEDDDCDBDAD9D8D7D6D5D4D3D2D1D0CFCECDCCCBCAC9C8C7C6C5C4C3C2C1C0BFBEBDBCBBBAB9B8B7B6B5B4B3B2B1B0AFAEADACABAAA9A8A7A6A5A4A3A2A1A09F9E9D9C9B9A999897969594939291908F8E8D8C8B8A898887868584838281807F7E7D7C7B7A797877767574737271706F6E6D6C6B6A696867666564636261605F5E5D5C5B5A595857565554535251504F4E4D4C4B4A494847464544434241403F3E3D3C3B3A393837363534333231302F2E2D2C2B2A292827262524232221201F1E1D1C1B1A191817161514131211100F0E0D0C0B0A09080706050403020100"> : tensor<256xui8>} : (tensor<?x77xui8, #dims>) -> tensor<?x77xui8, #dims>
  %b = graph.byte_lookup %y {table = dense<"0xFFFEFDFCFBFAF9F8F7F6F5F4F3F2F1F0EFEEEDECEBEAE9E8E7E6E5E4E3E2E1E0DFDEDDDCDBDAD9D8D7D6D5D4D3D2D1D0CFCECDCCCBCAC9C8C7C6C5C4C3C2C1C0BFBEBDBCBBBAB9B8B7B6B5B4B3B2B1B0AFAEADACABAAA9A8A7A6A5A4A3A2A1A09F9E9D9C9B9A999897969594939291908F8E8D8C8B8A898887868584838281807F7E7D7C7B7A797877767574737271706F6E6D6C6B6A696867666564636261605F5E5D5C5B5A595857565554535251504F4E4D4C4B4A494847464544434241403F3E3D3C3B3A393837363534333231302F2E2D2C2B2A292827262524232221201F1E1D1C1B1A191817161514131211100F0E0D0C0B0A09080706050403020100"> : tensor<256xi8>} : (tensor<?x77xi8, #dims>) -> tensor<?x77xi8, #dims>
  %c = graph.sub %all, %x : (tensor<ui8>, tensor<?x77xui8, #dims>) -> tensor<?x77xui8, #dims>
  %d = graph.sub %ones, %y : (tensor<i8>, tensor<?x77xi8, #dims>) -> tensor<?x77xi8, #dims>
  return %a, %b, %c, %d : tensor<?x77xui8, #dims>, tensor<?x77xi8, #dims>, tensor<?x77xui8, #dims>, tensor<?x77xi8, #dims>
}
