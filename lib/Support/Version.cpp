// Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
//
// The output of --version.
#include "Support/Version.h"
#include "AdzeCommit.h"
#include "llvm/Config/llvm-config.h"

namespace adze {

std::string getVersionLine() {
  return "Adze " ADZE_VERSION " (commit " ADZE_COMMIT
         "), LLVM " LLVM_VERSION_STRING;
}

void printVersion(llvm::raw_ostream &os) {
  os << getVersionLine()
     << "\ntargets: cpu (x86-64, aarch64), cuda (sm_80, sm_86, sm_89, sm_90, "
        "sm_90a, sm_100, sm_100a, sm_120)\n";
}

} // namespace adze
