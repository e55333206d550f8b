/* Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
 *
 * Checks a module's file by pread before dlopen: a truncated file would raise
 * SIGBUS there, and constructors of another library would run.
 * */
#include "Runtime.h"

#include <elf.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#if defined(__x86_64__)
#define HOST_MACHINE EM_X86_64
#else
#define HOST_MACHINE EM_AARCH64
#endif

/* More than any linker writes; limits the memory that a damaged header can
   request. */
#define MAX_PROGRAM_HEADERS 256
#define MAX_NOTE_BYTES ((uint64_t)1 << 20)

typedef struct {
  int fd;
  const char *name;
  uint64_t size;
} module_file;

static adze_status refuse(const module_file *file, const char *reason) {
  return rt_error(ADZE_INVALID_MODULE, "%s: %s", file->name, reason);
}

static adze_status truncated(const module_file *file, uint64_t expected) {
  return rt_error(
      ADZE_INVALID_MODULE, "%s: truncated: expected %llu bytes, but got %llu",
      file->name, (unsigned long long)expected, (unsigned long long)file->size);
}

static adze_status read_at(const module_file *file, uint64_t offset, void *to,
                           size_t size) {
  if (offset > file->size || size > file->size - offset)
    return truncated(file, offset + size);
  for (size_t done = 0; done < size;) {
    ssize_t got =
        pread(file->fd, (char *)to + done, size - done, (off_t)(offset + done));
    if (got < 0 && errno == EINTR)
      continue;
    if (got < 0)
      return rt_error(rt_errno_code(errno), "%s: %s", file->name,
                      strerror(errno));
    if (got == 0)
      return truncated(file, offset + size);
    done += (size_t)got;
  }
  return NULL;
}

static adze_status open_file(int fd, const char *name, module_file *file) {
  struct stat info;
  if (fstat(fd, &info))
    return rt_error(rt_errno_code(errno), "%s: %s", name, strerror(errno));
  file->fd = fd;
  file->name = name;
  file->size = (uint64_t)info.st_size;
  if (!S_ISREG(info.st_mode))
    return rt_error(ADZE_INVALID_MODULE, "%s: not a regular file", name);
  return NULL;
}

static const char *machine_name(unsigned machine) {
  switch (machine) {
  case EM_X86_64:
    return "x86-64";
  case EM_AARCH64:
    return "aarch64";
  case EM_386:
    return "x86 (32 bits)";
  case EM_ARM:
    return "arm (32 bits)";
  case EM_RISCV:
    return "riscv";
  case EM_PPC64:
    return "ppc64";
  case EM_S390:
    return "s390";
  default:
    return "another machine";
  }
}

static adze_status refuse_machine(const char *name, unsigned machine) {
  return rt_error(ADZE_INVALID_MODULE,
                  "%s: expected a module for %s, but got one for %s (ELF "
                  "machine %u)",
                  name, machine_name(HOST_MACHINE), machine_name(machine),
                  machine);
}

static adze_status read_header(const module_file *file, Elf64_Ehdr *header) {
  if (file->size < SELFMAG)
    return refuse(file, "not a module: too short for an ELF file");
  unsigned char magic[SELFMAG];
  RT_TRY(read_at(file, 0, magic, sizeof(magic)));
  if (memcmp(magic, ELFMAG, SELFMAG))
    return refuse(file, "not a module: no ELF magic");
  RT_TRY(read_at(file, 0, header, sizeof(*header)));
  if (header->e_ident[EI_CLASS] != ELFCLASS64 ||
      header->e_ident[EI_DATA] != ELFDATA2LSB)
    return refuse(file, "expected a 64-bit little-endian ELF file");
  if (header->e_type != ET_DYN)
    return refuse(file, "expected a shared object");
  if (header->e_machine != HOST_MACHINE)
    return refuse_machine(file->name, header->e_machine);
  if (header->e_phentsize != sizeof(Elf64_Phdr) || header->e_phnum == 0 ||
      header->e_phnum > MAX_PROGRAM_HEADERS)
    return refuse(file, "damaged program headers");
  return NULL;
}

