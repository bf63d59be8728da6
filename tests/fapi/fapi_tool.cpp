// What the judges of FAPI talk to.
//   emit SEED COUNT OCTETS VALUES   COUNT messages of each kind with random values: the file OCTETS has the datagrams,
//                                   each as [length, 32 bits big-endian][octets]; VALUES is a JSON list with what was
//                                   meant, one object a message, and in which datagrams it is
//   read OCTETS                     what our readers find in such a file, as the same list on the standard output
// Messages to and from PHY 1 go through one P7 sender, in datagrams of at most 1472 octets.
#include <cstdlib>
#include <fstream>
#include <iostream>

#include "phy/fapi/p7_receiver.h"
#include "phy/fapi/test_messages.h"
#include "values.h"

namespace splitplane::fapi {
namespace {

using test::Bytes;
using Json = nlohmann::ordered_json;

constexpr std::uint16_t kPhy = 1;
constexpr std::size_t kMaxDatagram = 1472;

Json head(MessageId id, std::size_t first_datagram, std::size_t datagrams) {
  return {{"message", name_of(id)},
          {"interface", test::is_p5(id) ? "p5" : "p7"},
          {"first_datagram", first_datagram},
          {"datagrams", datagrams},
          {"phy_id", kPhy},
          {"header_message_id", static_cast<std::uint16_t>(id)}};
}

class Emitter {
 public:
  Emitter(std::uint64_t seed, const char* octets) : filler_(seed, 4, 40'000), out_(octets, std::ios::binary) {}

  void emit(unsigned count) {
    // 3 PDUs of 4 parts of 15,000 octets are near the 128 segments that a message may have.
    for (unsigned i = 0; i < count; ++i) {
      messages_.for_each([&]<class Message>(Message& message) {
        if constexpr (std::is_same_v<Message, TxDataRequest>) {
          emit_tx_data(message, PayloadTag::kInline, i % 10 == 9 ? 15'000 : 300);
          emit_tx_data(message, PayloadTag::kOffset, i % 10 == 9 ? 15'000 : 300);
        } else {
          emit_message(message);
        }
      });
    }
  }
  [[nodiscard]] const Json& values() const { return values_; }
  [[nodiscard]] bool ok() { return out_.flush() && ok_; }

 private:
  template <class Message>
  void emit_message(Message& message) {
    test::fill(filler_, message);
    Bytes room(1 << 20);
    if (test::is_p5(Message::kId)) {
      const Written w = write_p5(room, kPhy, message);
      ok_ = ok_ && w.reason == Reason::ok;
      Json entry = head(Message::kId, datagrams_, 1);
      entry.update(values_of(message));
      values_.push_back(std::move(entry));
      return put(Octets(room).first(w.bytes));
    }
    const Written w = write_body(room, message);
    const Octets body = Octets(room).first(w.bytes);
    ok_ = ok_ && w.reason == Reason::ok;
    send(Message::kId, {&body, 1}, values_of(message));
  }

  void emit_tx_data(TxDataRequest& message, PayloadTag tag, std::uint32_t largest) {
    test::fill(filler_, message, 3, largest);
    ok_ = ok_ && writer_->write(message, tag) == Reason::ok;
    send(TxDataRequest::kId, writer_->pieces(), values_of(message, tag));
  }

  void send(MessageId id, std::span<const Octets> pieces, Json meant) {
    const std::uint32_t timestamp = static_cast<std::uint32_t>(filler_.random().next() % 10'240'000);
    Json entry = head(id, datagrams_, 0);
    entry["sequence_number"] = sender_.next_sequence();
    entry["transmit_timestamp"] = timestamp;
    ok_ = ok_ && sender_.cut(id, pieces, timestamp) == Reason::ok;
    entry["datagrams"] = sender_.datagrams().size();
    entry.update(meant);
    values_.push_back(std::move(entry));
    for (const auto datagram : sender_.datagrams()) put(test::joined(datagram));
  }

  void put(Octets datagram) {
    std::array<std::uint8_t, 4> length{};
    wire::store_be32(length.data(), static_cast<std::uint32_t>(datagram.size()));
    out_.write(reinterpret_cast<const char*>(length.data()), length.size());
    out_.write(reinterpret_cast<const char*>(datagram.data()), static_cast<std::streamsize>(datagram.size()));
    ++datagrams_;
  }

  test::Filler filler_;
  std::ofstream out_;
  test::AnyMessage messages_;
  std::unique_ptr<TxDataWriter> writer_ = std::make_unique<TxDataWriter>();
  P7Sender sender_{kPhy, kMaxDatagram, ChecksumMode::kIfThere};
  Json values_ = Json::array();
  std::size_t datagrams_ = 0;
  bool ok_ = true;
};

int emit(std::uint64_t seed, unsigned count, const char* octets, const char* values) {
  Emitter emitter(seed, octets);
  emitter.emit(count);
  std::ofstream out(values);
  out << emitter.values().dump(1) << '\n';
  return emitter.ok() && out.flush() ? 0 : 1;
}

// Everything that is read from a file of datagrams; a datagram that is refused is an entry with a reason.
class FileReader {
 public:
  void take(Octets datagram) {
    // The file has datagrams of both interfaces: they are told apart by their message ID.
    const std::uint16_t id = datagram.size() < 4 ? 0 : wire::load_be16(datagram.data() + 2);
    if (test::is_p5(static_cast<MessageId>(id))) {
      const auto parsed = parse_p5(datagram);
      if (parsed.reason != Reason::ok) return refuse(parsed.reason);
      return message(parsed.header.phy_id, id, parsed.body);
    }
    const auto event = receiver_.receive(datagram, ++now_);
    if (event.outcome == P7Outcome::message) return message(event.header.phy_id, id, event.body);
    if (event.outcome == P7Outcome::refused) return refuse(event.reason);
    if (event.outcome != P7Outcome::segment) refuse(name_of(event.outcome));
  }
  [[nodiscard]] const Json& values() const { return values_; }

 private:
  void refuse(Reason reason) { refuse(name_of(reason)); }
  void refuse(std::string_view reason) { values_.push_back({{"refused", reason}}); }
  void message(std::uint16_t phy, std::uint16_t id, Octets body) {
    const bool known = messages_.read(id, body, [&]<class Message>(const Message& read, Reason reason) {
      if (reason != Reason::ok) return refuse(reason);
      Json entry{{"message", name_of(Message::kId)}, {"phy_id", phy}, {"header_message_id", id}};
      if constexpr (std::is_same_v<Message, TxDataRequest>) {
        entry.update(values_of(read, PayloadTag::kInline));
      } else {
        entry.update(values_of(read));
      }
      values_.push_back(std::move(entry));
    });
    if (!known) refuse(Reason::other_message);
  }

  P7Receiver receiver_{{.phy_id = kPhy, .timeout = 1'000'000}};
  P7Receiver::Time now_ = 0;
  test::AnyMessage messages_;
  Json values_ = Json::array();
};

int read(const char* octets) {
  std::ifstream in(octets, std::ios::binary);
  FileReader reader;
  std::array<std::uint8_t, 4> length{};
  while (in.read(reinterpret_cast<char*>(length.data()), length.size())) {
    Bytes datagram(wire::load_be32(length.data()) & 0xFFFFF);
    if (!in.read(reinterpret_cast<char*>(datagram.data()), static_cast<std::streamsize>(datagram.size()))) return 1;
    reader.take(datagram);
  }
  std::cout << reader.values().dump(1) << '\n';
  return 0;
}

}  // namespace
}  // namespace splitplane::fapi

int main(int argc, char** argv) {
  const std::string_view command = argc > 1 ? argv[1] : "";
  if (command == "emit" && argc == 6) {
    return splitplane::fapi::emit(std::strtoull(argv[2], nullptr, 10),
                                  static_cast<unsigned>(std::strtoul(argv[3], nullptr, 10)), argv[4], argv[5]);
  }
  if (command == "read" && argc == 3) return splitplane::fapi::read(argv[2]);
  std::cerr << "usage: fapi_tool emit SEED COUNT OCTETS VALUES | fapi_tool read OCTETS\n";
  return 2;
}
