// Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
//
// The search for the smallest model that still fails.
#ifndef ADZE_TOOLS_REDUCE_REDUCER_H
#define ADZE_TOOLS_REDUCE_REDUCER_H

#include "Command.h"
#include "onnx/onnx_pb.h"
#include <functional>
#include <vector>

namespace adze::reduce {

class Reducer {
public:
  /// `folder` is where candidates are written.
  Reducer(const Command &command, std::string folder, double timeout,
          bool isVerbose)
      : command(command), folder(std::move(folder)), timeout(timeout),
        isVerbose(isVerbose) {}

  /// Reduces `model` to a minimum. Throws if the command does not fail on it.
  void run(onnx::ModelProto &model);

  int getStatus() const { return status; }
  size_t getNumRuns() const { return numRuns; }

private:
  using Edit = std::function<onnx::ModelProto(const onnx::ModelProto &,
                                              const std::vector<size_t> &)>;

  Ending runOn(const onnx::ModelProto &model, double seconds);
  /// Accepts the candidate if it is valid and fails in the same way.
  bool tryCandidate(onnx::ModelProto &model, onnx::ModelProto candidate);
  /// Delta debugging: removes as many of `count` elements as possible.
  bool minimize(onnx::ModelProto &model, const char *what, size_t count,
                size_t least, const Edit &keep);
  bool reduceSizes(onnx::ModelProto &model);
  bool reduceOnce(onnx::ModelProto &model);

  const Command &command;
  std::string folder;
  double timeout;
  bool isVerbose, infers = true, checks = true;
  int status = 0;
  size_t numRuns = 0;
};

} // namespace adze::reduce

#endif // ADZE_TOOLS_REDUCE_REDUCER_H
