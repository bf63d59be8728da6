// Reads the fields of a message from a bounded span, in network order; the counterpart of Writer. The first refusal
// stays, and the fields after it keep their values. Payloads are not copied: they point into the span.
#pragma once

#include <array>
#include <concepts>
#include <type_traits>

#include "phy/fapi/bounded.h"
#include "phy/fapi/payload.h"
#include "phy/fapi/reason.h"

namespace splitplane::fapi {

class Reader {
 public:
  static constexpr bool kReads = true;

  explicit Reader(Octets in) : in_(in) {}

  [[nodiscard]] Reason reason() const { return reason_; }
  [[nodiscard]] bool ok() const { return reason_ == Reason::ok; }
  [[nodiscard]] Octets rest() const { return in_.subspan(at_); }
  void refuse(Reason reason) {
    if (ok()) reason_ = reason;
  }
  // Where the next field is, counted from the begin of the span.
  [[nodiscard]] std::size_t bytes() const { return at_; }

  template <class T>
    requires std::integral<T> || std::is_enum_v<T>
  void operator()(const char* /*name*/, T& value) {
    if (const std::uint8_t* const from = take(sizeof(T))) value = get<T>(from);
  }

  template <std::size_t N>
  void operator()(const char* /*name*/, std::array<std::uint8_t, N>& octets) {
    if (const std::uint8_t* const from = take(N)) wire::copy_octets(octets.data(), from, N);
  }

  void payload(const char* /*name*/, Payload& payload, std::size_t count) {
    const std::uint8_t* const from = take(count);
    payload.octets = from == nullptr ? Octets{} : Octets{from, count};
  }

  template <std::unsigned_integral Count, class T, std::size_t N, class Each>
  void list(const char* name, const char* names, Bounded<T, N>& elements, Each each) {
    Count count = 0;
    (*this)(name, count);
    this->elements(names, elements, count, each);
  }

  template <class T, std::size_t N, class Each>
  void elements(const char* /*elements*/, Bounded<T, N>& elements, std::size_t count, Each each) {
    elements.clear();
    for (std::size_t i = 0; i < count && ok(); ++i) {
      T* const place = elements.append();
      if (place == nullptr) return refuse(Reason::too_many);
      each(*this, *place);
    }
  }

  // Reads type and size of a PDU and calls `body(inner, type)` with a reader of this PDU only. Octets that it leaves
  // are skipped: later versions of the specification append fields there.
  template <class Body>
  void pdu(Body body) {
    const std::size_t begin = at_;
    std::uint16_t type = 0, size = 0;
    (*this)("pdu_type", type);
    (*this)("pdu_size", size);
    if (!ok()) return;
    if (size < 4 || size > in_.size() - begin) return refuse(Reason::bad_pdu_size);
    Reader inner(in_.subspan(begin + 4, size - 4U));
    body(inner, type);
    at_ = begin + size;
    if (!inner.ok()) refuse(inner.reason() == Reason::truncated ? Reason::bad_pdu_size : inner.reason());
  }

  // Padding may be cut off behind the last value of a message.
  void pad(std::size_t begin) { at_ += std::min((4 - (at_ - begin) % 4) % 4, in_.size() - at_); }

  // The next `count` octets, or nullptr after a refusal.
  [[nodiscard]] const std::uint8_t* take(std::size_t count) {
    if (ok() && in_.size() - at_ < count) reason_ = Reason::truncated;
    if (!ok()) return nullptr;
    const std::uint8_t* const from = in_.data() + at_;
    at_ += count;
    return from;
  }

 private:
  template <class T>
  static T get(const std::uint8_t* from) {
    if constexpr (sizeof(T) == 1) {
      return static_cast<T>(*from);
    } else if constexpr (sizeof(T) == 2) {
      return static_cast<T>(wire::load_be16(from));
    } else {
      static_assert(sizeof(T) == 4);
      return static_cast<T>(wire::load_be32(from));
    }
  }

  Octets in_;
  std::size_t at_ = 0;
  Reason reason_ = Reason::ok;
};

}  // namespace splitplane::fapi
