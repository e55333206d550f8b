// Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
//
// Passes on the host program, and on loops and vectors of kernels.
#ifndef ADZE_TRANSFORMS_PASSES
#define ADZE_TRANSFORMS_PASSES

include "mlir/Pass/PassBase.td"

include "Transforms/CheckPasses.td"
include "Transforms/LoopPasses.td"
include "Transforms/NarrowPasses.td"

def AssignDestinations : Pass<"assign-destinations", "mlir::ModuleOp"> {
  let summary = "Assign memory to every tensor of the host program";
  let description = [{
    Rewrites the functions that launch kernels in one linear walk. Arguments become
    memrefs, and results become additional arguments. A launch writes directly to
    an output of the model if its result is one, else to a `host.slot`. A reshape
    becomes a view of the same bytes. An output that is also an input, a constant
    or another output is copied.

    ```mlir
    func.func @main(%x: tensor<2x4xf32> {graph.name = "x"})
        -> (tensor<8xf32> {graph.name = "y"}) attributes {graph.symbols = []} {
      %0 = host.launch @k(%x) : (tensor<2x4xf32>) -> tensor<2x4xf32>
      %1 = graph.reshape %0 ..: tensor<2x4xf32> -> tensor<8xf32>
      return %1 : tensor<8xf32>
    }
    ```
    becomes
    ```mlir
    func.func @main(%x: memref<2x4xf32> {graph.name = "x"}, %y: memref<8xf32> {graph.name = "y"})
        attributes {adze.num_inputs = 1 : i64, graph.symbols = []} {
      %0 = host.view %y : memref<8xf32> -> memref<2x4xf32>
      host.launch @k(%x, %0) : (memref<2x4xf32>, memref<2x4xf32>) -> ()
      return
    }
    ```
  }];
  let dependentDialects = ["::adze::host::HostDialect", "mlir::arith::ArithDialect",
                           "mlir::func::FuncDialect", "mlir::scf::SCFDialect"];
  let statistics = [
    Statistic<"numSlots", "slots", "Values placed in the arena">,
    Statistic<"numInOutputs", "in-outputs", "Values placed in an output">,
    Statistic<"numViews", "views", "Reshapes that move no data">,
    Statistic<"numCopies", "copies", "Outputs copied">];
}

def ReuseOperands : Pass<"reuse-operands", "mlir::ModuleOp"> {
  let summary = "Store results of launches in the memory of operands";
  let description = [{
    On CPUs, a result takes the slot of an operand that no later launch reads, if
    each program of the kernel stores the window that it loads, and computes each
    element from that at the same position. `adze.in_place` of the kernel's result
    states the operand: these two arguments may be the same memory.

    ```mlir
    %a = host.slot {size = 256 : i64} : memref<64xf32>
    host.launch @exp(%x, %a) : (memref<64xf32>, memref<64xf32>) -> ()
    %b = host.slot {size = 256 : i64} : memref<64xf32>
    host.launch @relu(%a, %b) : (memref<64xf32>, memref<64xf32>) -> ()
    ```
    becomes
    ```mlir
    %a = host.slot {size = 256 : i64} : memref<64xf32>
    host.launch @exp(%x, %a) : (memref<64xf32>, memref<64xf32>) -> ()
    host.launch @relu(%a, %a) : (memref<64xf32>, memref<64xf32>) -> ()
    ```
  }];
  let statistics = [Statistic<"numReused", "reused", "Results in the memory of operands">];
}

def PlanMemory : Pass<"plan-memory", "mlir::ModuleOp"> {
  let summary = "Assign offsets to slots in the arena and to constants in the weights";
  let description = [{
    Slots whose live ranges do not overlap may share memory, whatever their sizes.
    They are packed by the better of two greedy orders: by size, or in program
    order with best fit. If sizes are expressions of the symbols, slots are packed
    for a few values of the symbols (the common ones of `graph.symbol_ranges`). The
    best packing defines an order: each slot follows certain others, and begins at
    the greatest of their ends, so that no two live slots overlap for any sizes. If
    that end is one expression, it is the offset of the slot. All offsets are
    multiples of 64 bytes.

    The pass adds the function attributes `adze.arena_bytes`,
    `adze.arena_lower_bound` (the greatest sum of slots that are live at one
    launch) and `adze.weights_bytes`. The first two are maps, whose greatest
    result is the value.

    ```mlir
    %0 = host.slot {size = 4096 : i64} : memref<1024xf32>
    ```
    becomes
    ```mlir
    %0 = host.slot {offset = 0 : i64, size = 4096 : i64} : memref<1024xf32>
    ```
    and, if neither of two ends is always the greater one,
    ```mlir
    %2 = host.slot after(%0, %1 : memref<?xf32>, memref<?x?xf32>) {size = 64 : i64} : memref<16xf32>
    ```
  }];
  let dependentDialects = ["::adze::host::HostDialect"];
  let statistics = [
    Statistic<"arenaBytes", "arena-bytes", "Size of the arena for common values of the symbols">,
    Statistic<"lowerBoundBytes", "arena-lower-bound-bytes",
              "Greatest sum of slots live at once, for these values">,
    Statistic<"weightsBytes", "weights-bytes", "Constants stored in the module">,
    Statistic<"numShared", "shared-constants",
              "Constants that were equal to an earlier one">];
}

