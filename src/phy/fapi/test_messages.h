// For tests, tools and fuzz targets only: messages with random values, made from the description that writer and reader
// use. Filler is an Io that invents what a Reader would read. Counts and lengths stay within what a message holds.
#pragma once

#include <algorithm>
#include <memory>
#include <string_view>
#include <tuple>
#include <vector>

#include "base/random.h"
#include "phy/fapi/dl_tti.h"
#include "phy/fapi/nfapi.h"
#include "phy/fapi/p5.h"
#include "phy/fapi/p7_sender.h"
#include "phy/fapi/slot_indication.h"
#include "phy/fapi/tx_data.h"
#include "phy/fapi/uci.h"
#include "phy/fapi/ul_dci.h"
#include "phy/fapi/ul_tti.h"
#include "phy/fapi/uplink_data.h"

namespace splitplane::fapi::test {

using Bytes = std::vector<std::uint8_t>;

// The octets that payloads point at live as long as the Filler.
class Filler {
 public:
  static constexpr bool kReads = true;

  // Lists get at most `longest` elements, transport blocks at most `largest` octets.
  explicit Filler(std::uint64_t seed, std::uint32_t longest = 4, std::uint32_t largest = 300)
      : random_(seed), longest_(longest), pool_(std::size_t{largest} + 4096) {
    for (std::uint8_t& o : pool_) o = static_cast<std::uint8_t>(random_.next());
    largest_ = largest;
  }

  [[nodiscard]] static bool ok() { return true; }
  [[nodiscard]] static std::size_t bytes() { return 0; }
  static void pad(std::size_t) {}
  static void refuse(Reason) {}
  [[nodiscard]] Random& random() { return random_; }
  [[nodiscard]] Octets rest() { return octets(random_.below(20)); }
  [[nodiscard]] Octets octets(std::size_t count) {
    return Octets(pool_).subspan(random_.below(static_cast<std::uint32_t>(pool_.size() - count + 1)), count);
  }
  void limit_bitmap(std::uint32_t bits) { bitmap_ = bits; }

  template <class T>
    requires std::integral<T> || std::is_enum_v<T>
  void operator()(std::string_view name, T& value) {
    value = static_cast<T>(std::is_enum_v<T> ? random_.below(9) : below(limit(name)));
  }
  template <std::size_t N>
  void operator()(const char*, std::array<std::uint8_t, N>& to) {
    wire::copy_octets(to.data(), octets(N).data(), N);
  }
  void payload(const char*, Payload& payload, std::size_t count) { payload.octets = octets(count); }

  template <std::unsigned_integral Count, class T, std::size_t N, class Each>
  void list(const char*, const char* names, Bounded<T, N>& elements, Each each) {
    const std::size_t most = std::min<std::size_t>(N, longest_);
    this->elements(names, elements, random_.below(static_cast<std::uint32_t>(most + 1)), each);
  }
  template <class T, std::size_t N, class Each>
  void elements(const char*, Bounded<T, N>& elements, std::size_t count, Each each) {
    elements.clear();
    for (std::size_t i = 0; i < count; ++i) {
      if (T* const place = elements.append()) each(*this, *place);
    }
  }
  template <class Body>
  void pdu(Body body) {
    body(*this, static_cast<std::uint16_t>(random_.below(4)));
  }

 private:
  // The largest value of a field, where it is not that of its type.
  [[nodiscard]] std::uint64_t limit(std::string_view name) const {
    if (name == "sfn") return kMaxSfn;
    if (name == "slot") return kMaxSlot;
    if (name == "n_pdus" || name == "n_group") return longest_;
    if (name == "num_prgs" || name.starts_with("dig_bf_interface")) return kMaxPrgs;
    if (name == "payload_size_bits") return 140;
    if (name == "num_cb") return 64;
    if (name.ends_with("_bit_len")) return 300;
    if (name == "num_harq") return 2;
    if (name == "pdu_length") return largest_;
    if (name == "pdu_bitmap") return bitmap_;
    if (name == "length" || name.ends_with("_tlvs")) return name == "length" ? 0 : longest_;
    return 0xFFFFFFFF;
  }
  [[nodiscard]] std::uint64_t below(std::uint64_t most) {
    return most == 0xFFFFFFFF ? random_.next() >> 32 : random_.below(static_cast<std::uint32_t>(most + 1));
  }

