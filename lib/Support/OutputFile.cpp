// Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
//
// Outputs that appear whole or not at all.
#include "Support/OutputFile.h"
#include "Support/Terminal.h"
#include "llvm/ADT/SmallString.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/Signals.h"
#include <atomic>
#include <climits>
#include <csignal>
#include <cstdlib>
#include <unistd.h>

using namespace llvm;

namespace adze {

static constexpr StringLiteral kStandardOutput = "standard output";

/// Returns the error of a stream and clears it: the destructor of a stream with
/// an error ends the process.
static std::error_code takeError(raw_fd_ostream &os) {
  std::error_code code = os.error();
  os.clear_error();
  return code;
}

/// Set once, before threads are created.
static bool isOwner = false;

void ownSignals() { isOwner = true; }
bool ownsSignals() { return isOwner; }

void registerTemporary(StringRef temporary) {
  if (isOwner)
    sys::RemoveFileOnSignal(temporary);
}

//===----------------------------------------------------------------------===//
// Signals
//===----------------------------------------------------------------------===//

/// True after a signal that ends the process.
static std::atomic<bool> isEnding = false;
/// The numbers of scopes of all threads and of this one.
static std::atomic<int> numScopes = 0;
static thread_local int ownScopes = 0;
static_assert(std::atomic<int>::is_always_lock_free);

/// Blocks, as the thread of the handler ends the process.
static void waitForEnd() {
  while (isOwner && isEnding)
    pause();
}

TemporaryScope::TemporaryScope() {
  ++numScopes;
  if (isOwner && isEnding) {
    --numScopes;
    waitForEnd();
  }
  ++ownScopes;
}

TemporaryScope::~TemporaryScope() {
  --ownScopes;
  --numScopes;
}

/// The handlers of LLVM, which remove the files.
static struct sigaction removers[NSIG];

/// Waits for the files that are being created, for a limited time, and removes
/// them before the handler of LLVM does. That one resets the action of the
/// signal first, so that a second signal (of `timeout`, which also sends it to
/// the group) would end the process before any file was removed. A thread that
/// the second signal interrupts does not continue.
static void end(int signal, siginfo_t *info, void *place) {
  static std::atomic<pid_t> ender = 0;
  pid_t self = gettid(), known = 0;
  if (!ender.compare_exchange_strong(known, self)) {
    if (known == self)
      return;
    numScopes -= ownScopes;
    while (true)
      pause();
  }
  isEnding = true;
  constexpr int mostWaits = 1000;
  for (int i = 0; i < mostWaits && numScopes > ownScopes; ++i) {
    timespec millisecond = {0, 1000000};
    nanosleep(&millisecond, nullptr);
  }
  sys::RunInterruptHandlers();
  const struct sigaction &remover = removers[signal];
  if (remover.sa_flags & SA_SIGINFO)
    remover.sa_sigaction(signal, info, place);
  else
    remover.sa_handler(signal);
}

/// Ignored signals stay ignored (nohup).
static void noteEndings() {
  for (int signal : {SIGINT, SIGTERM, SIGHUP}) {
    struct sigaction &remover = removers[signal];
    if (sigaction(signal, nullptr, &remover) || remover.sa_handler == SIG_DFL ||
        remover.sa_handler == SIG_IGN)
      continue;
    struct sigaction noting = remover;
    noting.sa_flags |= SA_SIGINFO;
    noting.sa_flags &= ~int(SA_RESETHAND);
    noting.sa_sigaction = end;
    sigaction(signal, &noting, nullptr);
  }
}

//===----------------------------------------------------------------------===//
// Temporary files
//===----------------------------------------------------------------------===//

/// Creates a new file by a model of its name, as createUniquePath does.
static std::error_code createRegistered(const Twine &model, int &fd,
                                        std::string &temporary) {
  constexpr unsigned maxNames = 128; // as in the functions of LLVM
  TemporaryScope scope;
  std::error_code code;
  for (unsigned i = 0; i < maxNames; ++i) {
    SmallString<128> name;
    sys::fs::createUniquePath(model, name, /*MakeAbsolute=*/false);
    temporary = name.str().str();
    // Memory is allocated before the file is created, which would remain if
    // that failed.
    registerTemporary(name);
    code = sys::fs::openFileForReadWrite(name, fd, sys::fs::CD_CreateNew,
                                         sys::fs::OF_None);
    if (!code)
      return {};
    sys::DontRemoveFileOnSignal(name);
    temporary.clear();
    if (code != std::errc::file_exists)
      break;
  }
  return code;
}

std::string getAbsolutePath(StringRef path) {
  SmallString<128> absolute(path);
  sys::fs::make_absolute(absolute);
  sys::path::remove_dots(absolute, /*remove_dot_dot=*/true);
  return absolute.str().str();
}

std::error_code createTemporaryBeside(StringRef path, int &fd,
                                      std::string &temporary) {
  return createRegistered(path + ".tmp-%%%%%%%%", fd, temporary);
}

std::error_code createTemporary(StringRef prefix, StringRef suffix,
                                std::string &temporary) {
  SmallString<128> model;
  sys::path::system_temp_directory(/*ErasedOnReboot=*/true, model);
  sys::path::append(model, prefix + "-%%%%%%." + suffix);
  int fd;
  if (std::error_code code = createRegistered(model, fd, temporary))
    return code;
  close(fd);
  return {};
}

void removeTemporary(StringRef temporary) {
  sys::fs::remove(temporary);
  sys::DontRemoveFileOnSignal(temporary);
}

//===----------------------------------------------------------------------===//
// Paths
//===----------------------------------------------------------------------===//

std::string resolveOutput(StringRef path) {
  SmallString<128> resolved;
  if (!sys::fs::real_path(path, resolved))
    return resolved.str().str();
  // The path is a link to a file that does not exist yet, or not a file at all.
  constexpr unsigned maxLinks = 40; // as Linux
  SmallString<128> current(path);
  for (unsigned i = 0; i < maxLinks; ++i) {
    char next[PATH_MAX];
    ssize_t length = readlink(current.c_str(), next, sizeof(next));
    if (length < 0 || size_t(length) == sizeof(next))
      return current.str().str();
    StringRef text(next, length);
    if (sys::path::is_absolute(text))
      current.clear();
    else
      sys::path::remove_filename(current);
    sys::path::append(current, text);
  }
  return path.str();
}

bool isWrittenInPlace(StringRef path) {
  sys::fs::file_status status;
  return !sys::fs::status(path, status) &&
         status.type() != sys::fs::file_type::regular_file;
}

static Error copyInPlace(StringRef temporary, StringRef path) {
  auto buffer = MemoryBuffer::getFile(temporary, /*IsText=*/false,
                                      /*RequiresNullTerminator=*/false);
  if (!buffer)
    return createFileError(temporary, buffer.getError());
  return writeOutput(path, [&](raw_ostream &os) {
    os << (*buffer)->getBuffer();
    return Error::success();
  });
}

Error commitTemporary(StringRef temporary, StringRef path) {
  if (isWrittenInPlace(path))
    return copyInPlace(temporary, path);
  if (std::error_code code = sys::fs::rename(temporary, resolveOutput(path))) {
    waitForEnd(); // the handler has removed it
    return createFileError(path, code);
  }
  return Error::success();
}

//===----------------------------------------------------------------------===//
// OutputFile
//===----------------------------------------------------------------------===//

Expected<std::unique_ptr<OutputFile>> OutputFile::create(StringRef path) {
  std::unique_ptr<OutputFile> output(new OutputFile(path));
  if (path == "-") {
    output->path = kStandardOutput;
    output->stream = &outs();
    return output;
  }
  if (Error error = output->open())
    return std::move(error);
  output->stream = output->file.get();
  return output;
}

Error OutputFile::open() {
  target = resolveOutput(path);
  int fd;
  std::error_code code =
      isWrittenInPlace(target)
          ? sys::fs::openFileForWrite(path, fd, sys::fs::CD_OpenExisting)
          : createTemporaryBeside(target, fd, temporary);
  if (code)
    return createFileError(path, code);
  file = std::make_unique<raw_fd_ostream>(fd, /*shouldClose=*/true);
  return Error::success();
}

Error OutputFile::close() {
  if (!stream)
    return Error::success();
  if (file)
    file->close();
  else
    stream->flush();
  std::error_code code = takeError(*stream);
  stream = nullptr;
  file.reset();
  return code ? createFileError(path, code) : Error::success();
}

Error OutputFile::commit() {
  if (Error error = close())
    return error;
  if (temporary.empty())
    return Error::success();
  if (std::error_code code = sys::fs::rename(temporary, target)) {
    waitForEnd(); // the handler has removed it
    return createFileError(path, code);
  }
  sys::DontRemoveFileOnSignal(temporary);
  temporary.clear();
  return Error::success();
}

void OutputFile::discard() {
  consumeError(close());
  if (!temporary.empty())
    removeTemporary(temporary);
}

OutputFile::~OutputFile() { discard(); }

Error writeOutput(StringRef path, function_ref<Error(raw_ostream &)> write) {
  auto output = OutputFile::create(path);
  if (!output)
    return output.takeError();
  if (Error error = write((*output)->os()))
    return error;
  return (*output)->commit();
}

//===----------------------------------------------------------------------===//
// Standard output
//===----------------------------------------------------------------------===//

static void checkStandardOutput() {
  outs().flush();
  std::error_code code = takeError(outs());
  if (code)
    errs() << "error: " << kStandardOutput << ": " << code.message() << "\n";
  // The error cannot be reported anymore.
  errs().clear_error();
  if (code)
    _exit(1);
}

void prepareOutputs() {
  ownSignals();
  noteEndings();
  for (int signal : {SIGPIPE, SIGXFSZ})
    std::signal(signal, SIG_IGN);
  // Streams are created first, so that they are destroyed after the function
  // has run.
  outs();
  errs();
  chooseColors();
  std::atexit(checkStandardOutput);
}

} // namespace adze
