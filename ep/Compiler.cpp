// Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
//
// Checks and compilations by libadze_compiler, and the cache around them.
#include "Compiler.h"
#include "AdzeCommit.h"
#include "Cache.h"
#include "Json.h"
#include <algorithm>
#include <dlfcn.h>
#include <map>
#include <mutex>
#include <optional>

namespace fs = std::filesystem;

namespace adze::ep {

//===----------------------------------------------------------------------===//
// The library
//===----------------------------------------------------------------------===//

#define ADZE_EP_FUNCTIONS(F)                                                   \
  F(adze_compiler_version)                                                     \
  F(adze_compiler_options_create)                                              \
  F(adze_compiler_options_release)                                             \
  F(adze_compiler_options_set)                                                 \
  F(adze_compiler_options_message)                                             \
  F(adze_compiler_options_set_diagnostics)                                     \
  F(adze_compile_parts)                                                        \
  F(adze_compiler_check_parts)                                                 \
  F(adze_compiler_result_message)                                              \
  F(adze_compiler_result_data)                                                 \
  F(adze_compiler_result_release)

struct CompilerLibrary {
#define ADZE_EP_MEMBER(Name) decltype(&::Name) Name = nullptr;
  ADZE_EP_FUNCTIONS(ADZE_EP_MEMBER)
#undef ADZE_EP_MEMBER
};

template <typename Function>
static void find(void *handle, const fs::path &path, const char *name,
                 Function &function) {
  function = reinterpret_cast<Function>(dlsym(handle, name));
  if (!function)
    throw Error("'" + path.string() +
                "': expected the compiler of Adze " ADZE_VERSION
                ", but got a library without '" +
                name + "'");
}

/// Loads a library once; it is kept until the process ends.
static const CompilerLibrary &loadLibrary(const fs::path &path) {
  static std::mutex mutex;
  static std::map<fs::path, CompilerLibrary> libraries;
  std::lock_guard<std::mutex> lock(mutex);
  auto known = libraries.find(path);
  if (known != libraries.end())
    return known->second;
  void *handle = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE);
  if (!handle)
    throw Error(
        "expected the compiler's library, but got: " + std::string(dlerror()) +
        "; the option 'compiler' is the path of libadze_compiler.so");
  CompilerLibrary library;
#define ADZE_EP_FIND(Name) find(handle, path, #Name, library.Name);
  ADZE_EP_FUNCTIONS(ADZE_EP_FIND)
#undef ADZE_EP_FIND
  return libraries.emplace(path, library).first->second;
}

/// Returns the path of the compiler's library in the folder of this one.
static fs::path getDefaultLibrary() {
  Dl_info info;
  const char *name = "libadze_compiler.so";
  if (!dladdr(reinterpret_cast<void *>(&getDefaultLibrary), &info) ||
      !info.dli_fname)
    return name;
  std::error_code ignored;
  fs::path self = fs::canonical(info.dli_fname, ignored);
  return (ignored ? fs::path(info.dli_fname) : self).parent_path() / name;
}

/// A result of a call, released at the end of the scope.
namespace {
struct Result {
  explicit Result(const CompilerLibrary &library) : library(library) {}
  Result(const Result &) = delete;
  ~Result() { library.adze_compiler_result_release(result); }

  std::string_view getData() const {
    size_t size = 0;
    const void *data = library.adze_compiler_result_data(result, &size);
    return {static_cast<const char *>(data), size};
  }
  /// Returns the errors, without the last newline.
  std::string getMessage() const {
    std::string text = library.adze_compiler_result_message(result);
    while (!text.empty() && text.back() == '\n')
      text.pop_back();
    return text;
  }

  const CompilerLibrary &library;
  adze_compiler_result *result = nullptr;
};
} // namespace

//===----------------------------------------------------------------------===//
// Settings
//===----------------------------------------------------------------------===//

