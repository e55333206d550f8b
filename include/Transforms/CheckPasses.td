// Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
//
// Checks of indices and offsets: a part of Passes.td.

def FoldChecks : Pass<"fold-checks", "mlir::func::FuncOp"> {
  let summary = "Check indices where they are read";
  let description = [{
    A look-up reads its indices anyway, so its kernel can tell for next to
    nothing that one is out of range. A check of the indices becomes
    `graph.message` of the look-up, and the reductions to the least and the
    greatest index go. graph-outline-clusters makes a fault of the launch of it
    (`adze.checks`), whose number the look-up has in its kernel (`graph.fault`).

    That is done for the range [-size, size) of what the indices pick from,
    where the look-up reads an index for each element that it picks, or for a
    whole row, and where all that it picks is read: readers that take parts of a
    tensor could leave indices out. The buffer of a state may have more rows than
    an index may name, so graph-find-states comes before. Kernels for devices
    leave checks to the run time, so with a target that is one nothing is done.

    Before:
    ```mlir
    func.func @main(%x: tensor<100x8xf32>, %i: tensor<4xi64>) -> tensor<4x8xf32> {
      %0 = graph.reduce_min %i {axes = array<i64: 0>, keepdims = false} : (tensor<4xi64>) -> tensor<i64>
      %1 = graph.reduce_max %i {axes = array<i64: 0>, keepdims = false} : (tensor<4xi64>) -> tensor<i64>
      graph.check_range %0, %1, "no {0}" {range = affine_map<() -> (-100, 100)>} : tensor<i64>
      %2 = graph.gather %x, %i {axis = 0 : i64} : (tensor<100x8xf32>, tensor<4xi64>) -> tensor<4x8xf32>
      return %2 : tensor<4x8xf32>
    }
    ```
    After:
    ```mlir
    func.func @main(%x: tensor<100x8xf32>, %i: tensor<4xi64>) -> tensor<4x8xf32> {
      %0 = graph.gather %x, %i {graph.message = "no {0}"} : (tensor<100x8xf32>, tensor<4xi64>) -> tensor<4x8xf32>
      return %0 : tensor<4x8xf32>
    }
    ```
  }];
  let statistics = [
    Statistic<"numFolded", "folded", "Checks that kernels of look-ups do">];
}

def CheckBounds : Pass<"check-bounds", "mlir::ModuleOp"> {
  let summary = "Make tile kernels check where their windows begin";
  let description = [{
    Elements outside of the memory are no error of a tile kernel: loads pad them
    and stores drop them. A whole window outside is a mistake as a rule. So each
    `tile.store`, and each `tile.load` and `tile.gather` without `pad`, gets a
    `tile.check` that each of its offsets is in bounds, and a gather that its
    indices are. The launches of the kernel get the faults (`adze.checks`), after
    those that they have. Offsets that are constants in bounds, a gather's
    indices where it adds an offset to them, and `tile.scratch` are not checked.
    A load that is meant to begin before or after the memory states its `pad`.

    Before:
    ```mlir
    tile.kernel @copy(%x: memref<30xf32>, %y: memref<30xf32>) {
      %c4 = arith.constant 4 : index
      %p = tile.program_id (%c4) : index
      %o = arith.muli %p, %p : index
      %t = tile.load %x[%o] sizes [8] pad 0.0 : f32 : memref<30xf32> -> tensor<8xf32>
      tile.store %t, %y[%o] : tensor<8xf32>, memref<30xf32>
      tile.return
    }
    ```
    After:
    ```mlir
    tile.kernel @copy(%x: memref<30xf32>, %y: memref<30xf32>) {
      %c4 = arith.constant 4 : index
      %p = tile.program_id (%c4) : index
      %o = arith.muli %p, %p : index
      %t = tile.load %x[%o] sizes [8] pad 0.0 : f32 : memref<30xf32> -> tensor<8xf32>
      %c30 = arith.constant 30 : index
      tile.check absolute %o below %c30 fault 0 : index
      tile.store %t, %y[%o] : tensor<8xf32>, memref<30xf32>
      tile.return
    }
    ```
  }];
  let statistics = [
    Statistic<"numChecks", "checks", "Offsets and indices that are checked">];
  let dependentDialects = ["mlir::arith::ArithDialect", "mlir::memref::MemRefDialect"];
}
