// Each level can be requested, and its output is also an input.
// RUN: atranslate %s --emit=tile -o - | FileCheck %s --check-prefix=TILE
// RUN: atranslate %s --emit=llvm -o - | FileCheck %s --check-prefix=LLVM
// RUN: atranslate %s --emit=obj -o %t.o && llvm-nm %t.o | FileCheck %s --check-prefix=OBJ
// RUN: rm -rf %t.phases && atranslate %s -o %t.so --dump-phases=%t.phases
// RUN: ls %t.phases | FileCheck %s --check-prefix=PHASES
// The text of the tile level compiles to the module of the original text.
// RUN: mkdir -p %t.dir/again
// RUN: atranslate %s --emit=tile -o %t.dir/again/emit.mlir
// RUN: atranslate %t.dir/again/emit.mlir -o %t.again.so && cmp %t.so %t.again.so

// TILE: tile.kernel @neg
// TILE: tile.param "BLOCK"
// TILE: host.launch @neg
// LLVM-DAG: llvm.func @adze_run
// LLVM-DAG: llvm.func @neg(
// LLVM-DAG: llvm.func @neg_programs(
// OBJ: T adze_module_query
// PHASES: 0-import.mlir
// PHASES: 2-tile.mlir
// PHASES: 4-host.mlir

tile.kernel @neg(%x: memref<1024xf32>, %y: memref<1024xf32>) attributes {tile.params = {BLOCK = 256 : i64}} {
  %b = tile.param "BLOCK" : index
  %c1024 = arith.constant 1024 : index
  %g = arith.ceildivui %c1024, %b : index
  %p = tile.program_id(%g) : index
  %at = arith.muli %p, %b : index
  %t = tile.load %x[%at] sizes [%b] : memref<1024xf32> -> tensor<?xf32>
  %n = arith.negf %t : tensor<?xf32>
  tile.store %n, %y[%at] : tensor<?xf32>, memref<1024xf32>
  tile.return
}
func.func @main(%x: tensor<1024xf32>) -> tensor<1024xf32> {
  %0 = host.launch @neg(%x) : (tensor<1024xf32>) -> tensor<1024xf32>
  return %0 : tensor<1024xf32>
}
