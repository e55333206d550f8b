// RUN: aopt %s --launch-versions | FileCheck %s

// A kernel with another version is launched once for each, at every launch; a
// kernel without versions stays as it is.
// CHECK-LABEL: func.func @main
// CHECK: host.launch @matmul(%[[X:.*]], %[[Y:.*]]) {adze.flops = 64 : i64} :
// CHECK-NEXT: host.launch @matmul_few(%[[X]], %[[Y]]) {adze.flops = 64 : i64, adze.other_version} :
// CHECK-NEXT: host.launch @relu(%[[Y]], %[[X]])
// CHECK-NEXT: host.launch @matmul(%[[X]], %[[Y]])
// CHECK-NEXT: host.launch @matmul_few(%[[X]], %[[Y]]) {adze.other_version}
// CHECK-NEXT: return
func.func @main(%x: memref<64xf32>, %y: memref<64xf32>) {
  host.launch @matmul(%x, %y) {adze.flops = 64 : i64} : (memref<64xf32>, memref<64xf32>) -> ()
  host.launch @relu(%y, %x) : (memref<64xf32>, memref<64xf32>) -> ()
  host.launch @matmul(%x, %y) : (memref<64xf32>, memref<64xf32>) -> ()
  return
}

// CHECK: tile.kernel @matmul(
// CHECK-NOT: adze.versions
tile.kernel @matmul(%x: memref<64xf32>, %y: memref<64xf32>) attributes {adze.versions = [@matmul_few]} {
  tile.return
}
tile.kernel @matmul_few(%x: memref<64xf32>, %y: memref<64xf32>) {
  tile.return
}
tile.kernel @relu(%x: memref<64xf32>, %y: memref<64xf32>) {
  tile.return
}
