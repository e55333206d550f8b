// Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
//
// Checks of indices and offsets: a part of Passes.td.

def FoldChecks : Pass<"fold-checks", "mlir::func::FuncOp"> {
  let summary = "Check indices in the kernels that read them";
  let description = [{
    A gather reads its indices in any case, so its kernel can check their range at
    almost no cost. The `graph.check_range` of the indices becomes the attribute
    `graph.message` of the gather, and the reductions to the least and the
    greatest index are removed. graph-outline-clusters makes a fault of the launch
    from the message (`adze.checks`), whose number is the attribute `graph.fault`
    of the gather in its kernel.

    The pass handles the range [-size, size) of the gathered dim, if the gather
    reads an index for each element or for a whole row, and if all elements of the
    result are read: users that read a part of the result could skip indices. The
    buffer of a state may have more rows than are valid for indices, so
    graph-find-states runs before.

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
    Statistic<"numFolded", "folded", "Checks moved into kernels of gathers">];
}

def CheckBounds : Pass<"check-bounds", "mlir::ModuleOp"> {
  let summary = "Add bounds checks to the windows of tile kernels";
  let description = [{
    Elements of a window outside of the memory are legal: loads pad them and
    stores drop them. A window that begins outside of the memory, however, is
    usually a mistake. So the pass inserts `tile.check` ops which require that each
    offset of a `tile.store`, and of a `tile.load` or `tile.gather` without `pad`,
    is in bounds, and that the indices of a gather are. The faults are added to the
    launches of the kernel (`adze.checks`), after existing ones. Constant offsets
    in bounds, indices of a gather that adds an offset to them, and accesses to
    `tile.scratch` are not checked. A load that may begin out of bounds states
    its `pad`.

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
    Statistic<"numChecks", "checks", "Offsets and indices checked">];
  let dependentDialects = ["mlir::arith::ArithDialect", "mlir::memref::MemRefDialect"];
}
