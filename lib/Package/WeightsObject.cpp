// Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
//
// Writes weights as a relocatable ELF object, or as a separate file. They are
// streamed: never in memory as a whole, and never in LLVM IR.
#include "Package/Package.h"
#include "Support/OutputFile.h"
#include "adze_module.h"
#include "llvm/BinaryFormat/ELF.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/MathExtras.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/raw_ostream.h"
#include "llvm/Support/xxhash.h"

using namespace llvm;
using namespace llvm::ELF;

namespace adze::package {

/// Offset of the weights in the object: a page, so that they are also
/// page-aligned in memory.
static constexpr uint64_t dataOffset = 4096;

namespace {
enum SectionIndex : uint16_t { Null, Weights, SymTab, StrTab, Count };

/// A string table that records the position of each string.
struct StringTable {
  uint32_t add(StringRef text) {
    uint32_t offset = bytes.size();
    bytes.append(text.begin(), text.end());
    bytes.push_back('\0');
    return offset;
  }
  std::string bytes = std::string(1, '\0');
};
} // namespace

static Elf64_Ehdr makeHeader(uint32_t machine, uint64_t sectionTable) {
  Elf64_Ehdr header = {};
  memcpy(header.e_ident, ElfMagic, 4);
  header.e_ident[EI_CLASS] = ELFCLASS64;
  header.e_ident[EI_DATA] = ELFDATA2LSB;
  header.e_ident[EI_VERSION] = EV_CURRENT;
  header.e_type = ET_REL;
  header.e_machine = machine;
  header.e_version = EV_CURRENT;
  header.e_shoff = sectionTable;
  header.e_ehsize = sizeof(Elf64_Ehdr);
  header.e_shentsize = sizeof(Elf64_Shdr);
  header.e_shnum = SectionIndex::Count;
  header.e_shstrndx = SectionIndex::StrTab;
  return header;
}

template <typename T>
static void writeRaw(raw_ostream &os, const T &value) {
  os.write(reinterpret_cast<const char *>(&value), sizeof(T));
}

/// Writes symbols, strings and section headers, before the weights.
static void writeTables(raw_ostream &os, uint32_t machine, uint64_t size,
                        uint64_t sectionSize) {
  constexpr uint64_t tablesOffset = sizeof(Elf64_Ehdr);
  bool isX86 = machine == EM_X86_64;
  StringTable strings;
  Elf64_Sym symbols[2] = {};
  symbols[1].st_name = strings.add(weightsSymbol);
  symbols[1].setBindingAndType(STB_GLOBAL, STT_OBJECT);
  symbols[1].st_other = STV_HIDDEN;
  symbols[1].st_shndx = SectionIndex::Weights;
  symbols[1].st_size = size;

  Elf64_Shdr sections[SectionIndex::Count] = {};
  Elf64_Shdr &weights = sections[SectionIndex::Weights];
  weights.sh_name = strings.add(isX86 ? largeWeightsSection : weightsSection);
  weights.sh_type = SHT_PROGBITS;
  weights.sh_flags = SHF_ALLOC | (isX86 ? uint64_t(SHF_X86_64_LARGE) : 0);
  weights.sh_offset = dataOffset;
  weights.sh_size = sectionSize;
  weights.sh_addralign = dataOffset;

  Elf64_Shdr &symtab = sections[SectionIndex::SymTab];
  symtab.sh_name = strings.add(".symtab");
  symtab.sh_type = SHT_SYMTAB;
  symtab.sh_offset = tablesOffset;
  symtab.sh_size = sizeof(symbols);
  symtab.sh_link = SectionIndex::StrTab;
  symtab.sh_info = 1; // the first symbol that is not local
  symtab.sh_addralign = 8;
  symtab.sh_entsize = sizeof(Elf64_Sym);

  Elf64_Shdr &strtab = sections[SectionIndex::StrTab];
  strtab.sh_name = strings.add(".strtab");
  strtab.sh_type = SHT_STRTAB;
  strtab.sh_offset =
      tablesOffset + sizeof(symbols) + SectionIndex::Count * sizeof(Elf64_Shdr);
  strtab.sh_size = strings.bytes.size();
  strtab.sh_addralign = 1;

  writeRaw(os, symbols);
  writeRaw(os, sections);
  os << strings.bytes;
}

namespace {
/// Forwards bytes, and computes the checksum of each block.
class ChecksumStream final : public raw_ostream {
public:
  ChecksumStream(raw_ostream &os, std::vector<uint64_t> &checksums)
      : os(os), checksums(checksums) {}
  /// Requires a call of finish before.
  ~ChecksumStream() override { assert(block.empty() && "a block is open"); }

