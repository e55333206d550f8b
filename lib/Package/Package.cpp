// Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
//
// Assembles a module; all files but the finished one are temporary.
#include "Package/Package.h"
#include "Support/OutputFile.h"
#include "adze_module.h"
#include "llvm/ADT/ScopeExit.h"
#include "llvm/BinaryFormat/ELF.h"
#include "llvm/Object/ArchiveWriter.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/MathExtras.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/raw_ostream.h"
#include "llvm/Support/xxhash.h"

using namespace llvm;

namespace adze::package {

namespace {
/// Files in the directory of the output that are removed with this object, and
/// on a signal.
class TemporaryFiles {
public:
  /// No file can be created next to a device.
  explicit TemporaryFiles(StringRef output) : base(resolveOutput(output)) {
    if (!isWrittenInPlace(output))
      return;
    SmallString<128> path;
    sys::path::system_temp_directory(/*ErasedOnReboot=*/true, path);
    sys::path::append(path, "module");
    base = path.str().str();
  }
  ~TemporaryFiles() {
    for (const std::string &path : paths)
      removeTemporary(path);
  }

  /// Creates a file, fills it by `write` and returns its path.
  Expected<std::string> create(function_ref<Error(raw_fd_ostream &)> write) {
    std::string path;
    int fd;
    if (std::error_code ec = createTemporaryBeside(base, fd, path))
      return createFileError(base, ec);
    paths.push_back(path);
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

  Expected<std::string> create(StringRef content) {
    return create([&](raw_fd_ostream &os) {
      os << content;
      return Error::success();
    });
  }

private:
  std::string base;
  std::vector<std::string> paths;
};
} // namespace

/// Returns a digest of all that determines the module, with `content` for the
/// content of weights: weights themselves contribute by their offsets and by
/// the code that was compiled for them.
static std::string digest(const ModuleParts &parts, StringRef content) {
  std::string all = content.str();
  auto add = [&](StringRef bytes) {
    XXH128_hash_t hash = xxh3_128bits(arrayRefFromStringRef(bytes));
    all += utohexstr(hash.high64) + utohexstr(hash.low64) + ";";
  };
  for (const auto &object : parts.objects)
    add(StringRef(object.data(), object.size()));
  const ModuleDescription *programs[] = {&parts.description,
                                         parts.description.devices.get()};
  for (const ModuleDescription *program : programs)
    if (program)
      for (const DeviceImage &image : program->images)
        add(image.bytes);
  for (const Weight &weight : parts.weights)
    all += utostr(weight.offset) + "+" + utostr(weight.size) + ";";
  XXH128_hash_t hash = xxh3_128bits(arrayRefFromStringRef(all));
  std::string text;
  raw_string_ostream(text) << format_hex_no_prefix(hash.high64, 16)
                           << format_hex_no_prefix(hash.low64, 16);
  return text;
}

/// Returns the bytes of weights in the module itself.
static uint64_t getWeightsInside(const ModuleParts &parts) {
  return parts.weightsFile.empty() ? parts.description.weightsSize : 0;
}

/// Writes an object with the symbol of `size` bytes of weights, and a linker
/// script by which they are a hole of the linked file. The linker does not
/// write there, so that the page cache has no small pages of them: it keeps a
/// file as it was written.
static Error writeHole(uint32_t elfMachine, uint64_t size,
                       TemporaryFiles &files,
                       std::vector<std::string> &inputs) {
  auto object = files.create([&](raw_fd_ostream &os) {
    startWeightsObject(os, elfMachine, size, /*sectionSize=*/1);
    os << '\0';
    return Error::success();
  });
  if (!object)
    return object.takeError();
  StringRef section =
      elfMachine == ELF::EM_X86_64 ? largeWeightsSection : weightsSection;
  auto script = files.create(("SECTIONS { " + section + " : { *(" + section +
                              ") . += " + Twine(size - 1) +
                              "; } } INSERT AFTER .dynstr;\n")
                                 .str());
  if (!script)
    return script.takeError();
  inputs.push_back(*object);
  inputs.push_back(*script);
  return Error::success();
}

/// Writes an archive of all objects but that of the weights: one file, as each
/// costs the linker and the file system time.
static Expected<std::string> writeArchive(ModuleParts &parts,
                                          const cpu::CpuTarget &target,
                                          TemporaryFiles &files) {
  SmallVector<char, 0> descriptor;
  if (Error error = emitDescriptor(parts.description, target, descriptor))
    return std::move(error);
  auto getText = [](const SmallVector<char, 0> &bytes) {
    return StringRef(bytes.data(), bytes.size());
  };
  std::vector<NewArchiveMember> members;
  members.emplace_back(MemoryBufferRef(getText(descriptor), "descriptor.o"));
  for (const auto &object : parts.objects)
    members.emplace_back(MemoryBufferRef(getText(object), "code.o"));
  members.emplace_back(
      MemoryBufferRef(supportObject(target.elfMachine), "support.o"));
  return files.create([&](raw_fd_ostream &os) {
    return writeArchiveToStream(os, members, SymtabWritingMode::NoSymtab,
                                object::Archive::K_GNU, /*Deterministic=*/true,
                                /*Thin=*/false);
  });
}

/// With `filledLater`, the file has a hole in place of the weights for now.
static Expected<std::vector<std::string>>
writeInputs(ModuleParts &parts, const cpu::CpuTarget &target, bool filledLater,
            std::vector<uint64_t> &checksums, TemporaryFiles &files) {
  auto archive = writeArchive(parts, target, files);
  if (!archive)
    return archive.takeError();
  std::vector<std::string> inputs = {*archive};
  uint64_t size = getWeightsInside(parts);
  if (size && filledLater) {
    if (Error error = writeHole(target.elfMachine, size, files, inputs))
      return std::move(error);
  } else if (size) {
    auto object = files.create([&](raw_fd_ostream &os) {
      startWeightsObject(os, target.elfMachine, size, size);
      return writeWeights(os, parts, checksums);
    });
    if (!object)
      return object.takeError();
    inputs.push_back(*object);
  }
  return inputs;
}

/// Writes the weights into the hole of a linked file. Where it can, it writes
/// whole huge pages: the page cache keeps them as such.
static Error fillIn(ModuleParts &parts, StringRef linked, FileRange place,
                    std::vector<uint64_t> &checksums) {
  auto buffer = MemoryBuffer::getFile(linked, /*IsText=*/false,
                                      /*RequiresNullTerminator=*/false);
  if (!buffer)
    return createFileError(linked, buffer.getError());
  uint64_t start = alignDown(place.offset, hugePage);
  std::string front = (*buffer)->getBuffer().slice(start, place.offset).str();
  buffer->reset();
  return patchFile(linked, start, [&](raw_fd_ostream &os) {
    os.SetBufferSize(hugePage);
    os << front;
    return writeWeights(os, parts, checksums);
  });
}

/// Writes the checksums of the weights into a linked file.
static Error fillInChecksums(StringRef path, ArrayRef<uint64_t> checksums) {
  if (checksums.empty())
    return Error::success();
  auto place = findSymbol(path, checksumsSymbol);
  if (!place)
    return place.takeError();
  StringRef bytes(reinterpret_cast<const char *>(checksums.data()),
                  checksums.size() * sizeof(uint64_t));
  if (place->size != bytes.size())
    return createStringError("the linked module has no place for %zu checksums",
                             checksums.size());
  return patchFile(path, place->offset, bytes);
}

/// Links the inputs to a file at the given path, appends to the checksums of
/// weights, and writes them.
using Link = function_ref<Error(const std::vector<std::string> &, StringRef,
                                std::vector<uint64_t> &, TemporaryFiles &)>;

/// Writes the inputs, links them by `link`, and renames the file.
static Error write(ModuleParts &parts, const cpu::CpuTarget &target,
                   StringRef path, bool filledLater, Link link) {
  ModuleDescription &description = parts.description;
  description.buildId = digest(parts, description.buildId);
  description.structureId = digest(parts, "");

  TemporaryFiles files(path);
  std::string weights;
  std::vector<uint64_t> checksums;
  if (!parts.weightsFile.empty()) {
    auto file = files.create("");
    if (!file)
      return file.takeError();
    weights = *file;
    parts.description.weightsFile =
        sys::path::filename(parts.weightsFile).str();
    if (Error error = writeWeightsFile(weights, parts, checksums))
      return error;
  }
  auto inputs = writeInputs(parts, target, filledLater, checksums, files);
  if (!inputs)
    return inputs.takeError();
  auto output = files.create("");
  if (!output)
    return output.takeError();
  if (Error error = link(*inputs, *output, checksums, files))
    return error;
  // Weights are written before the module, so that a module never has other
  // weights that look like its own: their digest distinguishes them.
  if (!weights.empty())
    if (Error error = commitTemporary(weights, parts.weightsFile))
      return error;
  return commitTemporary(*output, path);
}

/// Errors of temporary files are reported for the output.
static Error nameOutput(Error error, StringRef path) {
  return handleErrors(
      std::move(error), [&](std::unique_ptr<FileError> failed) -> Error {
        bool isTemporary = StringRef(failed->getFileName()).contains(".tmp-");
        return isTemporary ? createFileError(path, failed->takeError())
                           : Error(std::move(failed));
      });
}

Error writeModule(ModuleParts &parts, const cpu::CpuTarget &target,
                  StringRef path) {
  auto link = [&](const std::vector<std::string> &inputs, StringRef output,
                  std::vector<uint64_t> &checksums,
                  TemporaryFiles &files) -> Error {
    auto script =
        files.create("{ global: " ADZE_MODULE_QUERY "; local: *; };\n");
    if (!script)
      return script.takeError();
    uint64_t size = getWeightsInside(parts);
    if (Error error = linkShared(inputs, *script, size, output))
      return error;
    if (size) {
      auto place = findSymbol(output, weightsSymbol);
      if (!place)
        return place.takeError();
      if (place->size != size)
        return createStringError("the linked module has no place for weights");
      if (Error error = fillIn(parts, output, *place, checksums))
        return error;
    }
    if (Error error = fillInChecksums(output, checksums))
      return error;
    return finishNote(output);
  };
  return nameOutput(write(parts, target, path, /*filledLater=*/true, link),
                    path);
}

Error writeObject(ModuleParts &parts, const cpu::CpuTarget &target,
                  StringRef path) {
  auto link = [](const std::vector<std::string> &inputs, StringRef output,
                 std::vector<uint64_t> &checksums, TemporaryFiles &) -> Error {
    if (Error error = linkRelocatable(inputs, output))
      return error;
    return fillInChecksums(output, checksums);
  };
  return nameOutput(write(parts, target, path, /*filledLater=*/false, link),
                    path);
}

} // namespace adze::package
