// Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
//
// Reads and creates EPContext nodes.
#include "Context.h"
#include "AdzeCommit.h"
#include "Cache.h"
#include "adze.h"
#include <algorithm>
#include <climits>
#include <cstdio>
#include <cstring>

namespace fs = std::filesystem;

namespace adze::ep {

bool isContext(const GraphReader &reader, const OrtNode *node) {
  return reader.getOperator(node) == "EPContext" &&
         reader.getText(node, "source") == kName;
}

/// Returns the path of the model; the option gives it for a model in memory.
static fs::path getModelPath(const GraphReader &reader, const OrtGraph *graph,
                             const Options &options) {
  const char *path = nullptr;
  check(reader.api, reader.api.ort.Graph_GetModelPath(graph, &path));
  return path && *path ? fs::path(path) : options.contextFile;
}

ModuleSource readContext(const GraphReader &reader, const OrtGraph *graph,
                         const OrtNode *node, const Options &options) {
  std::string place = "node '" + reader.getName(node) + "' (EPContext): ";
  std::string content = reader.getText(node, "ep_cache_context");
  if (content.empty())
    throw Error(ORT_INVALID_GRAPH,
                place + "expected an attribute 'ep_cache_context'");
  if (reader.getInteger(node, "embed_mode", 1)) {
    auto owner = std::make_shared<std::string>(std::move(content));
    return Bytes{owner, *owner};
  }
  fs::path file = content;
  if (file.is_absolute() ||
      std::find(file.begin(), file.end(), "..") != file.end())
    throw Error(ORT_INVALID_GRAPH,
                place +
                    "expected a file in the folder of the model, but got '" +
                    content + "'");
  file = getModelPath(reader, graph, options).parent_path() / file;
  std::error_code ignored;
  if (!fs::exists(file, ignored))
    throw Error(place + "expected the file '" + file.string() +
                "', but there is none");
  return file;
}

namespace {
/// Owns the attributes of a new node.
class Attributes {
public:
  explicit Attributes(const Api &api) : api(api) {}
  Attributes(const Attributes &) = delete;
  ~Attributes() {
    for (OrtOpAttr *attribute : all)
      api.ort.ReleaseOpAttr(attribute);
  }

  void add(const char *name, int64_t value) {
    add(name, &value, 1, ORT_OP_ATTR_INT);
  }
  void add(const char *name, std::string_view value) {
    if (value.size() > INT_MAX)
      throw Error(
          "expected a module of less than 2 GiB in the model, but got " +
          std::to_string(value.size()) +
          " bytes; the option ep.context_embed_mode=0 keeps it in a "
          "file");
    add(name, value.data(), static_cast<int>(value.size()), ORT_OP_ATTR_STRING);
  }

  const Api &api;
  std::vector<OrtOpAttr *> all;

private:
  void add(const char *name, const void *data, int size, OrtOpAttrType type) {
    OrtOpAttr *attribute = nullptr;
    check(api, api.ort.CreateOpAttr(name, data, size, type, &attribute));
    all.push_back(attribute);
  }
};
} // namespace

static Bytes readModule(const ModuleSource &module) {
  if (auto *bytes = std::get_if<Bytes>(&module))
    return *bytes;
  const fs::path &path = std::get<fs::path>(module);
  std::optional<std::string> content = readFile(path);
  if (!content)
    throw Error("expected to read '" + path.string() + "', but it is gone");
  auto owner = std::make_shared<std::string>(std::move(*content));
  return {owner, *owner};
}

/// Writes the module to the folder of the model, and returns its file name.
static std::string writeModule(const GraphReader &reader, const OrtGraph *graph,
                               const std::string &name, std::string_view module,
                               const Options &options) {
  fs::path model = options.contextFile.empty()
                       ? getModelPath(reader, graph, options)
                       : options.contextFile;
  if (model.empty())
    throw Error(ORT_INVALID_ARGUMENT,
                "expected ep.context_file_path, which says where modules of a "
                "model from memory are written, or ep.context_embed_mode=1, "
                "which keeps them in the model");
  std::string file = model.stem().string() + "_" + name + ".so";
  writeFile(model.parent_path() / file, module);
  return file;
}

static std::vector<const char *>
getPointers(const std::vector<std::string> &texts) {
  std::vector<const char *> pointers;
  for (const std::string &text : texts)
    pointers.push_back(text.c_str());
  return pointers;
}

OrtNode *makeContext(const GraphReader &reader, const OrtGraph *graph,
                     const OrtNode *fused, const ModuleSource &source,
                     const Options &options) {
  std::string name = reader.getName(fused);
  Bytes module = readModule(source);
  Attributes attributes(reader.api);
  attributes.add("main_context", int64_t(1));
  attributes.add("embed_mode", int64_t(options.embedsContexts));
  if (options.embedsContexts)
    attributes.add("ep_cache_context", module.view);
  else
    attributes.add("ep_cache_context",
                   writeModule(reader, graph, name, module.view, options));
  attributes.add("source", kName);
  attributes.add("partition_name", name);
  attributes.add("ep_sdk_version", ADZE_VERSION);
  std::vector<std::string> inputs = reader.getNames(reader.getInputs(fused));
  std::vector<std::string> outputs = reader.getNames(reader.getOutputs(fused));
  OrtNode *node = nullptr;
  check(reader.api, // which copies the attributes
        reader.api.editor.CreateNode("EPContext", "com.microsoft", name.c_str(),
                                     getPointers(inputs).data(), inputs.size(),
                                     getPointers(outputs).data(),
                                     outputs.size(), attributes.all.data(),
                                     attributes.all.size(), &node));
  return node;
}

#if defined(__x86_64__)
static const char kArchitecture[] = "x86_64";
#elif defined(__aarch64__)
static const char kArchitecture[] = "aarch64";
#else
#error "expected x86-64 or AArch64"
#endif

std::string getCompatibility() {
  return "adze;version=" ADZE_VERSION ";abi=" +
         std::to_string(adze_abi_version()) + ";arch=" + kArchitecture;
}

OrtCompiledModelCompatibility checkCompatibility(const char *info) {
  unsigned abi = 0;
  char architecture[32];
  if (!info || sscanf(info, "adze;version=%*[^;];abi=%u;arch=%31s", &abi,
                      architecture) != 2)
    return OrtCompiledModelCompatibility_EP_NOT_APPLICABLE;
  return abi <= adze_abi_version() && !strcmp(architecture, kArchitecture)
             ? OrtCompiledModelCompatibility_EP_SUPPORTED_OPTIMAL
             : OrtCompiledModelCompatibility_EP_UNSUPPORTED;
}

} // namespace adze::ep
