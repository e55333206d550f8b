// Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
//
// Passes that need the tables of all targets.
#ifndef ADZE_TARGET_PASSES
#define ADZE_TARGET_PASSES

include "mlir/Pass/PassBase.td"

def AttachTargets : Pass<"tile-attach-targets", "mlir::ModuleOp"> {
  let summary = "State what a module is compiled for";
  let description = [{
    Sets `tile.targets` of the module, in place of what it states, to the CPUs
    or the GPUs that the options name.

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
               "LLVM's names of CPUs, or native: this machine's">,
    ListOption<"gpus", "cuda", "std::string",
               "Compute capabilities, as in sm_90a">,
    Option<"triple", "triple", "std::string", /*default=*/"",
           "Triple of the CPUs; empty: this machine's">,
    Option<"caches", "caches", "std::string", /*default=*/"",
           "Second and third level of the CPUs, as in 1M,32M; empty: theirs">];
  let dependentDialects = ["::adze::tile::TileDialect"];
}

#endif // ADZE_TARGET_PASSES
