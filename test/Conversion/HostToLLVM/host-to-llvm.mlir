// RUN: aopt %s --convert-host-to-llvm --split-input-file --verify-diagnostics | FileCheck %s

func.func private @k(memref<4xf32>, memref<4xf32>, memref<4xf32>) attributes {adze.kernel}

// CHECK-LABEL: llvm.func @adze_arena_bytes(%{{.*}}: !llvm.ptr) -> i64
// CHECK: %[[BYTES:.*]] = llvm.mlir.constant(64 : i64)
// CHECK: llvm.return %[[BYTES]]

// The lower bound is the greatest of its candidates.
// CHECK-LABEL: llvm.func @adze_arena_lower_bound
// CHECK: llvm.intr.smax

// CHECK-LABEL: llvm.func @adze_infer(
// CHECK: llvm.store %{{.*}}, %{{.*}} : i64, !llvm.ptr

// The bytes that the launch reads and writes, for profiles.
// CHECK-LABEL: llvm.func @adze_bytes_read.0(
// CHECK: llvm.mlir.constant(32 : i64)
// CHECK-LABEL: llvm.func @adze_bytes_written.0(
// CHECK: llvm.mlir.constant(16 : i64)

// CHECK-LABEL: llvm.func @adze_run(
// CHECK-SAME: %[[TABLE:arg[0-9]+]]: !llvm.ptr, %[[EXEC:arg[0-9]+]]: !llvm.ptr, %[[INS:arg[0-9]+]]: !llvm.ptr, %[[OUTS:arg[0-9]+]]: !llvm.ptr,
// CHECK-SAME: %[[ARENA:arg[0-9]+]]: !llvm.ptr, %[[WEIGHTS:arg[0-9]+]]: !llvm.ptr, %[[SYMS:arg[0-9]+]]: !llvm.ptr) -> i32
// CHECK: llvm.alloca
// CHECK: llvm.getelementptr %[[INS]][0]
// CHECK: llvm.getelementptr %[[OUTS]][0]
// CHECK: %[[LAUNCH:.*]] = llvm.load
// CHECK: %[[NUMBER:.*]] = llvm.mlir.constant(0 : i32) : i32
// CHECK: %[[CODE:.*]] = llvm.call
// CHECK: llvm.cond_br %{{.*}}, ^[[ERROR:bb[0-9]+]](%[[CODE]] : i32), ^[[NEXT:bb[0-9]+]]
// CHECK: ^[[ERROR]](%[[RESULT:.*]]: i32):
// CHECK-NEXT: llvm.return %[[RESULT]]
func.func @main(%x: memref<4xf32>, %y: memref<4xf32>) attributes {
    adze.num_inputs = 1 : i64, adze.arena_bytes = affine_map<() -> (64)>,
    adze.arena_lower_bound = affine_map<()[s0] -> (16, s0)>} {
  %w = host.constant dense<1.0> : tensor<4xf32> {offset = 64 : i64} -> memref<4xf32>
  %s = host.slot {offset = 0 : i64, size = 16 : i64} : memref<4xf32>
  host.launch @k(%x, %w, %s) : (memref<4xf32>, memref<4xf32>, memref<4xf32>) -> ()
  host.copy %s to %y {size = 16 : i64} : memref<4xf32> to memref<4xf32>
  return
}

// -----

func.func private @k(memref<?xf32>, memref<?xf32>, memref<?xf32>) attributes {adze.kernel}

