// Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
//
// ONNX Runtime's functions as its running version has them, and statuses as
// exceptions inside of the provider.
#ifndef ADZE_EP_API_H
#define ADZE_EP_API_H

#include "OrtApi.h"
#include <exception>
#include <string>
#include <vector>

namespace adze::ep {

/// The name of the provider in sessions.
constexpr const char *kName = "AdzeExecutionProvider";

/// The oldest API version with all required functions, and the newest one that
/// OrtApi.h declares functions of.
constexpr uint32_t kOldestApi = 23, kNewestApi = 24;

/// Goes to `ort_version_supported`: ONNX Runtime reads the members of our
/// structures that this version has.
constexpr uint32_t kStructVersion = 23;

#define ADZE_EP_MEMBER(Name, Place, Since, Result, Arguments)                  \
  Result(*Name) Arguments = nullptr;
/// Functions that are newer than the running version are null.
struct OrtFunctions {
  ADZE_ORT_API(ADZE_EP_MEMBER)
};
struct OrtEpFunctions {
  ADZE_ORT_EP_API(ADZE_EP_MEMBER)
};
struct OrtModelEditorFunctions {
  ADZE_ORT_MODEL_EDITOR_API(ADZE_EP_MEMBER)
};
#undef ADZE_EP_MEMBER

struct Api {
  OrtFunctions ort;
  OrtEpFunctions ep;
  OrtModelEditorFunctions editor;
  /// The version by which the tables are read: at most kNewestApi.
  uint32_t version = 0;
  /// The version of the running ONNX Runtime.
  uint32_t running = 0;
};

/// Reads the tables of the running ONNX Runtime, and no slot that its version
/// does not have. Returns an error message, or an empty string;
/// `api.ort.CreateStatus` is set if there is a table at all.
std::string loadApi(const OrtApiBase &base, Api &api);

/// An error that `guarded` converts to a status.
class Error : public std::exception {
public:
  Error(OrtErrorCode code, std::string message)
      : code(code), message(std::move(message)) {}
  // Not ORT_EP_FAIL: ONNX Runtime's Python package then runs the model on the
  // CPU's provider, and only prints the reason.
  explicit Error(std::string message) : Error(ORT_FAIL, std::move(message)) {}
  const char *what() const noexcept override { return message.c_str(); }

  OrtErrorCode code;

private:
  std::string message;
};

/// Throws if a call has failed, and releases its status.
void check(const Api &api, OrtStatus *status);

/// Makes the status of a caught exception, with the provider's name in front.
OrtStatus *makeStatus(const Api &api, OrtErrorCode code, const char *message);

/// Runs the body of a callback of ONNX Runtime, which no exception may leave.
template <typename Body>
OrtStatus *guarded(const Api &api, Body &&body) noexcept {
  try {
    body();
    return nullptr;
  } catch (const Error &error) {
    return makeStatus(api, error.code, error.what());
  } catch (const std::exception &error) {
    return makeStatus(api, ORT_FAIL, error.what());
  }
}

/// Calls a pair such as Graph_GetNumNodes and Graph_GetNodes.
template <typename T, typename Owner>
std::vector<const T *> list(const Api &api, const Owner *owner,
                            OrtStatus *(*count)(const Owner *, size_t *),
                            OrtStatus *(*fill)(const Owner *, const T **,
                                               size_t)) {
  size_t size = 0;
  check(api, count(owner, &size));
  std::vector<const T *> all(size);
  if (size)
    check(api, fill(owner, all.data(), size));
  return all;
}

/// Writes messages to a session's log.
class Log {
public:
  Log(const Api &api, const OrtLogger *logger) : api(api), logger(logger) {}
  void write(OrtLoggingLevel level, const std::string &message) const;

private:
  const Api &api;
  const OrtLogger *logger;
};

} // namespace adze::ep

#endif // ADZE_EP_API_H
