// Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
//
// The C API of the compiler: callbacks, inputs and outputs in memory.
#include "CAPI/adze_compiler.h"
#include "Pipeline/Options.h"
#include "Support/OutputFile.h"
#include "Support/Version.h"
#include "Verify/CompileVerified.h"
#include "llvm/ADT/ScopeExit.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/JSON.h"
#include "llvm/Support/MemoryBuffer.h"
#include <sys/mman.h>
#include <unistd.h>

using namespace llvm;
using namespace adze;

struct adze_compiler_options {
  OptionReader reader;
  std::string message;
  adze_diagnostic_fn report = nullptr;
  void *reportUser = nullptr;
  adze_progress_fn progress = nullptr;
  void *progressUser = nullptr;
  adze_cancel_fn isCancelled = nullptr;
  void *cancelUser = nullptr;
};

struct adze_compiler_result {
  adze_compile_status status = ADZE_COMPILE_OK;
  std::string message;
  std::unique_ptr<MemoryBuffer> data;
};

static adze_compile_status getStatus(CompileStatus status) {
  return static_cast<adze_compile_status>(status);
}

//===----------------------------------------------------------------------===//
// Callbacks
//===----------------------------------------------------------------------===//

namespace {
/// Passes the messages of a compilation to the callbacks, and keeps its errors.
class Follower final : public CompileObserver {
public:
  Follower(const adze_compiler_options &options, std::string &errors)
      : options(options), errors(errors) {}

  void report(const CompileMessage &message) override;
  void progress(StringRef stage, size_t done, size_t all) override {
    if (options.progress)
      options.progress(options.progressUser, stage.str().c_str(), done, all);
  }
  bool isCancelled() override {
    return options.isCancelled && options.isCancelled(options.cancelUser);
  }

private:
  const adze_compiler_options &options;
  std::string &errors;
};

/// Text of a compilation other than messages, such as statistics: each line
/// becomes a message.
class LineStream final : public raw_ostream {
public:
  explicit LineStream(Follower &follower) : follower(follower) {
    SetUnbuffered();
  }
  ~LineStream() override {
    if (!line.empty())
      finishLine();
  }

private:
  void write_impl(const char *data, size_t size) override {
    for (char c : StringRef(data, size)) {
      if (c == '\n')
        finishLine();
      else
        line.push_back(c);
    }
    written += size;
  }
  uint64_t current_pos() const override { return written; }
  void finishLine();

  Follower &follower;
  std::string line;
  uint64_t written = 0;
};
} // namespace

void Follower::report(const CompileMessage &message) {
  std::string formatted;
  raw_string_ostream os(formatted);
  message.print(os);
  if (message.severity == CompileMessage::Severity::Error)
    errors += formatted;
  if (!options.report)
    return;
  formatted.pop_back(); // the newline
  adze_compile_diagnostic diagnostic = {};
  diagnostic.size = sizeof(diagnostic);
  diagnostic.severity = static_cast<adze_compile_severity>(message.severity);
  diagnostic.file = message.file.c_str();
  diagnostic.line = static_cast<int32_t>(message.line);
  diagnostic.column = static_cast<int32_t>(message.column);
  diagnostic.node = message.node.c_str();
  diagnostic.op = message.op.c_str();
  diagnostic.message = message.text.c_str();
  diagnostic.formatted = formatted.c_str();
  options.report(options.reportUser, &diagnostic);
}

void LineStream::finishLine() {
  using Severity = CompileMessage::Severity;
  CompileMessage message;
  message.severity = Severity::Note;
  StringRef text = line;
  for (auto [prefix, severity] : {std::pair("error: ", Severity::Error),
                                  std::pair("warning: ", Severity::Warning),
                                  std::pair("remark: ", Severity::Remark)})
    if (text.consume_front(prefix)) {
      message.severity = severity;
      break;
    }
  text.consume_front("note: ");
  message.text = text.str();
  line.clear();
  follower.report(message);
}

//===----------------------------------------------------------------------===//
// Options
//===----------------------------------------------------------------------===//

const char *adze_compiler_version(void) {
  static const std::string version = getVersionLine();
  return version.c_str();
}

