// Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
//
// Targets as attributes: what passes and cost models know of a machine.
#ifndef ADZE_DIALECT_TILE_IR_TILETARGETS
#define ADZE_DIALECT_TILE_IR_TILETARGETS

include "mlir/IR/EnumAttr.td"
include "Dialect/Tile/IR/TileAttrs.td"

def CodegenTargetAttrInterface : AttrInterface<"CodegenTargetAttrInterface"> {
  let cppNamespace = "::adze::tile";
  let description = [{
    A machine that kernels are compiled for. The attribute is data; what builds
    pipelines for it is in Target/.
  }];
  let methods = [
    InterfaceMethod<"Returns the name of the chip, as the command line takes it.",
                    "::llvm::StringRef", "getChip">,
  ];
}

/// A list in brackets, also inside of a struct.
class BracketedList<string type> : OptionalArrayRefParameter<type> {
  let parser = "::adze::tile::detail::parseList<" # type # ">($_parser)";
  let printer = "::adze::tile::detail::printList($_printer, $_self)";
}

def Tile_TargetUnitAttr : TileAttr<"TargetUnit", "unit"> {
  let summary = "An instruction that multiplies and adds";
  let description = [{
    `lhs * rhs + acc` are the element types; signedness is part of integer
    types. `shape` is [m, n, k] of one instruction; along k, `group` neighbours
    are adjacent in a register. `intrinsic` is LLVM's function of the sum and
    both operands as vectors, without the bits of its result that end its name.
    A unit of a CPU whose m is more than 1 multiplies matrices in registers of
    its own.
    Elements of tf32 are f32 in memory.

    ```mlir
    #tile.unit<"vnni", ui8 * si8 + si32, [1, 16, 4], group = 4,
               intrinsic = "llvm.x86.avx512.vpdpbusd">
    ```
  }];
  let parameters = (ins StringRefParameter<>:$name, "::mlir::Type":$lhs,
                        "::mlir::Type":$rhs, "::mlir::Type":$acc,
                        BracketedList<"int64_t">:$shape,
                        DefaultValuedParameter<"int64_t", "1">:$group,
                        StringRefParameter<"", "\"\"">:$intrinsic);
  let assemblyFormat = [{
    `<` $name `,` $lhs `*` $rhs `+` $acc `,` $shape (`,` `group` `=` $group^)?
    (`,` `intrinsic` `=` $intrinsic^)? `>`
  }];
  let genVerifyDecl = 1;
}

def Tile_CpuFeature : I32EnumAttr<"CpuFeature", "what decides whether a form is legal on a CPU",
    [I32EnumAttrCase<"lane_permute", 0>]> {
  let cppNamespace = "::adze::tile";
}

def Tile_CpuTrait : I32EnumAttr<"CpuTrait", "what decides what a form costs on a CPU",
    [I32EnumAttrCase<"split_vector_loads", 0>,
     I32EnumAttrCase<"nontemporal_stores_stall", 1>]> {
  let cppNamespace = "::adze::tile";
}

def Tile_CpuTargetAttr : TileAttr<"CpuTarget", "cpu", [CodegenTargetAttrInterface]> {
  let summary = "A CPU";
  let description = [{
    - `chip`: LLVM's name of the CPU.
    - `vector_bytes`: bytes of a vector register: 16, 32 or 64.
    - `caches`: bytes of the second level of a core and of the last level.
    - `flops_per_byte`: floating-point operations that a core does in the time
      that a byte takes to the last level of cache and back.
    - `units`: instructions that multiply and add, beside fused multiply-add.
    - `features` decide legality. `lane_permute`: an instruction picks lanes of
      registers by the lanes of another one (x86 vpermps, vpermi2ps).
    - `traits` decide cost. `split_vector_loads`: a load takes the time of two,
      and shuffles run beside multiply-adds, so that what two registers hold is
      better not loaded again. `nontemporal_stores_stall`: non-temporal stores
      hold up the loads beside them, so that rows are better prefetched while
      the rows before them are computed.

    ```mlir
    #tile.cpu<chip = "znver4", vector_bytes = 64, caches = [1048576, 33554432],
              flops_per_byte = 2, units = [#tile.unit<"vnni", ui8 * si8 + si32, [1, 16, 4], group = 4>],
              features = [lane_permute], traits = [split_vector_loads, nontemporal_stores_stall]>
    ```
  }];
  let parameters = (ins StringRefParameter<>:$chip, "int64_t":$vector_bytes,
                        BracketedList<"int64_t">:$caches,
                        DefaultValuedParameter<"int64_t", "8">:$flops_per_byte,
                        BracketedList<"::adze::tile::TargetUnitAttr">:$units,
                        BracketedList<"::adze::tile::CpuFeature">:$features,
                        BracketedList<"::adze::tile::CpuTrait">:$traits);
  let assemblyFormat = "`<` struct(params) `>`";
  let genVerifyDecl = 1;
  let extraClassDeclaration = [{
    /// Blocks must have something to share.
    static constexpr int64_t kLeastL2Bytes = 64 << 10;
    int64_t getL2Bytes() const { return getCaches()[0]; }
    int64_t getL3Bytes() const { return getCaches()[1]; }
    bool has(CpuFeature feature) const;
    bool has(CpuTrait trait) const;
    /// Returns the unit of these element types, or null.
    TargetUnitAttr findUnit(::mlir::Type lhs, ::mlir::Type rhs, ::mlir::Type acc) const;
    /// Returns the unit that multiplies matrices of these element types, or
    /// null.
    TargetUnitAttr findMatrixUnit(::mlir::Type lhs, ::mlir::Type rhs, ::mlir::Type acc) const;
  }];
}

def Tile_CudaFeature : I32EnumAttr<"CudaFeature", "what decides whether a form is legal on a GPU",
    [I32EnumAttrCase<"tma", 0>]> {
  let cppNamespace = "::adze::tile";
}

def Tile_CudaTargetAttr : TileAttr<"CudaTarget", "cuda", [CodegenTargetAttrInterface]> {
  let summary = "An NVIDIA GPU";
  let description = [{
    - `chip`: the name of the compute capability, as of ptxas.
    - `multiprocessors`: how many the largest chip of this capability has.
    - `shared_bytes`: shared memory that one block may use.
    - `units`: matrix instructions. The `n` of a unit's shape is the largest one.
    - `features` decide legality. `tma`: the chip copies boxes of tensors between
      global and shared memory by itself, described by tensor maps.

    ```mlir
    #tile.cuda<chip = "sm_90a", multiprocessors = 132, shared_bytes = 232448,
               units = [#tile.unit<"wgmma", f16 * f16 + f32, [64, 256, 16]>], features = [tma]>
    ```
  }];
  let parameters = (ins StringRefParameter<>:$chip,
                        DefaultValuedParameter<"int64_t", "1">:$multiprocessors,
                        DefaultValuedParameter<"int64_t", "49152">:$shared_bytes,
                        BracketedList<"::adze::tile::TargetUnitAttr">:$units,
                        BracketedList<"::adze::tile::CudaFeature">:$features);
  let assemblyFormat = "`<` struct(params) `>`";
  let genVerifyDecl = 1;
  let extraClassDeclaration = [{
    bool has(CudaFeature feature) const;
    /// Returns the unit of these element types, or null.
    TargetUnitAttr findUnit(::mlir::Type lhs, ::mlir::Type rhs, ::mlir::Type acc) const;
  }];
}

include "Dialect/Tile/IR/TileSchedule.td"

#endif // ADZE_DIALECT_TILE_IR_TILETARGETS
