// Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
//
// Divides options among the provider, the run time and the compiler.
#include "Options.h"
#include <algorithm>
#include <charconv>
#include <cstring>

namespace adze::ep {

static Error refuse(const std::string &key, const std::string &expected,
                    const std::string &value) {
  return {ORT_INVALID_ARGUMENT, "option '" + key + "': expected " + expected +
                                    ", but got '" + value + "'"};
}

static size_t readNumber(const std::string &key, const std::string &value) {
  size_t number = 0;
  auto [end, error] =
      std::from_chars(value.data(), value.data() + value.size(), number);
  if (error != std::errc() || end != value.data() + value.size())
    throw refuse(key, "a number", value);
  return number;
}

/// Splits the text at separators, without empty parts.
static std::vector<std::string> split(const std::string &text, char separator) {
  std::vector<std::string> parts;
  for (size_t at = 0; at <= text.size();) {
    size_t end = std::min(text.find(separator, at), text.size());
    if (end > at)
      parts.push_back(text.substr(at, end - at));
    at = end + 1;
  }
  return parts;
}

/// Compiler options whose output is not a CPU module in memory.
static bool isRefused(const std::string &key) {
  for (const char *refused :
       {"emit", "target", "allow-host-fallback", "weights", "cache", "shape",
        "blob-dir", "mtriple"})
    if (key == refused)
      return true;
  return false;
}

static void readCompilerOption(std::string key, const std::string &value,
                               Options &options) {
  std::replace(key.begin(), key.end(), '_', '-');
  if (isRefused(key))
    throw Error(ORT_INVALID_ARGUMENT,
                "option '" + key +
                    "': expected an option of atranslate that "
                    "keeps a module for the CPU in memory");
  if (key != "dim") {
    options.compilerOptions.push_back({key, value});
    return;
  }
  for (const std::string &dim : split(value, ';'))
    options.dims.push_back({dim.substr(0, dim.find('=')), dim});
}

static void readOption(const std::string &key, const std::string &value,
                       Options &options) {
  if (key == "thread_pool") {
    if (value != "session" && value != "adze")
      throw refuse(key, "session or adze", value);
    options.usesSessionThreads = value == "session";
  } else if (key == "threads") {
    readNumber(key, value);
    options.runtime.push_back({key, value});
  } else if (key == "spin_us" || key == "variant") {
    options.runtime.push_back({key, value});
  } else if (key == "verify_module") {
    options.runtime.push_back({"verify", value});
  } else if (key == "cache_dir") {
    options.cacheFolder = value;
  } else if (key == "compiler") {
    options.compiler = value;
  } else if (key == "min_nodes") {
    options.minNodes = readNumber(key, value);
  } else if (key == "exclude_ops") {
    options.excludedOperators = split(value, ',');
  } else {
    readCompilerOption(key, value, options);
  }
}

Options readOptions(const Pairs &entries) {
  Options options;
  // Options of the provider take precedence over entries of the session.
  Pairs ours;
  for (const char *prefix : {"ep.adze.", "ep.adzeexecutionprovider."})
    for (const auto &[key, value] : entries)
      if (key.compare(0, strlen(prefix), prefix) == 0)
        ours.push_back({key.substr(strlen(prefix)), value});
  for (auto it = ours.begin(); it != ours.end(); ++it)
    if (std::none_of(it + 1, ours.end(), [&](const auto &later) {
          return later.first == it->first;
        }))
      readOption(it->first, it->second, options);
  for (const auto &[key, value] : entries)
    if (key == "ep.context_enable")
      options.makesContexts = value == "1";
    else if (key == "ep.context_embed_mode")
      options.embedsContexts = value == "1";
    else if (key == "ep.context_file_path")
      options.contextFile = value;
  return options;
}

Options readOptions(const Api &api, const OrtSessionOptions *session) {
  OrtKeyValuePairs *entries = nullptr;
  const char *const *keys = nullptr, *const *values = nullptr;
  size_t count = 0;
  check(api, api.ort.GetSessionOptionsConfigEntries(session, &entries));
  api.ort.GetKeyValuePairs(entries, &keys, &values, &count);
  Pairs pairs;
  for (size_t i = 0; i < count; ++i)
    pairs.push_back({keys[i], values[i]});
  api.ort.ReleaseKeyValuePairs(entries);
  return readOptions(pairs);
}

} // namespace adze::ep