Compiler::Compiler(const Options &options, const Log &log)
    : options(options), log(log),
      path(options.compiler.empty() ? getDefaultLibrary() : options.compiler) {}

/// Errors are returned with the result; warnings and the output of `v` and
/// `stats` are logged.
static void writeDiagnostic(void *user,
                            const adze_compile_diagnostic *diagnostic) {
  auto *log = static_cast<const Log *>(user);
  if (diagnostic->severity != ADZE_COMPILE_ERROR)
    log->write(diagnostic->severity == ADZE_COMPILE_WARNING
                   ? ORT_LOGGING_LEVEL_WARNING
                   : ORT_LOGGING_LEVEL_INFO,
               diagnostic->formatted);
}

/// Returns the options of the compiler for one model.
Pairs Compiler::getOptions(const Source &source) const {
  Pairs pairs = options.compilerOptions;
  for (const auto &[symbol, dim] : options.dims)
    if (std::find(source.symbols.begin(), source.symbols.end(), symbol) !=
        source.symbols.end())
      pairs.push_back({"dim", dim});
  return pairs;
}

namespace {
/// The options as an object of the library.
struct Settings {
  Settings(const CompilerLibrary &library, const Pairs &pairs, const Log &log)
      : library(library) {
    if (library.adze_compiler_options_create(&options) != ADZE_COMPILE_OK)
      throw std::bad_alloc();
    for (const auto &[key, value] : pairs)
      set(key, value);
    library.adze_compiler_options_set_diagnostics(options, writeDiagnostic,
                                                  const_cast<Log *>(&log));
  }
  Settings(const Settings &) = delete;
  ~Settings() { library.adze_compiler_options_release(options); }

  const CompilerLibrary &library;
  adze_compiler_options *options = nullptr;

private:
  void set(const std::string &key, const std::string &value) {
    if (library.adze_compiler_options_set(options, key.c_str(),
                                          value.c_str()) == ADZE_COMPILE_OK)
      return;
    std::string message = library.adze_compiler_options_message(options);
    library.adze_compiler_options_release(options);
    throw Error(ORT_INVALID_ARGUMENT, "option '" + key + "': " + message);
  }
};
} // namespace

//===----------------------------------------------------------------------===//
// Checks and compilations
//===----------------------------------------------------------------------===//

/// Returns a digest of all inputs of a compilation.
std::string Compiler::getKey(const char *purpose, const Source &source) const {
  std::string text = std::string(purpose) +
                     " " ADZE_VERSION " " ADZE_COMMIT "\n" +
                     describeFile(path) + "\n" + describeCpu();
  for (const auto &[key, value] : getOptions(source)) {
    text += key + "=" + value + "\n";
    if (key == "kernels" || key == "tune-db")
      text += getDigest(readFile(value).value_or(""), {}) + "\n";
  }
  return getDigest(text, source.model.getParts());
}

std::string Compiler::runCheck(const Source &source) {
  const CompilerLibrary &library = loadLibrary(path);
  Settings settings(library, getOptions(source), log);
  Result result(library);
  std::vector<adze_model_part> parts = source.model.getParts();
  library.adze_compiler_check_parts(parts.data(), parts.size(),
                                    source.name.c_str(), settings.options,
                                    &result.result);
  std::string json(result.getData());
  if (json.empty())
    throw Error(ORT_INVALID_ARGUMENT, result.getMessage());
  return json;
}

/// Makes a model of one node, y = Identity(x), with these dims.
static Message makeSmallModel(const std::vector<std::string> &symbols) {
  Message opset, node, graph, model;
  opset.addText(1, "");
  opset.addInteger(2, 13);
  node.addText(1, "x");
  node.addText(2, "y");
  node.addText(4, "Identity");
  graph.addMessage(1, std::move(node));
  graph.addText(2, "options");
  for (auto [field, name] : {std::pair(11, "x"), std::pair(12, "y")}) {
    Message value, type, tensor, shape;
    for (const std::string &symbol : symbols) {
      Message dim;
      dim.addText(2, symbol);
      shape.addMessage(1, std::move(dim));
    }
    tensor.addInteger(1, ONNX_TENSOR_ELEMENT_DATA_TYPE_FLOAT);
    tensor.addMessage(2, std::move(shape));
    type.addMessage(1, std::move(tensor));
    value.addText(1, name);
    value.addMessage(2, std::move(type));
    graph.addMessage(field, std::move(value));
  }
  model.addInteger(1, 8);
  model.addMessage(7, std::move(graph));
  model.addMessage(8, std::move(opset));
  return model;
}

