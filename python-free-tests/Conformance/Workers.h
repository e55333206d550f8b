// Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
//
// Tasks in forked processes, several at once.
#ifndef ADZE_TESTS_CONFORMANCE_WORKERS_H
#define ADZE_TESTS_CONFORMANCE_WORKERS_H

#include "Execute.h"
#include <functional>

namespace conformance {

/// Runs task(i, folder) for each i < count in forked children, which begin with
/// all that this process has ready. A child runs one task after another, since
/// pages that tasks change are then copied once for many; a crash or a hang
/// fails the task and no other, and another child runs those after it. A task
/// has `seconds(i)` of processor time. `folder` is empty, in memory, and gone
/// afterwards. `done` is called here when a child has ended. This process must
/// not have threads.
Error forEach(size_t count, const std::function<unsigned(size_t)> &seconds,
              unsigned jobs,
              const std::function<Outcome(size_t, const std::string &)> &task,
              const std::function<void(size_t, const Outcome &)> &done);

/// Creates a new folder, in memory if the system has a file system for it.
Error makeFolder(std::string &folder);

} // namespace conformance

#endif // ADZE_TESTS_CONFORMANCE_WORKERS_H
