// Writing to a descriptor whose reader may be slow, stopped or gone.
#pragma once

#include <functional>
#include <string_view>

namespace splitplane {

// Writes all of `text`, and waits while the reader has no room. While it waits it asks `go_on` five times a second.
// False: `go_on` said no, and the rest is not written. A reader that has gone counts as one that has read.
bool write_patiently(int descriptor, std::string_view text, const std::function<bool()>& go_on);

// As above, for a second at most: the last words of a program.
bool write_last_words(int descriptor, std::string_view text);

}  // namespace splitplane
