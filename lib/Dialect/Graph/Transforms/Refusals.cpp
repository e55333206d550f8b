// Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
//
// Near misses: a marker in the diagnostic of a match failure distinguishes them
// from ops that a pattern only visited.
#include "Refusals.h"
#include "Support/NodeName.h"
#include "mlir/IR/Remarks.h"

using namespace mlir;
using namespace adze::graph;

void adze::graph::refuse(Operation *op, StringRef what, const Twine &reason) {
  auto options =
      remark::RemarkOpts::name(what).category(op->getName().getStringRef());
  if (auto remark = remark::failed(op->getLoc(), options))
    remark << StringRef(reason.str());
}

void adze::graph::refuseFusion(Operation *producer, Operation *reader,
                               StringRef reason) {
  using Arg = remark::detail::Remark::Arg;
  auto options = remark::RemarkOpts::name("fusion").category(
      reader->getName().getStringRef());
  if (auto remark = remark::failed(reader->getLoc(), options))
    remark << reason << Arg("Producer", producer->getName().getStringRef())
           << Arg("ProducerNode", getNodeName(producer->getLoc()));
}

LogicalResult adze::graph::nearMiss(RewriterBase &rewriter, Operation *op,
                                    const Twine &reason) {
  return rewriter.notifyMatchFailure(op, [&](Diagnostic &diagnostic) {
    diagnostic << reason;
    diagnostic.getMetadata().push_back(DiagnosticArgument(/*near=*/1));
  });
}

void NearMisses::notifyPatternBegin(const Pattern &next, Operation *op) {
  current = op;
  pattern = next.getDebugName();
}

void NearMisses::notifyMatchFailure(
    Location loc, function_ref<void(Diagnostic &)> reasonCallback) {
  if (!current || !loc->getContext()->getRemarkEngine())
    return;
  Diagnostic diagnostic(loc, DiagnosticSeverity::Remark);
  reasonCallback(diagnostic);
  if (!diagnostic.getMetadata().empty())
    found[current].insert({pattern, diagnostic.str()});
}

/// Returns "NormFromQuotient" for "(anonymous
/// namespace)::NormFromQuotient<DivOp>".
static StringRef getShortName(StringRef name) {
  name = name.take_until([](char c) { return c == '<'; });
  return name.substr(name.rfind(':') + 1);
}

void NearMisses::report(Operation *root) {
  if (found.empty())
    return;
  root->walk([&](Operation *op) {
    auto misses = found.find(op);
    if (misses == found.end())
      return;
    for (const auto &[name, reason] : misses->second)
      refuse(op, getShortName(name), reason);
  });
}