/* Searches one PT_NOTE segment for a note of this owner and type; *offset stays
 * 0 if there is none. */
static adze_status find_note(const module_file *file, const Elf64_Phdr *segment,
                             uint32_t type, uint64_t *offset, uint32_t *size) {
  if (segment->p_filesz > MAX_NOTE_BYTES)
    return refuse(file, "damaged note segment");
  uint64_t at = segment->p_offset, end = at + segment->p_filesz;
  uint64_t alignment = segment->p_align == 8 ? 8 : 4;
  while (at + sizeof(Elf64_Nhdr) <= end) {
    Elf64_Nhdr note;
    RT_TRY(read_at(file, at, &note, sizeof(note)));
    uint64_t name_at = at + sizeof(note);
    uint64_t data_at =
        (name_at + note.n_namesz + alignment - 1) & ~(alignment - 1);
    at = (data_at + note.n_descsz + alignment - 1) & ~(alignment - 1);
    if (at > end + alignment)
      return refuse(file, "damaged note segment");
    char owner[sizeof(ADZE_NOTE_OWNER)];
    if (note.n_type != type || note.n_namesz != sizeof(owner))
      continue;
    RT_TRY(read_at(file, name_at, owner, sizeof(owner)));
    if (memcmp(owner, ADZE_NOTE_OWNER, sizeof(owner)))
      continue;
    *offset = data_at;
    *size = note.n_descsz;
    return NULL;
  }
  return NULL;
}

static adze_status check_segments(const module_file *file,
                                  const Elf64_Ehdr *header,
                                  const Elf64_Phdr *segments, uint64_t *offset,
                                  uint32_t *size) {
  uint64_t needed = 0;
  adze_status status = NULL;
  for (unsigned i = 0; i < header->e_phnum; ++i) {
    const Elf64_Phdr *segment = &segments[i];
    if (segment->p_filesz > INT64_MAX || segment->p_offset > INT64_MAX) {
      adze_status_free(status);
      return refuse(file, "damaged program headers");
    }
    uint64_t end = segment->p_offset + segment->p_filesz;
    if (segment->p_type == PT_LOAD && end > needed)
      needed = end;
    if (segment->p_type == PT_NOTE && end <= file->size && !*offset && !status)
      status = find_note(file, segment, ADZE_NOTE_TYPE, offset, size);
  }
  /* A truncated file is reported as such first, whatever other errors it has.
   * If the note is readable, it states the full size. */
  if (needed > file->size && !*offset) {
    adze_status_free(status);
    return truncated(file, needed);
  }
  return status;
}

static adze_status read_note(const module_file *file, adze_module_note *note,
                             uint64_t *offset) {
  Elf64_Ehdr header;
  Elf64_Phdr segments[MAX_PROGRAM_HEADERS];
  uint32_t size = 0;
  RT_TRY(read_header(file, &header));
  RT_TRY(read_at(file, header.e_phoff, segments,
                 header.e_phnum * sizeof(Elf64_Phdr)));
  *offset = 0;
  RT_TRY(check_segments(file, &header, segments, offset, &size));
  if (!*offset)
    return refuse(file, "not a module: a shared object without note 'Adze'");
  if (size < sizeof(*note))
    return refuse(file, "damaged note 'Adze'");
  return read_at(file, *offset, note, sizeof(*note));
}

static adze_status check_features(const module_file *file, uint64_t features) {
  uint64_t missing = features & ~rt_cpu_features();
  if (!missing)
    return NULL;
  rt_text names = {0};
  rt_cpu_feature_names(missing, &names);
  adze_status status = rt_error(
      ADZE_UNSUPPORTED, "%s: needs CPU features that this machine lacks: %s",
      file->name, names.data ? names.data : "");
  rt_text_free(&names);
  return status;
}

/* The checksum covers everything but the weights, which are large and are read
 * page by page when they are used. */
