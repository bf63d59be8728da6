// The cost of the RLC entities on mbufs, on one core, with SDUs of 1500 octets that are in the cache, as PDCP leaves
// them. Results are medians in nanoseconds, instructions if the machine counts them, and octets of memory. Prints one
// JSON object.
#include <rte_lcore.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdio>
#include <nlohmann/json.hpp>

#include "arq/arq.h"
#include "engine/mbuf_buffer.h"
#include "meter.h"
#include "on_core.h"
#include "quiet.h"
#include "ran/rlc/am_entity.h"
#include "ran/rlc/um_entity.h"

namespace splitplane::bench {
namespace {

using namespace ran::rlc;
using Buffer = datapath::MbufBuffer;
constexpr unsigned kBurst = 32;
constexpr unsigned kSduBytes = 1500;
constexpr unsigned kSmallBytes = 16;  // for a window full of SDUs whose octets do not matter

constexpr MemorySizes kSizes{.sent_pages = 2200,
                             .received_pages = 2200,
                             .queue_pages = 64,
                             .directories = 160,
                             .segments = 4096,
                             .assemblies = 2048,
                             .intervals = 4096};
AmConfig am(unsigned sn_bits) {
  return {.sn_bits = static_cast<std::uint8_t>(sn_bits),
          .poll_pdu = 64,
          .t_poll_retransmit = 1U << 30,
          .t_reassembly = 1000,
          .max_queued = 4096};
}

class Bench {
 public:
  explicit Bench(unsigned rounds) : rounds_(rounds) {
    large_ = rte_pktmbuf_pool_create("large", 8191, 256, 0, RTE_MBUF_DEFAULT_BUF_SIZE, SOCKET_ID_ANY);
    small_ = rte_pktmbuf_pool_create("small", 140000, 256, 0, RTE_PKTMBUF_HEADROOM + kSmallBytes, SOCKET_ID_ANY);
    long_ = rte_pktmbuf_pool_create("long", 15, 0, 0, UINT16_MAX, SOCKET_ID_ANY);
    if (large_ == nullptr || small_ == nullptr || long_ == nullptr)
      throw std::runtime_error("no memory for the bench's pools");
  }

  nlohmann::json run() {
    for (const bool cold : {false, true}) {
      cold_ = cold;
      for (const unsigned bits : {18U, 12U}) {
        send_and_pull(bits);
        receive_in_order(bits);
        receive_above_a_hole(bits);
        acknowledge_1024(bits);
      }
      um();
    }
    cold_ = false;
    for (const unsigned bits : {18U, 12U}) {
      for (const unsigned holes : {1U, 100U}) {
        status_build(bits, holes);
        status_process(bits, holes, "status_process.nacks" + std::to_string(holes));
      }
    }
    status_process(18, 2000, "status_process.nacks2000");
    for (const unsigned holes : {1U, 214U, 2000U, 4000U}) holes_of_one_sdu(holes);
    whole_window_by_ranges();
    memory();
    rows_["mbufs_lost"] = rte_mempool_in_use_count(large_) + rte_mempool_in_use_count(small_);
    return rows_;
  }

 private:
  struct Am {
    explicit Am(unsigned sn_bits) : bits(sn_bits), memory(kSizes), entity(am(sn_bits), memory) {}
    void receive(Buffer pdu) {
      entity.receive(std::move(pdu), 0, [this](auto parts) { delivered += parts.size(); }, [](std::uint32_t) {});
    }
    unsigned bits;
    Memory<Buffer> memory;
    AmEntity<Buffer> entity;
    std::size_t delivered = 0;
  };

  static Buffer make(rte_mempool* pool, std::size_t bytes) {
    Buffer buffer = Buffer::make(pool, bytes);
    if (!buffer) throw std::runtime_error("the bench ran out of mbufs");
    return buffer;
  }
  void note(const std::string& name, unsigned bits, Meter& meter) {
    rows_[name + ".sn" + std::to_string(bits) + (cold_ ? ".cold" : "")] = meter.figures();
  }

