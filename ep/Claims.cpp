// Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
//
// Selects the nodes that the provider claims.
#include "Context.h"
#include "Partition.h"
#include "Provider.h"
#include <algorithm>
#include <map>
#include <set>

namespace adze::ep {

/// Returns the producers of each node.
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

/// Returns the consumers of each value.
static std::map<std::string, std::vector<size_t>>
getReaders(const GraphReader &reader, const Nodes &nodes) {
  std::map<std::string, std::vector<size_t>> readers;
  for (size_t i = 0; i < nodes.size(); ++i)
    for (const OrtValueInfo *value : reader.getReads(nodes[i]))
      readers[reader.getName(value)].push_back(i);
  return readers;
}

void Provider::claim(const OrtGraph *graph, OrtEpGraphSupportInfo *info) {
  // ONNX Runtime calls GetCapability for bodies before the enclosing graph. If
  // nodes of a body were claimed, its If, Loop or Scan could not be claimed as
  // a whole.
  bool isInside = isBody(graph);
  if (isInside && isClaimedWhole(graph))
    return;
  Nodes nodes = reader.getNodes(graph);
  if (claimContexts(nodes, info))
    return;
  if (!isInside)
    warnOfDims(graph);
  std::vector<std::vector<size_t>> producers = getProducers(reader, nodes);
  Readers readers = getReaders(reader, nodes);
  std::vector<bool> isSupported = getCandidates(nodes);
  std::vector<std::vector<size_t>> parts;
  std::set<std::vector<size_t>> checked;
  // A refused node may split its partition. The parts are checked again,
  // because values inside of the partition become inputs.
  for (bool isChanged = true; isChanged;) {
    isChanged = false;
    parts = findPartitions(producers, isSupported);
    for (const std::vector<size_t> &part : parts) {
      isChanged |= refuseBoundaries(nodes, readers, part, isSupported);
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
  // Version 1.23 does not give the parent here, and uses equal names for fused
  // nodes of two graphs. Branches have no inputs; loops have a trip count and a
  // condition, and yield a condition. The first other graph is taken as the
  // main graph.
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

/// Returns false if the If, Loop or Scan around a body cannot be claimed: its
/// operator is excluded, or the compiler does not support it with these bodies.
/// Other nodes with bodies (SequenceMap) are functions, which ONNX Runtime
/// inlines: it would not find a fused node in their bodies.
bool Provider::isClaimedWhole(const OrtGraph *body) {
  const OrtNode *parent = nullptr;
  check(api, api.ort.Graph_GetParentNode(body, &parent));
  if (!parent) // version 1.23
    return true;
  std::string type = reader.getOperator(parent);
  if (type != "If" && type != "Loop" && type != "Scan")
    return true;
  if (!getObstacle(parent).empty())
    return false;
  Subgraph alone;
  alone.nodes = {parent};
  for (const OrtValueInfo *value : reader.getReads(parent))
    if (!reader.isConstant(value))
      alone.inputs.push_back(value);
  alone.outputs = reader.getWrites(parent);
  CheckResult result = compiler.check(makeSource(body, alone, Weights::Shapes));
  return result.refusals.empty() && result.wholeModel.empty();
}

/// Warns about options `dim` that name no dimension of an input.
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

/// Claims each EPContext node of this provider separately. Models with such
/// nodes are compiled already: their other nodes were rejected then.
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

/// Returns why a node cannot be claimed, whatever the compiler supports, or "".
std::string Provider::getObstacle(const OrtNode *node) {
  std::string provider = reader.getProvider(node);
  if (!provider.empty() && provider != kName)
    return provider + " has it";
  std::string type = reader.getOperator(node);
  if (std::find(options.excludedOperators.begin(),
                options.excludedOperators.end(),
                type) != options.excludedOperators.end())
    return "option 'exclude_ops' names its operator";
  if (!reader.canReadAttributes(node))
    return "expected attributes of types that ONNX Runtime's C API can read";
  for (const auto &[body, name] : reader.getBodies(node))
    for (const OrtNode *inner : reader.getNodes(body))
      if (std::string reason = getObstacle(inner); !reason.empty())
        return "node '" + reader.getName(inner) + "' in '" + name +
               "': " + reason;
  return "";
}

void Provider::refuse(const OrtNode *node, const std::string &reason) {
  log.write(ORT_LOGGING_LEVEL_INFO, "node '" + reader.getName(node) + "' (" +
                                        reader.getOperator(node) +
                                        "): " + reason);
}

std::vector<bool> Provider::getCandidates(const Nodes &nodes) {
  std::vector<bool> isSupported;
  for (const OrtNode *node : nodes) {
    std::string obstacle = getObstacle(node);
    isSupported.push_back(obstacle.empty());
    if (!obstacle.empty())
      refuse(node, obstacle);
  }
  return isSupported;
}

/// Returns why a value cannot be an input or output of a partition, or "".
static std::string getObstacle(const GraphReader &reader,
                               const OrtValueInfo *value) {
  std::string name = "'" + reader.getName(value) + "'";
  switch (reader.getElementType(value)) {
  case ONNX_TENSOR_ELEMENT_DATA_TYPE_UNDEFINED: // no tensor
  case ONNX_TENSOR_ELEMENT_DATA_TYPE_STRING:
  case ONNX_TENSOR_ELEMENT_DATA_TYPE_COMPLEX64:
  case ONNX_TENSOR_ELEMENT_DATA_TYPE_COMPLEX128:
    return "expected a tensor of real numbers, but got another value for " +
           name;
  default:
    return reader.hasRank(value) ? "" : "expected a known rank of " + name;
  }
}

/// Refuses nodes whose values cannot cross partitions: strings, sequences and
/// tensors of unknown rank are supported only inside of one.
bool Provider::refuseBoundaries(const Nodes &nodes, const Readers &readers,
                                const std::vector<size_t> &part,
                                std::vector<bool> &isSupported) {
  std::set<size_t> members(part.begin(), part.end());
  std::set<std::string> inside;
  bool isRefused = false;
  auto inspect = [&](size_t node, const OrtValueInfo *value) {
    std::string obstacle = adze::ep::getObstacle(reader, value);
    if (obstacle.empty() || !isSupported[node])
      return;
    isSupported[node] = false;
    isRefused = true;
    refuse(nodes[node], obstacle);
  };
  for (size_t i : part) {
    for (const OrtValueInfo *value : reader.getReads(nodes[i]))
      if (!inside.count(reader.getName(value)) && !reader.isConstant(value))
        inspect(i, value);
    for (const OrtValueInfo *value : reader.getWrites(nodes[i])) {
      auto found = readers.find(reader.getName(value));
      bool isReadOutside =
          found != readers.end() &&
          std::any_of(found->second.begin(), found->second.end(),
                      [&](size_t node) { return !members.count(node); });
      if (isReadOutside || reader.isGraphOutput(value))
        inspect(i, value);
      inside.insert(reader.getName(value));
    }
  }
  return isRefused;
}

/// Before version 1.27, a fused node has no input for an outer value that only
/// bodies in the partition read.
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
        refuse(nodes[i], "'" + reader.getName(value) +
                             "' is read in its bodies only, which ONNX "
                             "Runtime 1.27 or newer supports");
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

} // namespace adze::ep
