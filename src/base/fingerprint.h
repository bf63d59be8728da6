// Identifies the build of a program. Two files with the same octets have the same fingerprint. A program that was
// linked anew from other sources has another one. It does not protect against a user who wants two files to look alike.
#pragma once

#include <filesystem>
#include <string>

#include "base/expected.h"

namespace splitplane {

// FNV-1a over all octets of the file, as 16 hexadecimal digits. The error is one sentence.
[[nodiscard]] Expected<std::string> fingerprint_of(const std::filesystem::path& file);

}  // namespace splitplane