  /// Ends the last block.
  void finish() {
    flush();
    finishBlock();
  }

private:
  void write_impl(const char *data, size_t size) override {
    os.write(data, size);
    position += size;
    for (StringRef rest(data, size); !rest.empty();) {
      StringRef piece = rest.take_front(ADZE_WEIGHTS_BLOCK - block.size());
      rest = rest.drop_front(piece.size());
      if (piece.size() == ADZE_WEIGHTS_BLOCK) { // needs no copy
        endBlock(piece);
        continue;
      }
      block.append(piece.begin(), piece.end());
      if (block.size() == ADZE_WEIGHTS_BLOCK)
        finishBlock();
    }
  }
  uint64_t current_pos() const override { return position; }

  void finishBlock() {
    if (!block.empty())
      endBlock(block);
    block.clear();
  }

  void endBlock(StringRef bytes) {
    checksums.push_back(xxh3_64bits(arrayRefFromStringRef(bytes)));
  }

  raw_ostream &os;
  std::vector<uint64_t> &checksums;
  std::string block;
  uint64_t position = 0;
};
} // namespace

static Error writeAll(raw_ostream &os, ModuleParts &parts) {
  uint64_t position = 0, size = parts.description.weightsSize;
  for (Weight &weight : parts.weights) {
    if (weight.offset < position || weight.offset + weight.size > size)
      return createStringError("weights overlap or leave their section");
    os.write_zeros(weight.offset - position);
    uint64_t start = os.tell();
    if (Error error = weight.write(os))
      return error;
    if (os.tell() - start != weight.size)
      return createStringError("a weight wrote %llu bytes instead of %llu",
                               (unsigned long long)(os.tell() - start),
                               (unsigned long long)weight.size);
    position = weight.offset + weight.size;
  }
  os.write_zeros(size - position);
  return Error::success();
}

Error writeWeights(raw_ostream &os, ModuleParts &parts,
                   std::vector<uint64_t> &checksums) {
  ChecksumStream stream(os, checksums);
  stream.SetBufferSize(hugePage); // a page is written at once
  Error error = writeAll(stream, parts);
  stream.finish();
  return error;
}

void startWeightsObject(raw_ostream &os, uint32_t elfMachine, uint64_t size,
                        uint64_t sectionSize) {
  uint64_t start = os.tell();
  writeRaw(os, makeHeader(elfMachine, /*sectionTable=*/sizeof(Elf64_Ehdr) +
                                          2 * sizeof(Elf64_Sym)));
  writeTables(os, elfMachine, size, sectionSize);
  os.write_zeros(dataOffset - (os.tell() - start));
}

Error writeWeightsFile(StringRef path, ModuleParts &parts,
                       std::vector<uint64_t> &checksums) {
  Error error = patchFile(path, /*offset=*/0, [&](raw_fd_ostream &os) {
    os.SetBufferSize(hugePage); // the page cache keeps whole pages
    os.write_zeros(ADZE_WEIGHTS_OFFSET);
    return writeWeights(os, parts, checksums);
  });
  if (error)
    return error;
  auto written = MemoryBuffer::getFile(path, /*IsText=*/false,
                                       /*RequiresNullTerminator=*/false);
  if (!written)
    return createFileError(path, written.getError());
  XXH128_hash_t hash = xxh3_128bits(arrayRefFromStringRef(
      (*written)->getBuffer().drop_front(ADZE_WEIGHTS_OFFSET)));
  written->reset();
  std::string &id = parts.description.weightsId;
  id.clear();
  raw_string_ostream(id) << format_hex_no_prefix(hash.high64, 16)
                         << format_hex_no_prefix(hash.low64, 16);
  return patchFile(path, /*offset=*/0, [&](raw_fd_ostream &os) {
    adze_weights_header header = {};
    memcpy(header.magic, ADZE_WEIGHTS_MAGIC, sizeof(header.magic));
    header.size = sizeof(header);
    header.offset = ADZE_WEIGHTS_OFFSET;
    header.weights_size = parts.description.weightsSize;
    memcpy(header.id, id.data(), sizeof(header.id));
    auto getBytes = [](const void *data, size_t size) {
      return ArrayRef(static_cast<const uint8_t *>(data), size);
    };
    header.checksums_digest = xxh3_64bits(
        getBytes(checksums.data(), checksums.size() * sizeof(uint64_t)));
    header.header_digest = xxh3_64bits(
        getBytes(&header, offsetof(adze_weights_header, header_digest)));
    writeRaw(os, header);
    return Error::success();
  });
}

} // namespace adze::package
