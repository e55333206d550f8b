// Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
//
// lld as a library, and the support objects that are linked into modules.
#include "Package/Package.h"
#include "lld/Common/Driver.h"
#include "llvm/BinaryFormat/ELF.h"
#include "llvm/Support/raw_ostream.h"
#include <mutex>

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

Error linkShared(ArrayRef<std::string> inputs, StringRef versionScript,
                 StringRef output) {
  std::string script = ("--version-script=" + versionScript).str();
  std::vector<const char *> args = {
      "ld.lld", "-shared", "-z", "defs", "--no-undefined", "--gc-sections",
      "--exclude-libs=ALL", "-z", "noexecstack", "-z", "relro", "-z", "now",
      "--hash-style=gnu", "--build-id=none", "--no-dynamic-linker",
      "--strip-debug", "-Bsymbolic", "--color-diagnostics=never",
      // One thread: lld's pool would compete with the compiler's own.
      "--threads=1", script.c_str(), "-o"};
  std::string outputPath = output.str();
  args.push_back(outputPath.c_str());
  for (const std::string &input : inputs)
    args.push_back(input.c_str());

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
  if (result.retCode != 0)
    return createStringError("linking the module failed:\n" + messages);
  return Error::success();
}

} // namespace adze::package
