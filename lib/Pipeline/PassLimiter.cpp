// Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
//
// Skips the passes after a PassLimit.
#include "PassLimiter.h"

using namespace mlir;

namespace adze {

PassLimiter::PassLimiter(MLIRContext &context, PassLimit &limit)
    : context(context), limit(limit) {
  context.registerActionHandler(
      [this](llvm::function_ref<void()> run, const tracing::Action &action) {
        handle(run, action);
      });
}

PassLimiter::~PassLimiter() { context.registerActionHandler({}); }

/// Returns the names of the passes in a textual pipeline, in order:
/// "module(a,func.func(b{c=1},d))" has a, b and d.
static std::vector<std::string> flatten(StringRef text) {
  std::vector<std::string> names;
  std::string name;
  unsigned braces = 0;
  auto finish = [&](bool isPass) {
    if (isPass && !name.empty())
      names.push_back(name);
    name.clear();
  };
  for (char c : text) {
    braces += c == '{';
    if (c == '}')
      --braces;
    else if (braces == 0 && (c == '(' || c == ',' || c == ')'))
      finish(c != '(');
    else if (braces == 0)
      name += c;
  }
  finish(true);
  return names;
}

void PassLimiter::begin(OpPassManager &manager) {
  std::string text;
  llvm::raw_string_ostream os(text);
  manager.printAsTextualPipeline(os);
  limit.names = flatten(text);
  numbers.clear();
  next = 0;
  isActive = true;
}

/// A pass without an op to run on is not observed, so the name identifies the
/// pass.
unsigned PassLimiter::getNumber(const Pass &pass) {
  auto [it, isNew] = numbers.try_emplace(&pass, next);
  if (!isNew)
    return it->second;
  auto found = std::find(limit.names.begin() + next, limit.names.end(),
                         pass.getArgument());
  if (found != limit.names.end()) {
    it->second = unsigned(found - limit.names.begin());
    next = it->second + 1;
  }
  return it->second;
}

unsigned PassLimiter::getLimit(Operation *op) const {
  if (limit.stage != Stage::Kernel || !limit.hasKernels || limit.numPasses == 0)
    return limit.numPasses;
  while (Operation *parent = op->getParentOp())
    op = parent;
  bool hasAny = llvm::any_of(limit.kernels, [&](const std::string &name) {
    return SymbolTable::lookupSymbolIn(op, name);
  });
  return hasAny ? limit.numPasses : limit.numPasses - 1;
}

/// Returns true if kernels can be compiled without the pass, as it lowers
/// nothing.
static bool canBeLeftOut(StringRef pass) {
  return !pass.starts_with("convert-") && !pass.starts_with("expand-") &&
         !pass.starts_with("lower-") && pass != "arith-expand" &&
         pass != "tile-specialize";
}

void PassLimiter::handle(llvm::function_ref<void()> run,
                         const tracing::Action &action) {
  auto *execution = dyn_cast<PassExecutionAction>(&action);
  // The adaptor that runs the passes of a nested pipeline is a pass without a
  // name.
  bool counts = isActive && depth == 0 && execution &&
                !execution->getPass().getArgument().empty();
  if (!counts)
    return run();
  const Pass &pass = execution->getPass();
  if (getNumber(pass) >= getLimit(execution->getOp()) &&
      (limit.stage != Stage::Kernel || canBeLeftOut(pass.getArgument())))
    return;
  ++depth;
  run();
  --depth;
}

} // namespace adze
