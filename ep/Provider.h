// Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
//
// The execution provider of one session.
#ifndef ADZE_EP_PROVIDER_H
#define ADZE_EP_PROVIDER_H

#include "CompiledNode.h"
#include "Graph.h"
#include <atomic>
#include <map>
#include <optional>

namespace adze::ep {

class Provider : public OrtEp {
public:
  /// Reads the options of the session. Throws if one is wrong.
  Provider(const Api &api, const OrtSessionOptions *session,
           const OrtLogger *logger);
  Provider(const Provider &) = delete;

private:
  /// A partition that is being compiled.
  struct Job {
    const OrtNode *fused;
    std::optional<Source> source; ///< none of an EPContext node
    std::optional<ModuleSource> module;
    std::exception_ptr failure;
  };

  /// The nodes that read each value.
  using Readers = std::map<std::string, std::vector<size_t>>;

  void setCallbacks();
  void beginRun(const OrtRunOptions *run);

  void claim(const OrtGraph *graph, OrtEpGraphSupportInfo *info);
  bool isBody(const OrtGraph *graph);
  bool isClaimedWhole(const OrtGraph *body);
  bool claimContexts(const Nodes &nodes, OrtEpGraphSupportInfo *info);
  std::vector<bool> getCandidates(const Nodes &nodes);
  std::string getObstacle(const OrtNode *node);
  void refuse(const OrtNode *node, const std::string &reason);
  bool refuseBoundaries(const Nodes &nodes, const Readers &readers,
                        const std::vector<size_t> &part,
                        std::vector<bool> &isSupported);
  bool refuseCaptures(const Nodes &nodes, const std::vector<size_t> &part,
                      std::vector<bool> &isSupported);
  bool refuseUnsupported(const OrtGraph *graph, const Nodes &nodes,
                         const std::vector<size_t> &part,
                         std::vector<bool> &isSupported);
  void fuse(OrtEpGraphSupportInfo *info, const Nodes &nodes);

  void compile(const OrtGraph **graphs, const OrtNode **fused, size_t count,
               OrtNodeComputeInfo **infos, OrtNode **contexts);
  Job makeJob(const OrtGraph *graph, const OrtNode *fused);
  void compileAll(std::vector<Job> &jobs);
  std::unique_ptr<CompiledNode> open(Job &job);

  Source makeSource(const OrtGraph *graph, const Subgraph &part,
                    Weights weights);
  std::string getModelName(const OrtGraph *graph);
  void warnOfDims(const OrtGraph *graph);

  const Api &api;
  GraphReader reader;
  Log log;
  Options options;
  Compiler compiler;
  std::string compatibility;
  /// The graph that has claimed nodes; see isBody.
  std::optional<std::string> claimedGraph;
  /// True until the first run of a session with many constants.
  std::atomic<bool> hasReleasedConstants{false};
};

} // namespace adze::ep

#endif // ADZE_EP_PROVIDER_H
