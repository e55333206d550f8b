// Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
//
// Profiles of runs, as Chrome traces and as pages.

#ifndef ADZE_TOOLS_RUN_PROFILE_H
#define ADZE_TOOLS_RUN_PROFILE_H

#include "Run.h"

namespace adze::run {

/// Writes the files of --profile, each from separate runs.
Error writeProfiles(Session &session, const Arguments &arguments);

} // namespace adze::run

#endif // ADZE_TOOLS_RUN_PROFILE_H
