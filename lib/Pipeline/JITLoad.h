// Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
//
// Loads object code into this process.
#ifndef ADZE_LIB_PIPELINE_JITLOAD_H
#define ADZE_LIB_PIPELINE_JITLOAD_H

#include "Target/CPU/CpuTarget.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/ExecutionEngine/Orc/LLJIT.h"

namespace adze {

/// Creates a JIT with the support functions of modules.
llvm::Expected<std::unique_ptr<llvm::orc::LLJIT>>
loadObject(llvm::StringRef object, const cpu::CpuTarget &target);

} // namespace adze

#endif // ADZE_LIB_PIPELINE_JITLOAD_H