  Random random_;
  std::uint32_t longest_, largest_ = 0, bitmap_ = 0xF;
  Bytes pool_;
};

}  // namespace splitplane::fapi::test

namespace splitplane::fapi {

template <class Message>
void tlv_fields(test::Filler& filler, Message& m) {
  Message::tlvs(m, [&filler]<class Value>(const char* name, std::uint16_t, std::optional<Value>& member) {
    member.reset();
    if (filler.random().below(10) < 7) detail::tlv_value(filler, name, member.emplace());
  });
}

namespace test {

template <class Message>
void fill(Filler& filler, Message& m) {
  filler.limit_bitmap(std::is_same_v<Message, DlTtiRequest> ? 3 : 0xF);
  Message::fields(filler, m);
  if constexpr (requires { m.groups; }) {
    if (m.pdus.empty()) m.groups.clear();
    for (auto& group : m.groups) {
      for (std::uint8_t& index : group.pdu_idx) index = static_cast<std::uint8_t>(index % m.pdus.size());
    }
  }
}

inline void fill(Filler& filler, TxDataRequest& m, std::uint32_t longest = 4, std::uint32_t largest = 300) {
  slot_fields(filler, m);
  m.pdus.clear();
  for (std::uint32_t n = filler.random().below(longest + 1); n != 0; --n) {
    TxDataRequest::Pdu* const pdu = m.pdus.append();
    if (pdu == nullptr) return;
    filler("pdu_index", pdu->pdu_index);
    pdu->parts.clear();
    for (std::uint32_t parts = 1 + filler.random().below(TxDataRequest::kMaxTlvs); parts != 0; --parts) {
      pdu->parts.add({filler.octets(1 + filler.random().below(largest))});
    }
  }
}

// Calls f(message, body reason) for the message that a body with this ID holds; false if the ID is not offered. The
// message stays in this object, and with it what it kept of earlier ones.
class AnyMessage {
 public:
  template <class F>
  bool read(std::uint16_t id, Octets body, F f) {
    return std::apply([&](auto&... message) { return (read_as(message, id, body, f) || ...); }, *messages_);
  }
  template <class F>
  void for_each(F f) {
    std::apply([&f](auto&... message) { (f(message), ...); }, *messages_);
  }

 private:
  template <class Message, class F>
  static bool read_as(Message& message, std::uint16_t id, Octets body, F& f) {
    if (static_cast<std::uint16_t>(Message::kId) != id) return false;
    if constexpr (std::is_same_v<Message, TxDataRequest>) {
      f(message, read_tx_data(body, message));
    } else {
      f(message, read_body(body, message));
    }
    return true;
  }

  using Messages =
      std::tuple<ParamRequest, ParamResponse, ConfigRequest, ConfigResponse, StartRequest, StopRequest, StopIndication,
                 ErrorIndication, SlotIndication, DlTtiRequest, UlTtiRequest, UlDciRequest, TxDataRequest,
                 RxDataIndication, CrcIndication, UciIndication, DlNodeSync, UlNodeSync, TimingInfo>;
  std::unique_ptr<Messages> messages_ = std::make_unique<Messages>();
};

// P5 messages have IDs below those of slots and above those of nFAPI.
[[nodiscard]] constexpr bool is_p5(MessageId id) {
  return static_cast<std::uint16_t>(id) < 0x80;
}

// The octets of all pieces in a row.
inline Bytes joined(std::span<const Octets> pieces) {
  Bytes out;
  for (const Octets piece : pieces) out.insert(out.end(), piece.begin(), piece.end());
  return out;
}

}  // namespace test
}  // namespace splitplane::fapi
