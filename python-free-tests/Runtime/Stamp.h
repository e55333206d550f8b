/* Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
 *
 * Writes the note of a module made by hand, with a checksum computed
 * independently of the run time's.
 */
#ifndef ADZE_TEST_STAMP_H
#define ADZE_TEST_STAMP_H

#include "adze_module.h"

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <elf.h>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

namespace adze::test {

using Bytes = std::vector<char>;

inline Bytes readFile(const std::string &path) {
  std::ifstream in(path, std::ios::binary);
  return Bytes(std::istreambuf_iterator<char>(in), {});
}

inline void writeFile(const std::string &path, const Bytes &bytes) {
  std::ofstream out(path, std::ios::binary | std::ios::trunc);
  out.write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
}

inline const Elf64_Shdr *findSection(const Bytes &file, const char *name) {
  auto *header = reinterpret_cast<const Elf64_Ehdr *>(file.data());
  auto *sections =
      reinterpret_cast<const Elf64_Shdr *>(file.data() + header->e_shoff);
  const char *names = file.data() + sections[header->e_shstrndx].sh_offset;
  for (unsigned i = 0; i < header->e_shnum; ++i)
    if (!std::strcmp(names + sections[i].sh_name, name))
      return &sections[i];
  return nullptr;
}

/// The note in the file's bytes; null if it has none.
inline adze_module_note *findNote(Bytes &file) {
  const Elf64_Shdr *section = findSection(file, ".note.adze");
  if (!section)
    return nullptr;
  return reinterpret_cast<adze_module_note *>(file.data() + section->sh_offset +
                                              sizeof(Elf64_Nhdr) + 12);
}

inline uint32_t crcStep(uint32_t crc, unsigned char byte) {
  crc ^= byte;
  for (int bit = 0; bit < 8; ++bit)
    crc = crc & 1 ? crc >> 1 ^ 0xedb88320u : crc >> 1;
  return crc;
}

/// Updates the checksum only.
inline void renewChecksum(Bytes &file) {
  adze_module_note *note = findNote(file);
  note->checksum = 0;
  uint32_t crc = ~0u;
  for (size_t i = 0; i < file.size(); ++i)
    if (i < note->weights_offset ||
        i >= note->weights_offset + note->weights_size)
      crc = crcStep(crc, static_cast<unsigned char>(file[i]));
  note->checksum = ~crc;
}

/// Fills in the whole note; returns false if the file has none.
inline bool stamp(Bytes &file) {
  adze_module_note *note = findNote(file);
  if (!note)
    return false;
  note->machine = reinterpret_cast<const Elf64_Ehdr *>(file.data())->e_machine;
  note->file_size = file.size();
  if (const Elf64_Shdr *weights = findSection(file, ".adze.weights")) {
    note->weights_offset = weights->sh_offset;
    note->weights_size = weights->sh_size;
  }
  renewChecksum(file);
  return true;
}

/// Changes the factor of the fake module's file from 2 to 3; returns false for
/// other files.
inline bool setFactorThree(Bytes &file) {
  float factor = 3.0f;
  std::memcpy(file.data() + findNote(file)->weights_offset, &factor,
              sizeof(factor));
  // XXH3 of the weights with either factor.
  uint64_t old = 0xabc004368177ecceull, renewed = 0xe705c1e5771f8170ull;
  auto *bytes = reinterpret_cast<const char *>(&old);
  auto at = std::search(file.begin(), file.end(), bytes, bytes + sizeof(old));
  if (at == file.end())
    return false;
  std::memcpy(&*at, &renewed, sizeof(renewed));
  return stamp(file);
}

} // namespace adze::test

#endif // ADZE_TEST_STAMP_H