void Compiler::checkOptions() {
  // Only a compilation checks combinations of options.
  Source source;
  source.name = "options.onnx";
  for (const auto &[symbol, dim] : options.dims)
    source.symbols.push_back(symbol);
  source.model = makeSmallModel(source.symbols);
  CheckResult result = readCheckResult(runCheck(source));
  if (!result.wholeModel.empty())
    throw Error(ORT_INVALID_ARGUMENT, result.wholeModel);
}

/// Writes an entry of the cache. A failure to write is not an error of the
/// session.
bool Compiler::store(const fs::path &file, std::string_view data) {
  try {
    writeFile(file, data);
    return true;
  } catch (const Error &error) {
    log.write(ORT_LOGGING_LEVEL_WARNING,
              std::string("option 'cache_dir': ") + error.what());
    return false;
  }
}

CheckResult Compiler::check(const Source &source) {
  if (options.cacheFolder.empty())
    return readCheckResult(runCheck(source));
  fs::path file = options.cacheFolder / (getKey("check", source) + ".json");
  if (std::optional<std::string> json = readFile(file)) {
    try {
      return readCheckResult(*json);
    } catch (const Error &error) {
      log.write(ORT_LOGGING_LEVEL_WARNING,
                "'" + file.string() + "' is compiled again: " + error.what());
    }
  }
  std::string json = runCheck(source);
  store(file, json);
  return readCheckResult(json);
}

ModuleSource Compiler::compile(const Source &source) {
  fs::path file;
  if (!options.cacheFolder.empty())
    file = options.cacheFolder / (getKey("module", source) + ".so");
  std::error_code ignored;
  if (!file.empty() && fs::exists(file, ignored)) {
    log.write(ORT_LOGGING_LEVEL_INFO,
              source.name + ": module taken from the cache: " + file.string());
    return file;
  }
  const CompilerLibrary &library = loadLibrary(path);
  Settings settings(library, getOptions(source), log);
  auto result = std::make_shared<Result>(library);
  std::vector<adze_model_part> parts = source.model.getParts();
  adze_compile_status status = library.adze_compile_parts(
      parts.data(), parts.size(), source.name.c_str(), nullptr,
      settings.options, &result->result);
  if (status != ADZE_COMPILE_OK)
    throw Error(status == ADZE_COMPILE_USAGE         ? ORT_INVALID_ARGUMENT
                : status == ADZE_COMPILE_UNSUPPORTED ? ORT_NOT_IMPLEMENTED
                                                     : ORT_EP_FAIL,
                result->getMessage());
  std::string_view data = result->getData();
  if (file.empty() || !store(file, data))
    return Bytes{result, data};
  return file;
}

CheckResult readCheckResult(const std::string &json) {
  Json report = parseJson(json);
  if (report["issues"].kind != Json::Kind::Array)
    throw Error("expected the result of a check, but got other JSON");
  CheckResult result;
  for (const Json &issue : report["issues"].elements) {
    const Json &index = issue["index"];
    if (index.kind == Json::Kind::Number)
      result.refusals.push_back({static_cast<size_t>(index.number),
                                 "node '" + issue["node"].text + "' (" +
                                     issue["op"].text +
                                     "): " + issue["reason"].text});
    else if (result.wholeModel.empty())
      result.wholeModel = issue["reason"].text;
  }
  return result;
}

} // namespace adze::ep
