// Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
//
// Claims partitions, and compiles them on all cores.
#include "Provider.h"
#include "Context.h"
#include "Partition.h"
#include <algorithm>
#include <atomic>
#include <malloc.h>
#include <map>
#include <set>
#include <thread>

namespace fs = std::filesystem;

namespace adze::ep {

/// Bytes of constants that are worth a call of malloc_trim.
constexpr size_t kManyBytes = 32 << 20;

Provider::Provider(const Api &api, const OrtSessionOptions *session,
                   const OrtLogger *logger)
    : OrtEp{}, api(api), reader(api), log(api, logger),
      options(readOptions(api, session)), compiler(options, log),
      compatibility(getCompatibility()) {
  // A wrong option has to end the creation of the session: what fails later
  // leaves nodes to other providers.
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

/// Modules have their own copies of constants. ONNX Runtime releases its copies
/// at the end of the session's creation, and glibc keeps such memory for later
/// unless malloc_trim is called.
void Provider::beginRun(const OrtRunOptions *run) {
  if (hasReleasedConstants && hasReleasedConstants.exchange(false))
    malloc_trim(0);
  const char *file = api.ort.GetRunConfigEntry(run, "ep.adze.profile");
  if (file && *file)
    beginProfile(this, file);
}

//===----------------------------------------------------------------------===//
// What is claimed
//===----------------------------------------------------------------------===//

/// The nodes that each node reads values of.
static std::vector<std::vector<size_t>> getProducers(const GraphReader &reader,
                                                     const Nodes &nodes) {
  std::map<std::string, size_t> writers;
  std::vector<std::vector<size_t>> producers(nodes.size());
  for (size_t i = 0; i < nodes.size(); ++i) {
    for (const OrtValueInfo *value : reader.getReads(nodes[i]))
      if (auto found = writers.find(reader.getName(value));
          found != writers.end())
        producers[i].push_back(found->second);
    for (const OrtValueInfo *value : reader.getWrites(nodes[i]))
      writers[reader.getName(value)] = i;
  }
  return producers;
}

void Provider::claim(const OrtGraph *graph, OrtEpGraphSupportInfo *info) {
  // Bodies come before the graph around them. With nodes of a body claimed,
  // its If, Loop or Scan could not be claimed whole.
  if (isBody(graph))
    return;
  Nodes nodes = reader.getNodes(graph);
  if (claimContexts(nodes, info))
    return;
  warnOfDims(graph);
  std::vector<std::vector<size_t>> producers = getProducers(reader, nodes);
  std::vector<bool> isSupported = getCandidates(nodes);
  std::vector<std::vector<size_t>> parts;
  std::set<std::vector<size_t>> checked;
  // A refused node may divide its partition, whose parts are checked anew: they
  // get values from outside that were inside before.
  for (bool isChanged = true; isChanged;) {
    isChanged = false;
    parts = findPartitions(producers, isSupported);
    for (const std::vector<size_t> &part : parts) {
      isChanged |= refuseUnknownRanks(nodes, part, isSupported);
      isChanged |= refuseCaptures(nodes, part, isSupported);
    }
    for (const std::vector<size_t> &part : parts)
      if (!isChanged && checked.insert(part).second)
        isChanged = refuseUnsupported(graph, nodes, part, isSupported);
  }
  size_t claimed = 0, fused = 0;
  for (const std::vector<size_t> &part : parts) {
    if (part.size() < options.minNodes)
      continue;
    Nodes members;
    for (size_t i : part)
      members.push_back(nodes[i]);
    fuse(info, members);
    claimed += part.size();
    ++fused;
  }
  log.write(ORT_LOGGING_LEVEL_INFO,
            getModelName(graph) + ": " + std::to_string(claimed) + " of " +
                std::to_string(nodes.size()) + " nodes in " +
                std::to_string(fused) + " partitions");
}

/// Returns true for a body of an If, Loop or Scan.
bool Provider::isBody(const OrtGraph *graph) {
  const OrtNode *parent = nullptr;
  check(api, api.ort.Graph_GetParentNode(graph, &parent));
  if (parent || api.running >= 24)
    return parent != nullptr;
  // Version 1.23 has no parents here, and gives fused nodes of two graphs the
  // same name. Branches have no inputs; loops have a number and a condition,
  // and yield a condition. All else is left to the first graph that comes.
  Values inputs =
      list(api, graph, api.ort.Graph_GetNumInputs, api.ort.Graph_GetInputs);
  Values outputs =
      list(api, graph, api.ort.Graph_GetNumOutputs, api.ort.Graph_GetOutputs);
  auto has = [&](const Values &values, size_t index,
                 ONNXTensorElementDataType type) {
    return index < values.size() &&
           reader.getElementType(values[index]) == type;
  };
  if (inputs.empty() || (has(inputs, 0, ONNX_TENSOR_ELEMENT_DATA_TYPE_INT64) &&
                         has(inputs, 1, ONNX_TENSOR_ELEMENT_DATA_TYPE_BOOL) &&
                         has(outputs, 0, ONNX_TENSOR_ELEMENT_DATA_TYPE_BOOL)))
    return true;
  std::string name = reader.getName(graph);
  if (!claimedGraph)
    claimedGraph = name;
  return name != *claimedGraph;
}

/// Tells of options `dim` that no input has the dim of.
void Provider::warnOfDims(const OrtGraph *graph) {
  std::set<std::string> known;
  for (const OrtValueInfo *input :
       list(api, graph, api.ort.Graph_GetNumInputs, api.ort.Graph_GetInputs))
    for (std::string &symbol : reader.getSymbols(input))
      known.insert(std::move(symbol));
  for (const auto &[symbol, dim] : options.dims)
    if (!known.count(symbol))
      log.write(ORT_LOGGING_LEVEL_WARNING,
                "option 'dim': expected a symbolic dim of an input, but got '" +
                    dim + "'");
}

/// Claims each EPContext node of ours alone. Models that have some are compiled
/// already: their other nodes were left out before.
bool Provider::claimContexts(const Nodes &nodes, OrtEpGraphSupportInfo *info) {
  bool isFound = false;
  for (const OrtNode *node : nodes)
    if (isContext(reader, node)) {
      fuse(info, {node});
      isFound = true;
    }
  return isFound;
}

void Provider::fuse(OrtEpGraphSupportInfo *info, const Nodes &nodes) {
  OrtNodeFusionOptions fusion = {};
  fusion.ort_version_supported = kStructVersion;
  fusion.drop_constant_initializers = true; // the module has its own copies
  check(api, api.ep.EpGraphSupportInfo_AddNodesToFuse(info, nodes.data(),
                                                      nodes.size(), &fusion));
}

/// Returns true for values that a module takes from, or gives to, ONNX Runtime.
static bool isNumericTensor(const GraphReader &reader,
                            const OrtValueInfo *value) {
  switch (reader.getElementType(value)) {
  case ONNX_TENSOR_ELEMENT_DATA_TYPE_UNDEFINED: // no tensor
  case ONNX_TENSOR_ELEMENT_DATA_TYPE_STRING:
  case ONNX_TENSOR_ELEMENT_DATA_TYPE_COMPLEX64:
  case ONNX_TENSOR_ELEMENT_DATA_TYPE_COMPLEX128:
    return false;
  default:
    return true;
  }
}

/// Returns why a node cannot be claimed whatever the compiler says, or "".
std::string Provider::getObstacle(const OrtNode *node) {
  std::string provider = reader.getProvider(node);
  if (!provider.empty() && provider != kName)
    return provider + " has it";
  std::string type = reader.getOperator(node);
  if (std::find(options.excludedOperators.begin(),
                options.excludedOperators.end(),
                type) != options.excludedOperators.end())
    return "option 'exclude_ops' names its operator";
  Values values = reader.getReads(node), writes = reader.getWrites(node);
  values.insert(values.end(), writes.begin(), writes.end());
  for (const OrtValueInfo *value : values)
    if (!isNumericTensor(reader, value))
      return "expected tensors of real numbers, but got something else for '" +
             reader.getName(value) + "'";
  return "";
}

std::vector<bool> Provider::getCandidates(const Nodes &nodes) {
  std::vector<bool> isSupported;
  for (const OrtNode *node : nodes) {
    std::string obstacle = getObstacle(node);
    isSupported.push_back(obstacle.empty());
    if (!obstacle.empty())
      log.write(ORT_LOGGING_LEVEL_INFO, "node '" + reader.getName(node) +
                                            "' (" + reader.getOperator(node) +
                                            "): " + obstacle);
  }
  return isSupported;
}

/// A value of unknown rank is fine inside of a partition, but no input of it.
bool Provider::refuseUnknownRanks(const Nodes &nodes,
                                  const std::vector<size_t> &part,
                                  std::vector<bool> &isSupported) {
  bool isRefused = false;
  std::set<std::string> inside;
  for (size_t i : part) {
    for (const OrtValueInfo *value : reader.getReads(nodes[i]))
      if (isSupported[i] && !inside.count(reader.getName(value)) &&
          !reader.isConstant(value) && !reader.hasRank(value)) {
        isSupported[i] = false;
        isRefused = true;
        log.write(ORT_LOGGING_LEVEL_INFO, "node '" + reader.getName(nodes[i]) +
                                              "': expected a rank of '" +
                                              reader.getName(value) +
                                              "', but it has none");
      }
    for (const OrtValueInfo *value : reader.getWrites(nodes[i]))
      inside.insert(reader.getName(value));
  }
  return isRefused;
}

/// Before version 1.27, a fused node has no input for a value of outside that
/// only bodies in the partition read.
bool Provider::refuseCaptures(const Nodes &nodes,
                              const std::vector<size_t> &part,
                              std::vector<bool> &isSupported) {
  if (api.running >= 27)
    return false;
  bool isRefused = false;
  std::set<std::string> known;
  for (size_t i : part) {
    for (const std::string &name : reader.getNames(reader.getInputs(nodes[i])))
      known.insert(name);
    for (const std::string &name : reader.getNames(reader.getWrites(nodes[i])))
      known.insert(name);
  }
  for (size_t i : part)
    for (const OrtValueInfo *value : reader.getReads(nodes[i]))
      if (isSupported[i] && !known.count(reader.getName(value)) &&
          !reader.isConstant(value)) {
        isSupported[i] = false;
        isRefused = true;
        log.write(ORT_LOGGING_LEVEL_INFO,
                  "node '" + reader.getName(nodes[i]) + "': '" +
                      reader.getName(value) +
                      "' is read in its bodies only, which ONNX Runtime 1.27 "
                      "or newer can do");
      }
  return isRefused;
}

/// Asks the compiler for the nodes of a partition that it does not support.
bool Provider::refuseUnsupported(const OrtGraph *graph, const Nodes &nodes,
                                 const std::vector<size_t> &part,
                                 std::vector<bool> &isSupported) {
  Subgraph subgraph = getSubgraph(reader, nodes, part);
  CheckResult result =
      compiler.check(makeSource(graph, subgraph, Weights::Shapes));
  for (const Refusal &refusal : result.refusals) {
    isSupported[part.at(refusal.node)] = false;
    log.write(ORT_LOGGING_LEVEL_INFO, refusal.reason);
  }
  if (!result.refusals.empty())
    return true;
  if (result.wholeModel.empty())
    return false;
  for (size_t i : part)
    isSupported[i] = false;
  log.write(ORT_LOGGING_LEVEL_WARNING,
            getModelName(graph) + ": " + std::to_string(part.size()) +
                " nodes are left to other providers: " + result.wholeModel);
  return true;
}

//===----------------------------------------------------------------------===//
// What is compiled
//===----------------------------------------------------------------------===//

/// The file of the model, without its folder.
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

/// Compiles several partitions at once, each with all of the cores: a small one
/// does not use them all the time.
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
  for (size_t i = 1; i < count; ++i)
    threads.emplace_back(work);
  work();
  for (std::thread &thread : threads)
    thread.join();
  for (const Job &job : jobs)
    if (job.failure)
      std::rethrow_exception(job.failure);
}

/// Opens a module. One of the cache that is damaged, or for another machine, is
/// made anew.
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
  if (!file || !job.source) // not of the cache
    return make();
  try {
    return make();
  } catch (const Error &error) {
    log.write(ORT_LOGGING_LEVEL_WARNING,
              "'" + file->string() + "' is made anew: " + error.what());
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
    // ONNX Runtime releases what is set, also if a later one fails.
    infos[i] = open(jobs[i]).release();
    if (options.makesContexts && jobs[i].source)
      contexts[i] =
          makeContext(reader, graphs[i], fused[i], *jobs[i].module, options);
    jobs[i].module.reset(); // the run time has its own copy
  }
}

} // namespace adze::ep