// A slot begins at the greatest end of the slots before it, and the arena ends with it:
// ends are multiples of 64.
// CHECK-LABEL: llvm.func @adze_arena_bytes
// CHECK: %[[BYTES:.*]] = llvm.mlir.constant(64 : i64)
// CHECK: %[[MAX:.*]] = llvm.intr.smax
// CHECK: %[[END:.*]] = llvm.intr.sadd.sat(%[[MAX]], %[[BYTES]])
// CHECK: %[[ALL:.*]] = llvm.intr.smax(%{{.*}}, %[[END]])
// CHECK: llvm.return %[[ALL]]
// CHECK-LABEL: llvm.func @adze_run(
// CHECK-SAME: %[[ARENA:arg[0-9]+]]: !llvm.ptr, %{{[a-z0-9]+}}: !llvm.ptr, %{{[a-z0-9]+}}: !llvm.ptr) -> i32
// CHECK: %[[OFFSET:.*]] = llvm.intr.smax
// CHECK: llvm.getelementptr %[[ARENA]][%[[OFFSET]]]
func.func @after(%x: memref<?xf32> {adze.dims = affine_map<()[s0] -> (s0)>}) attributes {
    adze.num_inputs = 1 : i64, adze.arena_bytes = affine_map<()[s0] -> (0)>,
    adze.arena_lower_bound = affine_map<()[s0] -> (0)>, graph.symbols = ["n"]} {
  %0 = host.slot {offset = 0 : i64, size = affine_map<()[s0] -> (s0 * 640)>} : memref<?xf32>
  %1 = host.slot {offset = 0 : i64, size = affine_map<()[s0] -> ((s0 * s0) * 64)>} : memref<?xf32>
  %2 = host.slot after(%0, %1 : memref<?xf32>, memref<?xf32>) {size = 16 : i64} : memref<?xf32>
  host.launch @k(%0, %1, %2) : (memref<?xf32>, memref<?xf32>, memref<?xf32>) -> ()
  return
}

// -----

func.func private @k(memref<?xf32>, memref<4xf32>, memref<?xf32>) attributes {adze.kernel}

// The accessible bytes of the arguments of a kernel that the CPU runs for a device: a
// view extends to the end of its memory.
// CHECK-LABEL: llvm.func @adze_places.0(
// CHECK-SAME: %[[SYMS:.*]]: !llvm.ptr, %[[BYTES:.*]]: !llvm.ptr) {
// CHECK: %[[AT0:.*]] = llvm.getelementptr %[[SYMS]][0]
// CHECK: %[[S0:.*]] = llvm.load %[[AT0]]
// CHECK: %[[FOUR:.*]] = llvm.mlir.constant(4 : i64)
// CHECK: %[[WHOLE:.*]] = llvm.mul %[[S0]], %[[FOUR]]
// CHECK: %[[FIRST:.*]] = llvm.getelementptr %[[BYTES]][0]
// CHECK: llvm.store %[[WHOLE]], %[[FIRST]] : i64
// CHECK: %[[CONSTANT:.*]] = llvm.mlir.constant(16 : i64)
// CHECK: %[[SECOND:.*]] = llvm.getelementptr %[[BYTES]][1]
// CHECK: llvm.store %[[CONSTANT]], %[[SECOND]] : i64
// CHECK: llvm.mlir.constant(-64 : i64)
// CHECK: %[[REST:.*]] = llvm.add
// CHECK: %[[THIRD:.*]] = llvm.getelementptr %[[BYTES]][2]
// CHECK: llvm.store %[[REST]], %[[THIRD]] : i64
// CHECK: llvm.return
// The other kernel runs on the device.
// CHECK-NOT: adze_places
func.func @fallback(%x: memref<?xf32> {adze.dims = affine_map<()[s0] -> (s0)>}) attributes {
    adze.num_inputs = 1 : i64, adze.arena_bytes = affine_map<()[s0] -> (s0 * 8)>,
    adze.arena_lower_bound = affine_map<()[s0] -> (0)>, graph.symbols = ["n"]} {
  %w = host.constant dense<1.0> : tensor<4xf32> {offset = 64 : i64} -> memref<4xf32>
  %0 = host.slot {offset = 0 : i64, size = affine_map<()[s0] -> (s0 * 8)>} : memref<?xf32>
  %1 = host.view %0 {offset = 64 : i64} : memref<?xf32> -> memref<?xf32>
  host.launch @k(%x, %w, %1) {adze.host_fallback} : (memref<?xf32>, memref<4xf32>, memref<?xf32>) -> ()
  host.launch @k(%x, %w, %0) : (memref<?xf32>, memref<4xf32>, memref<?xf32>) -> ()
  return
}

