// Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
//
// Estimates of time from operations and bytes.
#include "LightKernels.h"
#include "Describe.h"
#include "Dialect/Tile/IR/Tile.h"
#include "Transforms/ArenaFormula.h"
#include "mlir/IR/SymbolTable.h"

using namespace mlir;

namespace adze {

double estimateTime(host::LaunchOp launch, ArrayRef<int64_t> symbols) {
  // A core executes some eight operations in the time of loading a byte.
  constexpr double operationsPerByte = 8;
  auto getValue = [&](Attribute attr) -> double {
    return evaluate(host::getBytesExpr(attr, launch.getContext()), symbols);
  };
  double bytes[] = {0, 0}; // read, written
  size_t numInputs = launch.getNumOperands() - launch.getNumOutputs();
  for (auto [index, place] : llvm::enumerate(launch.getOperands()))
    bytes[index >= numInputs] += evaluate(host::getPlaceBytes(place), symbols);
  if (Attribute part = launch->getAttr(host::bytesReadAttr))
    bytes[0] = getValue(part);
  if (Attribute part = launch->getAttr(host::bytesWrittenAttr))
    bytes[1] = getValue(part);
  Attribute flops = launch->getAttr(host::flopsAttr);
  double operations = flops ? getValue(flops) : 0;
  return std::max(operations / operationsPerByte, bytes[0] + bytes[1]);
}

llvm::StringSet<> findLightKernels(ModuleOp module, func::FuncOp program,
                                   const EqualKernels &kernels) {
  constexpr double part = 0.05;
  llvm::StringMap<StringRef> compiledFor;
  for (const KernelAlias &alias : kernels.aliases)
    compiledFor[alias.name] = alias.of;
  SmallVector<int64_t> symbols = getTypicalSymbols(program);
  llvm::StringMap<double> times;
  llvm::StringSet<> inLoops;
  double whole = 0;
  for (host::LaunchOp launch : getLaunches(program)) {
    StringRef name = launch.getCallee();
    if (auto other = compiledFor.find(name); other != compiledFor.end())
      name = other->second;
    if (launch->getParentOp() != program)
      inLoops.insert(name);
    double time = estimateTime(launch, symbols);
    times[name] += time;
    whole += time;
  }
  SmallVector<std::pair<double, StringRef>> order;
  SymbolTable symbolTable(module);
  for (StringRef name : kernels.different)
    if (symbolTable.lookup<tile::KernelOp>(name) && !inLoops.contains(name))
      order.push_back({times.lookup(name), name});
  llvm::sort(order);
  llvm::StringSet<> light;
  double sum = 0;
  for (auto [time, name] : order)
    if ((sum += time) <= part * whole)
      light.insert(name);
  return light;
}

} // namespace adze
