// Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
//
// Passes that depend on the tables of all targets.
#ifndef ADZE_TARGET_PASSES
#define ADZE_TARGET_PASSES

include "mlir/Pass/PassBase.td"

def AttachTargets : Pass<"tile-attach-targets", "mlir::ModuleOp"> {
  let summary = "Set the targets of a module";
  let description = [{
    Sets the module attribute `tile.targets`, which may exist already, to the CPUs
    or GPUs that the options name.

    With `cpu=x86-64-v3`
    ```mlir
    module {
    }
    ```
    becomes
    ```mlir
    module attributes {tile.targets = [#tile.cpu<chip = "x86-64-v3", vector_bytes = 32, caches = [524288, 16777216], features = [lane_permute]>]} {
    }
    ```
  }];
  let options = [
    ListOption<"cpus", "cpu", "std::string",
               "LLVM names of CPUs, or native for the CPU of this machine">,
    ListOption<"gpus", "cuda", "std::string",
               "Compute capabilities, as in sm_90a">,
    Option<"triple", "triple", "std::string", /*default=*/"",
           "Target triple of the CPUs; empty: that of this machine">,
    Option<"caches", "caches", "std::string", /*default=*/"",
           "Sizes of the second- and third-level cache, as in 1M,32M; empty: those of the CPU">];
  let dependentDialects = ["::adze::tile::TileDialect"];
}

#endif // ADZE_TARGET_PASSES
