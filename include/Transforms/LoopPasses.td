// Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
//
// Loops and vectors on the way to LLVM: a part of Passes.td.

def MapLoopsToPrograms : Pass<"map-loops-to-programs", "mlir::ModuleOp"> {
  let summary = "Turn the iterations of the outermost loop of a kernel into programs";
  let description = [{
    A kernel of the reference path is one program by default. If its lowering
    states that the iterations of its outermost loop may run in any order
    (`adze.programs`), each iteration becomes a program. Ops outside of the loop
    run in each call, so they may write to memory of the call only.

    ```mlir
    func.func @k(%x: memref<?x8xf32>, %y: memref<?x8xf32>) attributes {adze.kernel} {
      %n = memref.dim %x, %c0 : memref<?x8xf32>
      scf.for %i = %c0 to %n step %c1 { "row"(%i) : (index) -> () } {adze.programs}
      return
    }
    ```
    becomes
    ```mlir
    func.func @k_programs(%x: memref<?x8xf32>, %y: memref<?x8xf32>) -> index {
      %n = memref.dim %x, %c0 : memref<?x8xf32>
      return %n : index
    }
    func.func @k(%x: memref<?x8xf32>, %y: memref<?x8xf32>, %lo: index, %hi: index) attributes {adze.kernel} {
      scf.for %i = %lo to %hi step %c1 { "row"(%i) : (index) -> () }
      return
    }
    ```
  }];
  let statistics = [Statistic<"numMapped", "mapped", "Kernels whose iterations became programs">];
}

def HoistScratch : Pass<"hoist-scratch", "mlir::ModuleOp"> {
  let summary = "Move large scratch memory of device kernels to the arena";
  let description = [{
    Kernels of the reference path allocate scratch memory. On a device, this is
    the shared memory of a block. Allocations of a dynamic size, or that do not
    fit, become results of the launches that nothing reads, so that they are
    places of the arena. A loop of programs (`adze.programs`) gets one place with
    a part for each program. Sizes must be expressions of the symbols; other
    allocations stay. The pass does nothing for CPUs.

    ```mlir
    func.func @k(%x: memref<?xf32> {adze.dims = #n}, %y: memref<?xf32> {adze.dims = #n}) attributes {adze.kernel} {
      %n = memref.dim %x, %c0 : memref<?xf32>
      %s = memref.alloc(%n) : memref<?xf32>
      "use"(%x, %s, %y) : (memref<?xf32>, memref<?xf32>, memref<?xf32>) -> ()
      return
    }
    %y = host.launch @k(%x) : (tensor<?xf32, #n>) -> tensor<?xf32, #n>
    ```
    becomes
    ```mlir
    func.func @k(%x: memref<?xf32> {adze.dims = #n}, %y: memref<?xf32> {adze.dims = #n}, %s: memref<?xf32> {adze.dims = #n}) attributes {adze.kernel} {
      "use"(%x, %s, %y) : (memref<?xf32>, memref<?xf32>, memref<?xf32>) -> ()
      return
    }
    %y, %s = host.launch @k(%x) : (tensor<?xf32, #n>) -> (tensor<?xf32, #n>, tensor<?xf32, #n>)
    ```
  }];
  let statistics = [Statistic<"numHoisted", "hoisted", "Allocations moved">];
  let dependentDialects = ["mlir::memref::MemRefDialect"];
}

def JoinPrograms : Pass<"join-programs", "mlir::ModuleOp"> {
  let summary = "Make a kernel that runs a range of programs run all of them";
  let description = [{
    The reverse of `map-loops-to-programs`, for devices, which distribute the iterations
    themselves: the count of `@k_programs` moves into the kernel, which loses its
    range operands.
    The loop over the range is marked with `adze.programs` if the programs have no
    order (`adze.ordered`).

    ```mlir
    func.func @k_programs(%x: memref<8xf32>) -> index { return %c8 : index }
    func.func @k(%x: memref<8xf32>, %lo: index, %hi: index) attributes {adze.kernel} {
      scf.for %i = %lo to %hi step %c1 { "program"(%i) : (index) -> () }
      return
    }
    ```
    becomes
    ```mlir
    func.func @k(%x: memref<8xf32>) attributes {adze.kernel} {
      scf.for %i = %c0 to %c8 step %c1 { "program"(%i) : (index) -> () } {adze.programs}
      return
    }
    ```
  }];
  let statistics = [Statistic<"numJoined", "joined", "Kernels whose programs became a loop">];
}

