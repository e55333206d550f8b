// Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
//
// Cases in processes of their own, several at once.
#ifndef ADZE_TESTS_CONFORMANCE_WORKERS_H
#define ADZE_TESTS_CONFORMANCE_WORKERS_H

#include "Execute.h"
#include <functional>

namespace conformance {

/// Runs task(i, folder) for each i < count in a child forked for it, which
/// begins with all that this process has ready; a crash or a hang fails that
/// one. `folder` is empty, in memory, and gone afterwards. `done` is called
/// here in the order of ending. This process must not have threads.
Error forEach(size_t count, const std::function<unsigned(size_t)> &seconds,
              unsigned jobs,
              const std::function<Outcome(size_t, const std::string &)> &task,
              const std::function<void(size_t, const Outcome &)> &done);

/// A fresh folder in memory, where the system has a place for such.
Error makeFolder(std::string &folder);

} // namespace conformance

#endif // ADZE_TESTS_CONFORMANCE_WORKERS_H
