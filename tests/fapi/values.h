// An Io (src/phy/fapi/writer.h) that lists the values of a message as one flat JSON object. A key is the name that
// SCF-222 gives the field, in snake case; the elements of a list have their number before it: "pdus.0.rnti".
#pragma once

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "phy/fapi/p5.h"
#include "phy/fapi/tx_data.h"

namespace splitplane::fapi {

class Values {
 public:
  static constexpr bool kReads = false;

  [[nodiscard]] const nlohmann::ordered_json& json() const { return json_; }
  static void refuse(Reason) {}
  [[nodiscard]] static bool ok() { return true; }
  [[nodiscard]] static std::size_t bytes() { return 0; }
  static void pad(std::size_t) {}

  template <class T>
    requires std::integral<T> || std::is_enum_v<T>
  void operator()(const char* name, const T& value) {
    // Elements of a list of numbers have no name.
    const std::string key = *name == '\0' ? prefix_.substr(0, prefix_.size() - 1) : prefix_ + name;
    if constexpr (std::is_signed_v<T>) {
      json_[key] = static_cast<std::int64_t>(value);
    } else {
      json_[key] = static_cast<std::uint64_t>(value);
    }
  }
  template <std::size_t N>
  void operator()(const char* name, const std::array<std::uint8_t, N>& octets) {
    json_[prefix_ + name] = hex(octets);
  }
  void payload(const char* name, const Payload& payload, std::size_t) { json_[prefix_ + name] = hex(payload.octets); }

  template <std::unsigned_integral Count, class T, std::size_t N, class Each>
  void list(const char* name, const char* names, const Bounded<T, N>& elements, Each each) {
    (*this)(name, static_cast<Count>(elements.size()));
    this->elements(names, elements, elements.size(), each);
  }
  template <class T, std::size_t N, class Each>
  void elements(const char* names, const Bounded<T, N>& elements, std::size_t, Each each) {
    const std::string before = prefix_;
    for (std::size_t i = 0; i < elements.size(); ++i) {
      prefix_ = fmt::format("{}{}.{}.", before, names, i);
      each(*this, elements[i]);
    }
    prefix_ = before;
  }
  template <class Body>
  void pdu(std::uint16_t type, Body body) {
    (*this)("pdu_type", type);
    body(*this);
  }

  template <class Value>
  void tlv(const char* name, const Value& value) {
    if constexpr (std::is_same_v<Value, PerNumerology>) {
      json_[prefix_ + name] = value;
    } else {
      (*this)(name, value);
    }
  }

 private:
  static std::string hex(Octets octets) { return fmt::format("{:02x}", fmt::join(octets, "")); }

  nlohmann::ordered_json json_ = nlohmann::ordered_json::object();
  std::string prefix_;
};

template <class Message>
void tlv_fields(Values& values, const Message& m) {
  Message::tlvs(m, [&values]<class Value>(const char* name, std::uint16_t, const std::optional<Value>& member) {
    if (member) values.tlv(name, *member);
  });
}

template <class Message>
nlohmann::ordered_json values_of(const Message& message) {
  Values values;
  Message::fields(values, message);
  return values.json();
}

// TX_DATA has no description of its fields that both ends share (its payloads may stand in two places).
inline nlohmann::ordered_json values_of(const TxDataRequest& message, PayloadTag tag) {
  Values values;
  values("sfn", message.sfn);
  values("slot", message.slot);
  values.list<std::uint16_t>("number_of_pdus", "pdus", message.pdus, [tag](auto& each, const auto& pdu) {
    each("pdu_length", pdu_length_of(pdu, tag));
    each("pdu_index", pdu.pdu_index);
    each.template list<std::uint32_t>("num_tlv", "tlvs", pdu.parts, [tag](auto& one, const Payload& part) {
      one("tag", tag);
      one("length", static_cast<std::uint32_t>(part.size()));
      one.payload("payload", part, part.size());
    });
  });
  return values.json();
}

}  // namespace splitplane::fapi
