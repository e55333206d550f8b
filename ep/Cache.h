// Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
//
// A cache folder of compiled modules and results of checks, with digests as
// keys.
#ifndef ADZE_EP_CACHE_H
#define ADZE_EP_CACHE_H

#include "adze_compiler.h"
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace adze::ep {

/// Returns 32 hexadecimal digits for a description and the parts of a model.
std::string getDigest(std::string_view description,
                      const std::vector<adze_model_part> &parts);

/// Returns the content of a file; none if it cannot be read.
std::optional<std::string> readFile(const std::filesystem::path &path);

/// Writes a file completely or not at all, and creates its folders. Throws with
/// the path and the reason.
void writeFile(const std::filesystem::path &path, std::string_view data);

/// Returns a text that differs between CPUs for which the compiler may generate
/// different code.
std::string describeCpu();

/// Returns a text that differs between builds of a library, from its file if it
/// is not loaded.
std::string describeFile(const std::filesystem::path &path);

} // namespace adze::ep

#endif // ADZE_EP_CACHE_H
