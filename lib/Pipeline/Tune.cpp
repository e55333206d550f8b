// Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
//
// The search: each parameter is halved and doubled, from the default bindings
// to a local minimum.
#include "Tune.h"
#include "Compilation.h"
#include "Dialect/Host/IR/Host.h"
#include "Dialect/Tile/Transforms/Schedules.h"
#include "Transforms/ArenaFormula.h"
#include "mlir/IR/Diagnostics.h"
#include "mlir/Interfaces/FunctionInterfaces.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/xxhash.h"

using namespace mlir;

namespace adze {

//===----------------------------------------------------------------------===//
// Kernels
//===----------------------------------------------------------------------===//

static TuneBindings getBindings(tile::KernelOp kernel) {
  TuneBindings bindings;
  if (auto given = kernel->getAttrOfType<DictionaryAttr>("tile.params"))
    for (NamedAttribute entry : given)
      if (auto value = dyn_cast<IntegerAttr>(entry.getValue()))
        bindings[entry.getName().str()] = value.getInt();
  return bindings;
}

static void setBindings(tile::KernelOp kernel, const TuneBindings &bindings) {
  Builder builder(kernel.getContext());
  NamedAttrList list;
  for (const auto &[name, value] : bindings)
    list.set(name, builder.getI64IntegerAttr(value));
  kernel->setAttr("tile.params", list.getDictionary(kernel.getContext()));
}

OwningOpRef<ModuleOp> cloneBound(tile::KernelOp kernel,
                                 const TuneBindings &bindings) {
  OwningOpRef<ModuleOp> module = ModuleOp::create(kernel.getLoc());
  auto copy = cast<tile::KernelOp>(kernel->clone());
  setBindings(copy, bindings);
  module->push_back(copy);
  tile::setTargets(*module, tile::getCpuTarget(kernel));
  return module;
}

std::optional<SmallVector<int64_t>> getArgumentDims(tile::KernelOp kernel,
                                                    unsigned index,
                                                    ArrayRef<int64_t> symbols) {
  auto function = cast<FunctionOpInterface>(kernel.getOperation());
  auto type = cast<MemRefType>(function.getArgumentTypes()[index]);
  auto map = function.getArgAttrOfType<AffineMapAttr>(index, host::dimsAttr);
  if (!map && !type.hasStaticShape())
    return std::nullopt;
  SmallVector<int64_t> dims;
  for (int64_t dim = 0; dim < type.getRank(); ++dim)
    dims.push_back(type.isDynamicDim(dim)
                       ? evaluate(map.getValue().getResult(dim), symbols)
                       : type.getDimSize(dim));
  return dims;
}

std::string getTuneKey(tile::KernelOp kernel, StringRef target,
                       ArrayRef<int64_t> symbols) {
  OwningOpRef<tile::KernelOp> copy = cast<tile::KernelOp>(kernel->clone());
  copy->setSymName("k");
  for (StringRef name :
       {StringRef("tile.params"), StringRef(tile::kCudaBindings),
        StringRef(tile::kScheduleAttribute)})
    (*copy)->removeAttr(name);
  std::string text;
  llvm::raw_string_ostream os(text);
  (*copy)->print(os);
  os << target;
  for (int64_t symbol : symbols)
    os << " " << symbol;
  llvm::XXH128_hash_t hash =
      llvm::xxh3_128bits(llvm::arrayRefFromStringRef(text));
  return llvm::utohexstr(hash.high64, true, 16) +
         llvm::utohexstr(hash.low64, true, 16);
}

LogicalResult verifyBindings(tile::KernelOp kernel,
                             const TuneBindings &bindings, bool all,
                             StringRef key, const CompileOptions &options) {
  constexpr int64_t most = 1 << 30; // products of values must not overflow
  auto fail = [&](const Twine &why) {
    return emitError(UnknownLoc::get(kernel.getContext()))
           << options.tuneDatabase << ": entry '" << key << "' of kernel '"
           << kernel.getSymName() << "': " << why;
  };
  llvm::StringMap<tile::ParamOp> params;
  kernel.walk([&](tile::ParamOp param) { params[param.getName()] = param; });
  for (const auto &[name, value] : bindings) {
    tile::ParamOp param = params.lookup(name);
    if (!param)
      return fail("the kernel has no parameter '" + name + "'");
    if (value < 1 || value > most)
      return fail("expected " + name + " to be from 1 to " + Twine(most) +
                  ", but got " + Twine(value));
    if (!tile::mayBind(param, value))
      return fail("expected one of " +
                  llvm::join(llvm::map_range(*param.getChoices(),
                                             [](int64_t choice) {
                                               return std::to_string(choice);
                                             }),
                             ", ") +
                  " for " + name + ", but got " + Twine(value));
  }
  for (const auto &param : params)
    if (all && !bindings.count(param.getKey().str()))
      return fail("expected a value for the parameter '" + param.getKey() +
                  "'");
  return success();
}

//===----------------------------------------------------------------------===//
// The search
//===----------------------------------------------------------------------===//

TuneCost getTuneCost(double sequential, int64_t programs) {
  // With eight cores, the last one ends with its last program.
  constexpr int64_t cores = 8;
  int64_t count = std::max<int64_t>(programs, 1);
  return {sequential, sequential *
                          double(llvm::divideCeil(count, cores) * cores) /
                          double(count)};
}

using Cost = llvm::function_ref<std::optional<TuneCost>(const TuneBindings &)>;
using Clock = std::chrono::steady_clock;

/// Moves from bindings of this cost to the best neighbour until none is better
/// by more than noise.
static TuneBindings search(TuneBindings best, Cost cost,
                           Clock::time_point deadline, TuneCost &bestCost) {
  constexpr int64_t largest = 1 << 16;
  std::map<TuneBindings, bool> seen = {{best, true}};
  for (bool improved = true; improved;) {
    improved = false;
    TuneBindings start = best;
    for (const auto &[name, value] : start)
      for (int64_t other : {value / 2, value * 2}) {
        TuneBindings candidate = start;
        candidate[name] = other;
        if (other < 1 || other > largest || Clock::now() > deadline ||
            !seen.insert({candidate, true}).second)
          continue;
        std::optional<TuneCost> found = cost(candidate);
        if (!found || !found->isBetterThan(bestCost))
          continue;
        best = candidate;
        bestCost = *found;
        improved = true;
      }
  }
  return best;
}

static std::string toString(const TuneBindings &bindings) {
  std::string text;
  for (const auto &[name, value] : bindings)
    text += " " + name + "=" + std::to_string(value);
  return text;
}

/// Tunes one kernel. Fails if its entry in the database is invalid.
static LogicalResult
tuneKernel(tile::KernelOp kernel, const CompileOptions &options,
           const TuneContext &context, TuneDatabase &database,
           Clock::time_point deadline, llvm::raw_ostream &log) {
  bool measures = options.tune == Tune::Measure;
  TuneBindings bindings = getBindings(kernel);
  if (bindings.empty())
    return success();
  std::string key = getTuneKey(
      kernel, context.target.cpu + context.target.features, context.symbols);
  if (const TuneEntry *known = measures ? database.find(key) : nullptr) {
    if (failed(verifyBindings(kernel, known->parameters, /*all=*/true, key,
                              options)))
      return failure();
    setBindings(kernel, known->parameters);
    log << "tune: " << kernel.getSymName() << toString(known->parameters)
        << " (known)\n";
    return success();
  }
  // Bindings that cannot be lowered are not candidates, and not errors.
  ScopedDiagnosticHandler silence(kernel.getContext(),
                                  [](Diagnostic &) { return success(); });
  auto getCost = [&](const TuneBindings &candidate) {
    return measures ? measureCost(kernel, candidate, context)
                    : estimateCost(kernel, candidate, context);
  };
  TuneBindings best = bindings;
  TuneCost cost = {};
  if (std::optional<TuneCost> first = getCost(bindings)) {
    cost = *first;
    best = search(bindings, getCost, deadline, cost);
    if (measures && best != bindings &&
        !isFaster(kernel, best, bindings, context)) {
      best = bindings;
      cost = *first;
    }
  }
  setBindings(kernel, best);
  log << "tune: " << kernel.getSymName() << toString(best) << " cost "
      << llvm::format("%.4g", cost.parallel)
      << (best == bindings ? " (default)" : "") << "\n";
  if (measures && cost.parallel > 0)
    database.add(key, {kernel.getSymName().str(), best, "", cost.parallel});
  return success();
}

LogicalResult tuneKernels(ModuleOp module, const CompileOptions &options,
                          const TuneContext &context, llvm::raw_ostream &log,
                          llvm::function_ref<void(size_t, size_t)> progress) {
  TuneDatabase database;
  if (llvm::Error error = database.read(options.tuneDatabase))
    return emitError(module.getLoc()) << llvm::toString(std::move(error));
  auto deadline = Clock::now() + std::chrono::seconds(options.maxSeconds);
  auto kernels = llvm::to_vector(module.getOps<tile::KernelOp>());
  for (auto [number, kernel] : llvm::enumerate(kernels)) {
    progress(number, kernels.size());
    if (failed(tuneKernel(kernel, options, context, database, deadline, log)))
      return failure();
  }
  if (llvm::Error error = database.write(options.tuneDatabase))
    return emitError(module.getLoc()) << llvm::toString(std::move(error));
  return success();
}

/// Tunes for the first CPU, which must be that of this machine for
/// measurements.
CompileStatus Compilation::tune() {
  if (programs.back().isForDevices())
    if (CompileStatus status = setTunedSchedules();
        status != CompileStatus::Done)
      return status;
  bool isTrial =
      options.trial && (options.trial->alternative || options.trial->isOver());
  if (programs.front().isForDevices() || isTrial)
    return CompileStatus::Done;
  TuneContext tuning = {targets.front(), stageOptions, {}};
  ModuleOp module = *programs.front().module;
  auto main = module.lookupSymbol<func::FuncOp>("main");
  if (main)
    tuning.symbols = getTypicalSymbols(main);
  if (options.tune == Tune::Measure) {
    auto native = cpu::CpuTarget::resolve("", "native");
    if (!native || native->triple != targets.front().triple ||
        (targets.front().moduleFeatures & ~native->moduleFeatures)) {
      if (!native)
        llvm::consumeError(native.takeError());
      emitError(UnknownLoc::get(&context))
          << "unsupported: --tune=measure for a CPU that is not this one";
      return CompileStatus::Unsupported;
    }
  }
  llvm::raw_ostream &log = options.verbose ? diagnostics : llvm::nulls();
  return succeeded(tuneKernels(
             module, options, tuning, log,
             [&](size_t done, size_t all) { progress("tune", done, all); }))
             ? CompileStatus::Done
             : CompileStatus::InputAtFault;
}

} // namespace adze
