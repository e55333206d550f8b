// Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
//
// The output of --version.
#ifndef ADZE_SUPPORT_VERSION_H
#define ADZE_SUPPORT_VERSION_H

#include "llvm/Support/raw_ostream.h"
#include <string>

namespace adze {

/// Returns "Adze 1.2.0 (commit 0123abc), LLVM 22.1.0".
std::string getVersionLine();

/// Prints the version line and the targets that code can be generated for.
void printVersion(llvm::raw_ostream &os);

} // namespace adze

#endif // ADZE_SUPPORT_VERSION_H
