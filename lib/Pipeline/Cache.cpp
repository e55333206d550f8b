// Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
//
// A cache of outputs in a folder, by a digest of their inputs.
#include "Cache.h"
#include "Compilation.h"
#include "Dialect/Graph/IR/Graph.h"
#include "llvm/Config/llvm-config.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/Signals.h"
#include "llvm/Support/xxhash.h"
#include <dlfcn.h>

using namespace mlir;
namespace fs = llvm::sys::fs;

namespace adze {

//===----------------------------------------------------------------------===//
// Digests
//===----------------------------------------------------------------------===//

static std::string getDigest(StringRef bytes) {
  llvm::XXH128_hash_t hash =
      llvm::xxh3_128bits(llvm::arrayRefFromStringRef(bytes));
  std::string text;
  llvm::raw_string_ostream(text) << llvm::format_hex_no_prefix(hash.high64, 16)
                                 << llvm::format_hex_no_prefix(hash.low64, 16);
  return text;
}

static std::optional<std::string> getFileDigest(StringRef path) {
  auto file = llvm::MemoryBuffer::getFile(path, /*IsText=*/false,
                                          /*RequiresNullTerminator=*/false);
  if (!file)
    return std::nullopt;
  return std::to_string((*file)->getBufferSize()) + " " +
         getDigest((*file)->getBuffer());
}

//===----------------------------------------------------------------------===//
// Entries
//===----------------------------------------------------------------------===//

std::string CacheEntry::getPath(size_t index, StringRef extension) const {
  llvm::SmallString<128> path(folder);
  llvm::sys::path::append(path,
                          key + "-" + std::to_string(index) + "." + extension);
  return path.str().str();
}

bool CacheEntry::isWhole(size_t index) const {
  auto note = llvm::MemoryBuffer::getFile(getPath(index, "digest"));
  if (!note)
    return false;
  std::optional<std::string> digest = getFileDigest(getPath(index, "bin"));
  return digest && (*note)->getBuffer() == *digest;
}

/// Creates `path` with the content of `from`, whole or not at all: a link, or a
/// copy if links are not possible.
static std::error_code place(StringRef from, StringRef path) {
  TemporaryScope scope;
  std::string to = resolveOutput(path);
  llvm::SmallString<128> temporary;
  fs::createUniquePath(to + ".tmp-%%%%%%%%", temporary,
                       /*MakeAbsolute=*/false);
  registerTemporary(temporary);
  // The link is to the file itself, not to a symbolic link.
  std::error_code code = fs::create_hard_link(resolveOutput(from), temporary);
  if (code)
    code = fs::copy_file(from, temporary);
  if (!code)
    code = fs::rename(temporary, to);
  // Renaming one link of a file to another has no effect.
  removeTemporary(temporary);
  return code;
}

bool CacheEntry::restore(llvm::ArrayRef<std::string> outputs) const {
  for (size_t index = 0; index < outputs.size(); ++index)
    if (!isWhole(index))
      return false;
  for (auto [index, output] : llvm::enumerate(outputs))
    if (place(getPath(index, "bin"), output))
      return false;
  return true;
}

static std::error_code writeNote(StringRef path, StringRef text) {
  return llvm::errorToErrorCode(
      writeOutput(path, [&](llvm::raw_ostream &os) -> llvm::Error {
        os << text;
        return llvm::Error::success();
      }));
}

std::error_code CacheEntry::store(llvm::ArrayRef<std::string> outputs) const {
  if (std::error_code code = fs::create_directories(folder))
    return code;
  for (auto [index, output] : llvm::enumerate(outputs)) {
    std::optional<std::string> digest = getFileDigest(output);
    if (!digest)
      return std::make_error_code(std::errc::io_error);
    if (std::error_code code = place(output, getPath(index, "bin")))
      return code;
    if (std::error_code code = writeNote(getPath(index, "digest"), *digest))
      return code;
  }
  return {};
}

//===----------------------------------------------------------------------===//
// Keys
//===----------------------------------------------------------------------===//

/// Returns the file with this code: the executable, or the library that a
/// process loaded.
static std::string getOwnFile() {
  static const int anchor = 0;
  Dl_info info;
  if (dladdr(&anchor, &info) && StringRef(info.dli_fname).contains(".so"))
    return info.dli_fname;
  return fs::getMainExecutable(nullptr, (void *)&anchor);
}

/// Adds the compiler to the key: its own file, and the versions of its
/// libraries.
static void describeBuild(llvm::raw_ostream &os) {
  os << "adze " ADZE_VERSION " llvm " LLVM_VERSION_STRING " "
     << getFileDigest(getOwnFile()).value_or("") << "\n";
}

/// Adds all CompileOptions that affect the output. The input itself, and the
/// effects of --dim and --shape, are in the imported module.
static void describeOptions(const CompileOptions &options,
                            llvm::raw_ostream &os) {
  os << "emit " << unsigned(options.emit) << " O" << options.optLevel << " cpu "
     << options.cpu << "\n"
     << "literal " << options.literal << " quick " << options.quickCode
     << " bounds " << options.checkBounds << "\n"
     << "winograd " << options.winograd << " name "
     << llvm::sys::path::stem(options.input) << "\n"
     << "weights " << llvm::sys::path::filename(options.externalWeights)
     << "\n";
  os << "tune " << unsigned(options.tune) << " "
     << getFileDigest(options.tuneDatabase).value_or("-") << " "
     << options.batchInvariant << " precision " << options.precision
     << " of weights " << options.weightsPrecision.bits << " "
     << options.weightsPrecision.block << " caches " << options.cachePrecision
     << " fallback " << options.allowHostFallback << " wide";
  for (int64_t number : options.wideProducts)
    os << " " << number;
  os << " probes " << (options.probed != nullptr) << "\n";
  for (const std::string &pair : options.states)
    os << "state " << pair << "\n";
  for (const std::string &plugin : options.plugins)
    os << "plugin " << getFileDigest(plugin).value_or("-") << "\n";
  for (const auto &[stage, pipeline] : options.stagePasses)
    os << "after " << getStageName(stage) << " " << pipeline << "\n";
  for (const std::string &target : options.cudaTargets) {
    cuda::Toolkit toolkit = cuda::Toolkit::find();
    os << target << " " << getFileDigest(toolkit.ptxas).value_or("-") << " "
       << getFileDigest(toolkit.libdevice).value_or("-") << "\n";
  }
}

/// Contents are identified by their hashes in the imported module; the paths of
/// contents and of the input are removed.
static std::string describeInput(ModuleOp module,
                                 const CompileOptions &options) {
  auto &blobs =
      module.getContext()->getOrLoadDialect<graph::GraphDialect>()->getBlobs();
  // For an input in memory, the file with its bytes is removed.
  bool isFile = options.contents.empty();
  std::string base =
      isFile ? llvm::sys::path::parent_path(options.input).str() : "";
  std::swap(blobs.printBase, base);
  std::string text;
  llvm::raw_string_ostream os(text);
  module.print(os, OpPrintingFlags().enableDebugInfo(true));
  std::swap(blobs.printBase, base);
  std::string result;
  std::string path = "\"" + (isFile ? options.input : options.contents) + "\"";
  for (StringRef rest = text; !rest.empty();) {
    auto [before, after] = rest.split(path);
    result += before;
    rest = after;
  }
  return result;
}

std::string Compilation::getCacheKey() {
  std::string text;
  llvm::raw_string_ostream os(text);
  describeBuild(os);
  describeOptions(options, os);
  for (const cpu::CpuTarget &target : targets)
    os << target.triple << " " << target.features << "\n";
  for (Attribute target : targetAttrs)
    os << target << "\n";
  os << describeInput(*module, options);
  return getDigest(text);
}

/// Returns the outputs of a run that a cache can restore.
std::vector<std::string> Compilation::getOutputs() const {
  std::vector<std::string> outputs = {options.output};
  if (!options.externalWeights.empty())
    outputs.push_back(options.externalWeights);
  return outputs;
}

CompileStatus Compilation::runCached() {
  if (failed(resolveTargets()))
    return CompileStatus::Usage;
  CacheEntry entry(options.cache, getCacheKey());
  // Other outputs, such as statistics, require a compilation.
  bool wantsRun = options.stats || options.timing || options.injectCrash ||
                  options.injectFault || !options.dumpPhases.empty() ||
                  !options.report.empty();
  // A device or a pipe has no content to store.
  bool isKept = llvm::none_of(getOutputs(), isWrittenInPlace);
  if (!wantsRun && isKept && entry.restore(getOutputs())) {
    emitRemark(UnknownLoc::get(&context))
        << "taken from the cache in " << options.cache;
    return CompileStatus::Done;
  }
  CompileStatus status = runStages();
  bool isOver = options.trial && options.trial->isOver();
  if (status != CompileStatus::Done || !isKept || isOver)
    return status;
  if (std::error_code code = entry.store(getOutputs()))
    emitWarning(UnknownLoc::get(&context))
        << "cache in " << options.cache << ": " << code.message();
  return status;
}

} // namespace adze
