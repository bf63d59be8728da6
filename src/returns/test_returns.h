// For tests of this room only: a worker's lines of bearers on a card, what goes back there, and the requests to its
// link.
#pragma once

#include <gtest/gtest.h>
#include <rte_cycles.h>

#include "engine/test_environment.h"
#include "ran/bearer_config.h"
#include "returns/card_returns.h"
#include "returns/returned_frame.h"

namespace splitplane::datapath::test {

class ReturnsTest : public testing::Test {
 protected:
  static constexpr std::uint32_t kLines = 8;

  // Frames that went back: the bearer's index, and the SDU's length; 0: the host dropped the SDU.
  using Sent = std::vector<std::pair<std::uint32_t, unsigned>>;
  struct Sink {
    Sent* sent;
    unsigned room = ~0U;
    unsigned send(rte_mbuf** mbufs, unsigned n) {
      const unsigned taken = std::min(n, room);
      for (unsigned i = 0; i < taken; ++i) {
        sent->push_back(read(mbufs[i]));
        rte_pktmbuf_free(mbufs[i]);
      }
      return taken;
    }
  };

  ReturnsTest() {
    lines.attach(ShardId{1}, {downlink_.data(), uplink_.data(), drops_.data(), kLines});
    returns.connect(CardRequests(requests_.get(), &reader_));
    for (const std::uint32_t index : {1U, 2U}) line(index) = ran::make_on_card(config(index));
  }
  ~ReturnsTest() override {
    while (asked()) {  // no buffers
    }
  }
  static std::uint32_t teid(std::uint32_t index) { return ran::make_teid(3, ShardId{1}, index); }
  static BearerId id(std::uint32_t index) { return BearerId{teid(index)}; }
  static ran::BearerConfig config(std::uint32_t index) {
    ran::BearerConfig config;
    config.id = id(index);
    return config;
  }
  [[nodiscard]] ran::BearerDownlink& line(std::uint32_t index) { return *lines.downlink_line(teid(index)); }
  [[nodiscard]] ran::BearerDrops& drops(std::uint32_t index) { return lines.drops(teid(index)); }

  [[nodiscard]] rte_mbuf* frame(std::uint32_t index, unsigned bytes) {
    Bytes octets(kReturnedHeaderBytes + bytes);
    write_returned(teid(index), 9, bytes, octets.data() + 14);
    return pool.make(octets);
  }
  static std::pair<std::uint32_t, unsigned> read(const rte_mbuf* m) {
    const auto* const at = rte_pktmbuf_mtod(m, const std::uint8_t*);
    return {ran::index_of(teid_of_returned(at)), wire::load_be16(at + 14 + wire::airhdr::kLengthOffset)};
  }
  // As the slow path of the downlink does with a packet of a bearer on a card. True: it went back at once.
  bool arrives(std::uint32_t index, unsigned bytes) {
    rte_mbuf* m = frame(index, bytes);
    if (!ran::take_card_credit(line(index)) && !returns.admit(line(index), teid(index), m, rte_rdtsc())) return false;
    returns.send(back, &m, 1, rte_rdtsc());
    return true;
  }
  void flush() { returns.flush(back, rte_rdtsc() + rte_get_tsc_hz() / 1000); }
  [[nodiscard]] std::optional<CardRequest> asked() { return returns.requests()->take(); }
  // As the link does: it answers the request of that bearer, if there is one.
  void grant(std::uint32_t index, std::uint32_t next, std::uint32_t lease_end, std::uint32_t in_flight = 0) {
    const auto request = asked().value_or(CardRequest{id(index), CardRequest::kUnasked});
    ASSERT_EQ(request.id, id(index));
    returns.grant({.answers = request, .next = next, .lease_end = lease_end, .in_flight = in_flight}, rte_rdtsc());
  }

  Pool pool;
  WorkerStats stats;
  ran::BearerTable lines;
  CardReturns returns{lines, stats};
  Sent sent;
  Sink back{&sent};

 private:
  std::vector<ran::BearerDownlink> downlink_ = std::vector<ran::BearerDownlink>(kLines);
  std::vector<ran::BearerUplink> uplink_ = std::vector<ran::BearerUplink>(kLines);
  std::vector<ran::BearerDrops> drops_ = std::vector<ran::BearerDrops>(kLines);
  Ring requests_{16};
  Wakeup reader_;
};

}  // namespace splitplane::datapath::test