static adze_status check_checksum(const module_file *file,
                                  const adze_module_note *note,
                                  uint64_t note_offset) {
  enum { CHUNK = 1 << 16 };
  uint64_t field = note_offset + offsetof(adze_module_note, checksum);
  uint64_t weights_end = note->weights_offset + note->weights_size;
  unsigned char *chunk = malloc(CHUNK);
  if (!chunk)
    return rt_out_of_memory(CHUNK);
  uint32_t crc = 0;
  adze_status status = NULL;
  for (uint64_t at = 0; at < file->size && !status;) {
    if (note->weights_size && at == note->weights_offset) {
      at = weights_end;
      continue;
    }
    uint64_t end = file->size;
    if (note->weights_size && at < note->weights_offset)
      end = note->weights_offset;
    size_t size = end - at < CHUNK ? (size_t)(end - at) : CHUNK;
    status = read_at(file, at, chunk, size);
    for (uint64_t k = field; !status && k < field + 4; ++k)
      if (k >= at && k < at + size)
        chunk[k - at] = 0;
    if (!status)
      crc = rt_crc32(crc, chunk, size);
    at += size;
  }
  free(chunk);
  if (!status && crc != note->checksum)
    status = rt_error(ADZE_INVALID_MODULE,
                      "%s: damaged: expected checksum %08x, but got %08x",
                      file->name, note->checksum, crc);
  return status;
}

adze_status rt_check_module_file(int fd, const char *name, bool verify,
                                 adze_module_note *note) {
  module_file file;
  uint64_t offset;
  RT_TRY(open_file(fd, name, &file));
  RT_TRY(read_note(&file, note, &offset));
  if (note->abi < ADZE_MODULE_OLDEST_ABI || note->abi > ADZE_MODULE_ABI)
    return rt_error(ADZE_INVALID_MODULE,
                    "%s: made for module ABI %u, but this run time reads ABI "
                    "%u to %u",
                    name, note->abi, ADZE_MODULE_OLDEST_ABI, ADZE_MODULE_ABI);
  if (note->size < sizeof(*note))
    return refuse(&file, "damaged note 'Adze'");
  if (note->file_size > file.size)
    return truncated(&file, note->file_size);
  if (note->file_size < file.size)
    return refuse(&file, "damaged: longer than its note says");
  if (note->machine != HOST_MACHINE)
    return refuse_machine(name, note->machine);
  if (note->weights_offset > file.size ||
      note->weights_size > file.size - note->weights_offset)
    return refuse(&file, "damaged: the weights lie outside the file");
  RT_TRY(check_features(&file, note->cpu_features));
  return verify ? check_checksum(&file, note, offset) : NULL;
}

adze_status rt_read_weights_note(int fd, const char *name,
                                 adze_module_weights_note *note, bool *found) {
  module_file file;
  Elf64_Ehdr header;
  Elf64_Phdr segments[MAX_PROGRAM_HEADERS];
  uint64_t offset = 0;
  uint32_t size = 0;
  *found = false;
  RT_TRY(open_file(fd, name, &file));
  RT_TRY(read_header(&file, &header));
  RT_TRY(read_at(&file, header.e_phoff, segments,
                 header.e_phnum * sizeof(Elf64_Phdr)));
  for (unsigned i = 0; i < header.e_phnum && !offset; ++i)
    if (segments[i].p_type == PT_NOTE)
      RT_TRY(find_note(&file, &segments[i], ADZE_NOTE_WEIGHTS, &offset, &size));
  if (!offset)
    return NULL;
  if (size < sizeof(*note))
    return refuse(&file, "damaged note of the weights");
  RT_TRY(read_at(&file, offset, note, sizeof(*note)));
  if (!memchr(note->name, 0, sizeof(note->name)) || !*note->name ||
      strchr(note->name, '/') || note->weights_size > INT64_MAX / 2)
    return refuse(&file, "damaged note of the weights");
  *found = true;
  return NULL;
}
