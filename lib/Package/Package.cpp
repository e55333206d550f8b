// Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
//
// Putting a module together; every file but the finished one is temporary.
#include "Package/Package.h"
#include "adze_module.h"
#include "llvm/ADT/ScopeExit.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/Signals.h"
#include "llvm/Support/raw_ostream.h"
#include "llvm/Support/xxhash.h"

using namespace llvm;

namespace adze::package {

namespace {
/// Files beside the output that vanish with this object, and on a signal.
class TemporaryFiles {
public:
  explicit TemporaryFiles(StringRef output) : output(output) {}
  ~TemporaryFiles() {
    for (const std::string &path : paths) {
      sys::fs::remove(path);
      sys::DontRemoveFileOnSignal(path);
    }
  }

  /// Creates a file, fills it by `write` and returns its path.
  Expected<std::string> create(StringRef suffix,
                               function_ref<Error(raw_ostream &)> write) {
    SmallString<128> path;
    int fd;
    if (std::error_code ec = sys::fs::createUniqueFile(
            output + ".tmp-%%%%%%%%." + suffix, fd, path))
      return createFileError(output, ec);
    paths.push_back(path.str().str());
    sys::RemoveFileOnSignal(path);
    raw_fd_ostream os(fd, /*shouldClose=*/true);
    Error error = write(os);
    os.close();
    if (os.has_error()) {
      std::error_code ec = os.error();
      os.clear_error();
      return joinErrors(std::move(error), createFileError(path, ec));
    }
    if (error)
      return std::move(error);
    return paths.back();
  }

  Expected<std::string> create(StringRef suffix, StringRef content) {
    return create(suffix, [&](raw_ostream &os) {
      os << content;
      return Error::success();
    });
  }

private:
  std::string output;
  std::vector<std::string> paths;
};
} // namespace

/// A digest of all that makes the module what it is. Weights are part of it by
/// their places and by the code that the compiler made for them; their content
/// by `buildId` as the caller left it.
static std::string digest(const ModuleParts &parts) {
  std::string all = parts.description.buildId;
  auto add = [&](StringRef bytes) {
    XXH128_hash_t hash = xxh3_128bits(arrayRefFromStringRef(bytes));
    all += utohexstr(hash.high64) + utohexstr(hash.low64) + ";";
  };
  for (const auto &object : parts.objects)
    add(StringRef(object.data(), object.size()));
  for (const DeviceImage &image : parts.description.images)
    add(image.bytes);
  for (const Weight &weight : parts.weights)
    all += utostr(weight.offset) + "+" + utostr(weight.size) + ";";
  XXH128_hash_t hash = xxh3_128bits(arrayRefFromStringRef(all));
  std::string text;
  raw_string_ostream(text) << format_hex_no_prefix(hash.high64, 16)
                           << format_hex_no_prefix(hash.low64, 16);
  return text;
}

static Expected<std::vector<std::string>>
writeInputs(ModuleParts &parts, const cpu::CpuTarget &target,
            TemporaryFiles &files) {
  std::vector<std::string> inputs;
  auto keep = [&](Expected<std::string> path) -> Error {
    if (!path)
      return path.takeError();
    inputs.push_back(*path);
    return Error::success();
  };
  SmallVector<char, 0> descriptor;
  if (Error error = emitDescriptor(parts.description, target, descriptor))
    return std::move(error);
  if (Error error = keep(
          files.create("o", StringRef(descriptor.data(), descriptor.size()))))
    return std::move(error);
  for (const auto &object : parts.objects)
    if (Error error =
            keep(files.create("o", StringRef(object.data(), object.size()))))
      return std::move(error);
  if (parts.description.weightsSize && parts.weightsFile.empty()) {
    auto write = [&](raw_ostream &os) {
      return writeWeightsObject(os, target.elfMachine, parts.weights,
                                parts.description.weightsSize);
    };
    if (Error error = keep(files.create("o", write)))
      return std::move(error);
  }
  if (Error error = keep(files.create("o", supportObject(target.elfMachine))))
    return std::move(error);
  return inputs;
}

/// Writes the inputs, lets `link` make a file of them, and gives it its name.
static Error write(ModuleParts &parts, const cpu::CpuTarget &target,
                   StringRef path,
                   function_ref<Error(const std::vector<std::string> &,
                                      StringRef, TemporaryFiles &)>
                       link) {
  SmallString<128> absolute(path);
  if (std::error_code ec = sys::fs::make_absolute(absolute))
    return createFileError(path, ec);
  parts.description.buildId = digest(parts);

  TemporaryFiles files(absolute);
  std::string weights;
  if (!parts.weightsFile.empty()) {
    auto file = files.create("weights", "");
    if (!file)
      return file.takeError();
    weights = *file;
    parts.description.weightsFile =
        sys::path::filename(parts.weightsFile).str();
    if (Error error = writeWeightsFile(weights, parts.weights,
                                       parts.description.weightsSize,
                                       parts.description.weightsId))
      return error;
  }
  auto inputs = writeInputs(parts, target, files);
  if (!inputs)
    return inputs.takeError();
  auto linked = files.create("out", "");
  if (!linked)
    return linked.takeError();
  if (Error error = link(*inputs, *linked, files))
    return error;
  // A module never lies beside weights that are not its own and look like it:
  // those are told apart by their digest.
  if (!weights.empty())
    if (std::error_code ec = sys::fs::rename(weights, parts.weightsFile))
      return createFileError(parts.weightsFile, ec);
  if (std::error_code ec = sys::fs::rename(*linked, absolute))
    return createFileError(path, ec);
  return Error::success();
}

Error writeModule(ModuleParts &parts, const cpu::CpuTarget &target,
                  StringRef path) {
  return write(parts, target, path,
               [&](const std::vector<std::string> &inputs, StringRef linked,
                   TemporaryFiles &files) -> Error {
                 auto script = files.create(
                     "ver", "{ global: " ADZE_MODULE_QUERY "; local: *; };\n");
                 if (!script)
                   return script.takeError();
                 if (Error error = linkShared(inputs, *script, linked))
                   return error;
                 return finishNote(linked);
               });
}

Error writeObject(ModuleParts &parts, const cpu::CpuTarget &target,
                  StringRef path) {
  return write(
      parts, target, path,
      [&](const std::vector<std::string> &inputs, StringRef linked,
          TemporaryFiles &) { return linkRelocatable(inputs, linked); });
}

} // namespace adze::package
