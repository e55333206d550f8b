// Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
//
// The options of a session.
#ifndef ADZE_EP_OPTIONS_H
#define ADZE_EP_OPTIONS_H

#include "Api.h"
#include <filesystem>
#include <utility>

namespace adze::ep {

using Pairs = std::vector<std::pair<std::string, std::string>>;

struct Options {
  /// Kernels run on the threads of the session instead of Adze's own.
  bool usesSessionThreads = true;
  /// The folder of compiled modules; empty: none.
  std::filesystem::path cacheFolder;
  /// The path of the compiler's library; empty: in the folder of the provider.
  std::filesystem::path compiler;
  /// Partitions with fewer nodes stay with other providers.
  size_t minNodes = 1;
  /// Operators that are left to other providers.
  std::vector<std::string> excludedOperators;
  Pairs runtime;         ///< for adze_options_set
  Pairs compilerOptions; ///< for adze_compiler_options_set
  /// Options `dim` of the compiler, by the symbolic dim; each applies to models
  /// with the dim.
  Pairs dims;

  /// Session options of ONNX Runtime about EPContext models.
  bool makesContexts = false, embedsContexts = false;
  std::filesystem::path contextFile;
};

/// Reads the options of a session. They are entries of its configuration with a
/// prefix: `ep.adzeexecutionprovider.`, as add_provider_for_devices writes it,
/// or `ep.adze.`. Throws for a wrong value; unknown options are passed to the
/// compiler, which rejects those that it does not have.
Options readOptions(const Api &api, const OrtSessionOptions *session);

/// Reads the entries of a list in the same way.
Options readOptions(const Pairs &entries);

} // namespace adze::ep

#endif // ADZE_EP_OPTIONS_H