  // A burst of SDUs into the queue and out of it, one PDU each. The lower layer's work with the PDU is not included.
  void burst(Am& a, rte_mempool* pool, std::size_t bytes, Meter* meter) {
    std::array<Buffer, kBurst> sdus;
    std::array<Pdu<Buffer>, kBurst> pdus;
    for (Buffer& sdu : sdus) sdu = make(pool, bytes);
    if (meter != nullptr) meter->begin();
    for (Buffer& sdu : sdus) (void)a.entity.send(sdu);
    for (auto& pdu : pdus) pdu = a.entity.pull_data(bytes + 8, 0);
    if (meter != nullptr) meter->end(kBurst);
    for (const auto& pdu : pdus) {
      if (pdu.length != bytes) throw std::runtime_error("a PDU is not what it should be");
    }
  }
  void fill(Am& a, rte_mempool* pool, std::size_t bytes, unsigned count) {
    for (unsigned i = 0; i < count; i += kBurst) burst(a, pool, bytes, nullptr);
  }
  Buffer status(unsigned bits, std::uint32_t ack, const std::vector<wire::rlc::Nack>& nacks = {}) {
    std::vector<std::uint8_t> out(wire::rlc::kStatusFixedBytes + nacks.size() * wire::rlc::kMaxNackBytes);
    wire::rlc::StatusWriter writer(out, bits);
    for (wire::rlc::Nack nack : nacks) {
      nack.sn &= sn_mask(bits);
      if (!writer.add(nack)) throw std::runtime_error("a STATUS block that cannot be");
    }
    out.resize(writer.finish(ack & sn_mask(bits)));
    Buffer pdu = make(long_, out.size());
    std::copy(out.begin(), out.end(), pdu.mutable_data());
    return pdu;
  }
  static void release_all(Am& a) {
    while (a.entity.retx().releasable()) a.entity.release(kBurst, [](std::uint32_t, Buffer) {});
  }

  void send_and_pull(unsigned bits) {
    Am a(bits);
    Meter meter(instructions_, cold_);
    for (unsigned round = 0; round < rounds(); ++round) {
      for (unsigned i = 0; i < 1024; i += kBurst) burst(a, large_, kSduBytes, &meter);
      a.receive(status(bits, a.entity.retx().next()));
      release_all(a);
    }
    note("am_send_pull", bits, meter);
  }

  Buffer amd(unsigned bits, std::uint32_t sn) {
    Buffer pdu = make(large_, kSduBytes);
    wire::rlc::write_am({pdu.mutable_data(), 5}, bits, {.poll = sn % 64 == 63, .sn = sn & sn_mask(bits)});
    return pdu;
  }
  void receive_burst(Am& a, std::uint32_t first, Meter& meter) {
    std::array<Buffer, kBurst> pdus;
    for (unsigned i = 0; i < kBurst; ++i) pdus[i] = amd(a.bits, first + i);
    std::array<Buffer, kBurst> out;
    unsigned delivered = 0;
    meter.begin();
    for (Buffer& pdu : pdus) {
      a.entity.receive(
          std::move(pdu), 0, [&](std::span<Part<Buffer>> parts) { out[delivered++] = std::move(parts[0].pdu); },
          [](std::uint32_t) {});
    }
    meter.end(kBurst);
    if (delivered != kBurst) throw std::runtime_error("not every SDU was delivered");
  }
  void receive_in_order(unsigned bits) {
    Am a(bits);
    Meter meter(instructions_, cold_);
    for (unsigned i = 0; i < rounds() * 32; ++i) receive_burst(a, i * kBurst, meter);
    note("am_receive", bits, meter);
  }
  void receive_above_a_hole(unsigned bits) {
    Am a(bits);
    Meter meter(instructions_, cold_);
    std::uint32_t next = 0;
    for (unsigned round = 0; round < rounds(); ++round, next += 2017) {
      for (unsigned i = 1; i <= 1000; ++i) a.receive(amd(bits, next + i));
      for (unsigned i = 1001; i <= 2016; i += kBurst) {
        if (i + kBurst > 2017) break;
        receive_burst(a, next + i, meter);
      }
      a.entity.restart_at(next + 2017);
    }
    note("am_receive_hole", bits, meter);
  }

  void acknowledge_1024(unsigned bits) {
    Am a(bits);
    Meter window(instructions_, cold_), release(instructions_, cold_);
    for (unsigned round = 0; round < 4 * rounds(); ++round) {
      fill(a, large_, kSduBytes, 1024);
      Buffer pdu = status(bits, a.entity.retx().next());
      window.begin();
      a.receive(std::move(pdu));
      window.end(1);
      while (a.entity.retx().releasable()) {
        std::array<rte_mbuf*, 2 * kBurst> gone;
        unsigned count = 0;
        release.begin();
        // As an owner does it: when they are freed together, the first of them are in the cache.
        a.entity.release(gone.size(), [&](std::uint32_t, Buffer sdu) {
          gone[count] = sdu.detach();
          rte_mbuf_prefetch_part1(gone[count]);
          rte_mbuf_prefetch_part2(gone[count++]);
        });
        rte_pktmbuf_free_bulk(gone.data(), count);
        release.end(count);
      }
    }
    note("am_ack_1024", bits, window);
    note("am_release", bits, release);
  }

