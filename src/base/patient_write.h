// Writing to a descriptor whose reader may be slow, stopped or absent.
#pragma once

#include <functional>
#include <string_view>

namespace splitplane {

// Writes all of `text` and waits while the reader has no room. While it waits it calls `go_on` five times a second. It
// returns false if `go_on` did; the rest is then not written. A reader that has closed counts as one that has read.
bool write_patiently(int descriptor, std::string_view text, const std::function<bool()>& go_on);

// As write_patiently(), for at most a second: the last words of a program.
bool write_last_words(int descriptor, std::string_view text);

}  // namespace splitplane
