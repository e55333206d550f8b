// Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
//
// convert-byte-lookup-to-llvm: lowers lookups in tables of bytes.
#include "Conversion/ByteLookupToLLVM/ByteLookupToLLVM.h"
#include "Conversion/Passes.h"
#include "Dialect/Tile/IR/Targets.h"
#include "Dialect/Tile/IR/Tile.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

namespace adze {
#define GEN_PASS_DEF_CONVERTBYTELOOKUPTOLLVM
#include "Conversion/Passes.h.inc"
} // namespace adze

using namespace mlir;
using namespace adze;

namespace {

/// The lookups in one symbol table: a module, or a gpu.module.
class LookupLowering {
public:
  LookupLowering(Operation *symbolTable, bool permutesBytes)
      : symbolTable(symbolTable), isDevice(isa<gpu::GPUModuleOp>(symbolTable)),
        permutesBytes(permutesBytes && !isDevice),
        b(symbolTable->getContext()) {}

  void lower(tile::ByteLookupOp op);

private:
  LLVM::GlobalOp getGlobal(DenseElementsAttr table);
  Value load(DenseElementsAttr table, Value byte);
  Value loadLanes(DenseElementsAttr table, Value bytes);
  Value permute(DenseElementsAttr table, Value bytes);
  Value permuteRegister(ArrayRef<Value> quarters, Value bytes);

  Operation *symbolTable;
  bool isDevice, permutesBytes;
  OpBuilder b;
  Location loc = b.getUnknownLoc();
  llvm::MapVector<Attribute, LLVM::GlobalOp> globals;
};

} // namespace

LLVM::GlobalOp LookupLowering::getGlobal(DenseElementsAttr table) {
  LLVM::GlobalOp &global = globals[table];
  if (global)
    return global;
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(&symbolTable->getRegion(0).front());
  std::string name;
  for (int64_t i = globals.size() - 1; name.empty(); ++i)
    if (std::string next = "byte_table_" + std::to_string(i);
        !SymbolTable::lookupSymbolIn(symbolTable, next))
      name = next;
  constexpr uint64_t align = 64;
  global = LLVM::GlobalOp::create(
      b, loc, LLVM::LLVMArrayType::get(b.getI8Type(), table.getNumElements()),
      /*isConstant=*/true, LLVM::Linkage::Internal, name, table, align,
      /*addrSpace=*/isDevice ? 1 : 0);
  return global;
}

Value LookupLowering::load(DenseElementsAttr table, Value byte) {
  Value base = LLVM::AddressOfOp::create(b, loc, getGlobal(table));
  Value position = arith::ExtUIOp::create(b, loc, b.getI64Type(), byte);
  Value address = LLVM::GEPOp::create(b, loc, base.getType(), b.getI8Type(),
                                      base, LLVM::GEPArg(position),
                                      LLVM::GEPNoWrapFlags::inbounds);
  return LLVM::LoadOp::create(b, loc, b.getI8Type(), address, /*alignment=*/1,
                              /*isVolatile=*/false, /*isNonTemporal=*/false,
                              /*isInvariant=*/true);
}

Value LookupLowering::loadLanes(DenseElementsAttr table, Value bytes) {
  auto type = cast<VectorType>(bytes.getType());
  SmallVector<Value> lanes;
  for (int64_t lane = 0; lane < type.getNumElements(); ++lane)
    lanes.push_back(
        load(table, vector::ExtractOp::create(b, loc, bytes, lane)));
  return vector::FromElementsOp::create(b, loc, type, lanes);
}

