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

namespace {
/// An estimate of time, in units of the time of a byte.
class Estimate {
public:
  explicit Estimate(func::FuncOp program)
      : program(program), symbols(getTypicalSymbols(program)) {}

  double get(host::LaunchOp launch);

private:
  double getValue(Attribute attr) {
    return evaluate(host::getBytesExpr(attr, program.getContext()), symbols);
  }

  func::FuncOp program;
  SmallVector<int64_t> symbols;
};
} // namespace

double Estimate::get(host::LaunchOp launch) {
  // A core executes about eight multiply-adds in the time of a byte from
  // memory.
  constexpr double operationsPerByte = 8;
  double bytes[] = {0, 0}; // read, written
  size_t numInputs = launch.getNumOperands() - launch.getNumOutputs();
  for (auto [index, place] : llvm::enumerate(launch.getOperands()))
    bytes[index >= numInputs] += evaluate(host::getPlaceBytes(place), symbols);
  if (Attribute part = launch->getAttr(host::bytesReadAttr))
    bytes[0] = getValue(part);
  if (Attribute part = launch->getAttr(host::bytesWrittenAttr))
    bytes[1] = getValue(part);
  double operations = getValue(launch->getAttr(host::flopsAttr));
  return std::max(operations / operationsPerByte, bytes[0] + bytes[1]);
}

llvm::StringSet<> findLightKernels(ModuleOp module, func::FuncOp program,
                                   const EqualKernels &kernels) {
  constexpr double part = 0.05;
  llvm::StringMap<StringRef> compiledFor;
  for (const KernelTwin &twin : kernels.twins)
    compiledFor[twin.name] = twin.of;
  Estimate estimate(program);
  llvm::StringMap<double> times;
  llvm::StringSet<> inLoops;
  double whole = 0;
  for (host::LaunchOp launch : getLaunches(program)) {
    StringRef name = launch.getCallee();
    if (auto other = compiledFor.find(name); other != compiledFor.end())
      name = other->second;
    if (launch->getParentOp() != program)
      inLoops.insert(name);
    double time = estimate.get(launch);
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
