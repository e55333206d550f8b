// Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
//
// Outputs that are whole or absent: files that get their name when all bytes
// are written, and standard output that is checked.
#ifndef ADZE_SUPPORT_OUTPUTFILE_H
#define ADZE_SUPPORT_OUTPUTFILE_H

#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/Support/Error.h"
#include "llvm/Support/raw_ostream.h"
#include <memory>
#include <string>

namespace adze {

/// An output that is written to a temporary file in the same directory, which
/// is renamed when it is complete. Without commit(), and on a signal, nothing
/// is left. "-" is standard output; a device or a pipe is written in place.
class OutputFile {
public:
  /// Opens the temporary file. A symbolic link is followed.
  static llvm::Expected<std::unique_ptr<OutputFile>>
  create(llvm::StringRef path);
  ~OutputFile();

  llvm::raw_ostream &os() { return *stream; }
  /// Flushes and closes the file. Fails with a FileError if any write failed.
  llvm::Error close();
  /// Closes the file and gives it its name.
  llvm::Error commit();

private:
  explicit OutputFile(llvm::StringRef path) : path(path.str()) {}
  llvm::Error open();
  void discard();

  std::string path;                           // as given, for messages
  std::string target;                         // what `temporary` is renamed to
  std::string temporary;                      // empty if written in place
  std::unique_ptr<llvm::raw_fd_ostream> file; // null for standard output
  llvm::raw_fd_ostream *stream = nullptr;
};

/// Writes an output by `write`, as a whole or not at all.
llvm::Error
writeOutput(llvm::StringRef path,
            llvm::function_ref<llvm::Error(llvm::raw_ostream &)> write);

/// Returns the file that an output's path stands for: symbolic links are
/// followed, also to a file that does not exist yet.
std::string resolveOutput(llvm::StringRef path);

/// Returns true if an output is a device or a pipe, which is written in place.
bool isWrittenInPlace(llvm::StringRef path);

/// Makes a finished temporary file the output of that path: it is renamed, or
/// copied to a device or a pipe. It has to be on the file system of
/// resolveOutput(path).
llvm::Error commitTemporary(llvm::StringRef temporary, llvm::StringRef path);

/// Makes signals that end the process remove temporary files. For programs
/// that are ours: in others signals are left to the program.
void ownSignals();
bool ownsSignals();

/// Has such a signal remove the file.
void registerTemporary(llvm::StringRef temporary);

/// While it lives, its thread makes registered files, or makes them anew: a
/// signal waits for it, for a second at most, before it removes the files. After
/// a signal none begins.
class TemporaryScope {
public:
  TemporaryScope();
  ~TemporaryScope();
  TemporaryScope(const TemporaryScope &) = delete;
};

/// Creates an empty temporary file beside `path`, removed on a signal. The
/// caller renames or removes it and then calls DontRemoveFileOnSignal.
std::error_code createTemporaryBeside(llvm::StringRef path, int &fd,
                                      std::string &temporary);

/// Creates an empty file in the temporary directory, removed on a signal.
std::error_code createTemporary(llvm::StringRef prefix, llvm::StringRef suffix,
                                std::string &temporary);

/// Removes a file made by one of the above.
void removeTemporary(llvm::StringRef temporary);

/// Makes every write that fails an error: closed pipes and limits of file sizes
/// raise no signal, and standard output is checked when the process exits. If
/// it lost anything, the reason goes to stderr and the exit status is 1. Called
/// after LLVM's signal handlers are installed.
void prepareOutputs();

} // namespace adze

#endif // ADZE_SUPPORT_OUTPUTFILE_H