def MarkIndependentLoops : Pass<"mark-independent-loops", "mlir::func::FuncOp"> {
  let summary = "Mark loops whose iterations may run in any order";
  let description = [{
    A loop of a kernel of the reference path without carried values gets the
    attribute `adze.independent` if no two iterations access the same element of
    memory that the loop writes: all accesses to this memory have one index in
    common that differs between iterations. Memory that an iteration allocates is
    its own, and arguments of kernels do not overlap, except tied ones. A loop of
    programs (`adze.programs`) is marked, too; memory that only its iterations use
    is allocated in each of them.

    ```mlir
    scf.for %i = %c0 to %n step %c1 {
      %0 = memref.load %x[%i] : memref<?xf32>
      memref.store %0, %y[%i] : memref<?xf32>
    }
    ```
    becomes
    ```mlir
    scf.for %i = %c0 to %n step %c1 {
      %0 = memref.load %x[%i] : memref<?xf32>
      memref.store %0, %y[%i] : memref<?xf32>
    } {adze.independent}
    ```
  }];
  let statistics = [Statistic<"numMarked", "marked", "Loops marked">];
}

def LowerLoops : Pass<"lower-loops"> {
  let summary = "Lower structured control flow to branches";
  let description = [{
    Applies the patterns of `convert-scf-to-cf` from the end of each block to its
    beginning. A loop splits its block, which moves all following ops: in forward
    order the time (and, in a dialect conversion, the memory) would be quadratic
    in the number of loops.

    ```mlir
    scf.for %i = %a to %b step %c { "use"(%i) : (index) -> () }
    ```
    becomes
    ```mlir
      cf.br ^head(%a : index)
    ^head(%i: index):
      %more = arith.cmpi slt, %i, %b : index
      cf.cond_br %more, ^body, ^end
    ^body:
      "use"(%i) : (index) -> ()
      %next = arith.addi %i, %c : index
      cf.br ^head(%next : index)
    ^end:
    ```
  }];
  let dependentDialects = ["mlir::cf::ControlFlowDialect"];
  let statistics = [Statistic<"numLowered", "lowered", "Loops and branches lowered">];
}

def LowerVectors : Pass<"lower-vectors"> {
  let summary = "Lower ops on vectors and views to those with a form in LLVM";
  let description = [{
    Rewrites ops on vectors of several dims, masks, transfers, gathers, strided
    slices, and views of memory to ops that `convert-kernel-to-llvm` converts one
    by one. These are the patterns of `convert-vector-to-scf` (unrolled), of
    `expand-strided-metadata`, and those that `convert-vector-to-llvm` applies
    before its own conversion.

    ```mlir
    %sum = vector.fma %a, %b, %c : vector<1x4xf32>
    ```
    becomes
    ```mlir
    %init = arith.constant dense<0.0> : vector<1x4xf32>
    %x = vector.extract %a[0] : vector<4xf32> from vector<1x4xf32>
    %y = vector.extract %b[0] : vector<4xf32> from vector<1x4xf32>
    %z = vector.extract %c[0] : vector<4xf32> from vector<1x4xf32>
    %row = vector.fma %x, %y, %z : vector<4xf32>
    %sum = vector.insert %row, %init [0] : vector<4xf32> into vector<1x4xf32>
    ```
  }];
  let dependentDialects = ["mlir::affine::AffineDialect",
                           "mlir::arith::ArithDialect",
                           "mlir::memref::MemRefDialect",
                           "mlir::scf::SCFDialect",
                           "mlir::vector::VectorDialect"];
}