adze_compile_status
adze_compiler_options_create(adze_compiler_options **options) {
  if (!options)
    return ADZE_COMPILE_USAGE;
  *options = new adze_compiler_options;
  return ADZE_COMPILE_OK;
}

void adze_compiler_options_release(adze_compiler_options *options) {
  delete options;
}

adze_compile_status adze_compiler_options_set(adze_compiler_options *options,
                                              const char *key,
                                              const char *value) {
  if (!options)
    return ADZE_COMPILE_USAGE;
  options->message.clear();
  auto refuse = [&](CompileStatus status, const Twine &message) {
    options->message = message.str();
    return getStatus(status);
  };
  if (!key || !value)
    return refuse(CompileStatus::Usage,
                  "expected a key and a value, but got NULL");
  for (const OptionSpec &spec : getOptionSpecs())
    if (spec.name == key && spec.toolOnly)
      return refuse(CompileStatus::Usage,
                    Twine("option '") + key + "' is for the command line only");
  if (auto error = options->reader.set(key, value))
    return refuse(error->status, error->message);
  return ADZE_COMPILE_OK;
}

const char *
adze_compiler_options_message(const adze_compiler_options *options) {
  return options ? options->message.c_str() : "";
}

static StringRef getKindName(OptionSpec::Kind kind) {
  switch (kind) {
  case OptionSpec::Kind::Switch:
    return "switch";
  case OptionSpec::Kind::Value:
  case OptionSpec::Kind::Prefix:
    return "value";
  case OptionSpec::Kind::Repeated:
    return "repeated";
  }
  llvm_unreachable("a kind of option");
}

const char *adze_compiler_options_list(void) {
  static const std::string list = [] {
    std::string text;
    raw_string_ostream os(text);
    json::OStream json(os);
    json.array([&] {
      for (const OptionSpec &spec : getOptionSpecs())
        if (!spec.toolOnly && !spec.hidden)
          json.object([&] {
            json.attribute("name", spec.name);
            json.attribute("kind", getKindName(spec.kind));
            json.attribute("help", spec.help);
            json.attribute("value", spec.valueName);
          });
    });
    return text;
  }();
  return list.c_str();
}

void adze_compiler_options_set_diagnostics(adze_compiler_options *options,
                                           adze_diagnostic_fn report,
                                           void *user) {
  if (!options)
    return;
  options->report = report;
  options->reportUser = user;
}

void adze_compiler_options_set_progress(adze_compiler_options *options,
                                        adze_progress_fn report, void *user) {
  if (!options)
    return;
  options->progress = report;
  options->progressUser = user;
}

void adze_compiler_options_set_cancel(adze_compiler_options *options,
                                      adze_cancel_fn isCancelled, void *user) {
  if (!options)
    return;
  options->isCancelled = isCancelled;
  options->cancelUser = user;
}

//===----------------------------------------------------------------------===//
// Compilations
//===----------------------------------------------------------------------===//

namespace {
/// A model: a file, or bytes in memory that are written to an unnamed file.
/// Large constants are mapped from it, as for any model.
struct Model {
  std::string name;     // its path, or the given name
  std::string contents; // the file with its bytes, if it is another one
  int fd = -1;
  std::string temporary; // `contents`, if there is no /proc

  Model() = default;
  Model(const Model &) = delete;
  Model &operator=(const Model &) = delete;
  ~Model() {
    if (fd >= 0)
      close(fd);
    if (!temporary.empty())
      removeTemporary(temporary);
  }
  Error fill(ArrayRef<adze_model_part> parts);
};

/// A call of the API: from its arguments to a result.
class Call {
public:
  Call(const Model &model, const char *output,
       const adze_compiler_options *options)
      : model(model), output(output),
        options(options ? *options : defaultOptions),
        result(std::make_unique<adze_compiler_result>()),
        follower(this->options, result->message) {}

  CompileStatus compile();
  CompileStatus check();
  adze_compile_status finish(CompileStatus status, adze_compiler_result **out);
  CompileStatus refuse(CompileStatus status, std::string text);

private:
  CompileStatus run(CompileOptions &compileOptions);
  CompileStatus runInMemory(bool isCheck);