def LaunchVersions : Pass<"launch-versions", "mlir::ModuleOp"> {
  let summary = "Launch the other versions of kernels";
  let description = [{
    A kernel with `adze.versions` lists kernels that compute the same results for
    other sizes. A number of programs of 0 means that a kernel is not the version
    for the sizes of a run, and its launch does nothing. This pass adds a launch
    of each listed version after that of the kernel, with the same operands, and
    removes the attribute. It runs on a host program without tensors, after
    plan-memory: versions share their places.

    ```mlir
    func.func @main(%x: memref<?x64xf32> {adze.dims = #rows}, %y: memref<?x64xf32> {adze.dims = #rows}) {
      host.launch @matmul(%x, %y) : (memref<?x64xf32>, memref<?x64xf32>) -> ()
      return
    }
    tile.kernel @matmul(%x: memref<?x64xf32>, %y: memref<?x64xf32>) attributes {adze.versions = [@matmul_few]} {
      ...
    ```
    becomes
    ```mlir
      host.launch @matmul(%x, %y) : (memref<?x64xf32>, memref<?x64xf32>) -> ()
      host.launch @matmul_few(%x, %y) {adze.other_version} : (memref<?x64xf32>, memref<?x64xf32>) -> ()
    ```
  }];
  let dependentDialects = ["::adze::host::HostDialect"];
  let statistics = [
    Statistic<"numLaunches", "launches", "Launches of other versions">];
}

def FuseLaunches : Pass<"fuse-launches", "mlir::ModuleOp"> {
  let summary = "Compute the result of a launch in the programs that read it";
  let description = [{
    If a program of a kernel for devices reads exactly the tile that the program
    with the same coordinates of the launch before it has stored, one kernel
    computes both, and the tile is not stored. The kernels have one grid and equal
    parameters, nothing else reads the result, and the tile is used elementwise.
    Products with a common left operand are computed in one loop, if a matrix unit
    has a schedule for both.

    ```mlir
    host.launch @up(%x, %w, %t) : (memref<64xf32>, memref<64xf32>, memref<64xf32>) -> ()
    host.launch @gate(%x, %v, %t, %y) : (memref<64xf32>, memref<64xf32>, memref<64xf32>, memref<64xf32>) -> ()
    ```
    becomes
    ```mlir
    host.launch @up_gate(%x, %v, %w, %y) : (memref<64xf32>, memref<64xf32>, memref<64xf32>, memref<64xf32>) -> ()
    ```
  }];
  let dependentDialects = ["::adze::tile::TileDialect"];
  let statistics = [
    Statistic<"numFused", "fused", "Launches that others compute">];
}

def MergeLaunches : Pass<"merge-launches", "mlir::ModuleOp"> {
  let summary = "Run independent small kernels as one launch";
  let description = [{
    Adjacent launches on a device that are independent of each other become one,
    whose kernel has the programs of each kernel one after the other. The kernels
    have no product, reduction or loop: their programs take less time than a launch.

    ```mlir
    host.launch @rotate(%x, %y) : (memref<64xf32>, memref<64xf32>) -> ()
    host.launch @append(%x, %z) : (memref<64xf32>, memref<64xf32>) -> ()
    ```
    becomes
    ```mlir
    host.launch @rotate_append(%x, %y, %z) {num_outputs = 2 : i64} : (memref<64xf32>, memref<64xf32>, memref<64xf32>) -> ()
    ```
    with
    ```mlir
    tile.kernel @rotate_append(..) {
      %n = tile.program_id (%all) : index
      scf.if %in_first { .. }
      scf.if %in_second { .. }
    ```
  }];
  let dependentDialects = ["::adze::tile::TileDialect", "::mlir::arith::ArithDialect", "::mlir::scf::SCFDialect"];
  let statistics = [
    Statistic<"numMerged", "merged", "Launches that became parts of others">];
}

