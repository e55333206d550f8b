// Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
//
// The provider's callbacks, and compilation on all cores.
#include "Provider.h"
#include "Context.h"
#include <algorithm>
#include <atomic>
#include <malloc.h>
#include <system_error>
#include <thread>

namespace fs = std::filesystem;

namespace adze::ep {

/// The bytes of constants from which malloc_trim is worthwhile.
constexpr size_t kManyBytes = 32 << 20;

Provider::Provider(const Api &api, const OrtSessionOptions *session,
                   const OrtLogger *logger)
    : OrtEp{}, api(api), reader(api), log(api, logger),
      options(readOptions(api, session)), compiler(options, log),
      compatibility(getCompatibility()) {
  // An invalid option must end the creation of the session here: later failures
  // only leave nodes to other providers.
  if (!options.compilerOptions.empty() || !options.dims.empty() ||
      !options.compiler.empty())
    compiler.checkOptions();
  setCallbacks();
}

void Provider::setCallbacks() {
  ort_version_supported = kStructVersion;
  GetName = [](const OrtEp *) { return kName; };
  GetCapability = [](OrtEp *self, const OrtGraph *graph,
                     OrtEpGraphSupportInfo *info) -> OrtStatus * {
    auto *provider = static_cast<Provider *>(self);
    return guarded(provider->api, [&] { provider->claim(graph, info); });
  };
  Compile = [](OrtEp *self, const OrtGraph **graphs, const OrtNode **fused,
               size_t count, OrtNodeComputeInfo **infos,
               OrtNode **contexts) -> OrtStatus * {
    auto *provider = static_cast<Provider *>(self);
    return guarded(provider->api, [&] {
      provider->compile(graphs, fused, count, infos, contexts);
    });
  };
  ReleaseNodeComputeInfos = [](OrtEp *, OrtNodeComputeInfo **infos,
                               size_t count) {
    for (size_t i = 0; i < count; ++i)
      delete static_cast<CompiledNode *>(infos[i]);
  };
  OnRunStart = [](OrtEp *self, const OrtRunOptions *run) -> OrtStatus * {
    auto *provider = static_cast<Provider *>(self);
    return guarded(provider->api, [&] { provider->beginRun(run); });
  };
  OnRunEnd = [](OrtEp *self, const OrtRunOptions *, bool) -> OrtStatus * {
    auto *provider = static_cast<Provider *>(self);
    return guarded(provider->api, [&] { finishProfile(provider); });
  };
  GetCompiledModelCompatibilityInfo = [](OrtEp *self, const OrtGraph *) {
    return static_cast<Provider *>(self)->compatibility.c_str();
  };
}

/// Modules have separate copies of constants. ONNX Runtime releases its copies
/// at the end of the session's creation, and glibc returns such memory to the
/// system only on malloc_trim.
void Provider::beginRun(const OrtRunOptions *run) {
  if (hasReleasedConstants && hasReleasedConstants.exchange(false))
    malloc_trim(0);
  const char *file = api.ort.GetRunConfigEntry(run, "ep.adze.profile");
  if (file && *file)
    beginProfile(this, file);
}

//===----------------------------------------------------------------------===//
// What is compiled
//===----------------------------------------------------------------------===//

/// Returns the file name of the model, without its folder.
std::string Provider::getModelName(const OrtGraph *graph) {
  const char *path = nullptr;
  check(api, api.ort.Graph_GetModelPath(graph, &path));
  fs::path name = fs::path(path ? path : "").stem();
  return (name.empty() ? "model" : name.string()) + ".onnx";
}

Source Provider::makeSource(const OrtGraph *graph, const Subgraph &part,
                            Weights weights) {
  Source source = {
      writeModel(reader, graph, part, weights), getModelName(graph), {}};
  for (const OrtValueInfo *input : part.inputs)
    for (std::string &symbol : reader.getSymbols(input))
      source.symbols.push_back(std::move(symbol));
  return source;
}

Provider::Job Provider::makeJob(const OrtGraph *graph, const OrtNode *fused) {
  Job job = {fused, std::nullopt, std::nullopt, nullptr};
  Nodes nodes = reader.getNodes(graph);
  if (nodes.size() == 1 && isContext(reader, nodes[0])) {
    job.module = readContext(reader, graph, nodes[0], options);
    return job;
  }
  Subgraph whole = {nodes, reader.getInputs(fused), reader.getOutputs(fused)};
  job.source = makeSource(graph, whole, Weights::Whole);
  return job;
}

/// Compiles several partitions concurrently, each with all of the cores: a
/// small one does not use them all the time.
void Provider::compileAll(std::vector<Job> &jobs) {
  std::atomic<size_t> next{0};
  auto work = [&] {
    for (size_t i = next++; i < jobs.size(); i = next++)
      try {
        if (!jobs[i].module)
          jobs[i].module = compiler.compile(*jobs[i].source);
      } catch (...) {
        jobs[i].failure = std::current_exception();
      }
  };
  size_t count =
      std::min<size_t>(jobs.size(), std::thread::hardware_concurrency());
  std::vector<std::thread> threads;
  try {
    for (size_t i = 1; i < count; ++i)
      threads.emplace_back(work);
  } catch (const std::system_error &) {
    // No further threads can be started: the existing ones do the work.
  }
  work();
  for (std::thread &thread : threads)
    thread.join();
  for (const Job &job : jobs)
    if (job.failure)
      std::rethrow_exception(job.failure);
}

/// Opens a module. A module in the cache that is damaged, or for another
/// machine, is compiled again.
std::unique_ptr<CompiledNode> Provider::open(Job &job) {
  std::vector<std::string> inputs =
      reader.getNames(reader.getInputs(job.fused));
  std::vector<std::string> outputs =
      reader.getNames(reader.getOutputs(job.fused));
  auto make = [&] {
    return std::make_unique<CompiledNode>(api, options, this, *job.module,
                                          inputs, outputs);
  };
  auto *file = std::get_if<fs::path>(&*job.module);
  if (!file || !job.source) // not from the cache
    return make();
  try {
    return make();
  } catch (const Error &error) {
    log.write(ORT_LOGGING_LEVEL_WARNING,
              "'" + file->string() + "' is compiled again: " + error.what());
  }
  std::error_code ignored;
  fs::remove(*file, ignored);
  job.module = compiler.compile(*job.source);
  return make();
}

void Provider::compile(const OrtGraph **graphs, const OrtNode **fused,
                       size_t count, OrtNodeComputeInfo **infos,
                       OrtNode **contexts) {
  std::vector<Job> jobs;
  for (size_t i = 0; i < count; ++i)
    jobs.push_back(makeJob(graphs[i], fused[i]));
  compileAll(jobs);
  size_t size = 0;
  for (const Job &job : jobs)
    size += job.source ? job.source->model.getSize() : 0;
  hasReleasedConstants = size > kManyBytes;
  for (size_t i = 0; i < count; ++i) {
    // ONNX Runtime releases the entries that are set, also if a later one
    // fails.
    infos[i] = open(jobs[i]).release();
    if (options.makesContexts && jobs[i].source)
      contexts[i] =
          makeContext(reader, graphs[i], fused[i], *jobs[i].module, options);
    jobs[i].module.reset(); // the run time has a copy
  }
}

} // namespace adze::ep
