// Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
//
// The search: each parameter is halved and doubled, from the default bindings
// to a local minimum.
#include "Tune.h"
#include "Dialect/Host/IR/Host.h"
#include "Support/OutputFile.h"
#include "Transforms/ArenaFormula.h"
#include "mlir/IR/Diagnostics.h"
#include "mlir/Interfaces/FunctionInterfaces.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/FileUtilities.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/JSON.h"
#include "llvm/Support/MemoryBuffer.h"
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

//===----------------------------------------------------------------------===//
// The database
//===----------------------------------------------------------------------===//

namespace {
/// The measurements: a JSON object of entries by a digest of kernel, CPU and
/// sizes.
class TuneDatabase {
public:
  LogicalResult read(StringRef path, Location loc);
  LogicalResult write(StringRef path, Location loc) const;

  const TuneBindings *find(const std::string &key) const {
    auto it = entries.find(key);
    return it == entries.end() ? nullptr : &it->second.bindings;
  }
  void add(const std::string &key, StringRef kernel, TuneBindings bindings,
           double nanoseconds) {
    entries[key] = {kernel.str(), std::move(bindings), nanoseconds};
    isChanged = true;
  }

private:
  struct Entry {
    std::string kernel;
    TuneBindings bindings;
    double nanoseconds;
  };
  std::map<std::string, Entry> entries;
  bool isChanged = false;
};
} // namespace

LogicalResult TuneDatabase::read(StringRef path, Location loc) {
  auto file = llvm::MemoryBuffer::getFile(path, /*IsText=*/true);
  if (file.getError() == std::errc::no_such_file_or_directory)
    return success();
  if (!file)
    return emitError(loc) << path << ": " << file.getError().message();
  auto value = llvm::json::parse((*file)->getBuffer());
  if (!value) {
    llvm::consumeError(value.takeError());
    return emitError(loc) << path << ": expected a tuning log in JSON";
  }
  const llvm::json::Object *root = value->getAsObject();
  const llvm::json::Object *list = root ? root->getObject("entries") : nullptr;
  if (!list)
    return emitError(loc) << path << ": expected an object with 'entries'";
  for (const auto &[key, item] : *list) {
    const llvm::json::Object *object = item.getAsObject();
    const llvm::json::Object *parameters =
        object ? object->getObject("parameters") : nullptr;
    if (!parameters)
      return emitError(loc) << path << ": expected 'parameters' of entry '"
                            << StringRef(key) << "'";
    Entry entry;
    entry.kernel = object->getString("kernel").value_or("").str();
    entry.nanoseconds = object->getNumber("ns").value_or(0);
    for (const auto &[name, number] : *parameters)
      if (auto integer = number.getAsInteger(); integer && *integer > 0)
        entry.bindings[StringRef(name).str()] = *integer;
    entries[StringRef(key).str()] = std::move(entry);
  }
  return success();
}

LogicalResult TuneDatabase::write(StringRef path, Location loc) const {
  if (!isChanged)
    return success();
  llvm::Error error =
      writeOutput(path, [&](llvm::raw_ostream &os) -> llvm::Error {
        llvm::json::OStream json(os, /*IndentSize=*/1);
        json.object([&] {
          json.attribute("version", 1);
          json.attributeObject("entries", [&] {
            for (const auto &[key, entry] : entries)
              json.attributeObject(key, [&, &entry = entry] {
                json.attribute("kernel", entry.kernel);
                json.attribute("ns", entry.nanoseconds);
                json.attributeObject("parameters", [&] {
                  for (const auto &[name, value] : entry.bindings)
                    json.attribute(name, value);
                });
              });
          });
        });
        os << "\n";
        return llvm::Error::success();
      });
  if (!error)
    return success();
  return emitError(loc) << path << ": " << llvm::toString(std::move(error));
}

/// Returns a digest of the text of the kernel without its name, locations and
/// bindings, and of the tuning context.
static std::string getKey(tile::KernelOp kernel, const TuneContext &context) {
  auto copy = cast<tile::KernelOp>(kernel->clone());
  copy.setSymName("k");
  copy->removeAttr("tile.params");
  std::string text;
  llvm::raw_string_ostream os(text);
  copy->print(os);
  copy->erase();
  os << context.target.cpu << context.target.features;
  for (int64_t symbol : context.symbols)
    os << " " << symbol;
  llvm::XXH128_hash_t hash =
      llvm::xxh3_128bits(llvm::arrayRefFromStringRef(text));
  return llvm::utohexstr(hash.high64, true, 16) +
         llvm::utohexstr(hash.low64, true, 16);
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

/// Tunes one kernel; nothing is returned if there was no search.
static void tuneKernel(tile::KernelOp kernel, bool measures,
                       const TuneContext &context, TuneDatabase &database,
                       Clock::time_point deadline, llvm::raw_ostream &log) {
  TuneBindings bindings = getBindings(kernel);
  if (bindings.empty())
    return;
  std::string key = getKey(kernel, context);
  if (const TuneBindings *known = measures ? database.find(key) : nullptr) {
    setBindings(kernel, *known);
    log << "tune: " << kernel.getSymName() << toString(*known) << " (known)\n";
    return;
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
    database.add(key, kernel.getSymName(), best, cost.parallel);
}

LogicalResult tuneKernels(ModuleOp module, const CompileOptions &options,
                          const TuneContext &context, llvm::raw_ostream &log,
                          llvm::function_ref<void(size_t, size_t)> progress) {
  TuneDatabase database;
  if (!options.tuneDatabase.empty() &&
      failed(database.read(options.tuneDatabase, module.getLoc())))
    return failure();
  auto deadline = Clock::now() + std::chrono::seconds(options.maxSeconds);
  auto kernels = llvm::to_vector(module.getOps<tile::KernelOp>());
  for (auto [number, kernel] : llvm::enumerate(kernels)) {
    progress(number, kernels.size());
    tuneKernel(kernel, options.tune == Tune::Measure, context, database,
               deadline, log);
  }
  return options.tuneDatabase.empty()
             ? success()
             : database.write(options.tuneDatabase, module.getLoc());
}

} // namespace adze
