// Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
//
// The version handshake, and conversions between statuses and exceptions.
#include "Api.h"
#include <algorithm>
#include <climits>
#include <cstdio>

namespace adze::ep {

template <typename Function>
static void read(Function &function, const void *const *table, unsigned place,
                 uint32_t since, uint32_t version) {
  if (since <= version)
    function = reinterpret_cast<Function>(const_cast<void *>(table[place]));
}

#define ADZE_EP_READ(Name, Place, Since, Result, Arguments)                    \
  read(functions.Name, table, Place, Since, version);
static void read(OrtFunctions &functions, const void *const *table,
                 uint32_t version) {
  ADZE_ORT_API(ADZE_EP_READ)
}
static void read(OrtEpFunctions &functions, const void *const *table,
                 uint32_t version) {
  ADZE_ORT_EP_API(ADZE_EP_READ)
}
static void read(OrtModelEditorFunctions &functions, const void *const *table,
                 uint32_t version) {
  ADZE_ORT_MODEL_EDITOR_API(ADZE_EP_READ)
}
#undef ADZE_EP_READ

static const void *const *getTable(const void *table) {
  return static_cast<const void *const *>(table);
}

std::string loadApi(const OrtApiBase &base, Api &api) {
  // Version 1.MINOR.PATCH has API version MINOR. A request for a newer API
  // version returns NULL and prints to stderr. A version of another form is
  // newer, and returns NULL if it does not have the API any more.
  const char *text = base.GetVersionString();
  unsigned minor = 0;
  if (!text || sscanf(text, "1.%u", &minor) != 1)
    minor = UINT_MAX;
  std::string got =
      std::string("expected ONNX Runtime 1.23 or newer, but got ") +
      (text ? text : "no version");
  api.running = minor;
  api.version = std::min<uint32_t>(minor, kNewestApi);
  const void *table = base.GetApi(api.version);
  if (!table)
    return got + ", which has no API " + std::to_string(api.version);
  read(api.ort, getTable(table), api.version);
  if (api.version < kOldestApi)
    return got;
  const void *epTable = api.ort.GetEpApi();
  const void *editorTable = api.ort.GetModelEditorApi();
  if (!epTable || !editorTable)
    return "expected an ONNX Runtime that compiles models, but got a minimal "
           "build";
  read(api.ep, getTable(epTable), api.version);
  read(api.editor, getTable(editorTable), api.version);
  return {};
}

void check(const Api &api, OrtStatus *status) {
  if (!status)
    return;
  OrtErrorCode code = api.ort.GetErrorCode(status);
  std::string message = api.ort.GetErrorMessage(status);
  api.ort.ReleaseStatus(status);
  throw Error(code, std::move(message));
}

OrtStatus *makeStatus(const Api &api, OrtErrorCode code, const char *message) {
  try {
    return api.ort.CreateStatus(code,
                                (std::string(kName) + ": " + message).c_str());
  } catch (const std::exception &) { // out of memory for the text
    return api.ort.CreateStatus(code, message);
  }
}

void Log::write(OrtLoggingLevel level, const std::string &message) const {
  OrtStatus *status =
      api.ort.Logger_LogMessage(logger, level, message.c_str(), "ep", 0, kName);
  if (status)
    api.ort.ReleaseStatus(status);
}

} // namespace adze::ep
