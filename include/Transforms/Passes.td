// Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
//
// Passes across levels: the host program's destinations and memory.
#ifndef ADZE_TRANSFORMS_PASSES
#define ADZE_TRANSFORMS_PASSES

include "mlir/Pass/PassBase.td"

include "Transforms/CheckPasses.td"

def AssignDestinations : Pass<"assign-destinations", "mlir::ModuleOp"> {
  let summary = "Assign memory to every tensor of the host program";
  let description = [{
    One linear walk over the functions that launch kernels. Arguments become
    memrefs; results become arguments after them. A launch writes directly into
    an output if its result is one, else into a `host.slot`; a reshape is a view
    of the same bytes. An output that is also an input, a
    constant or another output is copied.

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
    Statistic<"numCopies", "copies", "Outputs that had to be copied">];
}

def PlanMemory : Pass<"plan-memory", "mlir::ModuleOp"> {
  let summary = "Give slots their offsets in the arena and constants theirs in the weights";
  let description = [{
    Slots whose lives do not overlap share memory, of whatever sizes. They are
    packed by the better of two greedy orders (by size; in program order with
    the best fitting hole). If sizes are formulas of the symbols, slots are packed
    at a few values of these (the common ones of `graph.symbol_ranges`), and the
    best packing yields an order: each slot follows certain others, and begins
    where the last of them ends, so that no two live slots overlap at any sizes.
    If that end is one formula, it is the slot's offset. All offsets are
    multiples of 64 bytes.

    The function gets `adze.arena_bytes`, `adze.arena_lower_bound` (the greatest
    sum of slots alive at one launch) and `adze.weights_bytes`; the first two
    are maps of which the greatest result counts.

    ```mlir
    %0 = host.slot {size = 4096 : i64} : memref<1024xf32>
    ```
    becomes
    ```mlir
    %0 = host.slot {offset = 0 : i64, size = 4096 : i64} : memref<1024xf32>
    ```
    and, of two formulas neither of which is always the greater,
    ```mlir
    %2 = host.slot behind(%0, %1 : memref<?xf32>, memref<?x?xf32>) {size = 64 : i64} : memref<16xf32>
    ```
  }];
  let dependentDialects = ["::adze::host::HostDialect"];
  let statistics = [
    Statistic<"arenaBytes", "arena-bytes", "Size of the arena, at typical symbols">,
    Statistic<"lowerBoundBytes", "arena-lower-bound-bytes",
              "Greatest sum of slots alive at once, at these">,
    Statistic<"weightsBytes", "weights-bytes", "Constants stored in the module">,
    Statistic<"numShared", "shared-constants",
              "Constants that were equal to an earlier one">];
}

def AssignAlignment : Pass<"assign-alignment", "mlir::ModuleOp"> {
  let summary = "State the alignment of arguments of kernels for devices";
  let description = [{
    An argument that is a place in the arena or in the weights at every launch of
    its kernel gets `tile.align`, in bytes: 64, or less for a part of a place. An
    address that the caller of the run chooses states none, and what a kernel states
    already stays. convert-tile-to-gpu emits a second version of a kernel, which is taken
    when an address is not aligned for wide accesses, only for the others.
    Kernels for CPUs do not depend on alignment and stay as they are.

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
  let summary = "Replace f32 functions by polynomials";
  let description = [{
    `exp`, `expm1`, `log`, `log1p`, `tanh`, `erf`, `sin` and `cos` on f32 scalars
    and vectors become arithmetic of less than 2 ulp, so that vectors stay vectors;
    so do `powf`, `tan` and the inverse and hyperbolic functions, in f64.
    Arguments of `sin` and `cos` are reduced in three parts, beyond 2^17 in f64,
    and beyond 2^30, as those of `tan`, by integers (Payne and Hanek, 1983). NaN,
    infinities and -0 give what IEEE 754 requires. 16-bit floats compute in f32. `expm1` and `log1p` in f64 become
    calls, since upstream lowers them to what loses small arguments; other
    functions and f64 stay, to become calls of the C library. `erf` and `tanh`
    of neighbouring vectors run step by step together, eight at a time.
    Quotients and remainders of vectors of integers, and `fmod`, go through
    floats of more digits, in which they are exact. If the module states a CPU
    with vectors of 64 bytes, its instructions scale by 2^n.

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
  let summary = "Turn copies that are no memcpy into linalg copies";
  let description = [{
    `memref.copy` between memrefs that are both dense stays (it becomes a
    memcpy); between others it would become a call of a run-time function that
    modules do not have.

    ```mlir
    memref.copy %a, %b : memref<4x4xf32, strided<[8, 1]>> to memref<4x4xf32>
    ```
    becomes
    ```mlir
    linalg.copy ins(%a : ..) outs(%b : ..)
    ```
  }];
  let dependentDialects = ["mlir::linalg::LinalgDialect"];
  let statistics = [Statistic<"numExpanded", "expanded", "Copies turned">];
}

def PipelineRows : Pass<"pipeline-rows", "mlir::func::FuncOp"> {
  let summary = "Store a row while the next one is computed";
  let description = [{
    Where the body of a loop over rows leaves a row in scratch memory and stores
    what it makes of it in its last loop, that last loop runs a row late, beside
    the loop that fills the scratch memory again: arithmetic and the writing of
    memory overlap, where a row is longer than what a core reorders. The order
    in which elements are summed stays (software pipelining: Lam, PLDI 1988).

    The last loop must write memory that nothing else in the rows accesses, and
    read of the scratch memory just what the same step of the other fills.
    Loops that stand around the rows alone carry the late row on.

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
  let statistics = [Statistic<"numPipelined", "pipelined", "Loops whose rows overlap">];
}

def ShareLoads : Pass<"share-loads", "mlir::func::FuncOp"> {
  let summary = "Take vectors that two loaded ones hold together from these";
  let description = [{
    Windows that slide along vectors load the same elements several times: most
    of these loads lie across a line of the cache, and take as long as two on a
    CPU with `split_vector_loads`. Nothing is changed if the module states a CPU
    without it. Of loads that lie a constant apart, with no
    store between them, those stay that begin where vectors do, and the first
    and the last. Others are shuffles of two neighbours: what is read is what was
    read before.

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
  let statistics = [Statistic<"numShared", "shared", "Loads that became shuffles">];
}

def NarrowConversions : Pass<"narrow-conversions", "mlir::func::FuncOp"> {
  let summary = "Convert bounded floats to narrow integers by way of i32";
  let description = [{
    A cast to an integer of less than 64 bits goes through i64, so that what
    does not fit wraps. Where minima and maxima with constants bound the float,
    as where it is quantised, 32 bits hold it: vectors of these are converted by
    one instruction, and packed by one. For the bits of integers of 32 bits a
    NaN would make a difference; these stay. The same instruction rounds a vector
    to the nearest, ties to even, where its bounds are whole numbers.

    ```mlir
    %0 = math.roundeven %x : vector<16xf32>
    %clamped = arith.minimumf %0, %c255 : vector<16xf32>  // of a maximum with 0
    %1 = arith.fptosi %clamped : vector<16xf32> to vector<16xi64>
    %2 = arith.trunci %1 : vector<16xi64> to vector<16xi8>
    ```
    becomes
    ```mlir
    %clamped = arith.minimumf %x, %c255 : vector<16xf32>
    %1 = llvm.intr.lrint(%clamped) : (vector<16xf32>) -> vector<16xi32>
    %2 = arith.trunci %1 : vector<16xi32> to vector<16xi8>
    ```
  }];
  let dependentDialects = ["mlir::arith::ArithDialect",
                           "mlir::LLVM::LLVMDialect"];
  let statistics = [Statistic<"numNarrowed", "narrowed", "Conversions by way of i32">];
}

def ExpandBounds : Pass<"expand-bounds", "mlir::func::FuncOp"> {
  let summary = "Take maxima and minima with a number as one comparison";
  let description = [{
    What `arith-expand` makes of a maximum asks whether either operand is NaN.
    Where one is a constant number (ReLU, Clip) the comparison in this order
    keeps a NaN of the other by itself, and x86's maximum is this comparison and
    selection in one instruction. Of two zeros the operand stays, not the
    constant: ONNX does not say which.

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
  let statistics = [Statistic<"numExpanded", "expanded", "Maxima and minima with a number">];
}

def CutPrograms : Pass<"cut-programs", "mlir::ModuleOp"> {
  let summary = "Make programs of the outermost loop of a kernel";
  let description = [{
    A kernel of the reference path is one program, but where its lowering says
    that the iterations of the loop around all it does may run in any order
    (`adze.programs`): then these are the programs. What stands beside the loop is
    done by each call again, so it must not write but to memory of its own.

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
  let statistics = [Statistic<"numCut", "cut", "Kernels cut into programs">];
}

def LowerLoops : Pass<"lower-loops"> {
  let summary = "Turn structured control flow into branches";
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
  let statistics = [Statistic<"numLowered", "lowered", "Loops and branches turned">];
}

def InjectCrash : Pass<"test-inject-crash", "mlir::ModuleOp"> {
  let summary = "End the process by a failed check, to test what then happens";
  let description = [{
    Never part of a pipeline unless asked for by a hidden flag.

    ```mlir
    module {}
    ```
    becomes a dead process.
  }];
  let options = [Option<"threads", "threads", "unsigned", "1",
                        "Threads that crash at once">];
}

def InjectFault : Pass<"test-inject-fault", "mlir::ModuleOp"> {
  let summary = "Make the first addition, product or maximum another operation";
  let description = [{
    To test that wrong results are found. Never part of a pipeline unless asked
    for by a hidden flag.

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
