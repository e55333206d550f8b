// RUN: aopt %s --pipeline-rows --split-input-file | FileCheck %s

// Two loops around the rows, an end that is not a whole step, a sum that is used one row
// later.
// CHECK-LABEL: func.func @rows
// CHECK-SAME: (%[[IN:.*]]: memref<8x70xf32>, %[[OUT:.*]]: memref<8x70xf32>
// CHECK: %[[SCRATCH:.*]] = memref.alloca()
// CHECK: %[[OUTER:.*]]:3 = scf.for {{.*}} iter_args(%[[HAS0:.*]] = %false, %[[P0:.*]] = {{.*}}, %[[Q0:.*]] = {{.*}})
// CHECK: %[[INNER:.*]]:3 = scf.for {{.*}} iter_args(%[[HAS:.*]] = %[[HAS0]], %[[P:.*]] = %[[P0]], %[[Q:.*]] = %[[Q0]])
// CHECK: %[[ROW:.*]] = arith.addi
// CHECK: %[[SUM:.*]] = scf.if %[[HAS]] -> (vector<16xf32>) {
// CHECK: %[[BESIDE:.*]] = scf.for %[[I:.*]] = %c0{{.*}} to %c64
// CHECK: %[[OLD:.*]] = vector.load %[[SCRATCH]][%[[I]]]
// CHECK: %[[Y:.*]] = arith.divf %[[OLD]], %[[A:.*]] : vector<16xf32>
// CHECK: vector.store %[[Y]], %[[OUT]][%[[B:.*]], %[[I]]]
// CHECK: vector.load %[[IN]][%[[ROW]], %[[I]]]
// CHECK: vector.store {{.*}}, %[[SCRATCH]][%[[I]]]
// CHECK: memref.load %[[SCRATCH]][%c64]
// CHECK: memref.store {{.*}}, %[[OUT]][%[[B]], %c64]
// CHECK: scf.yield %[[BESIDE]]
// CHECK: } else {
// CHECK-NOT: store {{.*}}, %[[OUT]]{{\[}}
// CHECK: scf.yield
// CHECK: memref.store {{.*}}, %[[SCRATCH]][%c64]
// CHECK-NOT: store {{.*}}, %[[OUT]]{{\[}}
// CHECK: scf.yield %true, {{.*}} : i1
// CHECK: scf.yield %[[INNER]]#0, %[[INNER]]#1, %[[INNER]]#2
// CHECK: scf.if %[[OUTER]]#0 {
// CHECK: scf.for
// CHECK: vector.store {{.*}}, %[[OUT]]
// CHECK: memref.store {{.*}}, %[[OUT]]
func.func @rows(%in: memref<8x70xf32>, %out: memref<8x70xf32>, %from: index, %to: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %c16 = arith.constant 16 : index
  %c64 = arith.constant 64 : index
  %zero = arith.constant dense<0.0> : vector<16xf32>
  %scratch = memref.alloca() : memref<70xf32>
  scf.for %p = %from to %to step %c1 {
    %begin = arith.muli %p, %c2 : index
    scf.for %r = %c0 to %c2 step %c1 {
      %row = arith.addi %begin, %r : index
      %sum = scf.for %i = %c0 to %c64 step %c16 iter_args(%s = %zero) -> vector<16xf32> {
        %x = vector.load %in[%row, %i] : memref<8x70xf32>, vector<16xf32>
        %e = math.exp %x : vector<16xf32>
        vector.store %e, %scratch[%i] : memref<70xf32>, vector<16xf32>
        %next = arith.addf %s, %e : vector<16xf32>
        scf.yield %next : vector<16xf32>
      }
      %x = memref.load %in[%row, %c64] : memref<8x70xf32>
      %e = math.exp %x : f32
      memref.store %e, %scratch[%c64] : memref<70xf32>
      scf.for %i = %c0 to %c64 step %c16 {
        %x2 = vector.load %scratch[%i] : memref<70xf32>, vector<16xf32>
        %y = arith.divf %x2, %sum : vector<16xf32>
        vector.store %y, %out[%row, %i] : memref<8x70xf32>, vector<16xf32>
      }
      %x3 = memref.load %scratch[%c64] : memref<70xf32>
      memref.store %x3, %out[%row, %c64] : memref<8x70xf32>
    }
  }
  return
}

// -----

// A row of dynamic length; other ops beside the rows keep the outer loop.
// CHECK-LABEL: func.func @dynamic
// CHECK: scf.for %{{.*}} = %{{.*}} to %{{.*}} step %{{.*}} {
// CHECK: %[[ROWS:.*]]:2 = scf.for {{.*}} iter_args
// CHECK: scf.if
// CHECK: scf.for %{{.*}} to %arg2
// CHECK: scf.if %[[ROWS]]#0
// CHECK: memref.store %{{.*}}, %arg3
func.func @dynamic(%in: memref<?x?xf32>, %out: memref<?x?xf32>, %n: index, %last: memref<f32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c9 = arith.constant 9 : index
  %one = arith.constant 1.0 : f32
  %scratch = memref.alloca(%n) : memref<?xf32>
  scf.for %p = %c0 to %c9 step %c1 {
    scf.for %row = %c0 to %n step %c1 {
      scf.for %i = %c0 to %n step %c1 {
        %x = memref.load %in[%row, %i] : memref<?x?xf32>
        %e = math.exp %x : f32
        memref.store %e, %scratch[%i] : memref<?xf32>
      }
      scf.for %i = %c0 to %n step %c1 {
        %x = memref.load %scratch[%i] : memref<?xf32>
        memref.store %x, %out[%row, %i] : memref<?x?xf32>
      }
    }
    memref.store %one, %last[] : memref<f32>
  }
  return
}

