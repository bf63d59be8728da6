// The control path's result type: a value, or one sentence for the user. The packet path uses outcome enums instead.
#pragma once

#include <fmt/format.h>

#include <string>
#include <tl/expected.hpp>
#include <utility>

namespace splitplane {

struct Error {
  std::string message;  // one sentence: what is wrong, where, and what is allowed
};

template <class T>
using Expected = tl::expected<T, Error>;

// Returns an Error built from a format string, for `return fail("port {}: ...", name);`.
template <class... Args>
[[nodiscard]] tl::unexpected<Error> fail(fmt::format_string<Args...> format, Args&&... args) {
  return tl::unexpected<Error>(Error{fmt::format(format, std::forward<Args>(args)...)});
}

}  // namespace splitplane
