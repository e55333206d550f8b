// Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
//
// The report as JSON, and the page around it.
#include "Report.h"
#include "Report/Page.h"
#include "llvm/Support/JSON.h"

using namespace mlir;

namespace adze {

using Pairs = std::vector<std::pair<std::string, int64_t>>;

static void writePairs(llvm::json::OStream &json, StringRef name,
                       const Pairs &pairs) {
  json.attributeObject(name, [&] {
    for (const auto &[key, value] : pairs)
      json.attribute(key, value);
  });
}

static void writeStrings(llvm::json::OStream &json, StringRef name,
                         const std::vector<std::string> &strings) {
  json.attributeArray(name, [&] {
    for (const std::string &text : strings)
      json.value(llvm::json::fixUTF8(text));
  });
}

static void writeNumbers(llvm::json::OStream &json, StringRef name,
                         const std::vector<unsigned> &numbers) {
  json.attributeArray(name, [&] {
    for (unsigned number : numbers)
      json.value(int64_t(number));
  });
}

static void writeTensors(llvm::json::OStream &json, StringRef name,
                         const std::vector<ReportTensor> &tensors) {
  json.attributeArray(name, [&] {
    for (const ReportTensor &tensor : tensors)
      json.object([&] {
        json.attribute("type", tensor.type);
        json.attribute("bytes", tensor.bytes);
        json.attribute("place", tensor.place);
        if (!tensor.name.empty())
          json.attribute("name", llvm::json::fixUTF8(tensor.name));
        if (tensor.slot >= 0)
          json.attribute("slot", tensor.slot);
        if (!tensor.from.empty())
          writeNumbers(json, "from", tensor.from);
      });
  });
}

static void writeKernel(llvm::json::OStream &json, const ReportKernel &kernel) {
  json.object([&] {
    json.attribute("name", kernel.name);
    json.attribute("function", kernel.function);
    json.attribute("kind", kernel.isTile ? "tile" : "reference");
    if (!kernel.refusal.empty())
      json.attribute("refusal", kernel.refusal);
    writeStrings(json, "nodes", kernel.nodes);
    writeTensors(json, "inputs", kernel.inputs);
    writeTensors(json, "outputs", kernel.outputs);
    json.attribute("bytes_read", kernel.bytesRead);
    json.attribute("bytes_written", kernel.bytesWritten);
    json.attribute("bytes_saved", kernel.bytesSaved);
    json.attribute("flops", kernel.flops);
    if (kernel.isOtherVersion)
      json.attribute("other_version", true);
    writePairs(json, "parameters", kernel.parameters);
    if (!kernel.cudaParameters.empty())
      writePairs(json, "parameters_cuda", kernel.cudaParameters);
  });
}

static void writeNode(llvm::json::OStream &json, const ReportNode &node) {
  json.object([&] {
    json.attribute("op", node.op);
    writeStrings(json, "nodes", node.nodes);
    json.attribute("type", node.type);
    writeNumbers(json, "inputs", node.inputs);
    if (!node.weights.empty())
      writeStrings(json, "weights", node.weights);
  });
}

static void writeFunction(llvm::json::OStream &json,
                          const ReportFunction &function) {
  json.attributeObject(function.name, [&] {
    if (!function.sameAs.empty())
      json.attribute("same_code_as", function.sameAs);
    writePairs(json, "code_bytes", function.codeBytes);
    if (!function.deviceCode.empty())
      json.attributeObject("device_code", [&] {
        for (const auto &[target, facts] : function.deviceCode)
          writePairs(json, target, facts);
      });
    json.attribute("text", llvm::json::fixUTF8(function.text));
  });
}

static void writeSlot(llvm::json::OStream &json, const ReportSlot &slot) {
  json.object([&] {
    json.attribute("type", slot.type);
    json.attribute("offset", slot.offset);
    json.attribute("bytes", slot.bytes);
    json.attribute("first", int64_t(slot.first));
    json.attribute("last", int64_t(slot.last));
  });
}

static void writeWeight(llvm::json::OStream &json, const ReportWeight &weight) {
  json.object([&] {
    json.attribute("type", weight.type);
    json.attribute("bytes", weight.bytes);
    writeNumbers(json, "kernels", weight.kernels);
  });
}

static void writeRefusal(llvm::json::OStream &json,
                         const ReportRefusal &refusal) {
  json.object([&] {
    json.attribute("op", refusal.op);
    json.attribute("node", llvm::json::fixUTF8(refusal.node));
    json.attribute("pattern", refusal.pattern);
    if (!refusal.producer.empty()) {
      json.attribute("producer", refusal.producer);
      json.attribute("producer_node",
                     llvm::json::fixUTF8(refusal.producerNode));
    }
    json.attribute("reason", refusal.reason);
  });
}

static void writeRounding(llvm::json::OStream &json,
                          const ReportRounding &rounding) {
  json.object([&] {
    json.attribute("op", rounding.op);
    json.attribute("node", llvm::json::fixUTF8(rounding.node));
    json.attribute("bits", rounding.bits);
    json.attribute("block", rounding.block);
    json.attribute("relative_error", rounding.relativeError);
  });
}

/// Returns the number of the launches of a run, and the sums over them: read,
/// written, saved, flops. Of the versions of a kernel, one runs.
static Pairs getTotals(const Report &report) {
  Pairs totals = {{"launches", 0},
                  {"bytes_read", 0},
                  {"bytes_written", 0},
                  {"bytes_saved", 0},
                  {"flops", 0}};
  for (const ReportKernel &kernel : report.kernels) {
    if (kernel.isOtherVersion)
      continue;
    totals[0].second += 1;
    totals[1].second += kernel.bytesRead;
    totals[2].second += kernel.bytesWritten;
    totals[3].second += kernel.bytesSaved;
    totals[4].second += kernel.flops;
  }
  return totals;
}

static void writeProduct(llvm::json::OStream &json,
                         const ProbedProduct &product) {
  json.object([&] {
    json.attribute("name", llvm::json::fixUTF8(product.name));
    if (product.error >= 0) // measured
      json.attribute("error", product.error);
    json.attribute("type", product.isWide ? "f32" : "bf16");
  });
}

template <typename Entry>
static void writeList(llvm::json::OStream &json, StringRef name,
                      const std::vector<Entry> &entries,
                      void (*write)(llvm::json::OStream &, const Entry &)) {
  json.attributeArray(name, [&] {
    for (const Entry &entry : entries)
      write(json, entry);
  });
}

void writeJSON(const Report &report, llvm::raw_ostream &os) {
  llvm::json::OStream json(os, /*IndentSize=*/1);
  json.object([&] {
    json.attribute("producer", "adze " ADZE_VERSION);
    json.attribute("model", llvm::json::fixUTF8(report.model));
    json.attribute("opt_level", int64_t(report.optLevel));
    writeStrings(json, "targets", report.targets);
    writePairs(json, "cache_bytes", report.cacheBytes);
    writeStrings(json, "traits", report.traits);
    json.attribute("vector_bytes", report.vectorBytes);
    json.attribute("flops_per_byte", report.flopsPerByte);
    writePairs(json, "symbols", report.symbols);
    json.attribute("arena_bytes", report.arenaBytes);
    json.attribute("arena_lower_bound_bytes", report.arenaLowerBoundBytes);
    json.attribute("weights_bytes", report.weightsBytes);
    writePairs(json, "totals", getTotals(report));
    writeList(json, "kernels", report.kernels, writeKernel);
    writeList(json, "refusals", report.refusals, writeRefusal);
    writeList(json, "rounded_weights", report.roundings, writeRounding);
    writeList(json, "precision", report.precision, writeProduct);
    writeList(json, "nodes", report.nodes, writeNode);
    writeList(json, "slots", report.slots, writeSlot);
    writeList(json, "weights", report.weights, writeWeight);
    json.attributeObject("functions", [&] {
      for (const ReportFunction &function : report.functions)
        writeFunction(json, function);
    });
  });
  os << "\n";
}

void writeHTML(const Report &report, llvm::raw_ostream &os) {
  std::string json;
  llvm::raw_string_ostream text(json);
  writeJSON(report, text);
  os << makeReportPage(report.model, json, /*profile=*/"");
}

} // namespace adze
