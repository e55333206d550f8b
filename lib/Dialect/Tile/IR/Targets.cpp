// Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
//
// Target attributes, and functions that find those of an op.
#include "Dialect/Tile/IR/Targets.h"
#include "Dialect/Tile/IR/Clusters.h"
#include "Dialect/Tile/IR/Units.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/DialectImplementation.h"
#include "llvm/ADT/SmallSet.h"
#include "llvm/ADT/TypeSwitch.h"

#include "Dialect/Tile/IR/TileTargetEnums.cpp.inc"
#include "Dialect/Tile/IR/TileTargetInterfaces.cpp.inc"
#define GET_ATTRDEF_CLASSES
#include "Dialect/Tile/IR/TileTargets.cpp.inc"

using namespace mlir;

namespace adze::tile {

void TileDialect::registerTargetAttributes() {
  addAttributes<
#define GET_ATTRDEF_LIST
#include "Dialect/Tile/IR/TileTargets.cpp.inc"
      >();
}

LogicalResult
TargetUnitAttr::verify(function_ref<InFlightDiagnostic()> emitError,
                       StringRef name, Type lhs, Type rhs, Type acc,
                       ArrayRef<int64_t> shape, int64_t group, StringRef) {
  if (name.empty())
    return emitError() << "expected a unit to have a name";
  for (Type type : {lhs, rhs, acc})
    if (!type.isIntOrFloat())
      return emitError() << "expected element types, but got " << type;
  if (shape.size() != 3 || llvm::any_of(shape, [](int64_t x) { return x < 1; }))
    return emitError() << "expected a shape of three sizes of at least 1";
  if (group < 1 || shape[2] % group != 0)
    return emitError() << "expected a group that divides " << shape[2]
                       << ", but got " << group;
  return success();
}

int64_t getStorageBits(Type element) {
  constexpr int64_t tf32Bits = 32;
  return isa<FloatTF32Type>(element) ? tf32Bits
                                     : element.getIntOrFloatBitWidth();
}

int64_t getElementBytes(TargetUnitAttr unit) {
  constexpr int64_t byteBits = 8;
  return getStorageBits(unit.getLhs()) / byteBits;
}

bool readsAlongDepth(TargetUnitAttr unit) {
  constexpr int64_t eitherOrder = 2; // bytes
  return getElementBytes(unit) != eitherOrder;
}

LogicalResult ProductAttr::verify(function_ref<InFlightDiagnostic()> emitError,
                                  Type lhs, Type rhs, Type acc) {
  for (Type type : {lhs, rhs, acc})
    if (!type.isIntOrFloat() || type.isSignlessInteger())
      return emitError() << "expected floats, or integers with explicit "
                            "signedness, but got "
                         << type;
  return success();
}

LogicalResult CpuTargetAttr::verify(
    function_ref<InFlightDiagnostic()> emitError, StringRef chip,
    int64_t vectorBytes, ArrayRef<int64_t> caches, int64_t flopsPerByte,
    ArrayRef<TargetUnitAttr> units, ArrayRef<CpuFeature>, ArrayRef<CpuTrait>) {
  if (chip.empty())
    return emitError() << "expected a CPU to have a chip";
  if (vectorBytes != 16 && vectorBytes != 32 && vectorBytes != 64)
    return emitError() << "expected vector_bytes of 16, 32 or 64, but got "
                       << vectorBytes;
  if (caches.size() != 2 || caches[0] < kLeastL2Bytes || caches[1] < caches[0])
    return emitError() << "expected caches to be the bytes of the second level "
                          "(at least "
                       << kLeastL2Bytes << ") and of the last level";
  if (flopsPerByte < 1)
    return emitError() << "expected flops_per_byte of at least 1, but got "
                       << flopsPerByte;
  return success();
}

bool CpuTargetAttr::has(CpuFeature feature) const {
  return llvm::is_contained(getFeatures(), feature);
}

bool CpuTargetAttr::has(CpuTrait trait) const {
  return llvm::is_contained(getTraits(), trait);
}

/// Returns the unit of these element types, or null.
static TargetUnitAttr findUnit(ArrayRef<TargetUnitAttr> units, Type lhs,
                               Type rhs, Type acc) {
  const auto *found = llvm::find_if(units, [&](TargetUnitAttr unit) {
    return unit.getLhs() == lhs && unit.getRhs() == rhs && unit.getAcc() == acc;
  });
  return found == units.end() ? TargetUnitAttr() : *found;
}

TargetUnitAttr findWarpUnit(CudaTargetAttr target, ProductAttr product) {
  auto ofWarps = llvm::to_vector(
      llvm::make_filter_range(target.getUnits(), [](TargetUnitAttr unit) {
        return unit.getName() == "mma";
      }));
  return tile::findUnit(ofWarps, product.getLhs(), product.getRhs(),
                        product.getAcc());
}

/// Returns those of a CPU's units that multiply matrices, or the others.
static SmallVector<TargetUnitAttr> selectUnits(CpuTargetAttr target,
                                               bool ofMatrices) {
  return llvm::to_vector(
      llvm::make_filter_range(target.getUnits(), [&](TargetUnitAttr unit) {
        return (unit.getShape()[0] > 1) == ofMatrices;
      }));
}

TargetUnitAttr CpuTargetAttr::findUnit(Type lhs, Type rhs, Type acc) const {
  return tile::findUnit(selectUnits(*this, /*ofMatrices=*/false), lhs, rhs,
                        acc);
}

TargetUnitAttr CpuTargetAttr::findPairUnit() const {
  auto integer = [&](unsigned bits) {
    return IntegerType::get(getContext(), bits, IntegerType::Signed);
  };
  return findUnit(integer(16), integer(16), integer(32));
}

bool CpuTargetAttr::multipliesBytes() const {
  auto integer = [&](unsigned bits, IntegerType::SignednessSemantics sign) {
    return IntegerType::get(getContext(), bits, sign);
  };
  return findPairUnit() || findUnit(integer(8, IntegerType::Unsigned),
                                    integer(8, IntegerType::Signed),
                                    integer(32, IntegerType::Signed));
}

TargetUnitAttr CpuTargetAttr::findMatrixUnit(Type lhs, Type rhs,
                                             Type acc) const {
  return tile::findUnit(selectUnits(*this, /*ofMatrices=*/true), lhs, rhs, acc);
}

LogicalResult
CudaTargetAttr::verify(function_ref<InFlightDiagnostic()> emitError,
                       StringRef chip, int64_t multiprocessors,
                       int64_t sharedBytes, ArrayRef<TargetUnitAttr>,
                       ArrayRef<CudaFeature>) {
  if (chip.empty())
    return emitError() << "expected a GPU to have a chip";
  if (multiprocessors < 1 || sharedBytes < 1)
    return emitError() << "expected multiprocessors and shared_bytes of at "
                          "least 1, but got "
                       << multiprocessors << " and " << sharedBytes;
  return success();
}

bool CudaTargetAttr::has(CudaFeature feature) const {
  return llvm::is_contained(getFeatures(), feature);
}

int64_t CudaTargetAttr::getMostClusterBlocks() const {
  // CUDA C++ programming guide, "Thread block clusters".
  constexpr int64_t portable = 8;
  return has(CudaFeature::tma) ? portable : 1;
}

int64_t countClusters(int64_t blocks, int64_t multiprocessors) {
  // Of a thousand multiprocessors of an H200 that clusters of 1, 2 .. blocks
  // can occupy (cuOccupancyMaxActiveClusters).
  constexpr int64_t occupied[] = {1000, 1000, 887, 910, 834, 773, 796, 910};
  return multiprocessors * occupied[blocks - 1] / (1000 * blocks);
}

TargetUnitAttr CudaTargetAttr::findUnit(Type lhs, Type rhs, Type acc) const {
  return tile::findUnit(getUnits(), lhs, rhs, acc);
}

LogicalResult
GpuScheduleAttr::verify(function_ref<InFlightDiagnostic()> emitError,
                        ArrayRef<int64_t> warps, int64_t stages,
                        int64_t inflight, int64_t persistent) {
  constexpr int64_t mostWarps = 32;
  if (warps.size() != 2 || warps[0] < 1 || warps[1] < 1 ||
      warps[0] + warps[1] > mostWarps)
    return emitError() << "expected warps of two roles, at least one of each "
                          "and at most "
                       << mostWarps;
  if (inflight < 0 || stages <= inflight)
    return emitError() << "expected more stages than inflight (" << inflight
                       << "), but got " << stages;
  if (persistent < 1)
    return emitError() << "expected persistent of at least 1, but got "
                       << persistent;
  return success();
}

/// Verifies a schedule whose unit is threads.
static LogicalResult verifyThreads(function_ref<InFlightDiagnostic()> emitError,
                                   ArrayRef<ScheduleDimAttr> dims,
                                   bool hasOperands) {
  constexpr int64_t mostThreads = 1024, warp = 32, mostBlocks = 8;
  int64_t threads = 0, blocks = 1;
  for (ScheduleDimAttr dim : dims) {
    if (dim.getName() == "threads")
      threads = dim.getSize();
    else if (dim.getName() == "split")
      blocks = dim.getSize();
  }
  if (!llvm::isPowerOf2_64(threads) || threads < warp || threads > mostThreads)
    return emitError()
           << "expected 32 to 1024 threads, a power of two, but got "
           << threads;
  if (!llvm::isPowerOf2_64(blocks) || blocks > mostBlocks)
    return emitError() << "expected a split among 1, 2, 4 or 8 blocks of "
                          "threads, but got "
                       << blocks;
  if (hasOperands)
    return emitError() << "expected a schedule of threads to have no operands "
                          "and no warps of roles";
  return success();
}

LogicalResult ScheduleAttr::verify(function_ref<InFlightDiagnostic()> emitError,
                                   StringRef unit,
                                   ArrayRef<ScheduleDimAttr> dims,
                                   ArrayRef<ScheduleOperandAttr> operands,
                                   GpuScheduleAttr gpu) {
  if (unit.empty())
    return emitError() << "expected a schedule to have a unit";
  llvm::SmallSet<StringRef, 4> names;
  for (ScheduleDimAttr dim : dims)
    if (dim.getSize() < 1 || !names.insert(dim.getName()).second)
      return emitError() << "expected dims of distinct names and at least 1, "
                            "but got "
                         << dim;
  if (unit == kThreadsUnit)
    return verifyThreads(emitError, dims, !operands.empty() || gpu);
  if (!gpu)
    return emitError() << "expected a schedule of unit '" << unit
                       << "' to have the stages and warps of a GPU";
  if (operands.size() != 2 && operands.size() != 3)
    return emitError() << "expected two or three operands, but got "
                       << operands.size();
  return success();
}

int64_t ScheduleAttr::getBlock(StringRef name) const {
  for (ScheduleDimAttr dim : getDims())
    if (dim.getName() == name)
      return dim.getSize();
  return 0;
}

void setTargets(ModuleOp module, ArrayRef<Attribute> targets) {
  module->setAttr(kTargetsAttribute,
                  ArrayAttr::get(module.getContext(), targets));
}

ArrayRef<Attribute> getTargets(Operation *op) {
  for (; op; op = op->getParentOp())
    if (auto targets = op->getAttrOfType<ArrayAttr>(kTargetsAttribute))
      return targets.getValue();
  return {};
}

CpuTargetAttr findCpuTarget(Operation *op) {
  for (Attribute target : getTargets(op))
    if (auto cpu = dyn_cast<CpuTargetAttr>(target))
      return cpu;
  return {};
}

CpuTargetAttr getCpuTarget(Operation *op) {
  if (CpuTargetAttr stated = findCpuTarget(op))
    return stated;
  constexpr int64_t vectorBytes = 64, flopsPerByte = 8;
  return CpuTargetAttr::get(op->getContext(), "generic", vectorBytes,
                            {1 << 20, 32 << 20}, flopsPerByte, {}, {}, {});
}

CudaTargetAttr findCudaTarget(Operation *op) {
  for (Attribute target : getTargets(op))
    if (auto gpu = dyn_cast<CudaTargetAttr>(target))
      return gpu;
  return {};
}

LogicalResult TileDialect::verifyOperationAttribute(Operation *op,
                                                    NamedAttribute attribute) {
  if (attribute.getName() == kScheduleAttribute) {
    // Functions made from a kernel keep its attributes.
    if (!isa<FunctionOpInterface>(op) ||
        !isa<ScheduleAttr>(attribute.getValue()))
      return op->emitError("expected ")
             << kScheduleAttribute << " to be the schedule of a kernel";
    return success();
  }
  if (attribute.getName() == kUsualSizeAttribute) {
    auto size = dyn_cast<IntegerAttr>(attribute.getValue());
    if (!isa<FunctionOpInterface>(op) || !size || size.getInt() < 1)
      return op->emitError("expected ")
             << kUsualSizeAttribute << " to be a positive size of a kernel";
    return success();
  }
  if (attribute.getName() != kTargetsAttribute)
    return success();
  auto targets = dyn_cast<ArrayAttr>(attribute.getValue());
  if (!targets ||
      !llvm::all_of(targets, llvm::IsaPred<CodegenTargetAttrInterface>))
    return op->emitError("expected ")
           << kTargetsAttribute << " to be a list of targets";
  if (!llvm::all_equal(llvm::map_range(
          targets, [](Attribute target) { return target.getTypeID(); })))
    return op->emitError("expected ")
           << kTargetsAttribute << " to be targets of one kind of device";
  return success();
}

} // namespace adze::tile
