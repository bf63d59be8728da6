// Which build a program is: two files with the same octets have the same fingerprint, and a program that was linked
// anew from other sources has another one. No protection against somebody who wants two files to look alike.
#pragma once

#include <filesystem>
#include <string>

#include "base/expected.h"

namespace splitplane {

// FNV-1a over all octets of the file, 16 hexadecimal digits. Error: one sentence.
[[nodiscard]] Expected<std::string> fingerprint_of(const std::filesystem::path& file);

}  // namespace splitplane
