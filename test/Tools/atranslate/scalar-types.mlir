// For any type of a kernel, the module has no external dependency.
// RUN: atranslate -O0 %s -o %t.so --mcpu=x86-64
// RUN: llvm-nm -D --undefined-only %t.so | count 0
// RUN: atranslate -O0 %s -o %t.so --mcpu=x86-64,x86-64-v3,x86-64-v4
// RUN: llvm-nm -D --undefined-only %t.so | count 0
// RUN: arun %t.so --info --json | FileCheck %s
// CHECK: "variants": [{"name": "x86-64-v4"
// CHECK-SAME: {"name": "x86-64-v3"
// CHECK-SAME: {"name": "x86-64"

func.func private @f16(%x: memref<1xf16>, %y: memref<1xf16>) attributes {adze.kernel} {
  %c0 = arith.constant 0 : index
  %a = memref.load %x[%c0] : memref<1xf16>
  %b = math.sin %a : f16
  %c = math.erf %b : f16
  %d = arith.extf %c : f16 to f64
  %e = math.tanh %d : f64
  %f = math.erf %e : f64
  %g = math.acosh %f : f64
  %h = arith.truncf %g : f64 to f16
  memref.store %h, %y[%c0] : memref<1xf16>
  return
}

func.func private @bf16(%x: memref<1xbf16>, %y: memref<1xbf16>) attributes {adze.kernel} {
  %c0 = arith.constant 0 : index
  %a = memref.load %x[%c0] : memref<1xbf16>
  %b = math.exp %a : bf16
  %c = arith.extf %b : bf16 to f64
  %d = math.fma %c, %c, %c : f64
  %e = math.round %d : f64
  %f = arith.truncf %e : f64 to bf16
  memref.store %f, %y[%c0] : memref<1xbf16>
  return
}

func.func private @i128(%x: memref<1xi64>, %y: memref<1xi64>) attributes {adze.kernel} {
  %c0 = arith.constant 0 : index
  %a = memref.load %x[%c0] : memref<1xi64>
  %b = arith.extsi %a : i64 to i128
  %c = arith.muli %b, %b : i128
  %d = arith.divsi %c, %b : i128
  %e = arith.remui %d, %c : i128
  %f = arith.sitofp %e : i128 to f64
  %g = arith.fptosi %f : f64 to i128
  %h = arith.trunci %g : i128 to i64
  memref.store %h, %y[%c0] : memref<1xi64>
  return
}

func.func private @memory(%x: memref<4096xi8>, %y: memref<4096xi8>) attributes {adze.kernel} {
  memref.copy %x, %y : memref<4096xi8> to memref<4096xi8>
  return
}

func.func @main(%a: tensor<1xf16>, %b: tensor<1xbf16>, %c: tensor<1xi64>, %d: tensor<4096xi8>)
    -> (tensor<1xf16>, tensor<1xbf16>, tensor<1xi64>, tensor<4096xi8>) {
  %0 = host.launch @f16(%a) : (tensor<1xf16>) -> tensor<1xf16>
  %1 = host.launch @bf16(%b) : (tensor<1xbf16>) -> tensor<1xbf16>
  %2 = host.launch @i128(%c) : (tensor<1xi64>) -> tensor<1xi64>
  %3 = host.launch @memory(%d) : (tensor<4096xi8>) -> tensor<4096xi8>
  return %0, %1, %2, %3 : tensor<1xf16>, tensor<1xbf16>, tensor<1xi64>, tensor<4096xi8>
}
