#!/usr/bin/env bash
# Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
#
# Measures the compile time of atranslate by the number of nodes:
#   scaling.sh BUILD [NODES..]
# writes models of 1,000 and 10,000 nodes (blocks of a product, sums, activations,
# a normalisation and two transposes), compiles them at -O0 and -O2 and prints
# seconds, milliseconds per node and the ratio to the first; then the same for
# blocks of different shapes, so that no kernel is shared; then compiles a chain
# of 100,000 nodes up to the graph stage.
set -euo pipefail
build=${1:?usage: scaling.sh BUILD [NODES..]}
shift
sizes=("$@")
[ ${#sizes[@]} -gt 0 ] || sizes=(1000 10000)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# blocks NODES: prints a model in ONNX's text form.
blocks() {
  awk -v n="$1" 'BEGIN {
    print "<ir_version: 8, opset_import: [\"\": 17]>"
    print "g (float[16,32] x0) => (float[16,32] y) {"
    print "  s = Constant <value = int64[2] {32, 32}> ()"
    print "  w = ConstantOfShape <value = float[1] {0.01}> (s)"
    print "  v = Constant <value = int64[1] {32}> ()"
    print "  b = ConstantOfShape <value = float[1] {0.5}> (v)"
    for (i = 0; i < n / 10; ++i) {
      x = "x" i
      printf "  m%d = MatMul (%s, w)\n  a%d = Add (m%d, b)\n  g%d = Relu (a%d)\n", i, x, i, i, i, i
      printf "  t%d = Transpose <perm = [1, 0]> (g%d)\n  e%d = Sigmoid (t%d)\n  u%d = Transpose <perm = [1, 0]> (e%d)\n", i, i, i, i, i, i
      printf "  r%d = Add (u%d, %s)\n  l%d = LayerNormalization <axis = -1> (r%d, b)\n", i, i, x, i, i
      printf "  q%d = Mul (l%d, b)\n  x%d = Sub (q%d, %s)\n", i, i, i + 1, i, x
    }
    printf "  y = Identity (x%d)\n}\n", i
  }'
}

# distinct NODES: prints blocks of a slice, an activation, a sum and an addition,
# each one element longer than the previous one.
distinct() {
  awk -v n="$1" 'BEGIN {
    blocks = int(n / 4)
    print "<ir_version: 8, opset_import: [\"\": 17]>"
    printf "g (float[%d] x) => (float[1] y) {\n", blocks + 16
    print "  b = Constant <value = int64[1] {0}> ()"
    for (i = 0; i < blocks; ++i) {
      printf "  e%d = Constant <value = int64[1] {%d}> ()\n", i, i + 16
      printf "  s%d = Slice (x, b, e%d)\n  r%d = Relu (s%d)\n  t%d = ReduceSum (r%d, b)\n", i, i, i, i, i, i
      if (i == 0)
        print "  z0 = Identity (t0)"
      else
        printf "  z%d = Add (z%d, t%d)\n", i, i - 1, i
    }
    printf "  y = Identity (z%d)\n}\n", blocks - 1
  }'
}

# chain NODES
chain() {
  awk -v n="$1" 'BEGIN {
    print "<ir_version: 8, opset_import: [\"\": 17]>"
    print "g (float[16,32] x0) => (float[16,32] y) {"
    split("Relu Sigmoid Tanh Exp Neg", op, " ")
    for (i = 0; i < n; ++i)
      printf "  x%d = %s (x%d)\n", i + 1, op[i % 5 + 1], i
    printf "  y = Identity (x%d)\n}\n", n
  }'
}

seconds() {
  local start
  start=$(date +%s%N)
  "$@" >"$work/log" 2>&1 || { head -5 "$work/log"; exit 1; }
  awk -v ns="$(($(date +%s%N) - start))" 'BEGIN { printf "%.3f", ns / 1e9 }'
}

for kind in blocks distinct; do
  for size in "${sizes[@]}"; do
    "$kind" "$size" >"$work/$size.onnxtxt"
    "$build/bin/onnx-as" "$work/$size.onnxtxt" -o "$work/$size.onnx"
  done
  for level in 0 2; do
    first=
    for size in "${sizes[@]}"; do
      time=$(seconds "$build/bin/atranslate" "$work/$size.onnx" "-O$level" -o "$work/m.so")
      first=${first:-$(awk -v t="$time" -v n="$size" 'BEGIN { print t / n }')}
      awk -v k="$kind" -v l="$level" -v n="$size" -v t="$time" -v f="$first" 'BEGIN {
        printf "%-8s -O%d %6d nodes %8.2f s %7.3f ms a node, %.2f times the first\n", k, l, n, t, 1000 * t / n, t / n / f }'
    done
  done
done
chain 100000 >"$work/chain.onnxtxt"
"$build/bin/onnx-as" "$work/chain.onnxtxt" -o "$work/chain.onnx"
echo "graph stage of a chain of 100000: $(seconds "$build/bin/atranslate" "$work/chain.onnx" --emit=graph -o "$work/chain.mlir") s"
