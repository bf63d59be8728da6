// What a parser returns: the value, or the reason why there is none. It is a plain aggregate, so it also works on a
// device.
#pragma once

#include "base/host_device.h"
#include "wire/reason.h"

namespace splitplane::wire {

template <class T>
struct Result {
  T value{};
  Reason reason = Reason::ok;

  [[nodiscard]] SPLITPLANE_HD constexpr explicit operator bool() const { return reason == Reason::ok; }
  [[nodiscard]] SPLITPLANE_HD constexpr const T& operator*() const { return value; }
  [[nodiscard]] SPLITPLANE_HD constexpr const T* operator->() const { return &value; }
};

// `return refuse<Header>(Reason::x);` The value is empty. A parser that fills it partly on a refusal says so.
template <class T>
[[nodiscard]] SPLITPLANE_HD constexpr Result<T> refuse(Reason reason) {
  return {T{}, reason};
}

}  // namespace splitplane::wire
