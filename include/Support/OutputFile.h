// Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
//
// Outputs that appear whole or not at all: files that are renamed after all
// bytes are written, and checked standard output.
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
/// remains. "-" is standard output; a device or a pipe is written in place.
class OutputFile {
public:
  /// Opens the temporary file. A symbolic link is followed.
  static llvm::Expected<std::unique_ptr<OutputFile>>
  create(llvm::StringRef path);
  ~OutputFile();

  llvm::raw_ostream &os() { return *stream; }
  /// Flushes and closes the file. Fails with a FileError if any write failed.
  llvm::Error close();
  /// Closes the file and renames it.
  llvm::Error commit();

private:
  explicit OutputFile(llvm::StringRef path) : path(path.str()) {}
  llvm::Error open();
  void discard();

  std::string path;                           // as given, for messages
  std::string target;                         // the final path of `temporary`
  std::string temporary;                      // empty if written in place
  std::unique_ptr<llvm::raw_fd_ostream> file; // null for standard output
  llvm::raw_fd_ostream *stream = nullptr;
};

/// Writes an output by `write`, whole or not at all.
llvm::Error
writeOutput(llvm::StringRef path,
            llvm::function_ref<llvm::Error(llvm::raw_ostream &)> write);

/// Returns the file that the path of an output refers to: symbolic links are
/// followed, also to a file that does not exist yet.
std::string resolveOutput(llvm::StringRef path);

/// Returns true if an output is a device or a pipe, which is written in place.
bool isWrittenInPlace(llvm::StringRef path);

/// Renames a finished temporary file to the path of an output, or copies it to
/// a device or a pipe. It has to be on the file system of resolveOutput(path).
llvm::Error commitTemporary(llvm::StringRef temporary, llvm::StringRef path);

/// Makes signals that end the process remove temporary files. This is for our
/// own programs; others handle signals themselves.
void ownSignals();
bool ownsSignals();

/// Registers the file for removal by such a signal.
void registerTemporary(llvm::StringRef temporary);

/// While it exists, its thread creates registered files: a signal waits for it,
/// for at most a second, before it removes the files. After a signal, none
/// begins.
class TemporaryScope {
public:
  TemporaryScope();
  ~TemporaryScope();
  TemporaryScope(const TemporaryScope &) = delete;
};

/// Returns the path from the root, without `.` and `..`; links stay.
std::string getAbsolutePath(llvm::StringRef path);

/// Creates an empty temporary file in the directory of `path`, which is removed
/// on a signal. The caller renames or removes it and then calls
/// DontRemoveFileOnSignal.
std::error_code createTemporaryBeside(llvm::StringRef path, int &fd,
                                      std::string &temporary);

/// Creates an empty file in the temporary directory, which is removed on a
/// signal.
std::error_code createTemporary(llvm::StringRef prefix, llvm::StringRef suffix,
                                std::string &temporary);

/// Removes a file created by one of the functions above.
void removeTemporary(llvm::StringRef temporary);

/// Makes every failed write an error: closed pipes and limits of file sizes
/// raise no signal, and standard output is checked when the process exits. If
/// data was lost, the reason is printed to stderr and the exit status is 1.
/// Called after the signal handlers of LLVM are installed.
void prepareOutputs();

} // namespace adze

#endif // ADZE_SUPPORT_OUTPUTFILE_H