  const Model &model;
  const char *output;
  const adze_compiler_options defaultOptions{};
  const adze_compiler_options &options;
  std::unique_ptr<adze_compiler_result> result;
  Follower follower;
};
} // namespace

/// Writes the parts to a file; parts without data become holes.
static std::error_code writeParts(const std::string &path,
                                  ArrayRef<adze_model_part> parts) {
  std::error_code code;
  raw_fd_ostream os(path, code);
  if (code)
    return code;
  uint64_t size = 0;
  for (const adze_model_part &part : parts) {
    if (part.data)
      os.write(static_cast<const char *>(part.data), part.size);
    size += part.size;
    if (!part.data)
      os.seek(size);
  }
  os.close();
  code = os.error();
  os.clear_error();
  if (!code && truncate(path.c_str(), static_cast<off_t>(size)) != 0)
    code = std::error_code(errno, std::generic_category());
  return code;
}

Error Model::fill(ArrayRef<adze_model_part> parts) {
  fd = memfd_create("adze-model", MFD_CLOEXEC);
  contents = "/proc/self/fd/" + std::to_string(fd);
  if (fd < 0 || !sys::fs::exists(contents)) {
    if (std::error_code code = createTemporary("adze", "onnx", temporary))
      return errorCodeToError(code);
    contents = temporary;
  }
  return errorCodeToError(writeParts(contents, parts));
}

CompileStatus Call::refuse(CompileStatus status, std::string text) {
  CompileMessage message;
  message.text = std::move(text);
  follower.report(message);
  return status;
}

CompileStatus Call::run(CompileOptions &compileOptions) {
  compileOptions.contents = model.contents;
  compileOptions.observer = &follower;
  LineStream text(follower);
  return compileVerified(compileOptions, text);
}

/// The output is a temporary file, which is mapped and then unlinked.
CompileStatus Call::runInMemory(bool isCheck) {
  std::string path;
  if (std::error_code code = createTemporary("adze", "so", path))
    return refuse(CompileStatus::InputAtFault,
                  "temporary file: " + code.message());
  auto remover = scope_exit([&] { removeTemporary(path); });
  CompileOptions compileOptions;
  if (auto error = options.reader.finish(model.name, path, compileOptions))
    return refuse(error->status, error->message);
  if (isCheck) {
    compileOptions.check = compileOptions.json = true;
    compileOptions.verify = Verify::None;
  } else if (!compileOptions.externalWeights.empty()) {
    return refuse(CompileStatus::Usage,
                  "--weights=file needs an output file, but got none");
  }
  CompileStatus status = run(compileOptions);
  bool hasFoundIssues = isCheck && status == CompileStatus::InputAtFault;
  if (status != CompileStatus::Done && !hasFoundIssues)
    return status;
  auto data = MemoryBuffer::getFile(path, /*IsText=*/false,
                                    /*RequiresNullTerminator=*/false);
  if (!data)
    return refuse(CompileStatus::InputAtFault,
                  path + ": " + data.getError().message());
  result->data = std::move(*data);
  return status;
}

CompileStatus Call::compile() {
  CompileOptions compileOptions;
  StringRef path = output ? output : "memory";
  if (auto error = options.reader.finish(model.name, path, compileOptions))
    return refuse(error->status, error->message);
  if (path == "-")
    return refuse(CompileStatus::Usage,
                  "expected an output file, or none for memory, but got '-'");
  bool isInMemory = !output || !model.contents.empty();
  if (isInMemory && isText(compileOptions.emit) &&
      compileOptions.emit != Emit::PTX)
    return refuse(CompileStatus::Usage,
                  "--emit=graph, tile, linalg and llvm need a model and an "
                  "output in files");
  return output ? run(compileOptions) : runInMemory(/*isCheck=*/false);
}

CompileStatus Call::check() { return runInMemory(/*isCheck=*/true); }

adze_compile_status Call::finish(CompileStatus status,
                                 adze_compiler_result **out) {
  result->status = getStatus(status);
  if (out)
    *out = result.release();
  return getStatus(status);
}