  void status_build(unsigned bits, unsigned holes) {
    Am a(bits);
    for (unsigned i = 1; i <= holes; ++i) a.receive(amd(bits, 10 * i));
    for (Time now = 2000; now < 8000; now += 2000) a.entity.tick(now, [](std::uint32_t) {});
    Meter meter(instructions_, cold_);
    std::array<std::uint8_t, 3000> out;
    for (unsigned i = 0; i < 100 * rounds(); ++i) {
      a.receive(amd(bits, 10));  // a duplicate
      Buffer poll = amd(bits, 10);
      poll.mutable_data()[0] |= 0x40;
      a.receive(std::move(poll));
      a.entity.tick(9000, [](std::uint32_t) {});
      meter.begin();
      const std::size_t bytes = a.entity.pull(out, 9000);
      meter.end(1);
      if (bytes < holes * 2) throw std::runtime_error("a STATUS is not what it should be");
    }
    note("status_build.holes" + std::to_string(holes), bits, meter);
  }

  // One SDU in two is missing.
  void status_process(unsigned bits, unsigned nacks, const std::string& name) {
    Am a(bits);
    Meter meter(instructions_, cold_);
    for (unsigned round = 0; round < rounds(); ++round) {
      const std::uint32_t base = a.entity.retx().next();
      fill(a, small_, kSmallBytes, (2 * nacks + kBurst - 1) / kBurst * kBurst);
      std::vector<wire::rlc::Nack> missing;
      for (unsigned i = 0; i < nacks; ++i) missing.push_back({.sn = base + 2 * i});
      Buffer pdu = status(bits, base + 2 * nacks, missing);
      meter.begin();
      a.receive(std::move(pdu));
      meter.end(1);
      if (a.entity.retx().pending() != nacks) throw std::runtime_error("a STATUS was not taken");
      a.receive(status(bits, a.entity.retx().next()));
      release_all(a);
    }
    note(name, bits, meter);
  }
  // `holes` of one octet each in one SDU of 9,000 octets. Then MAC's question between two grants: how much waits.
  void holes_of_one_sdu(unsigned holes) {
    Meter status_meter(instructions_), volume(instructions_);
    for (unsigned round = 0; round < rounds(); ++round) {
      Am a(12);
      Buffer sdu = make(long_, 9000);
      (void)a.entity.send(sdu);
      (void)a.entity.pull_data(10000, 0);
      std::vector<wire::rlc::Nack> missing(holes, {.has_so = true});
      for (unsigned i = 0; i < holes; ++i) {
        missing[i].so_start = missing[i].so_end = static_cast<std::uint16_t>(2 * i);
      }
      Buffer pdu = status(12, 1, missing);
      status_meter.begin();
      a.receive(std::move(pdu));
      status_meter.end(1);
      volume.begin();
      const std::uint64_t octets = a.entity.volume();
      volume.end(1);
      if (octets < holes) throw std::runtime_error("a STATUS was not taken");
    }
    note("status_process.sdu_holes" + std::to_string(holes), 12, status_meter);
    note("volume.sdu_holes" + std::to_string(holes), 12, volume);
  }
  void whole_window_by_ranges() {
    Am a(18);
    Meter meter(instructions_), again(instructions_), walk(instructions_, cold_);
    const unsigned window = window_size(18);
    for (unsigned round = 0; round < 5; ++round) {
      const std::uint32_t base = a.entity.retx().next();
      fill(a, small_, kSmallBytes, window);
      std::vector<wire::rlc::Nack> missing;
      for (unsigned at = 0; at < window; at += 255) {
        missing.push_back({.sn = base + at, .has_range = true});
        missing.back().range = static_cast<std::uint8_t>(std::min(255U, window - at));
      }
      Buffer first = status(18, base + window, missing), second = status(18, base + window, missing);
      meter.begin();
      a.receive(std::move(first));
      meter.end(1);
      again.begin();
      a.receive(std::move(second));
      again.end(1);
      if (a.entity.retx().pending() == 0) throw std::runtime_error("a STATUS was not taken");
      // All but the lowest one arrived. When that one is acknowledged too, release() passes over all the empty pages.
      a.receive(status(18, base + window, {{.sn = base}}));
      release_all(a);
      a.receive(status(18, base + window));
      walk.begin();
      a.entity.release(kBurst, [](std::uint32_t, Buffer) {});
      walk.end(1);
    }
    note("status_process.window_by_ranges", 18, meter);
    note("status_process.window_by_ranges_again", 18, again);
    note("release_over_empty_window", 18, walk);
  }

