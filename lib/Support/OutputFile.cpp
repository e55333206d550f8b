// Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
//
// Outputs that are whole or absent.
#include "Support/OutputFile.h"
#include "Support/Terminal.h"
#include "llvm/ADT/SmallString.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/Signals.h"
#include <climits>
#include <csignal>
#include <cstdlib>
#include <unistd.h>

using namespace llvm;

namespace adze {

static constexpr StringLiteral kStandardOutput = "standard output";

/// Returns the error of a stream's writes and clears it: the destructor of a
/// stream with an error ends the process.
static std::error_code takeError(raw_fd_ostream &os) {
  std::error_code code = os.error();
  os.clear_error();
  return code;
}

/// Set once, before any thread.
static bool isOwner = false;

void ownSignals() { isOwner = true; }
bool ownsSignals() { return isOwner; }

void registerTemporary(StringRef temporary) {
  if (isOwner)
    sys::RemoveFileOnSignal(temporary);
}

std::error_code createTemporaryBeside(StringRef path, int &fd,
                                      std::string &temporary) {
  constexpr unsigned maxNames = 128; // as LLVM's functions
  std::error_code code;
  for (unsigned i = 0; i < maxNames; ++i) {
    SmallString<128> name;
    sys::fs::createUniquePath(path + ".tmp-%%%%%%%%", name,
                              /*MakeAbsolute=*/false);
    temporary = name.str().str();
    // What takes memory comes before the file: it would stay if that failed.
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

std::error_code createTemporary(StringRef prefix, StringRef suffix,
                                std::string &temporary) {
  SmallString<128> name;
  if (std::error_code code = sys::fs::createTemporaryFile(prefix, suffix, name))
    return code;
  registerTemporary(name);
  temporary = name.str().str();
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
  // A link to a file that is not there yet, or no file at all.
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
  if (std::error_code code = sys::fs::rename(temporary, resolveOutput(path)))
    return createFileError(path, code);
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
  if (std::error_code code = sys::fs::rename(temporary, target))
    return createFileError(path, code);
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
  // Nobody is left to be told.
  errs().clear_error();
  if (code)
    _exit(1);
}

void prepareOutputs() {
  ownSignals();
  for (int signal : {SIGPIPE, SIGXFSZ})
    std::signal(signal, SIG_IGN);
  // Streams are destroyed after the function has run: they are older.
  outs();
  errs();
  chooseColors();
  std::atexit(checkStandardOutput);
}

} // namespace adze
