// Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
//
// The report of a module: its graph, and refusals of passes.
#include "Report.h"
#include "Support/NodeName.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/Remarks.h"
#include "llvm/Object/ELFObjectFile.h"
#include "llvm/Support/MemoryBuffer.h"
#include <mutex>
#include <set>

using namespace mlir;

namespace adze {

std::string describeType(Type type) {
  std::string text;
  llvm::raw_string_ostream os(text);
  auto shaped = dyn_cast<ShapedType>(type);
  if (!shaped) {
    os << type;
    return text;
  }
  os << shaped.getElementType() << " ";
  if (!shaped.hasRank())
    os << "of any rank";
  else if (shaped.getRank() == 0)
    os << "scalar";
  else
    llvm::interleave(
        shaped.getShape(), os,
        [&](int64_t size) {
          if (ShapedType::isDynamic(size))
            os << "?";
          else
            os << size;
        },
        "x");
  return text;
}

ReportFunction *Report::findFunction(StringRef name) {
  auto found = llvm::find_if(functions, [&](const ReportFunction &function) {
    return function.name == name;
  });
  return found == functions.end() ? nullptr : &*found;
}

//===----------------------------------------------------------------------===//
// The graph
//===----------------------------------------------------------------------===//

namespace {
/// Numbers the ops of one function, and collects the nodes that each reads.
class NodeCollector {
public:
  explicit NodeCollector(std::vector<ReportNode> &nodes) : nodes(nodes) {}

  void collect(func::FuncOp function) {
    for (BlockArgument argument : function.getArguments()) {
      auto name = function.getArgAttrOfType<StringAttr>(argument.getArgNumber(),
                                                        "graph.name");
      add("input", name ? name.str() : "", argument.getType());
      numbers[argument] = nodes.size() - 1;
    }
    visit(function.front());
    for (OpOperand &operand :
         function.front().getTerminator()->getOpOperands()) {
      auto name = function.getResultAttrOfType<StringAttr>(
          operand.getOperandNumber(), "graph.name");
      add("output", name ? name.str() : "", operand.get().getType());
      readValue(operand.get());
    }
  }

private:
  void add(StringRef op, StringRef name, Type type) {
    nodes.push_back({op.str(), {}, describeType(type), {}, {}});
    if (!name.empty())
      nodes.back().nodes.push_back(name.str());
  }

  /// Records that the last node reads a value.
  void readValue(Value value) {
    Operation *source = value.getDefiningOp();
    if (source && source->hasTrait<OpTrait::ConstantLike>()) {
      nodes.back().weights.push_back(describeType(value.getType()));
      return;
    }
    auto number = numbers.find(value);
    if (number != numbers.end() &&
        !llvm::is_contained(nodes.back().inputs, number->second))
      nodes.back().inputs.push_back(number->second);
  }

  void visit(Block &block) {
    for (Operation &op : block) {
      if (op.hasTrait<OpTrait::ConstantLike>() ||
          op.hasTrait<OpTrait::IsTerminator>())
        continue;
      add(op.getName().getStringRef(), "",
          op.getNumResults() ? op.getResult(0).getType()
                             : NoneType::get(op.getContext()));
      unsigned number = nodes.size() - 1;
      for (StringRef name : getNodeNames(op.getLoc()))
        nodes.back().nodes.push_back(name.str());
      for (Value operand : op.getOperands())
        readValue(operand);
      for (Region &region : op.getRegions())
        for (Block &inner : region) {
          for (BlockArgument argument : inner.getArguments())
            numbers[argument] = number;
          visit(inner);
        }
      for (Value result : op.getResults())
        numbers[result] = number;
    }
  }

