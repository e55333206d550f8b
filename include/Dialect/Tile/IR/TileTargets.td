// Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
//
// Target attributes: the properties of a machine that passes and cost models use.
#ifndef ADZE_DIALECT_TILE_IR_TILETARGETS
#define ADZE_DIALECT_TILE_IR_TILETARGETS

include "mlir/IR/EnumAttr.td"
include "Dialect/Tile/IR/TileAttrs.td"

def CodegenTargetAttrInterface : AttrInterface<"CodegenTargetAttrInterface"> {
  let cppNamespace = "::adze::tile";
  let description = [{
    A machine that kernels are compiled for. The attribute is data; Target/ has
    the pipelines for it.
  }];
  let methods = [
    InterfaceMethod<"Returns the name of the chip, as on the command line.",
                    "::llvm::StringRef", "getChip">,
  ];
}

/// A list parameter in brackets, which may be inside of a struct.
class BracketedList<string type> : OptionalArrayRefParameter<type> {
  let parser = "::adze::tile::detail::parseList<" # type # ">($_parser)";
  let printer = "::adze::tile::detail::printList($_printer, $_self)";
}

def Tile_TargetUnitAttr : TileAttr<"TargetUnit", "unit"> {
  let summary = "A multiply-add instruction";
  let description = [{
    `lhs * rhs + acc` are the element types, including the signedness of integers.
    `shape` is [m, n, k] of one instruction. `group` elements along k are adjacent
    in a register. `intrinsic` is the LLVM intrinsic whose operands are the
    accumulator and both factors as vectors, without the suffix of its result
    type. The x86 units `pmaddwd` and `pmaddubsw` return sums of pairs without an
    accumulator, and their intrinsics have complete names. A CPU unit with m > 1
    is a matrix unit with tile registers (AMX). Elements of tf32 are f32 in
    memory.

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

def Tile_CpuFeature : I32EnumAttr<"CpuFeature", "property of a CPU that code generation requires",
    [I32EnumAttrCase<"lane_permute", 0>, I32EnumAttrCase<"byte_permute", 1>]> {
  let cppNamespace = "::adze::tile";
}

def Tile_CpuTrait : I32EnumAttr<"CpuTrait", "property of a CPU that cost models use",
    [I32EnumAttrCase<"split_vector_loads", 0>,
     I32EnumAttrCase<"nontemporal_stores_stall", 1>]> {
  let cppNamespace = "::adze::tile";
}

def Tile_CpuTargetAttr : TileAttr<"CpuTarget", "cpu", [CodegenTargetAttrInterface]> {
  let summary = "A CPU";
  let description = [{
    - `chip`: LLVM's name of the CPU.
    - `vector_bytes`: the bytes of a vector register: 16, 32 or 64.
    - `caches`: the bytes of the second-level cache of a core, and of the
      last-level cache.
    - `flops_per_byte`: the floating-point operations that a core executes in the
      time of writing a byte to the last-level cache and reading it back.
    - `units`: multiply-add instructions other than fused multiply-add of floats.
    - `features` are required for legality. `lane_permute`: the CPU has a variable
      lane permute (x86 vpermps, vpermi2ps). `byte_permute`: it permutes the bytes
      of two registers of 64 bytes (x86 vpermi2b).
    - `traits` affect cost. `split_vector_loads`: a load of a full vector takes
      two load slots, while shuffles run in parallel with multiply-adds, so
      shuffling two registers is cheaper than another load.
      `nontemporal_stores_stall`: non-temporal stores stall later loads, so rows
      are prefetched while the rows before them are computed.

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
    /// The least second-level cache that block sizes are chosen for.
    static constexpr int64_t kLeastL2Bytes = 64 << 10;
    int64_t getL2Bytes() const { return getCaches()[0]; }
    int64_t getL3Bytes() const { return getCaches()[1]; }
    bool has(CpuFeature feature) const;
    bool has(CpuTrait trait) const;
    /// Returns the unit of these element types, or null.
    TargetUnitAttr findUnit(::mlir::Type lhs, ::mlir::Type rhs, ::mlir::Type acc) const;
    /// Returns the unit that sums the products of pairs of 16-bit integers, or
    /// null.
    TargetUnitAttr findPairUnit() const;
    /// Returns true if a unit multiplies bytes, as they are or as 16-bit
    /// integers.
    bool multipliesBytes() const;
    /// Returns the unit that multiplies matrices of these element types, or
    /// null.
    TargetUnitAttr findMatrixUnit(::mlir::Type lhs, ::mlir::Type rhs, ::mlir::Type acc) const;
  }];
}

def Tile_CudaFeature : I32EnumAttr<"CudaFeature", "property of a GPU that code generation requires",
    [I32EnumAttrCase<"tma", 0>]> {
  let cppNamespace = "::adze::tile";
}

def Tile_CudaTargetAttr : TileAttr<"CudaTarget", "cuda", [CodegenTargetAttrInterface]> {
  let summary = "An NVIDIA GPU";
  let description = [{
    - `chip`: the name of the compute capability, as for ptxas.
    - `multiprocessors`: the number of streaming multiprocessors of the largest
      chip of this capability.
    - `shared_bytes`: the shared memory that one block of threads may use.
    - `units`: matrix instructions. The `n` of a unit's shape is the largest one.
    - `features` are required for legality. `tma`: the chip has a tensor memory
      accelerator, which copies boxes of tensors between global and shared memory.

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
    /// Returns the greatest number of blocks of a cluster on all chips that have
    /// clusters, which are those with a tensor memory accelerator, or 1.
    int64_t getMostClusterBlocks() const;
    /// Returns the unit of these element types, or null.
    TargetUnitAttr findUnit(::mlir::Type lhs, ::mlir::Type rhs, ::mlir::Type acc) const;
  }];
}

include "Dialect/Tile/IR/TileSchedule.td"

#endif // ADZE_DIALECT_TILE_IR_TILETARGETS
