// Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
//
// PTX to a cubin by the toolkit's ptxas, as a subprocess.
#include "Target/CUDA/CudaTarget.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/FileUtilities.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Program.h"
#include "llvm/Support/Regex.h"
#include "llvm/Support/raw_ostream.h"

using namespace llvm;

namespace adze::cuda {

/// A temporary file that goes with the object.
static Expected<std::pair<std::string, std::unique_ptr<FileRemover>>>
makeTemporary(StringRef suffix) {
  SmallString<128> path;
  if (std::error_code problem =
          sys::fs::createTemporaryFile("adze-cuda", suffix, path))
    return createStringError(problem, "cannot make a temporary file: " +
                                          problem.message());
  return std::make_pair(path.str().str(), std::make_unique<FileRemover>(path));
}

/// Registers and spills from what `ptxas -v` prints.
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
  auto in = makeTemporary("ptx"), out = makeTemporary("cubin"),
       log = makeTemporary("log");
  for (auto *file : {&in, &out, &log})
    if (!*file)
      return file->takeError();
  {
    std::error_code problem;
    raw_fd_ostream stream(in->first, problem);
    stream << ptx;
    stream.close();
    if (problem || stream.has_error()) {
      stream.clear_error();
      return createStringError("cannot write '" + in->first + "'");
    }
  }
  std::string arch = "-arch=" + target.chip;
  std::string split = "--split-compile=" + std::to_string(threads);
  SmallVector<StringRef> args = {toolkit.ptxas, arch, "-O3",     "-v",
                                 in->first,     "-o", out->first};
  if (threads > 1)
    args.push_back(split);
  std::optional<StringRef> redirects[] = {StringRef(), StringRef(log->first),
                                          StringRef(log->first)};
  std::string problem;
  int status = sys::ExecuteAndWait(toolkit.ptxas, args, std::nullopt, redirects,
                                   0, 0, &problem);
  std::string text = read(log->first);
  if (status != 0)
    return createStringError("ptxas failed: " +
                             (problem.empty() ? text : problem));
  // C7510 and C7511: wgmma is serialised, the kernel would be many times
  // slower.
  if (text.find("C751") != std::string::npos)
    return createStringError("ptxas serialised wgmma: " + text);
  reports = parseReports(text);
  return read(out->first);
}

} // namespace adze::cuda