// -----

// A number of bytes that overflows i64 is the greatest one, which cannot be allocated.
// CHECK-LABEL: llvm.func @adze_arena_bytes
// CHECK: %[[PAIR:.*]] = "llvm.intr.smul.with.overflow"
// CHECK: %[[PRODUCT:.*]] = llvm.extractvalue %[[PAIR]][0]
// CHECK: %[[TOO_MANY:.*]] = llvm.extractvalue %[[PAIR]][1]
// CHECK: %[[GREATEST:.*]] = llvm.mlir.constant(9223372036854775807 : i64)
// CHECK: %[[BYTES:.*]] = llvm.select %[[TOO_MANY]], %[[GREATEST]], %[[PRODUCT]]
// CHECK: llvm.intr.sadd.sat(%[[BYTES]], %{{.*}})
func.func @product(%x: memref<?xf32> {adze.dims = affine_map<()[s0, s1] -> (s0)>}) attributes {
    adze.num_inputs = 1 : i64, adze.arena_bytes = affine_map<()[s0, s1] -> (s0 * s1 + 64)>,
    adze.arena_lower_bound = affine_map<()[s0, s1] -> (0)>, graph.symbols = ["n", "m"]} {
  return
}

// -----

// Sizes that violate the assumptions of ops have no arena, but a code of their symbols;
// the first condition counts.
// CHECK-LABEL: llvm.func @adze_arena_bytes
// CHECK: %[[DIFFER:.*]] = llvm.icmp "ne"
// CHECK: %[[SECOND:.*]] = llvm.icmp "slt"
// CHECK: %[[FIRST:.*]] = llvm.icmp "slt"
// CHECK: %[[S0:.*]] = llvm.mlir.constant(-2 : i64)
// CHECK: %[[A:.*]] = llvm.select %[[FIRST]], %[[S0]],
// CHECK: %[[S1:.*]] = llvm.mlir.constant(-3 : i64)
// CHECK: %[[B:.*]] = llvm.select %[[SECOND]], %[[S1]], %[[A]]
// CHECK: %[[BOTH:.*]] = llvm.mlir.constant(-32771 : i64)
// CHECK: %[[BYTES:.*]] = llvm.select %[[DIFFER]], %[[BOTH]], %[[B]]
// CHECK: llvm.return %[[BYTES]]
// CHECK-LABEL: llvm.func @adze_run(
// CHECK-NOT: llvm.icmp
// CHECK: llvm.return
func.func @sizes(%x: memref<?x?xf32> {adze.dims = affine_map<()[s0, s1] -> (s0, s1)>}) attributes {
    adze.num_inputs = 1 : i64, adze.arena_bytes = affine_map<()[s0, s1] -> (0)>,
    adze.arena_lower_bound = affine_map<()[s0, s1] -> (0)>, graph.symbols = ["n", "m"],
    graph.equalities = [affine_map<()[s0, s1] -> (s0, s1)>], graph.bounds = [affine_map<()[s0, s1] -> (s1 - 3)>], adze.sizes = affine_map<()[s0] -> (s0 - 2)>} {
  return
}

// -----

func.func private @k(memref<4xf32>) attributes {adze.kernel}

func.func @unplanned() attributes {adze.num_inputs = 0 : i64} {
  // expected-error@+1 {{expected an offset from plan-memory}}
  %s = host.slot {size = 16 : i64} : memref<4xf32>
  host.launch @k(%s) : (memref<4xf32>) -> ()
  return
}

// -----

func.func @foreign(%x: memref<4xf32>) attributes {adze.num_inputs = 0 : i64} {
  // expected-error@+1 {{expected an op of the host program}}
  memref.copy %x, %x : memref<4xf32> to memref<4xf32>
  return
}

// -----

func.func private @k(memref<?xf32>, memref<?xf32>) attributes {adze.kernel}