def AssignAlignment : Pass<"assign-alignment", "mlir::ModuleOp"> {
  let summary = "State the alignment of arguments of kernels for devices";
  let description = [{
    An argument that lies in the arena or in the weights at every launch of its
    kernel gets the attribute `tile.align`, in bytes: 64, or less for a part of a
    slot. Arguments whose addresses the caller of the run chooses get none, and
    existing attributes stay. An argument that lies in the weights at every launch
    gets `tile.constant`: launches may read it before those before them have ended. For arguments without alignment, convert-tile-to-gpu
    emits a second version of the kernel, which runs if an address is not aligned
    for wide accesses. Kernels for CPUs do not depend on alignment, and are not
    changed.

    ```mlir
    func.func @main(%x: memref<64xf32>) {
      %0 = host.slot {offset = 0 : i64, size = 256 : i64} : memref<64xf32>
      host.launch @copy(%x, %0) : (memref<64xf32>, memref<64xf32>) -> ()
      return
    }
    tile.kernel @copy(%x: memref<64xf32>, %y: memref<64xf32>) {
      ...
    ```
    becomes
    ```mlir
    tile.kernel @copy(%x: memref<64xf32>, %y: memref<64xf32> {tile.align = 64 : i64})
    ```
  }];
  let dependentDialects = ["::adze::tile::TileDialect"];
  let statistics = [
    Statistic<"numAligned", "aligned", "Arguments of known alignment">];
}

def MathApproximate : Pass<"math-approximate", "mlir::ModuleOp"> {
  let summary = "Replace f32 math functions by polynomial approximations";
  let description = [{
    `exp`, `expm1`, `log`, `log1p`, `tanh`, `erf`, `sin` and `cos` on f32 scalars
    and vectors become arithmetic with an error of less than 2 ulp, so that vectors
    stay vectors. `powf`, `tan` and the inverse and hyperbolic functions are
    computed in f64. Arguments of `sin` and `cos` are reduced with pi/2 in three
    parts, beyond 2^17 in f64, and beyond 2^30, as those of `tan`, by integers
    (Payne and Hanek, 1983). NaN, infinities and -0 are handled as IEEE 754
    requires. Functions on 16-bit floats are computed in f32. `expm1` and `log1p`
    on f64 become calls, since the upstream expansions are inaccurate for small
    arguments; all other functions on f64 stay, and become calls of the C library.

    `erf` and `tanh` of adjacent vectors are interleaved, eight at a time.
    Quotients and remainders of vectors of integers, and `fmod`, are computed in
    wider floats, in which they are exact. If the target is a CPU with vectors of
    64 bytes, scaling by 2^n uses its instructions (`vscalefps`).

    ```mlir
    %r = math.exp %x : vector<16xf32>
    ```
    becomes
    ```mlir
    %n = math.fma %c, %log2e, %magic : vector<16xf32>
    ...
    ```
  }];
  let dependentDialects = [
    "mlir::arith::ArithDialect", "mlir::func::FuncDialect",
    "mlir::LLVM::LLVMDialect",
    "mlir::math::MathDialect", "mlir::scf::SCFDialect",
    "mlir::vector::VectorDialect"];
}

def ExpandCopies : Pass<"expand-copies", "mlir::func::FuncOp"> {
  let summary = "Convert strided copies to linalg copies";
  let description = [{
    A `memref.copy` between two dense memrefs stays, as it becomes a memcpy. Others
    would become calls of a function of the MLIR runtime, which modules do not
    link.

    ```mlir
    memref.copy %a, %b : memref<4x4xf32, strided<[8, 1]>> to memref<4x4xf32>
    ```
    becomes
    ```mlir
    linalg.copy ins(%a : ..) outs(%b : ..)
    ```
  }];
  let options = [
    Option<"all", "all", "bool", /*default=*/"false",
           "Convert all copies, for targets without memcpy">];
  let dependentDialects = ["mlir::linalg::LinalgDialect"];
  let statistics = [Statistic<"numExpanded", "expanded", "Copies converted">];
}

