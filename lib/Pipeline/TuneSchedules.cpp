// Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
//
// Schedules of kernels for a GPU that were measured, or are to be.
#include "Compilation.h"
#include "Dialect/Graph/IR/Shape.h"
#include "Dialect/Tile/IR/Targets.h"
#include "Dialect/Tile/Transforms/Schedules.h"
#include "Transforms/ArenaFormula.h"
#include "Tune.h"
#include "mlir/AsmParser/AsmParser.h"

using namespace mlir;

namespace adze {

/// The number of choices that are measured for a kernel.
static constexpr unsigned kMostChoices = 8;

static TuneEntry makeEntry(tile::KernelOp kernel,
                           const tile::ScheduleChoice &choice) {
  TuneEntry entry;
  entry.kernel = kernel.getSymName().str();
  if (choice.params)
    for (NamedAttribute param : choice.params)
      entry.parameters[param.getName().str()] =
          cast<IntegerAttr>(param.getValue()).getInt();
  if (choice.schedule) {
    llvm::raw_string_ostream os(entry.schedule);
    os << choice.schedule;
  }
  return entry;
}

/// Returns the choice that the entry describes; its schedule may be invalid.
static FailureOr<tile::ScheduleChoice> readEntry(MLIRContext *context,
                                                 const TuneEntry &entry) {
  Builder b(context);
  tile::ScheduleChoice choice;
  NamedAttrList params;
  for (const auto &[name, value] : entry.parameters)
    params.set(name, b.getI64IntegerAttr(value));
  if (!params.empty())
    choice.params = params.getDictionary(context);
  if (entry.schedule.empty())
    return choice;
  choice.schedule = dyn_cast_or_null<tile::ScheduleAttr>(
      parseAttribute(entry.schedule, context));
  if (!choice.schedule)
    return failure();
  return choice;
}

/// Returns the dims of the arguments of the host program.
static std::vector<std::vector<int64_t>>
getInputDims(func::FuncOp program, ArrayRef<int64_t> symbols) {
  std::vector<std::vector<int64_t>> inputs;
  for (Type type : program.getArgumentTypes()) {
    std::vector<int64_t> &dims = inputs.emplace_back();
    for (AffineExpr dim : graph::getDims(type))
      dims.push_back(dim ? evaluate(dim, symbols) : 1);
  }
  return inputs;
}

/// Sets the schedules of the database on the kernels for a GPU, and those of
/// the trial on the others.
CompileStatus Compilation::setTunedSchedules() {
  ModuleOp module = *programs.back().module;
  tile::CudaTargetAttr target = tile::findCudaTarget(module);
  if (options.tune != Tune::Measure)
    return CompileStatus::Done;
  TuneDatabase database;
  if (llvm::Error error = database.read(options.tuneDatabase)) {
    emitError(module.getLoc()) << llvm::toString(std::move(error));
    return CompileStatus::InputAtFault;
  }
  auto main = module.lookupSymbol<func::FuncOp>("main");
  SmallVector<int64_t> symbols;
  if (main)
    symbols = getTypicalSymbols(main);
  if (options.trial) {
    options.trial->kernels.clear();
    options.trial->mostChoices = 0;
    options.trial->inputDims = main ? getInputDims(main, symbols)
                                    : std::vector<std::vector<int64_t>>();
  }
  for (auto kernel : module.getOps<tile::KernelOp>()) {
    if (tile::getSchedule(kernel))
      continue;
    std::string key = getTuneKey(kernel, target.getChip(), symbols);
    if (const TuneEntry *entry = database.find(key)) {
      auto choice = readEntry(&context, *entry);
      if (failed(choice)) {
        emitError(module.getLoc())
            << options.tuneDatabase << ": invalid schedule of entry '" << key
            << "': " << entry->schedule;
        return CompileStatus::InputAtFault;
      }
      if (failed(verifyBindings(kernel, entry->parameters, /*all=*/false, key,
                                options)))
        return CompileStatus::InputAtFault;
      tile::setSchedule(kernel, *choice);
      continue;
    }
    if (!options.trial)
      continue;
    auto choices = tile::listSchedules(kernel, target, options.batchInvariant,
                                       kMostChoices);
    if (choices.size() < 2)
      continue;
    options.trial->mostChoices =
        std::max<unsigned>(options.trial->mostChoices, choices.size());
    std::optional<unsigned> alternative = options.trial->alternative;
    if (!alternative || *alternative >= choices.size())
      continue;
    const tile::ScheduleChoice &choice = choices[*alternative];
    options.trial->kernels.push_back({key, makeEntry(kernel, choice)});
    tile::setSchedule(kernel, choice);
  }
  return CompileStatus::Done;
}

} // namespace adze
