// Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
//
// The search for the smallest model that still fails.
#include "Reducer.h"
#include "Edits.h"
#include <algorithm>
#include <fstream>
#include <iostream>
#include <numeric>

namespace adze::reduce {

using onnx::ModelProto;

Ending Reducer::runOn(const ModelProto &model, double seconds) {
  std::string path = folder + "/candidate.onnx";
  {
    std::ofstream file(path, std::ios::binary);
    if (!model.SerializeToOstream(&file) || !file.flush())
      throw std::runtime_error("cannot write " + path);
  }
  ++numRuns;
  return command.run(path, folder + "/log", seconds);
}

bool Reducer::tryCandidate(ModelProto &model, ModelProto candidate) {
  if (isInterrupted() || (checks && !isValid(candidate, infers)))
    return false;
  Ending ending = runOn(candidate, timeout);
  if (ending.isTimeout || ending.status != status || !ending.matches)
    return false;
  model = std::move(candidate);
  return true;
}

/// Removes chunks, large ones first, until none can be removed.
bool Reducer::minimize(ModelProto &model, const char *what, size_t count,
                       size_t least, const Edit &keep) {
  const ModelProto whole = model;
  std::vector<size_t> kept(count);
  std::iota(kept.begin(), kept.end(), size_t(0));
  for (size_t chunk = count; chunk > 0; chunk /= 2) {
    bool isSmaller = true;
    while (isSmaller) {
      isSmaller = false;
      // Starts at the end, since results without users are easier to remove.
      for (size_t end = kept.size(); end > 0 && kept.size() > least;) {
        size_t begin = end > chunk ? end - chunk : 0;
        std::vector<size_t> fewer(kept.begin(), kept.begin() + long(begin));
        fewer.insert(fewer.end(), kept.begin() + long(end), kept.end());
        end = begin;
        if (fewer.size() < least || !tryCandidate(model, keep(whole, fewer)))
          continue;
        kept = fewer;
        isSmaller = true;
      }
      isSmaller &= chunk == 1;
    }
  }
  if (isVerbose && kept.size() < count)
    std::cerr << "adze-reduce: " << kept.size() << " of " << count << " "
              << what << "\n";
  return kept.size() < count;
}

bool Reducer::reduceSizes(ModelProto &model) {
  bool isSmaller = false;
  for (int64_t size : getSizes(model)) {
    std::vector<int64_t> wanted = {1, 2, 3, 4};
    for (int64_t next = 8; next < size; next *= 2)
      wanted.push_back(next);
    for (int64_t to : wanted)
      if (to < size && tryCandidate(model, resize(model, size, to))) {
        isSmaller = true;
        break;
      }
  }
  return isSmaller;
}

bool Reducer::reduceOnce(ModelProto &model) {
  bool isSmaller = false;
  // Smaller weights make all later steps faster.
  isSmaller |=
      minimize(model, "initializers", size_t(model.graph().initializer_size()),
               0, keepInitializers);
  isSmaller |= minimize(model, "outputs", size_t(model.graph().output_size()),
                        1, keepOutputs);
  isSmaller |=
      minimize(model, "nodes", size_t(model.graph().node_size()), 1, keepNodes);
  isSmaller |= minimize(model, "outputs", size_t(model.graph().output_size()),
                        1, keepOutputs);
  isSmaller |=
      minimize(model, "attributes", countAttributes(model), 0, keepAttributes);
  isSmaller |= reduceSizes(model);
  return isSmaller;
}

void Reducer::run(ModelProto &model) {
  Ending first = runOn(model, timeout);
  if (isInterrupted())
    throw std::runtime_error("interrupted");
  if (first.isTimeout)
    throw std::runtime_error("the command takes longer than --timeout=" +
                             std::to_string(int(timeout)) + " seconds");
  if (first.status == 0)
    throw std::runtime_error("expected the command to fail on the model, but "
                             "it ended with status 0");
  if (first.status == 126 || first.status == 127)
    throw std::runtime_error("the shell cannot run the command (status " +
                             std::to_string(first.status) + ")");
  if (!first.matches)
    throw std::runtime_error("the command fails on the model, but its output "
                             "does not have the text of --match");
  status = first.status;
  // A candidate that exceeds the time limit is another failure.
  timeout = std::min(timeout, 10 + 10 * first.seconds);
  infers = isValid(model, true);
  checks = infers || isValid(model, false);
  if (!infers)
    std::cerr << "warning: the model itself is not valid, so candidates need "
                 "not be valid either\n";
  tryCandidate(model, strip(model));
  while (reduceOnce(model))
    tryCandidate(model, strip(model));
}

} // namespace adze::reduce
