// "Did you mean ...?": the known word closest to a mistyped one, and text made safe for a one-line message.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace splitplane::app {

// The candidate within two edits of `word` (one edit for words under four letters), nearest first; nothing if none is
// close.
[[nodiscard]] std::optional<std::string_view> closest(std::string_view word,
                                                      std::span<const std::string_view> candidates);

// `text` as valid UTF-8 without control characters, at most `limit` octets long, so that it fits in a one-line message.
[[nodiscard]] std::string printable(std::string_view text, std::size_t limit = 60);

// "a, b, c".
[[nodiscard]] std::string comma_list(std::span<const std::string_view> words);

}  // namespace splitplane::app