/// Runs `run` on a model in memory.
static adze_compile_status withMemory(ArrayRef<adze_model_part> parts,
                                      const char *name, const char *output,
                                      const adze_compiler_options *options,
                                      adze_compiler_result **result,
                                      CompileStatus (Call::*run)()) {
  Model input;
  input.name = name && *name ? name : "model.onnx";
  Call call(input, output, options);
  if (Error error = input.fill(parts))
    return call.finish(
        call.refuse(CompileStatus::InputAtFault,
                    "memory for the model: " + toString(std::move(error))),
        result);
  return call.finish((call.*run)(), result);
}

/// Reports a null pointer to a model in memory.
static adze_compile_status refuseNull(const char *what,
                                      const adze_compiler_options *options,
                                      adze_compiler_result **result) {
  Model none;
  Call call(none, nullptr, options);
  return call.finish(
      call.refuse(CompileStatus::Usage,
                  std::string("expected ") + what + ", but got NULL"),
      result);
}

static adze_compile_status withFile(const char *model, const char *output,
                                    const adze_compiler_options *options,
                                    adze_compiler_result **result,
                                    CompileStatus (Call::*run)()) {
  Model input;
  input.name = model ? model : "";
  Call call(input, output, options);
  return call.finish((call.*run)(), result);
}

adze_compile_status adze_compile(const char *model, const char *output,
                                 const adze_compiler_options *options,
                                 adze_compiler_result **result) {
  if (!output && !result)
    return ADZE_COMPILE_USAGE;
  return withFile(model, output, options, result, &Call::compile);
}

adze_compile_status adze_compile_memory(const void *model, size_t size,
                                        const char *name, const char *output,
                                        const adze_compiler_options *options,
                                        adze_compiler_result **result) {
  if (!output && !result)
    return ADZE_COMPILE_USAGE;
  if (!model && size)
    return refuseNull("a model", options, result);
  return withMemory({{model, size}}, name, output, options, result,
                    &Call::compile);
}

adze_compile_status adze_compile_parts(const adze_model_part *parts,
                                       size_t count, const char *name,
                                       const char *output,
                                       const adze_compiler_options *options,
                                       adze_compiler_result **result) {
  if (!output && !result)
    return ADZE_COMPILE_USAGE;
  if (!parts && count)
    return refuseNull("parts of a model", options, result);
  return withMemory({parts, count}, name, output, options, result,
                    &Call::compile);
}

adze_compile_status adze_compiler_check(const char *model,
                                        const adze_compiler_options *options,
                                        adze_compiler_result **result) {
  return withFile(model, nullptr, options, result, &Call::check);
}

adze_compile_status
adze_compiler_check_memory(const void *model, size_t size, const char *name,
                           const adze_compiler_options *options,
                           adze_compiler_result **result) {
  if (!model && size)
    return refuseNull("a model", options, result);
  return withMemory({{model, size}}, name, nullptr, options, result,
                    &Call::check);
}

adze_compile_status adze_compiler_check_parts(
    const adze_model_part *parts, size_t count, const char *name,
    const adze_compiler_options *options, adze_compiler_result **result) {
  if (!parts && count)
    return refuseNull("parts of a model", options, result);
  return withMemory({parts, count}, name, nullptr, options, result,
                    &Call::check);
}

//===----------------------------------------------------------------------===//
// Results
//===----------------------------------------------------------------------===//

adze_compile_status
adze_compiler_result_status(const adze_compiler_result *result) {
  return result ? result->status : ADZE_COMPILE_OK;
}

const char *adze_compiler_result_message(const adze_compiler_result *result) {
  return result ? result->message.c_str() : "";
}

const void *adze_compiler_result_data(const adze_compiler_result *result,
                                      size_t *size) {
  bool hasData = result && result->data;
  if (size)
    *size = hasData ? result->data->getBufferSize() : 0;
  return hasData ? result->data->getBufferStart() : nullptr;
}

void adze_compiler_result_release(adze_compiler_result *result) {
  delete result;
}