// Data-dependent sizes: outputs' dims are -1 before the run; the program checks that the
// run time's table has the functions, reads the size and reserves memory.
// CHECK-LABEL: llvm.func @adze_infer(
// CHECK: llvm.mlir.constant(-1 : i64)
// CHECK-LABEL: llvm.func @adze_run(
// CHECK: %[[SIZE:.*]] = llvm.load %{{.*}} : !llvm.ptr -> i32
// CHECK: llvm.icmp "uge" %[[SIZE]]
// The table's functions 6 (read), 8 (bind), 9 (reserve), 10 (output).
// CHECK: llvm.getelementptr %{{.*}}[0, 6]
// CHECK: llvm.getelementptr %{{.*}}[0, 8]
// CHECK: llvm.getelementptr %{{.*}}[0, 9]
// CHECK: %[[BOX:.*]] = llvm.call %{{.*}} -> !llvm.ptr
// CHECK: llvm.icmp "ne" %[[BOX]]
// CHECK: llvm.getelementptr %{{.*}}[0, 10]
func.func @data(%n: memref<1xi64>, %y: memref<?xf32> {adze.dims = affine_map<()[s0] -> (s0)>}) attributes {adze.num_inputs = 1 : i64} {
  host.bind %n {symbols = array<i64: 0>} : memref<1xi64>
  %box = host.slot {box = 0 : i64, size = affine_map<()[s0] -> (s0 * 4)>} : memref<?xf32>
  %out = host.output %y : memref<?xf32>
  host.launch @k(%box, %out) : (memref<?xf32>, memref<?xf32>) -> ()
  return
}

// -----

func.func private @k(memref<4xf32>) attributes {adze.kernel}

// CHECK-LABEL: llvm.func @adze_run(
// The loop's blocks, after those of the branch.
// CHECK: %[[FLAG:.*]] = llvm.icmp "ne" %{{.*}} : i8
// CHECK: llvm.cond_br %[[FLAG]], ^[[THEN:bb[0-9]+]], ^[[ELSE:bb[0-9]+]]
// CHECK-DAG: ^[[THEN]]:
// CHECK-DAG: ^[[ELSE]]:
// CHECK: llvm.cond_br %[[FLAG]], ^{{bb[0-9]+}}, ^[[WRONG:bb[0-9]+]]
// CHECK: llvm.br ^[[BEFORE:bb[0-9]+]](%{{.*}} : i64)
// CHECK: ^[[WRONG]]:
// CHECK-NEXT: llvm.getelementptr %{{.*}}[0, 5]
// CHECK: ^[[BEFORE]](%[[I:.*]]: i64):
// CHECK: %[[MORE:.*]] = llvm.icmp "slt" %[[I]]
// CHECK: llvm.cond_br %[[MORE]], ^[[BODY:bb[0-9]+]](%[[I]] : i64), ^{{.*}}(%[[I]] : i64)
// CHECK: ^[[BODY]](%[[J:.*]]: i64):
// CHECK: %[[INC:.*]] = llvm.add %[[J]]
// CHECK: llvm.br ^[[BEFORE]](%[[INC]] : i64)
func.func @control(%c: memref<i1>, %x: memref<4xf32>) attributes {adze.num_inputs = 2 : i64} {
  %0 = host.read %c : memref<i1> -> i1
  scf.if %0 {
    host.launch @k(%x) : (memref<4xf32>) -> ()
  } else {
    host.check %0, "expected so"
  }
  %zero = arith.constant 0 : i64
  %ten = arith.constant 10 : i64
  %1 = scf.while (%i = %zero) : (i64) -> i64 {
    %more = arith.cmpi slt, %i, %ten : i64
    scf.condition(%more) %i : i64
  } do {
  ^bb0(%j: i64):
    %one = arith.constant 1 : i64
    %next = arith.addi %j, %one : i64
    scf.yield %next : i64
  }
  return
}

// -----

func.func private @k(memref<?xf32>, memref<?xf32>) attributes {adze.kernel}

