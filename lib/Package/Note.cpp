// Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
//
// The last step of writing a module: size, position of weights and checksum in
// the note. Finds and patches bytes of a linked file.
#include "Package/Package.h"
#include "adze_module.h"
#include "llvm/Object/ELF.h"
#include "llvm/Support/CRC.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/raw_ostream.h"

using namespace llvm;
using namespace llvm::object;

namespace adze::package {

static Expected<FileRange> findSection(const ELFFile<ELF64LE> &file,
                                       StringRef wanted) {
  auto sections = file.sections();
  if (!sections)
    return sections.takeError();
  for (const auto &section : *sections) {
    auto name = file.getSectionName(section);
    if (!name)
      return name.takeError();
    if (*name == wanted)
      return FileRange{section.sh_offset, section.sh_size};
  }
  return FileRange();
}

/// Returns the range of the object of a symbol in the file. Sections do not
/// suffice, as linkers merge those of similar names.
static Expected<FileRange> findSymbol(const ELFFile<ELF64LE> &file,
                                      StringRef wanted) {
  auto sections = file.sections();
  if (!sections)
    return sections.takeError();
  for (const auto &table : *sections) {
    if (table.sh_type != ELF::SHT_SYMTAB)
      continue;
    auto symbols = file.symbols(&table);
    if (!symbols)
      return symbols.takeError();
    auto names = file.getStringTableForSymtab(table);
    if (!names)
      return names.takeError();
    for (const auto &symbol : *symbols) {
      auto name = symbol.getName(*names);
      if (!name)
        return name.takeError();
      if (*name != wanted)
        continue;
      auto section = file.getSection(symbol.st_shndx);
      if (!section)
        return section.takeError();
      uint64_t offset = symbol.st_value - (*section)->sh_addr;
      return FileRange{(*section)->sh_offset + offset, symbol.st_size};
    }
  }
  return FileRange();
}

Expected<FileRange> findSymbol(StringRef path, StringRef symbol) {
  auto buffer = MemoryBuffer::getFile(path, /*IsText=*/false,
                                      /*RequiresNullTerminator=*/false);
  if (!buffer)
    return createFileError(path, buffer.getError());
  auto file = ELFFile<ELF64LE>::create((*buffer)->getBuffer());
  if (!file)
    return file.takeError();
  return findSymbol(*file, symbol);
}

Error patchFile(StringRef path, uint64_t offset,
                function_ref<Error(raw_fd_ostream &)> write) {
  int fd;
  if (std::error_code ec = sys::fs::openFileForReadWrite(
          path, fd, sys::fs::CD_OpenExisting, sys::fs::OF_None))
    return createFileError(path, ec);
  raw_fd_ostream os(fd, /*shouldClose=*/true);
  os.seek(offset);
  Error error = write(os);
  os.close();
  if (!os.has_error())
    return error;
  std::error_code ec = os.error();
  os.clear_error();
  return joinErrors(std::move(error), createFileError(path, ec));
}

Error patchFile(StringRef path, uint64_t offset, StringRef bytes) {
  return patchFile(path, offset, [&](raw_fd_ostream &os) {
    os << bytes;
    return Error::success();
  });
}

Error finishNote(StringRef path) {
  auto buffer = MemoryBuffer::getFile(path, /*IsText=*/false,
                                      /*RequiresNullTerminator=*/false);
  if (!buffer)
    return createFileError(path, buffer.getError());
  StringRef bytes = (*buffer)->getBuffer();
  auto file = ELFFile<ELF64LE>::create(bytes);
  if (!file)
    return file.takeError();
  auto noteRange = findSection(*file, noteSection);
  if (!noteRange)
    return noteRange.takeError();
  auto weights = findSymbol(*file, weightsSymbol);
  if (!weights)
    return weights.takeError();

  adze_module_note note;
  if (noteRange->size < sizeof(note))
    return createStringError("the linked module has no note");
  uint64_t place = noteRange->offset + noteRange->size - sizeof(note);
  memcpy(&note, bytes.data() + place, sizeof(note));
  note.file_size = bytes.size();
  note.weights_offset = weights->size ? weights->offset : 0;
  note.weights_size = weights->size;
  note.checksum = 0;

  // The mapping has zeros in place of the new fields, so the sum excludes the
  // note.
  uint64_t weightsEnd = note.weights_offset + note.weights_size;
  uint32_t sum = 0;
  auto add = [&](uint64_t begin, uint64_t end) {
    sum = crc32(sum, arrayRefFromStringRef(bytes.slice(begin, end)));
  };
  auto addAroundWeights = [&](uint64_t begin, uint64_t end) {
    if (note.weights_size && note.weights_offset >= begin &&
        weightsEnd <= end) {
      add(begin, note.weights_offset);
      add(weightsEnd, end);
      return;
    }
    add(begin, end);
  };
  addAroundWeights(0, place);
  sum = crc32(sum,
              ArrayRef(reinterpret_cast<const uint8_t *>(&note), sizeof(note)));
  addAroundWeights(place + sizeof(note), bytes.size());
  note.checksum = sum;
  buffer->reset();

  return patchFile(
      path, place,
      StringRef(reinterpret_cast<const char *>(&note), sizeof(note)));
}

} // namespace adze::package
