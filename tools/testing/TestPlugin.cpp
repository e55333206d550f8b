// Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
//
// A library with passes and a dialect, as users may load it into atranslate.
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/DialectImplementation.h"
#include "mlir/Pass/Pass.h"
#include "mlir/Tools/Plugins/DialectPlugin.h"
#include "mlir/Tools/Plugins/PassPlugin.h"

using namespace mlir;

namespace {
/// A dialect without ops, whose attributes may be on ops of other dialects.
class MarkDialect final : public Dialect {
public:
  explicit MarkDialect(MLIRContext *context)
      : Dialect("mark", context, TypeID::get<MarkDialect>()) {}
  static StringRef getDialectNamespace() { return "mark"; }
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(MarkDialect)
};

/// Counts the ops of the module, and prints the number.
struct CountPass : PassWrapper<CountPass, OperationPass<ModuleOp>> {
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(CountPass)
  StringRef getArgument() const final { return "plugged-count"; }
  StringRef getDescription() const final { return "Count ops"; }
  void runOnOperation() final {
    unsigned count = 0;
    getOperation().walk([&](Operation *) { ++count; });
    getOperation().emitWarning("the plugin counts ") << count << " ops";
    getOperation()->setAttr("mark.count",
                            Builder(&getContext()).getI64IntegerAttr(count));
  }
};

/// A wrong rewrite: swaps the operands of the last subtraction of a function.
struct SwapPass : PassWrapper<SwapPass, OperationPass<ModuleOp>> {
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(SwapPass)
  StringRef getArgument() const final { return "plugged-swap"; }
  StringRef getDescription() const final { return "Swap a difference"; }
  void runOnOperation() final {
    Operation *last = nullptr;
    getOperation().walk([&](Operation *op) {
      if (llvm::is_contained({"graph.sub", "llvm.fsub"},
                             op->getName().getStringRef()))
        last = op;
    });
    if (last)
      last->setOperands({last->getOperand(1), last->getOperand(0)});
  }
};
} // namespace

extern "C" PassPluginLibraryInfo mlirGetPassPluginInfo() {
  return {MLIR_PLUGIN_API_VERSION, "adze-test", "1", [] {
            PassRegistration<CountPass>();
            PassRegistration<SwapPass>();
          }};
}

extern "C" DialectPluginLibraryInfo mlirGetDialectPluginInfo() {
  return {MLIR_PLUGIN_API_VERSION, "adze-test", "1",
          [](DialectRegistry *registry) { registry->insert<MarkDialect>(); }};
}