  void um() {
    Memory<Buffer> memory(kSizes);
    const UmConfig config{.sn_bits = 12, .t_reassembly = 1000};
    UmSend<Buffer> sender(config, memory);
    UmReceive<Buffer> receiver(config, memory);
    Meter send(instructions_, cold_), receive(instructions_, cold_);
    for (unsigned round = 0; round < 32 * rounds(); ++round) {
      std::array<Buffer, kBurst> sdus;
      std::array<Pdu<Buffer>, kBurst> pdus;
      for (Buffer& sdu : sdus) sdu = make(large_, kSduBytes);
      send.begin();
      for (Buffer& sdu : sdus) (void)sender.send(sdu);
      for (auto& pdu : pdus) pdu = sender.pull(kSduBytes + 1);
      send.end(kBurst);
      for (unsigned i = 0; i < kBurst; ++i) {
        sdus[i] = std::move(pdus[i].sdu);
        sdus[i].mutable_data()[0] = 0;
      }
      unsigned delivered = 0;
      std::array<Buffer, kBurst> out;
      receive.begin();
      for (Buffer& sdu : sdus) {
        receiver.receive(std::move(sdu), 0,
                         [&](std::span<Part<Buffer>> parts) { out[delivered++] = std::move(parts[0].pdu); });
      }
      receive.end(kBurst);
      if (delivered != kBurst) throw std::runtime_error("not every UM SDU was delivered");
    }
    note("um_send_pull", 12, send);
    note("um_receive", 12, receive);
  }

  static std::size_t in_use(const Memory<Buffer>& m) {
    const auto octets = [](const auto& pool, std::size_t each) { return (pool.size() - pool.available()) * each; };
    return octets(m.directories, sizeof(Directory)) + octets(m.sent_pages, sizeof(SentPage<Buffer>)) +
           octets(m.received_pages, sizeof(ReceivedPage)) + octets(m.queue_pages, sizeof(QueuePage<Buffer>)) +
           octets(m.segments, sizeof(Segment<Buffer>)) + octets(m.assemblies, sizeof(Assembly)) +
           octets(m.intervals, sizeof(Interval));
  }
  void memory() {
    nlohmann::json octets;
    octets["am_entity"] = sizeof(AmEntity<Buffer>);
    octets["am_send"] = sizeof(AmSend<Buffer>);
    octets["am_retx"] = sizeof(AmRetx<Buffer>);
    octets["am_receive"] = sizeof(AmReceive<Buffer>);
    octets["arq_bearer"] = sizeof(datapath::ArqBearer);
    octets["sent_page"] = sizeof(SentPage<Buffer>);
    octets["received_page"] = sizeof(ReceivedPage);
    octets["um_entities"] = sizeof(UmSend<Buffer>) + sizeof(UmReceive<Buffer>);
    for (const unsigned bits : {18U, 12U}) {
      const std::string suffix = ".sn" + std::to_string(bits);
      Am sender(bits), receiver(bits), waiting(bits);
      octets["idle" + suffix] = sizeof(AmEntity<Buffer>) + in_use(sender.memory);
      fill(sender, small_, kSmallBytes, 1024);
      octets["busy_1024_unacked" + suffix] = sizeof(AmEntity<Buffer>) + in_use(sender.memory);
      for (unsigned i = 1; i <= 1000; ++i) receiver.receive(amd(bits, i));
      octets["busy_hole_and_1000_above" + suffix] = sizeof(AmEntity<Buffer>) + in_use(receiver.memory);
      for (unsigned i = 0; i < 1000; ++i) {
        Buffer sdu = make(small_, kSmallBytes);
        (void)waiting.entity.send(sdu);
      }
      octets["busy_1000_waiting" + suffix] = sizeof(AmEntity<Buffer>) + in_use(waiting.memory);
    }
    rows_["octets"] = octets;
  }

  // A sweep takes long, and a median needs fewer.
  [[nodiscard]] unsigned rounds() const { return cold_ ? std::max(rounds_ / 8, 4U) : rounds_; }

  unsigned rounds_;
  bool cold_ = false;
  Instructions instructions_;
  rte_mempool *large_ = nullptr, *small_ = nullptr, *long_ = nullptr;
  nlohmann::json rows_;
};

}  // namespace
}  // namespace splitplane::bench

int main(int argc, char** argv) {
  CLI::App app{"What RLC costs on mbufs, one core; prints JSON."};
  unsigned rounds = 64, core = 0;
  app.add_option("--rounds", rounds, "rounds of about 1,000 SDUs per row");
  app.add_option("--core", core, "core that is measured");
  CLI11_PARSE(app, argc, argv);

  using namespace splitplane::bench;
  return on_core("rlc_bench", core, {.file_prefix = "splitrlcbench", .megabytes = 512}, [&](bool hugepages) {
    const auto before = measure_jitter(100);
    nlohmann::json report = Bench(rounds).run();
    const auto after = measure_jitter(100);
    report["hugepages"] = hugepages;
    report["jitter_percent"] = std::max(before.lost_percent, after.lost_percent);
    std::printf("%s\n", report.dump(1).c_str());
  });
}
