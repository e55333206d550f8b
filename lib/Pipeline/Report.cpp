// Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
//
// What --report says of a planned module.
#include "Report.h"
#include "Describe.h"
#include "Dialect/Tile/IR/Streams.h"
#include "Dialect/Tile/IR/Tile.h"
#include "Transforms/ArenaFormula.h"
#include "mlir/IR/Remarks.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/JSON.h"
#include <mutex>
#include <set>

using namespace mlir;

namespace adze {

//===----------------------------------------------------------------------===//
// Gathering
//===----------------------------------------------------------------------===//

static std::string describeType(Value place) {
  auto type = cast<MemRefType>(place.getType());
  std::string text;
  llvm::raw_string_ostream os(text);
  os << type.getElementType() << " ";
  if (type.getRank() == 0)
    os << "scalar";
  llvm::interleave(
      type.getShape(), os,
      [&](int64_t size) {
        if (ShapedType::isDynamic(size))
          os << "?";
        else
          os << size;
      },
      "x");
  return text;
}

static void addParameters(Operation *kernel, StringRef name,
                          std::vector<std::pair<std::string, int64_t>> &list) {
  if (auto dictionary = kernel->getAttrOfType<DictionaryAttr>(name))
    for (NamedAttribute entry : dictionary)
      if (auto value = dyn_cast<IntegerAttr>(entry.getValue()))
        list.push_back({entry.getName().str(), value.getInt()});
}

namespace {
/// Gathers what is known of the launches of one program.
class ReportBuilder {
public:
  ReportBuilder(ModuleOp module, func::FuncOp program, Report &report)
      : symbolTable(module), program(program), report(report),
        values(getTypicalSymbols(program)) {}

  void build();

private:
  int64_t evaluateBytes(Attribute attr) {
    return evaluate(host::getBytesExpr(attr, program.getContext()), values);
  }
  ReportKernel describeLaunch(host::LaunchOp launch);
  void describeSymbols();

  SymbolTable symbolTable;
  func::FuncOp program;
  Report &report;
  SmallVector<int64_t> values;
  llvm::StringMap<unsigned> uses;
};
} // namespace

ReportKernel ReportBuilder::describeLaunch(host::LaunchOp launch) {
  ReportKernel kernel;
  kernel.function = launch.getCallee().str();
  kernel.name = kernel.function;
  if (unsigned use = uses[launch.getCallee()]++)
    kernel.name += "." + std::to_string(use);
  for (StringRef node : getNodeNames(launch.getLoc()))
    kernel.nodes.push_back(node.str());
  size_t numInputs = launch.getNumOperands() - launch.getNumOutputs();
  for (auto [index, place] : llvm::enumerate(launch.getOperands())) {
    ReportTensor tensor = {describeType(place),
                           evaluate(host::getPlaceBytes(place), values)};
    bool isInput = index < numInputs;
    (isInput ? kernel.bytesRead : kernel.bytesWritten) += tensor.bytes;
    (isInput ? kernel.inputs : kernel.outputs).push_back(tensor);
  }
  if (Attribute part = launch->getAttr(host::bytesReadAttr))
    kernel.bytesRead = evaluateBytes(part);
  if (Attribute part = launch->getAttr(host::bytesWrittenAttr))
    kernel.bytesWritten = evaluateBytes(part);
  kernel.flops = evaluateBytes(launch->getAttr(host::flopsAttr));
  kernel.bytesSaved = evaluateBytes(launch->getAttr(host::bytesSavedAttr));
  if (Operation *callee = symbolTable.lookup(launch.getCallee())) {
    kernel.isTile = isa<tile::KernelOp>(callee);
    addParameters(callee, "tile.params", kernel.parameters);
    addParameters(callee, "tile.params.cuda", kernel.cudaParameters);
    if (auto bytes = callee->getAttrOfType<IntegerAttr>(tile::streamBytesAttr))
      kernel.parameters.push_back({"STREAM_BYTES", bytes.getInt()});
  }
  for (auto [name, count] :
       {std::pair<StringRef, Attribute>{"STEPS", launch.getStepsAttr()},
        {"GROUPS", launch.getGroupsAttr()}})
    if (count)
      kernel.parameters.push_back({name.str(), evaluateBytes(count)});
  return kernel;
}

void ReportBuilder::describeSymbols() {
  auto names = program->getAttrOfType<ArrayAttr>(host::symbolsAttr);
  for (auto [index, value] : llvm::enumerate(values)) {
    StringRef name = cast<StringAttr>(names[index]).getValue();
    report.symbols.push_back(
        {name.empty() ? "s" + std::to_string(index) : name.str(), value});
  }
}

void ReportBuilder::build() {
  describeSymbols();
  ArenaSize arena = getArenaSize(program, values);
  report.arenaBytes = arena.bytes;
  report.arenaLowerBoundBytes = arena.lowerBound;
  if (auto bytes = program->getAttrOfType<IntegerAttr>(host::weightsBytesAttr))
    report.weightsBytes = bytes.getInt();
  for (host::LaunchOp launch : getLaunches(program))
    report.kernels.push_back(describeLaunch(launch));
}

FailureOr<Report> makeReport(ModuleOp module) {
  FailureOr<func::FuncOp> program = findHostProgram(module);
  if (failed(program))
    return failure();
  Report report;
  ReportBuilder(module, *program, report).build();
  return report;
}

//===----------------------------------------------------------------------===//
// Refusals
//===----------------------------------------------------------------------===//

namespace {
/// Takes failed optimisations down. What copies of one op have in common is
/// told once.
class RefusalStreamer final : public remark::detail::MLIRRemarkStreamerBase {
public:
  explicit RefusalStreamer(std::vector<ReportRefusal> &refusals)
      : refusals(refusals) {}

