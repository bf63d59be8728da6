// Writes the fields of a message into a bounded span, in network order. A message describes its fields once, as
// `template <class Io, class Self> static void fields(Io& io, Self& m)`; Writer and Reader are such an Io. So what is
// written and what is read cannot differ. The first refusal stays, and nothing more is written after it.
#pragma once

#include <array>
#include <concepts>
#include <limits>
#include <type_traits>

#include "phy/fapi/bounded.h"
#include "phy/fapi/payload.h"
#include "phy/fapi/reason.h"

namespace splitplane::fapi {

class Writer {
 public:
  static constexpr bool kReads = false;

  explicit Writer(MutableOctets out) : out_(out) {}

  [[nodiscard]] Reason reason() const { return reason_; }
  [[nodiscard]] bool ok() const { return reason_ == Reason::ok; }
  [[nodiscard]] std::size_t bytes() const { return at_; }
  void refuse(Reason reason) {
    if (ok()) reason_ = reason;
  }

  template <class T>
    requires std::integral<T> || std::is_enum_v<T>
  void operator()(const char* /*name*/, const T& value) {
    if (std::uint8_t* const to = place(sizeof(T))) put(to, value);
  }

  template <std::size_t N>
  void operator()(const char* /*name*/, const std::array<std::uint8_t, N>& octets) {
    if (std::uint8_t* const to = place(N)) wire::copy_octets(to, octets.data(), N);
  }

  // `count` octets that the message refers to. Another number of octets is refused.
  void payload(const char* /*name*/, const Payload& payload, std::size_t count) {
    if (payload.size() != count) return refuse(Reason::bad_length);
    if (std::uint8_t* const to = place(count)) wire::copy_octets(to, payload.octets.data(), count);
  }

  // A count of type Count, then its elements.
  template <std::unsigned_integral Count, class T, std::size_t N, class Each>
  void list(const char* name, const char* /*elements*/, const Bounded<T, N>& elements, Each each) {
    static_assert(N <= std::numeric_limits<Count>::max());
    (*this)(name, static_cast<Count>(elements.size()));
    for (const T& element : elements) each(*this, element);
  }

  // Elements whose count stands elsewhere, as `count`.
  template <class T, std::size_t N, class Each>
  void elements(const char* /*elements*/, const Bounded<T, N>& elements, std::size_t count, Each each) {
    if (elements.size() != count) return refuse(Reason::bad_length);
    for (const T& element : elements) each(*this, element);
  }

  // A PDU: its type, its size with both of these fields (16 bits), then what `body` writes.
  template <class Body>
  void pdu(std::uint16_t type, Body body) {
    const std::size_t begin = at_;
    (*this)("pdu_type", type);
    std::uint8_t* const size_at = place(2);
    body(*this);
    if (!ok()) return;
    if (at_ - begin > 0xFFFF) return refuse(Reason::bad_pdu_size);
    wire::store_be16(size_at, static_cast<std::uint32_t>(at_ - begin));
  }

  // Zeros until `begin` and the place behind it are a multiple of four octets apart.
  void pad(std::size_t begin) {
    const std::size_t count = (4 - (at_ - begin) % 4) % 4;
    if (std::uint8_t* const to = place(count)) wire::fill_zero(to, count);
  }

  // A place of `count` octets to fill, or nullptr after a refusal.
  [[nodiscard]] std::uint8_t* place(std::size_t count) {
    if (ok() && out_.size() - at_ < count) reason_ = Reason::no_room;
    if (!ok()) return nullptr;
    std::uint8_t* const to = out_.data() + at_;
    at_ += count;
    return to;
  }

 private:
  template <class T>
  static void put(std::uint8_t* to, T value) {
    if constexpr (sizeof(T) == 1) {
      *to = static_cast<std::uint8_t>(value);
    } else if constexpr (sizeof(T) == 2) {
      wire::store_be16(to, static_cast<std::uint16_t>(value));
    } else {
      static_assert(sizeof(T) == 4);
      wire::store_be32(to, static_cast<std::uint32_t>(value));
    }
  }

  MutableOctets out_;
  std::size_t at_ = 0;
  Reason reason_ = Reason::ok;
};

}  // namespace splitplane::fapi
