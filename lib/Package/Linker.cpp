// Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
//
// lld as a library, and the support objects that are linked into modules.
#include "Package/Package.h"
#include "Support/OutputFile.h"
#include "lld/Common/Driver.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/BinaryFormat/ELF.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Signals.h"
#include "llvm/Support/raw_ostream.h"
#include <fcntl.h>
#include <mutex>
#include <unistd.h>

LLD_HAS_DRIVER(elf)

using namespace llvm;

extern "C" {
extern const char adze_support_x86_64[], adze_support_x86_64_end[];
extern const char adze_support_aarch64[], adze_support_aarch64_end[];
}

namespace adze::package {

StringRef supportObject(uint32_t elfMachine) {
  if (elfMachine == ELF::EM_AARCH64)
    return StringRef(adze_support_aarch64,
                     adze_support_aarch64_end - adze_support_aarch64);
  return StringRef(adze_support_x86_64,
                   adze_support_x86_64_end - adze_support_x86_64);
}

/// Fails unless the disk has space for the output. The linker writes through
/// mapped memory, where a full disk raises a signal.
static Error reserve(ArrayRef<std::string> inputs, uint64_t weightsSize,
                     StringRef output) {
  constexpr uint64_t padding = 1 << 16; // headers, and the ends of segments
  uint64_t bytes = padding + weightsSize;
  for (const std::string &input : inputs) {
    uint64_t size = 0;
    if (std::error_code ec = sys::fs::file_size(input, size))
      return createFileError(input, ec);
    bytes += size;
  }
  int fd;
  if (std::error_code ec = sys::fs::openFileForReadWrite(
          output, fd, sys::fs::CD_OpenAlways, sys::fs::OF_None))
    return createFileError(output, ec);
  auto reason = [](int status) {
    return status ? std::error_code(errno, std::generic_category())
                  : std::error_code();
  };
  std::error_code ec = reason(fallocate(fd, /*mode=*/0, /*offset=*/0, bytes));
  // Some file systems do not support this.
  if (ec == std::errc::operation_not_supported)
    ec = std::error_code();
  if (std::error_code also = reason(ftruncate(fd, 0)); !ec)
    ec = also;
  close(fd);
  return ec ? createFileError(output, ec) : Error::success();
}

static Error runLinker(ArrayRef<std::string> options,
                       ArrayRef<std::string> inputs, uint64_t weightsSize,
                       StringRef output) {
  TemporaryScope scope; // the linker replaces the file
  if (Error error = reserve(inputs, weightsSize, output))
    return error;
  // The linker uses one thread, as its pool would compete with that of the
  // compiler.
  std::vector<std::string> all = {
      "ld.lld", "--threads=1", "--color-diagnostics=never",
      "-o",     output.str(),  "--whole-archive"};
  all.insert(all.end(), options.begin(), options.end());
  all.insert(all.end(), inputs.begin(), inputs.end());
  std::vector<const char *> args;
  for (const std::string &arg : all)
    args.push_back(arg.c_str());

  static std::mutex oneLinkAtATime;
  std::lock_guard<std::mutex> guard(oneLinkAtATime);
  static bool usable = true;
  if (!usable)
    return createStringError("the linker failed before and cannot run again");
  std::string messages;
  raw_string_ostream stream(messages);
  lld::Result result =
      lld::lldMain(args, stream, stream, {{lld::Gnu, &lld::elf::link}});
  usable = result.canRunAgain;
  // Temporary files of the linker installed the handlers of LLVM, which are for
  // our own programs only.
  if (!ownsSignals())
    sys::unregisterHandlers();
  if (result.retCode == 0)
    return Error::success();
  // A full disk is not an error of the module.
  StringRef text(messages);
  for (StringRef reason : {"failed to open ", "failed to write output ",
                           "cannot open output file "})
    if (text.contains(reason))
      return createFileError(output, createStringError(text.rtrim()));
  return createStringError("linking the module failed:\n" + messages);
}

Error linkShared(ArrayRef<std::string> inputs, StringRef versionScript,
                 uint64_t weightsSize, StringRef output) {
  std::vector<std::string> options;
  for (StringRef option :
       split("-shared -z defs --no-undefined --gc-sections "
             "-z noexecstack -z relro -z now --hash-style=gnu --build-id=none "
             "--no-dynamic-linker --strip-debug -Bsymbolic",
             ' '))
    options.push_back(option.str());
  options.push_back(("--version-script=" + versionScript).str());
  if (weightsSize >= hugePage)
    options.insert(options.end(),
                   {"-z", "max-page-size=" + std::to_string(hugePage)});
  return runLinker(options, inputs, weightsSize, output);
}

Error linkRelocatable(ArrayRef<std::string> inputs, StringRef output) {
  return runLinker({"-r"}, inputs, /*weightsSize=*/0, output);
}

} // namespace adze::package
