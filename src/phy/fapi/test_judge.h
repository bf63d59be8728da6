// For tests and fuzz targets only: gives any datagrams to the readers and holds them to their promises. What is read is
// written and read again as the same. A message that was put together has the octets of its segments. The receiver's
// counters add up to the datagrams.
#pragma once

#include <map>
#include <string>

#include "phy/fapi/p7_receiver.h"
#include "phy/fapi/test_messages.h"

namespace splitplane::fapi::test {

class Judge {
 public:
  static constexpr P7Receiver::Time kTimeout = 50;
  static constexpr std::size_t kAtOnce = 2;

  // Where messages are read to; a megabyte, so it outlives a judge.
  struct Room {
    AnyMessage read, again;
    std::unique_ptr<TxDataWriter> writer = std::make_unique<TxDataWriter>();
    Bytes octets = Bytes(std::size_t{1} << 17);
  };

  explicit Judge(Room& room)
      : room_(room),
        receiver_({.phy_id = 1, .max_message_bytes = 1 << 14, .messages_at_once = kAtOnce, .timeout = kTimeout}) {}

  // What a promise is broken by; empty if none is. `as_p5`: read as P5, else as P7, some time after the one before.
  [[nodiscard]] std::string take(Octets datagram, bool as_p5, std::uint8_t time_between = 0) {
    if (as_p5) {
      const auto parsed = parse_p5(datagram);
      return parsed.reason == Reason::ok ? read(parsed.header.message_id, parsed.body) : "";
    }
    now_ += 1U + time_between;
    const auto event = receiver_.receive(datagram, now_);
    ++datagrams_;
    if (std::string wrong = account(event, datagram); !wrong.empty()) return wrong;
    return event.outcome == P7Outcome::message ? read(event.header.message_id, event.body) : "";
  }

  [[nodiscard]] std::uint64_t accepted() const { return accepted_; }
  [[nodiscard]] std::uint64_t refused() const { return refused_; }
  [[nodiscard]] const P7Receiver& receiver() const { return receiver_; }

 private:
  [[nodiscard]] std::string read(std::uint16_t id, Octets body) {
    std::string wrong;
    room_.read.read(id, body, [&](auto& message, Reason reason) {
      ++(reason == Reason::ok ? accepted_ : refused_);
      if (reason == Reason::ok) wrong = again(id, message);
    });
    return wrong;
  }

  template <class Message>
  [[nodiscard]] std::string again(std::uint16_t id, const Message& message) {
    Octets octets;
    if constexpr (std::is_same_v<Message, TxDataRequest>) {
      if (room_.writer->write(message, PayloadTag::kInline) != Reason::ok)
        return "TX_DATA that was read is not written";
      joined_ = joined(room_.writer->pieces());
      octets = joined_;
    } else {
      const Written w = write_body(room_.octets, message);
      if (w.reason != Reason::ok) return "what was read is not written: " + std::string(text_of(w.reason));
      octets = Octets(room_.octets).first(w.bytes);
    }
    std::string wrong;
    room_.again.read(id, octets, [&](auto& second, Reason reason) {
      if constexpr (std::is_same_v<std::remove_cvref_t<decltype(second)>, Message>) {
        if (reason != Reason::ok) wrong = "what was written is not read: " + std::string(text_of(reason));
        copy_skipped(second, message);
        if (wrong.empty() && !(second == message)) wrong = "written and read again, it is another message";
      }
    });
    return wrong;
  }

  // What was skipped is not written.
  template <class Message>
  static void copy_skipped(Message& to, const Message& from) {
    if constexpr (requires { to.skipped_tlvs; }) to.skipped_tlvs = from.skipped_tlvs;
  }

  // A slow model of reassembly, on maps.
  [[nodiscard]] std::string account(const P7Receiver::Event& event, Octets datagram) {
    const auto& counters = receiver_.counters();
    std::uint64_t sum = 0, reasons = 0;
    for (const std::uint64_t n : counters.outcomes) sum += n;
    for (const std::uint64_t n : counters.reasons) reasons += n;
    if (sum != datagrams_) return "outcomes do not add up to the datagrams";
    if (reasons != counters.of(P7Outcome::refused)) return "reasons do not add up to the refused";
    if ((event.outcome == P7Outcome::refused) != (event.reason != Reason::ok)) return "refused without reason";
    std::erase_if(kept_, [this](const auto& kept) { return now_ - kept.second.since >= kTimeout; });
    const std::uint64_t number = unwrap(event);
    const Octets body = datagram.size() < kP7HeaderBytes ? Octets{} : datagram.subspan(kP7HeaderBytes);
    Bytes expected(body.begin(), body.end());
    if (event.outcome == P7Outcome::contradiction || event.outcome == P7Outcome::overflow) kept_.erase(number);
    if (event.outcome == P7Outcome::segment) {
      const bool first = !kept_.contains(number);
      if (first && kept_.size() == kAtOnce) {
        kept_.erase(std::ranges::min_element(kept_, {}, [](const auto& kept) { return kept.second.since; }));
      }
      auto& [since, segments] = kept_[number];
      if (first) since = now_;
      if (!segments.emplace(event.header.segment, expected).second) return "a segment was kept twice";
    }
    if (event.outcome != P7Outcome::message) return same_number();
    if (event.header.more || event.header.segment != 0 || kept_.contains(number)) {
      auto& segments = kept_[number].segments;
      segments.emplace(event.header.segment, expected);
      expected.clear();
      std::size_t next = 0;
      for (const auto& [segment, octets] : segments) {
        if (segment != next++) return "a message with a hole";
        expected.insert(expected.end(), octets.begin(), octets.end());
      }
      kept_.erase(number);
    }
    return std::ranges::equal(event.body, expected) ? same_number() : "the message has other octets than its segments";
  }
  // Which message of all a datagram is of. What is kHistory behind the newest one is not kept.
  [[nodiscard]] std::uint64_t unwrap(const P7Receiver::Event& event) {
    if (event.outcome == P7Outcome::refused || event.outcome == P7Outcome::stale) return 0;
    const std::uint8_t sequence = event.header.sequence;
    const std::uint64_t resynchronized = receiver_.counters().resynchronized;
    if (newest_ == 0 || resynchronized != resynchronized_) {
      resynchronized_ = resynchronized;
      kept_.clear();
      return newest_ = (newest_ / 256 + 2) * 256 + sequence;
    }
    const auto ahead = static_cast<std::int8_t>(sequence - newest_);
    const std::uint64_t number = newest_ + static_cast<std::uint64_t>(std::int64_t{ahead});
    newest_ = std::max(newest_, number);
    std::erase_if(kept_, [this](const auto& kept) { return newest_ - kept.first >= P7Receiver::kHistory; });
    return number;
  }
  [[nodiscard]] std::string same_number() const {
    return receiver_.kept_messages() == kept_.size() ? "" : "another number of messages is kept";
  }

  struct Kept {
    P7Receiver::Time since = 0;
    std::map<std::uint8_t, Bytes> segments;
  };

  Room& room_;
  P7Receiver receiver_;
  Bytes joined_;
  std::map<std::uint64_t, Kept> kept_;  // by the number of the message, which does not come round
  std::uint64_t newest_ = 0;            // such a number; 0: none yet
  std::uint64_t resynchronized_ = 0;
  P7Receiver::Time now_ = 0;
  std::uint64_t datagrams_ = 0, accepted_ = 0, refused_ = 0;
};

}  // namespace splitplane::fapi::test
