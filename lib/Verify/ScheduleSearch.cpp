// Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
//
// Measures schedules of kernels on a GPU (--tune=measure).
//
// Trial i is a module in which each kernel has the choice i of the cost model.
// Its kernels are measured one launch at a time, on the tensors that they have
// in the model. As launches overlap in runs, choices are kept only if runs of
// the whole model take less time.
#include "Verify/ScheduleSearch.h"
#include "Execution.h"
#include "Support/OutputFile.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/ScopeExit.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/JSON.h"
#include <chrono>
#include <map>

namespace adze {

using namespace verify;

namespace {

/// Nanoseconds of a run by kernel.
using Times = llvm::StringMap<double>;

class ScheduleSearch {
public:
  ScheduleSearch(const CompileOptions &options, llvm::raw_ostream &diagnostics)
      : options(options), diagnostics(diagnostics) {}

  CompileStatus run();

private:
  using Clock = std::chrono::steady_clock;
  static constexpr DLDevice kDevice = {kDLCUDA, 0};

  struct Choices {
    TuneEntry usual, best; ///< the first one, and that of the least time
    bool isSelected = false;

    const TuneEntry &get() const { return isSelected ? best : usual; }
  };

  CompileStatus makeTemporary(llvm::StringRef suffix, std::string &path);
  CompileStatus compileTrial(ScheduleTrial &trial, const std::string &output,
                             const std::string &database);
  CompileStatus search(unsigned choices);
  CompileStatus measure(const ScheduleTrial &trial, const std::string &path);
  CompileStatus select();
  CompileStatus tryAll(llvm::ArrayRef<std::string> keys);
  CompileStatus compare(const std::string &module, bool &isFaster);
  CompileStatus writeDatabase(const std::string &path);
  CompileStatus refuse(const std::string &error);
  void print() const;

