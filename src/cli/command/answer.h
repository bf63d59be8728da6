// How commands read an answer of the control protocol: what is not there reads as nothing.
#pragma once

#include <cstdint>
#include <string>

#include "control/params.h"

namespace splitplane::app {

[[nodiscard]] const Json& nothing();  // an empty object

// The member `key` of an object; nothing(), if `object` has no such member or is no object.
[[nodiscard]] const Json& member(const Json& object, const std::string& key);

// The same for a number of events or octets; 0, if it is none.
[[nodiscard]] std::uint64_t number(const Json& object, const std::string& key);

}  // namespace splitplane::app