/// Two permutations find each byte in a half of the table, and the highest bit
/// selects the half.
Value LookupLowering::permuteRegister(ArrayRef<Value> quarters, Value bytes) {
  auto permute = [&](Value low, Value high) {
    return LLVM::CallIntrinsicOp::create(
               b, loc, bytes.getType(),
               b.getStringAttr("llvm.x86.avx512.vpermi2var.qi.512"),
               ValueRange{low, bytes, high})
        .getResult(0);
  };
  Value zero =
      arith::ConstantOp::create(b, loc, b.getZeroAttr(bytes.getType()));
  Value isUpper =
      arith::CmpIOp::create(b, loc, arith::CmpIPredicate::slt, bytes, zero);
  return arith::SelectOp::create(b, loc, isUpper,
                                 permute(quarters[2], quarters[3]),
                                 permute(quarters[0], quarters[1]));
}

Value LookupLowering::permute(DenseElementsAttr table, Value bytes) {
  constexpr int64_t lanes = 64;
  auto type = VectorType::get(lanes, b.getI8Type());
  auto all = llvm::to_vector(table.getValues<int8_t>());
  SmallVector<Value> quarters;
  for (size_t i = 0; i < all.size(); i += lanes)
    quarters.push_back(arith::ConstantOp::create(
        b, loc,
        DenseElementsAttr::get(type, ArrayRef<int8_t>(all).slice(i, lanes))));
  int64_t count = cast<VectorType>(bytes.getType()).getNumElements();
  SmallVector<Value> parts;
  for (int64_t first = 0; first < count; first += lanes) {
    SmallVector<int64_t> mask(lanes, vector::ShuffleOp::kPoisonIndex);
    for (int64_t i = 0; i < std::min(lanes, count - first); ++i)
      mask[i] = first + i;
    parts.push_back(permuteRegister(
        quarters, vector::ShuffleOp::create(b, loc, bytes, bytes, mask)));
  }
  Value result = parts.front();
  for (Value part : ArrayRef(parts).drop_front()) {
    int64_t size = cast<VectorType>(result.getType()).getNumElements();
    result = vector::ShuffleOp::create(
        b, loc, result, part,
        llvm::to_vector(llvm::seq<int64_t>(0, size + lanes)));
  }
  return vector::ShuffleOp::create(
      b, loc, result, result, llvm::to_vector(llvm::seq<int64_t>(0, count)));
}

void LookupLowering::lower(tile::ByteLookupOp op) {
  b.setInsertionPoint(op);
  loc = op.getLoc();
  auto table = cast<DenseElementsAttr>(op.getTable());
  Value source = op.getSource();
  Value result = !isa<VectorType>(source.getType()) ? load(table, source)
                 : permutesBytes                    ? permute(table, source)
                                                    : loadLanes(table, source);
  op.replaceAllUsesWith(result);
  op.erase();
}

int64_t adze::lowerByteLookups(Operation *module) {
  tile::CpuTargetAttr cpu = tile::findCpuTarget(module);
  bool permutesBytes = cpu && cpu.has(tile::CpuFeature::byte_permute);
  llvm::MapVector<Operation *, SmallVector<tile::ByteLookupOp>> lookups;
  module->walk([&](tile::ByteLookupOp op) {
    // Those of tile kernels are lowered with the kernels.
    if (!isa<RankedTensorType>(op.getType()) &&
        !op->getParentOfType<tile::KernelOp>())
      lookups[SymbolTable::getNearestSymbolTable(op)].push_back(op);
  });
  int64_t count = 0;
  for (auto &[symbolTable, ops] : lookups) {
    LookupLowering lowering(symbolTable, permutesBytes);
    for (tile::ByteLookupOp op : ops)
      lowering.lower(op);
    count += ops.size();
  }
  return count;
}

void adze::lowerDeviceByteLookups(ModuleOp module) {
  for (auto device : module.getOps<gpu::GPUModuleOp>())
    lowerByteLookups(device);
}

namespace {
struct ConvertByteLookupToLLVMPass final
    : adze::impl::ConvertByteLookupToLLVMBase<ConvertByteLookupToLLVMPass> {
  void runOnOperation() override {
    numLookups += lowerByteLookups(getOperation());
  }
};
} // namespace
