// Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
//
// The pass tile-attach-targets: sets the targets of a module.
#include "Target/CPU/CpuTarget.h"
#include "Target/CUDA/CudaTarget.h"
#include "Target/Passes.h"

namespace adze {
#define GEN_PASS_DEF_ATTACHTARGETS
#include "Target/Passes.h.inc"
} // namespace adze

using namespace mlir;
using namespace adze;

namespace {
struct AttachTargets final : adze::impl::AttachTargetsBase<AttachTargets> {
  using AttachTargetsBase::AttachTargetsBase;

  void runOnOperation() override {
    SmallVector<Attribute> targets;
    auto add = [&](llvm::Expected<Attribute> target) {
      if (target)
        targets.push_back(*target);
      else
        getOperation().emitError(llvm::toString(target.takeError()));
    };
    for (const std::string &name : cpus)
      add(getCpu(name));
    for (const std::string &name : gpus)
      add(getGpu(name));
    if (targets.size() != cpus.size() + gpus.size())
      return signalPassFailure();
    tile::setTargets(getOperation(), targets);
  }

private:
  llvm::Expected<Attribute> getCpu(const std::string &name) {
    auto target = cpu::CpuTarget::resolve(triple, name);
    if (!target)
      return target.takeError();
    auto attribute = target->getAttr(getContext(), caches);
    if (!attribute)
      return attribute.takeError();
    return *attribute;
  }

  llvm::Expected<Attribute> getGpu(const std::string &name) {
    auto target = cuda::CudaTarget::resolve(name);
    if (!target)
      return target.takeError();
    return target->getAttr(getContext());
  }
};
} // namespace
