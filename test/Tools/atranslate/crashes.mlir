// Crashes and signals: status 70 and one reproducer, which reproduces the defect; no
// temporary file remains.
// RUN: rm -rf %t && mkdir -p %t/tmp && cd %t

// Threads that crash at the same time: one of them reports.
// RUN: for i in 1 2 3; do env TMPDIR=%t/tmp atranslate %s -o m.so --inject-crash --inject-crash-threads=8 2> err; \
// RUN:   test $? = 70 || exit 1; grep -c "internal error" err | grep -qx 1 || exit 1; done
// RUN: ls tmp | wc -l | grep -qx 3 && rm tmp/*

// The IR before the pass, its pipeline, the version and the command; weights
// are sampled.
// RUN: env TMPDIR=%t/tmp atranslate %s -o m.so --inject-crash 2> err; test $? = 70
// RUN: FileCheck %s < err && ls tmp | count 1
// RUN: FileCheck %s --check-prefix=REPRODUCER < tmp/atranslate-reproducer-*.mlir
// RUN: not --crash aopt --run-reproducer tmp/atranslate-reproducer-*.mlir 2>&1 | FileCheck %s --check-prefix=AGAIN
// CHECK: error: a crash was asked for
// CHECK: error: internal error; please report it with the reproducer {{.*}}atranslate-reproducer-{{.*}}.mlir
// REPRODUCER: // Adze {{.*}} (commit {{.*}}), LLVM {{[0-9.]+}}
// REPRODUCER-NEXT: // atranslate {{.*}}crashes.mlir -o m.so --inject-crash
// REPRODUCER: aopt --run-reproducer
// REPRODUCER: memref.copy
// REPRODUCER: pipeline: "builtin.module(test-inject-crash{threads=1})"
// AGAIN: a crash was asked for

// Weights are sampled, at a level that has weights.
// RUN: rm tmp/* && env TMPDIR=%t/tmp atranslate %S/Inputs/cumulative-sum.mlir -o m.so --stage-passes=graph:test-inject-crash 2> err; test $? = 70
// RUN: FileCheck %s --check-prefix=SAMPLED < tmp/atranslate-reproducer-*.mlir
// RUN: not --crash aopt --run-reproducer tmp/atranslate-reproducer-*.mlir 2>&1 | FileCheck %s --check-prefix=AGAIN
// SAMPLED-NOT: graph.blob
// SAMPLED: graph.constant dense<5.000000e-01> : tensor<2048xf32>
// SAMPLED-NOT: graph.blob

// A signal: temporary files are removed, and the status is the signal's. The text is
// written to a pipe without a reader: the process waits, with its file of folded
// constants. Shells let background jobs ignore INT, and nohup HUP.
// RUN: mkdir signals && cd signals && mkfifo pipe
// RUN: for signal in INT TERM HUP; do \
// RUN:   env --default-signal atranslate %S/Inputs/cumulative-sum.mlir --emit=graph -o pipe & pid=$!; \
// RUN:   for i in $(seq 600); do ls pipe.weights.tmp-* > there 2>&1 && break; sleep 0.1; done; \
// RUN:   grep tmp- there && kill -$signal $pid && { timeout 60 tail --pid=$pid -f /dev/null || kill -KILL $pid; } && ! wait $pid && ls > left && FileCheck %s --check-prefix=LEFT < left || exit 1; done
// LEFT: left
// LEFT-NEXT: pipe
// LEFT-NEXT: there
// LEFT-NOT: {{.}}

func.func private @k(%x: memref<4xf32>, %y: memref<4xf32>) attributes {adze.kernel} {
  memref.copy %x, %y : memref<4xf32> to memref<4xf32>
  return
}
func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {
  %0 = host.launch @k(%x) : (tensor<4xf32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}
