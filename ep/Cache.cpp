// Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
//
// Digests, and files that are written completely or not at all.
#include "Cache.h"
#include "Api.h"
#include <cerrno>
#include <cstring>
#include <fstream>
#include <memory>
#include <sstream>
#include <sys/stat.h>
#include <unistd.h>
#define XXH_INLINE_ALL
#include <xxhash.h>

namespace fs = std::filesystem;

namespace adze::ep {

std::string getDigest(std::string_view description,
                      const std::vector<adze_model_part> &parts) {
  std::unique_ptr<XXH3_state_t, void (*)(XXH3_state_t *)> state(
      XXH3_createState(), [](XXH3_state_t *state) { XXH3_freeState(state); });
  if (!state)
    throw std::bad_alloc();
  XXH3_128bits_reset(state.get());
  XXH3_128bits_update(state.get(), description.data(), description.size() + 1);
  for (const adze_model_part &part : parts) {
    // The digest does not depend on the division into parts. A part of zeros is
    // represented by its size.
    uint64_t hole = part.data ? 0 : part.size;
    if (part.data)
      XXH3_128bits_update(state.get(), part.data, part.size);
    else
      XXH3_128bits_update(state.get(), &hole, sizeof(hole));
  }
  XXH128_hash_t hash = XXH3_128bits_digest(state.get());
  char text[33];
  snprintf(text, sizeof(text), "%016llx%016llx",
           static_cast<unsigned long long>(hash.high64),
           static_cast<unsigned long long>(hash.low64));
  return text;
}

std::optional<std::string> readFile(const fs::path &path) {
  std::ifstream file(path, std::ios::binary);
  if (!file)
    return std::nullopt;
  std::ostringstream content;
  content << file.rdbuf();
  return content.str();
}

/// Writes all of the bytes; returns errno.
static int writeAll(int fd, std::string_view data) {
  while (!data.empty()) {
    ssize_t written = write(fd, data.data(), data.size());
    if (written < 0 && errno == EINTR)
      continue;
    if (written < 0)
      return errno;
    data.remove_prefix(static_cast<size_t>(written));
  }
  return 0;
}

void writeFile(const fs::path &path, std::string_view data) {
  auto fail = [&](int code) {
    throw Error("expected to write '" + path.string() +
                "', but got: " + strerror(code));
  };
  std::error_code code;
  if (path.has_parent_path())
    fs::create_directories(path.parent_path(), code);
  if (code)
    fail(code.value());
  std::string temporary = path.string() + ".XXXXXX";
  int fd = mkstemp(temporary.data());
  if (fd < 0)
    fail(errno);
  int error = writeAll(fd, data);
  mode_t mask = umask(0); // the permissions of a file that the user creates
  umask(mask);
  if (!error && fchmod(fd, 0666 & ~mask) != 0)
    error = errno;
  if (close(fd) != 0 && !error)
    error = errno;
  if (!error && rename(temporary.c_str(), path.c_str()) != 0)
    error = errno;
  if (error) {
    unlink(temporary.c_str());
    fail(error);
  }
}

std::string describeCpu() {
  std::ifstream file("/proc/cpuinfo");
  std::string text;
  // Only the first CPU: an empty line ends its entry.
  for (std::string line; std::getline(file, line) && !line.empty();)
    for (const char *key : {"vendor_id", "cpu family", "model", "cache size",
                            "flags", "CPU implementer", "CPU part", "Features"})
      if (line.compare(0, strlen(key), key) == 0) {
        text += line + "\n";
        break;
      }
  return text;
}

std::string describeFile(const fs::path &path) {
  struct stat status;
  if (stat(path.c_str(), &status) != 0)
    return "none";
  return std::to_string(status.st_size) + " " +
         std::to_string(status.st_mtim.tv_sec) + "." +
         std::to_string(status.st_mtim.tv_nsec);
}

} // namespace adze::ep
