// The TLVs of PARAM.response and CONFIG.request (SCF-222.10.02 table 3-7): tag and length of 16 bits, then the value
// and zeros up to a multiple of four octets. Each TLV of a message is an optional member. The message visits all of
// them as `template <class Self, class Visit> static void tlvs(Self& m, Visit visit)`, calling visit(name, tag, member)
// for each.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <utility>

#include "phy/fapi/reader.h"
#include "phy/fapi/writer.h"

namespace splitplane::fapi {

// One value for each of the numerologies 0 to 4.
using PerNumerology = std::array<std::uint16_t, 5>;

namespace detail {

template <class Value>
[[nodiscard]] consteval std::uint16_t tlv_octets() {
  return sizeof(Value);  // integers and arrays of integers: without padding
}

template <class Io, class Value>
void tlv_value(Io& io, const char* name, Value& value) {
  if constexpr (requires { value.size(); } && !requires { io(name, value); }) {
    for (auto& element : value) io(name, element);
  } else {
    io(name, value);
  }
}

// Implementations disagree about the width of some integers, so 1, 2 and 4 octets are taken, if the value fits.
template <std::integral Value>
[[nodiscard]] bool read_tlv_value(Octets octets, Value& value) {
  std::int64_t wide = 0;
  const std::uint8_t* const p = octets.data();
  constexpr bool kSigned = std::is_signed_v<Value>;
  if (octets.size() == 1) {
    wide = kSigned ? static_cast<std::int8_t>(*p) : std::int64_t{*p};
  } else if (octets.size() == 2) {
    wide = kSigned ? static_cast<std::int16_t>(wire::load_be16(p)) : std::int64_t{wire::load_be16(p)};
  } else if (octets.size() == 4) {
    wide = kSigned ? static_cast<std::int32_t>(wire::load_be32(p)) : std::int64_t{wire::load_be32(p)};
  } else {
    return false;
  }
  value = static_cast<Value>(wide);
  return std::in_range<Value>(wide);
}

template <class Value>
[[nodiscard]] bool read_tlv_value(Octets octets, Value& value) {
  if (octets.size() != tlv_octets<Value>()) return false;
  Reader inner(octets);
  tlv_value(inner, "", value);
  return true;
}

}  // namespace detail

// A number of TLVs (8 bits), then these.
template <class Message>
void tlv_fields(Writer& writer, const Message& m) {
  std::uint8_t count = 0;
  Message::tlvs(m, [&count](const char*, std::uint16_t, const auto& value) {
    if (value) ++count;
  });
  writer("num_tlvs", count);
  Message::tlvs(m, [&writer]<class Value>(const char* name, std::uint16_t tag, const std::optional<Value>& value) {
    if (!value) return;
    writer("tag", tag);
    writer("length", detail::tlv_octets<Value>());
    const std::size_t begin = writer.bytes();
    detail::tlv_value(writer, name, *value);
    writer.pad(begin);
  });
}

// TLVs with other tags are skipped, and counted in m.skipped_tlvs.
template <class Message>
void tlv_fields(Reader& reader, Message& m) {
  Message::tlvs(m, [](const char*, std::uint16_t, auto& value) { value.reset(); });
  m.skipped_tlvs = 0;
  std::uint8_t count = 0;
  reader("num_tlvs", count);
  for (; count != 0 && reader.ok(); --count) {
    if (reader.rest().empty()) return reader.refuse(Reason::tlv_missing);
    std::uint16_t tag = 0, length = 0;
    Payload value;
    reader("tag", tag);
    reader("length", length);
    const std::size_t begin = reader.bytes();
    reader.payload("value", value, length);
    reader.pad(begin);
    if (!reader.ok()) return;
    bool known = false;
    Message::tlvs(m, [&]<class Value>(const char*, std::uint16_t its_tag, std::optional<Value>& member) {
      if (its_tag != tag) return;
      known = true;
      if (member) return reader.refuse(Reason::tlv_twice);
      if (!detail::read_tlv_value(value.octets, member.emplace())) reader.refuse(Reason::bad_tlv_length);
    });
    m.skipped_tlvs = static_cast<std::uint8_t>(m.skipped_tlvs + (known ? 0 : 1));
  }
}

}  // namespace splitplane::fapi
