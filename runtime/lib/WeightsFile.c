/* Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
 *
 * Weights in a separate file, in the module's folder or at the path of an
 * option.
 * */
#include "Runtime.h"

#include <errno.h>
#include <fcntl.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

/* Returns the path of the file: that of the option, or the note's name in the
   module's folder. */
static adze_status find_path(const adze_module *module, const char *module_path,
                             const adze_module_weights_note *note,
                             char **path) {
  const char *wanted = module->options.weights;
  const char *slash = module_path ? strrchr(module_path, '/') : NULL;
  if (!*wanted && !slash)
    return rt_error(ADZE_IO_ERROR,
                    "the module's weights are in a file '%s': give its path by "
                    "the option 'weights'",
                    note->name);
  size_t folder = *wanted ? 0 : (size_t)(slash - module_path) + 1;
  size_t bytes = folder + strlen(*wanted ? wanted : note->name) + 1;
  *path = malloc(bytes);
  if (!*path)
    return rt_out_of_memory(bytes);
  snprintf(*path, bytes, "%.*s%s", (int)folder, *wanted ? "" : module_path,
           *wanted ? wanted : note->name);
  return NULL;
}

/* Verifies the header by its digest; headers of older versions have none. */
static adze_status check_header(const adze_weights_header *header,
                                const char *path) {
  if (header->size == ADZE_WEIGHTS_HEADER_1)
    return NULL;
  uint64_t digest =
      rt_checksum(header, offsetof(adze_weights_header, header_digest));
  if (header->size < sizeof(*header) || digest != header->header_digest)
    return rt_error(ADZE_INVALID_MODULE,
                    "%s: damaged header of a file of weights: expected "
                    "checksum %016llx, but got %016llx",
                    path, (unsigned long long)header->header_digest,
                    (unsigned long long)digest);
  return NULL;
}

/* Returns true if an undamaged header has the digest of the module's
   checksums. */
static bool has_checksums_of(const adze_weights_header *header,
                             const adze_module_desc *desc) {
  uint64_t blocks =
      (desc->weights_size + ADZE_WEIGHTS_BLOCK - 1) / ADZE_WEIGHTS_BLOCK;
  return header->size == ADZE_WEIGHTS_HEADER_1 || !desc->weights_checksums ||
         header->checksums_digest ==
             rt_checksum(desc->weights_checksums,
                         (size_t)blocks * sizeof(*desc->weights_checksums));
}

static adze_status check(const adze_module *module, int fd, const char *path,
                         const adze_module_weights_note *note) {
  struct stat info;
  if (fstat(fd, &info))
    return rt_error(rt_errno_code(errno), "%s: %s", path, strerror(errno));
  uint64_t expected = ADZE_WEIGHTS_OFFSET + note->weights_size;
  if (!S_ISREG(info.st_mode) || (uint64_t)info.st_size != expected)
    return rt_error(ADZE_INVALID_MODULE,
                    "%s: expected a file of weights of %llu bytes, but got "
                    "%llu",
                    path, (unsigned long long)expected,
                    (unsigned long long)info.st_size);
  adze_weights_header header;
  if (pread(fd, &header, sizeof(header), 0) != (ssize_t)sizeof(header))
    return rt_error(ADZE_IO_ERROR, "%s: cannot be read", path);
  if (memcmp(header.magic, ADZE_WEIGHTS_MAGIC, sizeof(header.magic)))
    return rt_error(ADZE_INVALID_MODULE, "%s: not a file of weights", path);
  RT_TRY(check_header(&header, path));
  if (header.offset != ADZE_WEIGHTS_OFFSET ||
      header.weights_size != note->weights_size)
    return rt_error(ADZE_INVALID_MODULE, "%s: not a file of weights", path);
  if (memcmp(header.id, note->id, sizeof(header.id)))
    return rt_error(ADZE_INVALID_MODULE,
                    "%s: expected the weights %.32s, but got %.32s: it belongs "
                    "to another module",
                    path, note->id, header.id);
  if (!has_checksums_of(&header, module->desc))
    return rt_error(ADZE_INVALID_MODULE,
                    "%s: expected the checksums of the module's weights, but "
                    "got others: it belongs to another module",
                    path);
  return NULL;
}

static adze_status map(adze_module *module, const char *path,
                       const adze_module_weights_note *note) {
  int fd = open(path, O_RDONLY | O_CLOEXEC);
  if (fd < 0)
    return rt_error(rt_errno_code(errno), "%s: %s (the module's weights)", path,
                    strerror(errno));
  adze_status status = check(module, fd, path, note);
  size_t bytes = ADZE_WEIGHTS_OFFSET + (size_t)note->weights_size;
  if (!status) {
    void *data = mmap(NULL, bytes, PROT_READ, MAP_PRIVATE, fd, 0);
    if (data == MAP_FAILED) {
      status = rt_error(rt_errno_code(errno), "%s: %s", path, strerror(errno));
    } else {
      module->mapping = data;
      module->mapping_bytes = bytes;
      module->weights = (const char *)data + ADZE_WEIGHTS_OFFSET;
    }
  }
  close(fd);
  return status;
}

adze_status rt_map_weights(adze_module *module, int fd,
                           const char *module_path) {
  adze_module_weights_note note;
  bool found = false;
  if (fd >= 0)
    RT_TRY(rt_read_weights_note(
        fd, module_path ? module_path : "module in memory", &note, &found));
  if (!found)
    return module->desc->weights_size && !module->weights
               ? rt_error(ADZE_INVALID_MODULE, "damaged: no weights")
               : NULL;
  if (note.weights_size != module->desc->weights_size)
    return rt_error(ADZE_INVALID_MODULE, "damaged note of the weights");
  char *path;
  RT_TRY(find_path(module, module_path, &note, &path));
  adze_status status = map(module, path, &note);
  module->weights_path = path;
  return status;
}

const char *rt_weights_name(const adze_module *module) {
  return module->weights_path ? module->weights_path : module->path;
}

void rt_unmap_weights(adze_module *module) {
  if (module->mapping)
    munmap(module->mapping, module->mapping_bytes);
  free(module->weights_path);
}
