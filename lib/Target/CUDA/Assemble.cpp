// Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
//
// Assembles PTX to a cubin with the toolkit's ptxas in a subprocess.
#include "Support/OutputFile.h"
#include "Target/CUDA/CudaTarget.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Program.h"
#include "llvm/Support/Regex.h"
#include "llvm/Support/raw_ostream.h"

using namespace llvm;

namespace adze::cuda {

namespace {
/// A temporary file that is removed with the object or on a signal.
struct Temporary {
  Error create(StringRef suffix) {
    std::error_code code = createTemporary("adze-cuda", suffix, path);
    return code ? createFileError("temporary file", code) : Error::success();
  }
  ~Temporary() { removeTemporary(path); }
  std::string path;
};
} // namespace

/// Parses the numbers of registers and spills in the output of `ptxas -v`.
static std::vector<KernelReport> parseReports(StringRef log) {
  std::vector<KernelReport> reports;
  Regex entry("Compiling entry function '([^']+)'"),
      spills("([0-9]+) bytes spill stores"),
      registers("Used ([0-9]+) registers");
  SmallVector<StringRef> lines, found;
  log.split(lines, '\n');
  for (StringRef line : lines) {
    if (entry.match(line, &found))
      reports.push_back({found[1].str()});
    else if (reports.empty())
      continue;
    if (spills.match(line, &found))
      found[1].getAsInteger(10, reports.back().spillBytes);
    if (registers.match(line, &found))
      found[1].getAsInteger(10, reports.back().registers);
  }
  return reports;
}

static std::string read(StringRef path) {
  auto buffer = MemoryBuffer::getFile(path);
  return buffer ? (*buffer)->getBuffer().str() : std::string();
}

Expected<std::string> assemble(StringRef ptx, const CudaTarget &target,
                               const Toolkit &toolkit, unsigned threads,
                               std::vector<KernelReport> &reports) {
  Temporary in, out, log;
  if (Error error = joinErrors(
          in.create("ptx"), joinErrors(out.create("cubin"), log.create("log"))))
    return std::move(error);
  if (Error error = writeOutput(in.path, [&](raw_ostream &os) {
        os << ptx;
        return Error::success();
      }))
    return std::move(error);
  std::string arch = "-arch=" + target.chip;
  std::string split = "--split-compile=" + std::to_string(threads);
  SmallVector<StringRef> args = {toolkit.ptxas, arch, "-O3",   "-v",
                                 in.path,       "-o", out.path};
  if (threads > 1)
    args.push_back(split);
  std::optional<StringRef> redirects[] = {StringRef(), StringRef(log.path),
                                          StringRef(log.path)};
  std::string problem;
  int status = sys::ExecuteAndWait(toolkit.ptxas, args, std::nullopt, redirects,
                                   0, 0, &problem);
  std::string text = read(log.path);
  if (status != 0)
    return createStringError("ptxas failed: " +
                             (problem.empty() ? text : problem));
  // The kernel would be many times slower. Other messages about wgmma, as of
  // a fence that ptxas adds, are not errors.
  if (StringRef(text).contains("wgmma.mma_async instructions are serialized"))
    return createStringError("ptxas serialised wgmma: " + text);
  reports = parseReports(text);
  return read(out.path);
}

} // namespace adze::cuda