  const CompileOptions &options;
  llvm::raw_ostream &diagnostics;
  Clock::time_point end; ///< of the search
  std::vector<std::string> temporaries;
  std::vector<std::vector<int64_t>> inputDims;
  std::map<std::string, Choices> kernels; ///< by key
  std::string fastest; ///< the module of the selected choices
};

} // namespace

/// Adds the times of a profile's kernels.
static bool readProfile(llvm::StringRef json, Times &times) {
  auto trace = llvm::json::parse(json);
  if (!trace) {
    llvm::consumeError(trace.takeError());
    return false;
  }
  const llvm::json::Object *root = trace->getAsObject();
  const llvm::json::Array *events =
      root ? root->getArray("traceEvents") : nullptr;
  if (!events)
    return false;
  constexpr double nanoseconds = 1e3;
  for (const llvm::json::Value &item : *events) {
    const llvm::json::Object *event = item.getAsObject();
    if (!event || event->getString("cat") != "kernel")
      continue;
    times[event->getString("name").value_or("")] +=
        event->getNumber("dur").value_or(0) * nanoseconds;
  }
  return true;
}

CompileStatus ScheduleSearch::refuse(const std::string &error) {
  diagnostics << "error: unsupported: --tune=measure for "
              << options.cudaTargets.front() << ": " << error
              << "; --tune-db=FILE replays what another machine measured\n";
  return CompileStatus::Unsupported;
}

CompileStatus ScheduleSearch::makeTemporary(llvm::StringRef suffix,
                                            std::string &path) {
  if (std::error_code code = createTemporary("adze-tune", suffix, path)) {
    diagnostics << "error: " << code.message() << "\n";
    return CompileStatus::InputAtFault;
  }
  temporaries.push_back(path);
  return CompileStatus::Done;
}

CompileStatus ScheduleSearch::compileTrial(ScheduleTrial &trial,
                                           const std::string &output,
                                           const std::string &database) {
  CompileOptions own = makeTrialOptions(options, output);
  own.emit = Emit::Module;
  own.cpu = options.cpu && options.allowHostFallback;
  own.trial = &trial;
  own.tuneDatabase = database;
  if (trial.alternative == 0u)
    return compile(own, diagnostics);
  own.observer = nullptr; // choices without code are not errors
  return compile(own, llvm::nulls());
}

/// Compiles and measures this many trials, one after the other, within the time
/// limit of searches.
CompileStatus ScheduleSearch::search(unsigned choices) {
  end = Clock::now() + std::chrono::seconds(options.maxSeconds);
  std::string other;
  CompileStatus status = makeTemporary("so", fastest);
  if (status == CompileStatus::Done)
    status = makeTemporary("so", other);
  for (unsigned i = 0; i < choices && status == CompileStatus::Done; ++i) {
    bool isUsual = i == 0;
    if (!isUsual && Clock::now() > end)
      break;
    ScheduleTrial trial;
    trial.alternative = i;
    const std::string &path = isUsual ? fastest : other;
    CompileStatus compiled = compileTrial(trial, path, options.tuneDatabase);
    if (compiled == CompileStatus::Cancelled ||
        (isUsual && compiled != CompileStatus::Done))
      return compiled;
    if (compiled != CompileStatus::Done)
      continue; // one of the choices has no code
    status = measure(trial, path);
  }
  return status == CompileStatus::Done ? select() : status;
}

/// Measures the kernels of a trial: the least times of a few runs.
CompileStatus ScheduleSearch::measure(const ScheduleTrial &trial,
                                      const std::string &path) {
  constexpr int runs = 7;
  inputDims = trial.inputDims;
  DeviceExecution execution;
  Times least;
  std::string error = execution.open(path, kDevice, inputDims);
  for (int i = 0; i < runs && error.empty(); ++i) {
    std::string trace;
    error = execution.profile(trace);
    Times times;
    if (error.empty() && !readProfile(trace, times))
      error = "a profile is no trace in JSON";
    for (auto &entry : times) {
      double &time =
          least.try_emplace(entry.first(), entry.second).first->second;
      time = std::min(time, entry.second);
    }
  }
  if (!error.empty())
    return refuse(error);
  for (const ScheduleTrial::Kernel &kernel : trial.kernels) {
    TuneEntry entry = kernel.entry;
    entry.nanoseconds = least.lookup(entry.kernel);
    auto [place, isNew] =
        kernels.try_emplace(kernel.key, Choices{entry, entry});
    TuneEntry &best = place->second.best;
    if (entry.nanoseconds < best.nanoseconds)
      best = entry;
  }
  return CompileStatus::Done;
}

/// Keeps the best choices with which runs take less time than with the usual
/// ones; those of the greatest gain are tried first.
CompileStatus ScheduleSearch::select() {
  std::multimap<double, std::string> gains; // negative
  for (const auto &[key, choices] : kernels)
    if (choices.best.nanoseconds < choices.usual.nanoseconds)
      gains.emplace(choices.best.nanoseconds - choices.usual.nanoseconds, key);
  std::vector<std::string> keys;
  for (const auto &[gain, key] : gains)
    keys.push_back(key);
  return keys.empty() ? CompileStatus::Done : tryAll(keys);
}

/// Selects the best choices of these kernels if runs then take less time, or
/// else tries the first and the second half of them.
CompileStatus ScheduleSearch::tryAll(llvm::ArrayRef<std::string> keys) {
  if (Clock::now() > end)
    return CompileStatus::Done;
  for (const std::string &key : keys)
    kernels[key].isSelected = true;
  std::string database, module;
  CompileStatus status = makeTemporary("json", database);
  if (status == CompileStatus::Done)
    status = makeTemporary("so", module);
  if (status == CompileStatus::Done)
    status = writeDatabase(database);
  ScheduleTrial none; // all kernels are in the database
  none.alternative = 0;
  if (status == CompileStatus::Done)
    status = compileTrial(none, module, database);
  bool isFaster = false;
  if (status == CompileStatus::Done)
    status = compare(module, isFaster);
  if (status != CompileStatus::Done)
    return status;
  removeTemporary(isFaster ? fastest : module);
  if (isFaster) {
    fastest = module;
    return status;
  }
  for (const std::string &key : keys)
    kernels[key].isSelected = false;
  if (keys.size() == 1)
    return status;
  size_t half = keys.size() / 2;
  status = tryAll(keys.take_front(half));
  return status == CompileStatus::Done ? tryAll(keys.drop_front(half)) : status;
}

/// Runs the module and the fastest one in turn, and compares the medians.
CompileStatus ScheduleSearch::compare(const std::string &module,
                                      bool &isFaster) {
  constexpr int rounds = 15, runs = 10;
  constexpr double worthwhile = 0.995;
  DeviceExecution executions[2];
  std::vector<double> times[2];
  std::string error = executions[0].open(module, kDevice, inputDims);
  if (error.empty())
    error = executions[1].open(fastest, kDevice, inputDims);
  for (int i = 0; i < 2 * rounds && error.empty(); ++i) {
    Clock::time_point begin = Clock::now();
    for (int j = 0; j < runs && error.empty(); ++j)
      error = executions[i % 2].run();
    times[i % 2].push_back(
        std::chrono::duration<double>(Clock::now() - begin).count());
  }
  if (!error.empty())
    return refuse(error);
  for (std::vector<double> &list : times)
    std::nth_element(list.begin(), list.begin() + rounds / 2, list.end());
  isFaster = times[0][rounds / 2] < worthwhile * times[1][rounds / 2];
  return CompileStatus::Done;
}

CompileStatus ScheduleSearch::writeDatabase(const std::string &path) {
  TuneDatabase database;
  llvm::Error error = database.read(options.tuneDatabase);
  for (const auto &[key, choices] : kernels)
    database.add(key, choices.get());
  if (!error)
    error = database.write(path);
  if (!error)
    return CompileStatus::Done;
  diagnostics << "error: " << llvm::toString(std::move(error)) << "\n";
  return CompileStatus::InputAtFault;
}

void ScheduleSearch::print() const {
  if (!options.verbose)
    return;
  for (const auto &[key, choices] : kernels) {
    diagnostics << "tune: " << choices.usual.kernel << ": "
                << llvm::format("%.1f us", choices.get().nanoseconds / 1e3);
    if (choices.isSelected)
      diagnostics << " instead of "
                  << llvm::format("%.1f us", choices.usual.nanoseconds / 1e3)
                  << " by " << choices.best.schedule;
    diagnostics << "\n";
  }
}

CompileStatus ScheduleSearch::run() {
  llvm::scope_exit remover([&] {
    for (const std::string &path : temporaries)
      removeTemporary(path);
  });
  if (options.cudaTargets.size() > 1) {
    diagnostics << "error: unsupported: --tune=measure for several GPUs; "
                   "compile for one of them at a time\n";
    return CompileStatus::Unsupported;
  }
  ScheduleTrial listed;
  CompileOptions own = options;
  own.trial = &listed;
  CompileStatus status = compile(own, diagnostics);
  if (status != CompileStatus::Done || !listed.mostChoices)
    return status;
  own.trial = nullptr;
  status = search(listed.mostChoices);
  if (status == CompileStatus::Done && own.tuneDatabase.empty())
    status = makeTemporary("json", own.tuneDatabase);
  if (status == CompileStatus::Done && !kernels.empty())
    status = writeDatabase(own.tuneDatabase);
  if (status != CompileStatus::Done)
    return status;
  print();
  return compile(own, diagnostics);
}

CompileStatus compileSearched(const CompileOptions &options,
                              llvm::raw_ostream &diagnostics) {
  return ScheduleSearch(options, diagnostics).run();
}

} // namespace adze