def PipelineRows : Pass<"pipeline-rows", "mlir::func::FuncOp"> {
  let summary = "Store a row while the next one is computed";
  let description = [{
    Applies to loops over rows whose body writes a row to scratch memory, and then
    computes and stores the result in its last inner loop. The last inner loop is
    delayed by one row, and fused with the loop that fills the scratch memory for
    the next row. So arithmetic and stores overlap even if a row is longer than the
    reorder buffer of a core. The order of sums does not change (software
    pipelining: Lam, PLDI 1988).

    The last loop must write memory that nothing else in the rows accesses, and
    each of its steps must read only the part of the scratch memory that the same
    step of the other loop fills. Loops that contain only the loop over rows carry
    the delayed row across their iterations.

    ```mlir
    scf.for %row = %c0 to %n step %c1 {
      %sum = scf.for %i = .. { vector.store %e, %scratch[%i] .. }
      scf.for %i = .. { %e = vector.load %scratch[%i] .. vector.store %y, %out[%row, %i] }
    }
    ```
    becomes
    ```mlir
    %r:3 = scf.for %row = %c0 to %n step %c1 iter_args(%has = %false, %s = .., %before = ..) {
      %sum = scf.if %has {
        scf.for %i = .. {
          %e = vector.load %scratch[%i] .. vector.store %y, %out[%before, %i]
          vector.store %e2, %scratch[%i] ..
        }
      } else { scf.for %i = .. { vector.store %e2, %scratch[%i] .. } }
      scf.yield %true, %sum, %row
    }
    scf.if %r#0 { scf.for %i = .. { .. vector.store %y, %out[%r#2, %i] } }
    ```
  }];
  let dependentDialects = ["mlir::arith::ArithDialect", "mlir::scf::SCFDialect"];
  let statistics = [Statistic<"numPipelined", "pipelined", "Loops over rows pipelined">];
}

def ShareLoads : Pass<"share-loads", "mlir::func::FuncOp"> {
  let summary = "Replace overlapping vector loads by shuffles";
  let description = [{
    Windows that slide along vectors load the same elements several times. Most of
    these loads cross a cache line, and take as long as two loads on a CPU with
    `split_vector_loads`. The pass does nothing if the target is a CPU without this
    trait. Of loads at constant distances, without a store between them, the first,
    the last and those at multiples of a vector stay. All others become shuffles of
    two of these, so no other memory is read.

    ```mlir
    %0 = vector.load %x[%i] : memref<64xf32>, vector<16xf32>
    %1 = vector.load %x[%i_1] : memref<64xf32>, vector<16xf32>   // %i + 1
    %2 = vector.load %x[%i_16] : memref<64xf32>, vector<16xf32>  // %i + 16
    ```
    becomes
    ```mlir
    %0 = vector.load %x[%i] : memref<64xf32>, vector<16xf32>
    %2 = vector.load %x[%i_16] : memref<64xf32>, vector<16xf32>
    %1 = vector.shuffle %0, %2 [1, 2, .., 16] : vector<16xf32>, vector<16xf32>
    ```
  }];
  let dependentDialects = ["mlir::arith::ArithDialect"];
  let statistics = [Statistic<"numShared", "shared", "Loads replaced by shuffles">];
}

def ExpandBounds : Pass<"expand-bounds", "mlir::func::FuncOp"> {
  let summary = "Expand maxima and minima with a constant to one comparison";
  let description = [{
    `arith-expand` expands a maximum to code that tests both operands for NaN. If
    one is a constant other than NaN (ReLU, Clip), a comparison in this order
    returns a NaN of the other operand without a test, and x86 has one instruction
    for this comparison and selection. Of two zeros, the result is the operand and
    not the constant; ONNX does not specify which.

    ```mlir
    %1 = arith.maximumf %x, %zero : vector<16xf32>
    ```
    becomes
    ```mlir
    %0 = arith.cmpf ogt, %zero, %x : vector<16xf32>
    %1 = arith.select %0, %zero, %x : vector<16xi1>, vector<16xf32>
    ```
  }];
  let dependentDialects = ["mlir::arith::ArithDialect"];
  let statistics = [Statistic<"numExpanded", "expanded", "Maxima and minima with a constant">];
}

def InjectCrash : Pass<"test-inject-crash", "mlir::ModuleOp"> {
  let summary = "End the process by a failed assertion, to test crash handling";
  let description = [{
    Only a hidden flag adds the pass to a pipeline.

    ```mlir
    module {}
    ```
    becomes a dead process.
  }];
  let options = [Option<"threads", "threads", "unsigned", "1",
                        "Threads that crash at once">];
}

def InjectFault : Pass<"test-inject-fault", "mlir::ModuleOp"> {
  let summary = "Replace the first addition, product or maximum by another operation";
  let description = [{
    Tests that wrong results are found. Only a hidden flag adds it to a pipeline.

    ```mlir
    %r = arith.maximumf %a, %b : f32
    ```
    becomes
    ```mlir
    %r = arith.minimumf %a, %b : f32
    ```
  }];
  let dependentDialects = ["mlir::arith::ArithDialect"];
}

#endif // ADZE_TRANSFORMS_PASSES