  void streamOptimizationRemark(const remark::detail::Remark &remark) override {
    SmallVector<StringRef> nodes = getNodeNames(remark.getLocation());
    ReportRefusal refusal{remark.getCategoryName().str(),
                          nodes.empty() ? std::string() : nodes.front().str(),
                          remark.getRemarkName().str(),
                          {},
                          {},
                          {}};
    for (const auto &part : remark.getArgs())
      (part.key == "Producer"       ? refusal.producer
       : part.key == "ProducerNode" ? refusal.producerNode
                                    : refusal.reason) += part.val;
    std::lock_guard<std::mutex> lock(mutex);
    if (told.insert(refusal).second)
      refusals.push_back(std::move(refusal));
  }

private:
  std::mutex mutex;
  std::set<ReportRefusal> told;
  std::vector<ReportRefusal> &refusals;
};
} // namespace

void collectRefusals(MLIRContext &context,
                     std::vector<ReportRefusal> &refusals) {
  remark::RemarkCategories failures;
  failures.failed = ".*";
  // It cannot fail without a file.
  (void)remark::enableOptimizationRemarks(
      context, std::make_unique<RefusalStreamer>(refusals),
      std::make_unique<remark::RemarkEmittingPolicyAll>(), failures);
}

//===----------------------------------------------------------------------===//
// Writing
//===----------------------------------------------------------------------===//

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

static void writeTensors(llvm::json::OStream &json, StringRef name,
                         const std::vector<ReportTensor> &tensors) {
  json.attributeArray(name, [&] {
    for (const ReportTensor &tensor : tensors)
      json.object([&] {
        json.attribute("type", tensor.type);
        json.attribute("bytes", tensor.bytes);
      });
  });
}

static void writeKernel(llvm::json::OStream &json, const ReportKernel &kernel) {
  json.object([&] {
    json.attribute("name", kernel.name);
    json.attribute("function", kernel.function);
    json.attribute("kind", kernel.isTile ? "tile" : "reference");
    writeStrings(json, "nodes", kernel.nodes);
    writeTensors(json, "inputs", kernel.inputs);
    writeTensors(json, "outputs", kernel.outputs);
    json.attribute("bytes_read", kernel.bytesRead);
    json.attribute("bytes_written", kernel.bytesWritten);
    json.attribute("bytes_saved", kernel.bytesSaved);
    json.attribute("flops", kernel.flops);
    writePairs(json, "parameters", kernel.parameters);
    if (!kernel.cudaParameters.empty())
      writePairs(json, "parameters_cuda", kernel.cudaParameters);
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

/// Sums over the launches: read, written, saved, flops.
static Pairs getTotals(const Report &report) {
  Pairs totals = {{"launches", int64_t(report.kernels.size())},
                  {"bytes_read", 0},
                  {"bytes_written", 0},
                  {"bytes_saved", 0},
                  {"flops", 0}};
  for (const ReportKernel &kernel : report.kernels) {
    totals[1].second += kernel.bytesRead;
    totals[2].second += kernel.bytesWritten;
    totals[3].second += kernel.bytesSaved;
    totals[4].second += kernel.flops;
  }
  return totals;
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
    writePairs(json, "symbols", report.symbols);
    json.attribute("arena_bytes", report.arenaBytes);
    json.attribute("arena_lower_bound_bytes", report.arenaLowerBoundBytes);
    json.attribute("weights_bytes", report.weightsBytes);
    writePairs(json, "totals", getTotals(report));
    json.attributeArray("kernels", [&] {
      for (const ReportKernel &kernel : report.kernels)
        writeKernel(json, kernel);
    });
    json.attributeArray("refusals", [&] {
      for (const ReportRefusal &refusal : report.refusals)
        writeRefusal(json, refusal);
    });
  });
  os << "\n";
}

static std::string escape(StringRef text) {
  std::string result;
  llvm::raw_string_ostream os(result);
  llvm::printHTMLEscaped(text, os);
  return result;
}

static std::string joinPairs(const Pairs &pairs) {
  std::vector<std::string> texts;
  for (const auto &[key, value] : pairs)
    texts.push_back(escape(key) + "=" + std::to_string(value));
  return llvm::join(texts, ", ");
}

static void writeRow(const ReportKernel &kernel, llvm::raw_ostream &os) {
  auto types = [](const std::vector<ReportTensor> &tensors) {
    std::vector<std::string> texts;
    for (const ReportTensor &tensor : tensors)
      texts.push_back(escape(tensor.type));
    return llvm::join(texts, "<br>");
  };
  os << "<tr><td>" << escape(kernel.name) << "</td><td>"
     << (kernel.isTile ? "tile" : "reference") << "</td><td>"
     << escape(llvm::join(kernel.nodes, ", ")) << "</td><td>"
     << types(kernel.inputs) << "</td><td>" << types(kernel.outputs)
     << "</td><td class=n>" << kernel.flops << "</td><td class=n>"
     << kernel.bytesRead << "</td><td class=n>" << kernel.bytesWritten
     << "</td><td class=n>" << kernel.bytesSaved << "</td><td>"
     << joinPairs(kernel.parameters);
  if (!kernel.cudaParameters.empty())
    os << "<br>cuda: " << joinPairs(kernel.cudaParameters);
  os << "</td></tr>\n";
}

static void writeRefusals(const Report &report, llvm::raw_ostream &os) {
  if (report.refusals.empty())
    return;
  os << "<h2>Refused</h2>\n<table><tr><th>op</th><th>ONNX node</th>"
     << "<th>pattern</th><th>of</th><th>reason</th></tr>\n";
  for (const ReportRefusal &refusal : report.refusals)
    os << "<tr><td>" << escape(refusal.op) << "</td><td>"
       << escape(refusal.node) << "</td><td>" << escape(refusal.pattern)
       << "</td><td>" << escape(refusal.producer + " " + refusal.producerNode)
       << "</td><td>" << escape(refusal.reason) << "</td></tr>\n";
  os << "</table>\n";
}

void writeHTML(const Report &report, llvm::raw_ostream &os) {
  os << "<!DOCTYPE html>\n<html><head><meta charset=\"utf-8\"><title>"
     << escape(report.model) << "</title>\n<style>"
     << "body{font:14px sans-serif}table{border-collapse:collapse}"
     << "td,th{border:1px solid #ccc;padding:2px 6px;vertical-align:top;"
     << "text-align:left}td.n{text-align:right;font-family:monospace}"
     << "</style></head><body>\n<h1>" << escape(report.model) << "</h1>\n<p>-O"
     << report.optLevel << " for " << escape(llvm::join(report.targets, ", "))
     << "; caches " << joinPairs(report.cacheBytes)
     << (report.traits.empty() ? "" : "; traits ")
     << llvm::join(report.traits, ", ") << "; arena " << report.arenaBytes
     << " bytes (lower bound " << report.arenaLowerBoundBytes << "), weights "
     << report.weightsBytes << " bytes; " << joinPairs(getTotals(report));
  if (!report.symbols.empty())
    os << "; at " << joinPairs(report.symbols);
  os << "</p>\n<table><tr><th>kernel</th><th>kind</th><th>ONNX nodes</th>"
     << "<th>inputs</th><th>outputs</th><th>FLOPs</th><th>bytes read</th>"
     << "<th>bytes written</th><th>bytes saved</th><th>parameters</th>"
     << "</tr>\n";
  std::vector<const ReportKernel *> order;
  for (const ReportKernel &kernel : report.kernels)
    order.push_back(&kernel);
  auto cost = [](const ReportKernel *kernel) {
    return kernel->flops + kernel->bytesRead + kernel->bytesWritten;
  };
  // Equal ones stay in the program's order.
  llvm::sort(order, [&](const ReportKernel *a, const ReportKernel *b) {
    return cost(a) != cost(b) ? cost(a) > cost(b) : a < b;
  });
  for (const ReportKernel *kernel : order)
    writeRow(*kernel, os);
  os << "</table>\n";
  writeRefusals(report, os);
  os << "</body></html>\n";
}

} // namespace adze