// -----

// A step reads values that another one wrote, which would be those of the next row.
// CHECK-LABEL: func.func @turned
// CHECK-NOT: iter_args
func.func @turned(%in: memref<8x64xf32>, %out: memref<8x64xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c8 = arith.constant 8 : index
  %c63 = arith.constant 63 : index
  %c64 = arith.constant 64 : index
  %scratch = memref.alloca() : memref<64xf32>
  scf.for %row = %c0 to %c8 step %c1 {
    scf.for %i = %c0 to %c64 step %c1 {
      %x = memref.load %in[%row, %i] : memref<8x64xf32>
      memref.store %x, %scratch[%i] : memref<64xf32>
    }
    scf.for %i = %c0 to %c64 step %c1 {
      %j = arith.subi %c63, %i : index
      %x = memref.load %scratch[%j] : memref<64xf32>
      memref.store %x, %out[%row, %i] : memref<8x64xf32>
    }
  }
  return
}

// -----

// The next row reads memory that this one stores.
// CHECK-LABEL: func.func @chained
// CHECK-NOT: iter_args
func.func @chained(%out: memref<9x64xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c8 = arith.constant 8 : index
  %c64 = arith.constant 64 : index
  %scratch = memref.alloca() : memref<64xf32>
  scf.for %row = %c0 to %c8 step %c1 {
    scf.for %i = %c0 to %c64 step %c1 {
      %x = memref.load %out[%row, %i] : memref<9x64xf32>
      memref.store %x, %scratch[%i] : memref<64xf32>
    }
    %next = arith.addi %row, %c1 : index
    scf.for %i = %c0 to %c64 step %c1 {
      %x = memref.load %scratch[%i] : memref<64xf32>
      memref.store %x, %out[%next, %i] : memref<9x64xf32>
    }
  }
  return
}

// -----

// Other scratch of the previous row is overwritten one row later.
// CHECK-LABEL: func.func @two
// CHECK-NOT: iter_args
func.func @two(%in: memref<8x64xf32>, %out: memref<8x64xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c8 = arith.constant 8 : index
  %c64 = arith.constant 64 : index
  %scratch = memref.alloca() : memref<64xf32>
  %first = memref.alloca() : memref<1xf32>
  scf.for %row = %c0 to %c8 step %c1 {
    %f = memref.load %in[%row, %c0] : memref<8x64xf32>
    memref.store %f, %first[%c0] : memref<1xf32>
    scf.for %i = %c0 to %c64 step %c1 {
      %x = memref.load %in[%row, %i] : memref<8x64xf32>
      memref.store %x, %scratch[%i] : memref<64xf32>
    }
    scf.for %i = %c0 to %c64 step %c1 {
      %x = memref.load %scratch[%i] : memref<64xf32>
      %g = memref.load %first[%c0] : memref<1xf32>
      %y = arith.addf %x, %g : f32
      memref.store %y, %out[%row, %i] : memref<8x64xf32>
    }
  }
  return
}

// -----

// A function with unknown effects.
// CHECK-LABEL: func.func @calls
// CHECK-NOT: iter_args
func.func private @f(f32) -> f32
func.func @calls(%in: memref<8x64xf32>, %out: memref<8x64xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c8 = arith.constant 8 : index
  %c64 = arith.constant 64 : index
  %scratch = memref.alloca() : memref<64xf32>
  scf.for %row = %c0 to %c8 step %c1 {
    scf.for %i = %c0 to %c64 step %c1 {
      %x = memref.load %in[%row, %i] : memref<8x64xf32>
      %e = func.call @f(%x) : (f32) -> f32
      memref.store %e, %scratch[%i] : memref<64xf32>
    }
    scf.for %i = %c0 to %c64 step %c1 {
      %x = memref.load %scratch[%i] : memref<64xf32>
      memref.store %x, %out[%row, %i] : memref<8x64xf32>
    }
  }
  return
}

// -----
// Two forms of the rows: each is pipelined.
// CHECK-LABEL: func.func @forms
// CHECK: scf.if %arg2
// CHECK: scf.for {{.*}} iter_args
// CHECK: } else {
// CHECK: scf.for {{.*}} iter_args
func.func @forms(%in: memref<8x64xf32>, %out: memref<8x64xf32>, %large: i1) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c8 = arith.constant 8 : index
  %c16 = arith.constant 16 : index
  %c64 = arith.constant 64 : index
  %scratch = memref.alloca() : memref<64xf32>
  scf.if %large {
    scf.for %row = %c0 to %c8 step %c1 {
      scf.for %i = %c0 to %c64 step %c16 {
        %x = vector.load %in[%row, %i] : memref<8x64xf32>, vector<16xf32>
        vector.store %x, %scratch[%i] : memref<64xf32>, vector<16xf32>
      }
      scf.for %i = %c0 to %c64 step %c16 {
        %x = vector.load %scratch[%i] : memref<64xf32>, vector<16xf32>
        vector.store %x, %out[%row, %i] : memref<8x64xf32>, vector<16xf32>
      }
    }
  } else {
    scf.for %row = %c0 to %c8 step %c1 {
      scf.for %i = %c0 to %c64 step %c16 {
        %x = vector.load %in[%row, %i] : memref<8x64xf32>, vector<16xf32>
        vector.store %x, %scratch[%i] : memref<64xf32>, vector<16xf32>
      }
      scf.for %i = %c0 to %c64 step %c16 {
        %x = vector.load %scratch[%i] : memref<64xf32>, vector<16xf32>
        vector.store %x, %out[%row, %i] : memref<8x64xf32>, vector<16xf32>
      }
    }
  }
  return
}
