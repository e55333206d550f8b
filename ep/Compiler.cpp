// Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
//
// Checks and compilations by libadze_compiler, and the cache around them.
#include "Compiler.h"
#include "AdzeCommit.h"
#include "Cache.h"
#include "Json.h"
#include <dlfcn.h>
#include <map>

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

/// Loads a library once; it stays for the rest of the process.
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

/// The compiler's library in the folder of this one.
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

  std::string getData() const {
    size_t size = 0;
    const void *data = library.adze_compiler_result_data(result, &size);
    return {static_cast<const char *>(data), size};
  }
  /// The errors, without the end of the last line.
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

Compiler::~Compiler() {
  if (library)
    library->adze_compiler_options_release(settings);
}

/// Errors come with the result; warnings and what `v` and `stats` print are
/// for the log.
static void writeDiagnostic(void *user,
                            const adze_compile_diagnostic *diagnostic) {
  auto *log = static_cast<const Log *>(user);
  if (diagnostic->severity != ADZE_COMPILE_ERROR)
    log->write(diagnostic->severity == ADZE_COMPILE_WARNING
                   ? ORT_LOGGING_LEVEL_WARNING
                   : ORT_LOGGING_LEVEL_INFO,
               diagnostic->formatted);
}

void Compiler::loadLocked() {
  if (library)
    return;
  const CompilerLibrary &loaded = loadLibrary(path);
  adze_compiler_options *fresh = nullptr;
  if (loaded.adze_compiler_options_create(&fresh) != ADZE_COMPILE_OK)
    throw std::bad_alloc();
  for (const auto &[key, value] : options.compilerOptions)
    if (loaded.adze_compiler_options_set(fresh, key.c_str(), value.c_str()) !=
        ADZE_COMPILE_OK) {
      std::string message = loaded.adze_compiler_options_message(fresh);
      loaded.adze_compiler_options_release(fresh);
      throw Error(ORT_INVALID_ARGUMENT, "option '" + key + "': " + message);
    }
  loaded.adze_compiler_options_set_diagnostics(fresh, writeDiagnostic,
                                               const_cast<Log *>(&log));
  settings = fresh;
  library = &loaded;
}

void Compiler::load() {
  std::lock_guard<std::mutex> lock(mutex);
  loadLocked();
}

//===----------------------------------------------------------------------===//
// Checks and compilations
//===----------------------------------------------------------------------===//

/// All that a result depends on, in a digest.
std::string Compiler::getKey(const char *purpose, const Message &model) {
  std::string text = std::string(purpose) +
                     " " ADZE_VERSION " " ADZE_COMMIT "\n" +
                     describeFile(path) + "\n" + describeCpu();
  for (const auto &[key, value] : options.compilerOptions) {
    text += key + "=" + value + "\n";
    if (key == "kernels" || key == "tune-db")
      text += getDigest(readFile(value).value_or(""), {}) + "\n";
  }
  return getDigest(text, model.getParts());
}

std::string Compiler::runCheck(const Message &model, const std::string &name) {
  load();
  Result result(*library);
  std::vector<adze_model_part> parts = model.getParts();
  library->adze_compiler_check_parts(parts.data(), parts.size(), name.c_str(),
                                     settings, &result.result);
  std::string json = result.getData();
  if (json.empty())
    throw Error(result.getMessage());
  return json;
}

CheckResult Compiler::check(const Message &model, const std::string &name) {
  if (options.cacheFolder.empty())
    return readCheckResult(runCheck(model, name));
  fs::path file = options.cacheFolder / (getKey("check", model) + ".json");
  if (std::optional<std::string> json = readFile(file)) {
    try {
      return readCheckResult(*json);
    } catch (const Error &error) {
      log.write(ORT_LOGGING_LEVEL_WARNING,
                "'" + file.string() + "' is made anew: " + error.what());
    }
  }
  std::string json = runCheck(model, name);
  writeFile(file, json.data(), json.size());
  return readCheckResult(json);
}

ModuleSource Compiler::compile(const Message &model, const std::string &name) {
  fs::path file;
  if (!options.cacheFolder.empty())
    file = options.cacheFolder / (getKey("module", model) + ".so");
  if (!file.empty() && fs::exists(file)) {
    log.write(ORT_LOGGING_LEVEL_INFO,
              name + ": module taken from the cache: " + file.string());
    return file;
  }
  load();
  Result result(*library);
  std::vector<adze_model_part> parts = model.getParts();
  adze_compile_status status =
      library->adze_compile_parts(parts.data(), parts.size(), name.c_str(),
                                  nullptr, settings, &result.result);
  if (status != ADZE_COMPILE_OK)
    throw Error(status == ADZE_COMPILE_USAGE         ? ORT_INVALID_ARGUMENT
                : status == ADZE_COMPILE_UNSUPPORTED ? ORT_NOT_IMPLEMENTED
                                                     : ORT_EP_FAIL,
                result.getMessage());
  if (file.empty())
    return result.getData();
  size_t size = 0;
  const void *data = library->adze_compiler_result_data(result.result, &size);
  writeFile(file, data, size);
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