  std::vector<ReportNode> &nodes;
  llvm::DenseMap<Value, unsigned> numbers;
};
} // namespace

void collectNodes(ModuleOp module, std::vector<ReportNode> &nodes) {
  for (auto function : module.getOps<func::FuncOp>())
    if (function.isPublic() && !function.isExternal())
      return NodeCollector(nodes).collect(function);
}

//===----------------------------------------------------------------------===//
// Machine code
//===----------------------------------------------------------------------===//

void addCodeBytes(ArrayRef<char> object, ArrayRef<StringRef> kernels,
                  StringRef prefix, StringRef cpu, Report &report) {
  auto file = llvm::object::ObjectFile::createObjectFile(llvm::MemoryBufferRef(
      StringRef(object.data(), object.size()), "kernels"));
  if (!file) {
    llvm::consumeError(file.takeError());
    return;
  }
  llvm::StringMap<int64_t> bytes;
  for (const llvm::object::ELFSymbolRef symbol : (*file)->symbols()) {
    auto name = symbol.getName();
    if (!name) {
      llvm::consumeError(name.takeError());
      continue;
    }
    name->consume_front(prefix);
    // The longest name matches: conv_10, not conv_1.
    StringRef owner;
    for (StringRef kernel : kernels)
      if (name->starts_with(kernel) && kernel.size() > owner.size())
        owner = kernel;
    if (!owner.empty() && symbol.getELFType() == llvm::ELF::STT_FUNC)
      bytes[owner] += symbol.getSize();
  }
  for (StringRef kernel : kernels) {
    ReportFunction *function = report.findFunction(kernel);
    // A shared kernel is not launched.
    if (!function)
      function = &report.functions.emplace_back(
          ReportFunction{kernel.str(), {}, {}, {}, {}});
    function->codeBytes.push_back({cpu.str(), bytes.lookup(kernel)});
  }
}

//===----------------------------------------------------------------------===//
// Remarks
//===----------------------------------------------------------------------===//

namespace {
/// Collects failed optimisations and quantized weights. Remarks on copies of
/// one op are reported once.
class RemarkCollector final : public remark::detail::MLIRRemarkStreamerBase {
public:
  explicit RemarkCollector(Report &report) : report(report) {}

  void streamOptimizationRemark(const remark::detail::Remark &remark) override {
    SmallVector<StringRef> nodes = getNodeNames(remark.getLocation());
    std::string op = remark.getCategoryName().str(),
                node = nodes.empty() ? "" : nodes.front().str();
    std::lock_guard<std::mutex> lock(mutex);
    if (remark.getRemarkType() == llvm::remarks::Type::Analysis)
      takeRounding({op, node}, remark.getArgs());
    else
      takeRefusal({op, node, remark.getRemarkName().str(), {}, {}, {}},
                  remark.getArgs());
  }

private:
  using Args = ArrayRef<remark::detail::Remark::Arg>;

  void takeRefusal(ReportRefusal refusal, Args args) {
    for (const auto &part : args)
      (part.key == "Producer"       ? refusal.producer
       : part.key == "ProducerNode" ? refusal.producerNode
                                    : refusal.reason) += part.val;
    if (reported.insert(refusal).second)
      report.refusals.push_back(std::move(refusal));
  }

  void takeRounding(ReportRounding rounding, Args args) {
    for (const auto &part : args) {
      StringRef value = part.val;
      if (part.key == "Bits")
        value.getAsInteger(10, rounding.bits);
      else if (part.key == "Block")
        value.getAsInteger(10, rounding.block);
      else if (part.key == "RelativeError")
        value.getAsDouble(rounding.relativeError);
    }
    report.roundings.push_back(std::move(rounding));
  }

  std::mutex mutex;
  std::set<ReportRefusal> reported;
  Report &report;
};
} // namespace

void collectRemarks(MLIRContext &context, Report &report) {
  remark::RemarkCategories kinds;
  kinds.failed = ".*";
  kinds.analysis = ".*";
  // This cannot fail without a file.
  (void)remark::enableOptimizationRemarks(
      context, std::make_unique<RemarkCollector>(report),
      std::make_unique<remark::RemarkEmittingPolicyAll>(), kinds);
}

} // namespace adze
