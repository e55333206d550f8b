// Ops that raise faults, and errors of their verifiers.
// RUN: aopt %s -split-input-file -verify-diagnostics | aopt -split-input-file | FileCheck %s

// CHECK-LABEL: tile.kernel @check
tile.kernel @check(%i: memref<8x64xindex>, %n: index) {
  %t = tile.load %i[0, 0] sizes [8, 64] : memref<8x64xindex> -> tensor<8x64xindex>
  // CHECK: tile.check %{{.*}} below %{{.*}} fault 0 : tensor<8x64xindex>
  tile.check %t below %n fault 0 : tensor<8x64xindex>
  // CHECK: tile.check %{{.*}} below %{{.*}} fault 1 : index
  tile.check %n below %n fault 1 : index
  // CHECK: tile.check absolute %{{.*}} below %{{.*}} fault 1 : index
  tile.check absolute %n below %n fault 1 : index
  // CHECK: tile.check %{{.*}} below %{{.*}} fault 0 : vector<16xindex>
  %v = vector.broadcast %n : index to vector<16xindex>
  tile.check %v below %n fault 0 : vector<16xindex>
  tile.return
}

// -----
tile.kernel @check_c1(%i: memref<8xi64>, %n: index) {
  %t = tile.load %i[0] sizes [8] : memref<8xi64> -> tensor<8xi64>
  // expected-error @+1 {{expected positions of type index, but got 'tensor<8xi64>'}}
  tile.check %t below %n fault 0 : tensor<8xi64>
  tile.return
}

// -----
tile.kernel @check_c2(%n: index) {
  // expected-error @+1 {{expected a fault that is not negative, but got -1}}
  tile.check %n below %n fault -1 : index
  tile.return
}