// A launch in steps: their number is passed, and a run time without the function rejects
// the module.
// CHECK-LABEL: llvm.func @adze_run(
// CHECK: llvm.mlir.constant(104 : i32)
// CHECK: %[[OLD:.*]] = llvm.icmp "uge"
// CHECK: llvm.cond_br %[[OLD]]
// CHECK: %[[STEPS:.*]] = llvm.load %{{.*}} : !llvm.ptr -> i64
// CHECK: llvm.getelementptr %arg0[0, 13]
// CHECK: llvm.call %{{.*}}({{.*}}, %[[STEPS]]) : !llvm.ptr, (!llvm.ptr, i32, !llvm.ptr, i64) -> i32
func.func @steps(%x: memref<?xf32> {adze.dims = affine_map<()[s0] -> (s0)>}, %y: memref<?xf32> {adze.dims = affine_map<()[s0] -> (s0)>}) attributes {
    adze.num_inputs = 1 : i64, adze.arena_bytes = affine_map<()[s0] -> (0)>,
    adze.arena_lower_bound = affine_map<()[s0] -> (0)>, graph.symbols = ["n"]} {
  host.launch @k(%x, %y) {steps = affine_map<()[s0] -> (s0)>} : (memref<?xf32>, memref<?xf32>) -> ()
  return
}

// -----

func.func private @k(memref<?xf32>, memref<?xf32>) attributes {adze.kernel}

// The same of steps that are groups.
// CHECK-LABEL: llvm.func @adze_run(
// CHECK: llvm.mlir.constant(112 : i32)
// CHECK: llvm.icmp "uge"
// CHECK: %[[STEPS:.*]] = llvm.load %{{.*}} : !llvm.ptr -> i64
// CHECK: %[[GROUPS:.*]] = llvm.mlir.constant(2 : i64)
// CHECK: llvm.getelementptr %arg0[0, 14]
// CHECK: llvm.call %{{.*}}({{.*}}, %[[STEPS]], %[[GROUPS]]) : !llvm.ptr, (!llvm.ptr, i32, !llvm.ptr, i64, i64) -> i32
func.func @groups(%x: memref<?xf32> {adze.dims = affine_map<()[s0] -> (s0)>}, %y: memref<?xf32> {adze.dims = affine_map<()[s0] -> (s0)>}) attributes {
    adze.num_inputs = 1 : i64, adze.arena_bytes = affine_map<()[s0] -> (0)>,
    adze.arena_lower_bound = affine_map<()[s0] -> (0)>, graph.symbols = ["n"]} {
  host.launch @k(%x, %y) {steps = affine_map<()[s0] -> (s0)>, groups = 2 : i64} : (memref<?xf32>, memref<?xf32>) -> ()
  return
}

// -----

// Sizes that do not fit where a branch runs end the run with the node's name.
// CHECK-LABEL: llvm.func @adze_run(
// CHECK: %[[N:.*]] = llvm.load %{{.*}} : !llvm.ptr -> i64
// CHECK: %[[DIFFER:.*]] = llvm.icmp "ne" %{{.*}}, %[[N]] : i64
// CHECK: %[[MANY:.*]] = llvm.and %[[DIFFER]], %{{.*}} : i1
// CHECK: %[[NOT_ONE:.*]] = llvm.icmp "ne" %[[N]], %{{.*}} : i64
// CHECK: %[[BAD:.*]] = llvm.and %[[MANY]], %[[NOT_ONE]] : i1
// CHECK: %[[HOLDS:.*]] = llvm.xor %[[BAD]], %{{.*}} : i1
// CHECK: llvm.cond_br %[[HOLDS]], ^{{.*}}, ^[[WRONG:bb[0-9]+]]
// CHECK: ^[[WRONG]]:
// CHECK: llvm.getelementptr %{{.*}}[0, 5]
func.func @holds(%x: memref<?xf32> {adze.dims = affine_map<()[s0] -> (s0)>}) attributes {
    adze.num_inputs = 1 : i64, adze.arena_bytes = affine_map<()[s0] -> (0)>,
    adze.arena_lower_bound = affine_map<()[s0] -> (0)>, graph.symbols = ["n"]} {
  %0 = host.holds {broadcasts = [affine_map<()[s0] -> (s0, 16)>]} : i1
  host.check %0, "expected shapes that broadcast"
  return
}
