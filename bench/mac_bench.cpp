// What a MAC transport block costs on mbufs, on one core. The four schemes of multiplexing get the same SDUs: N of them
// in a block of 5,000 octets, and 20 of them in blocks of 500 to 60,000 octets, as in the paper of Song and Chung. Each
// SDU is an mbuf of its own, with one reference, which is what the schemes of the paper need. Freeing the SDUs counts.
//
// Hot: the SDUs were just written, and the block's memory was used before. Cold: SDUs (mbufs and octets) and the block
// were flushed from all caches, and other work used the core. Further rows: blocks pulled from RLC entities, blocks of
// many UEs in a batch and one by one, demultiplexing, and
// ciphering in the SDU or on the way into the block. Results are medians in nanoseconds. Prints one JSON object.
#include <immintrin.h>
#include <rte_lcore.h>
#include <rte_malloc.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdio>
#include <map>
#include <memory>
#include <nlohmann/json.hpp>
#include <random>

#include "chained/chain.h"
#include "crypto_ways.h"
#include "engine/mbuf_buffer.h"
#include "meter.h"
#include "on_core.h"
#include "quiet.h"
#include "ran/mac/ciphering/cipher_gather.h"
#include "ran/mac/demultiplexer.h"
#include "ran/mac/gather.h"
#include "ran/mac/iov.h"
#include "ran/mac/slot_batch.h"

namespace splitplane::bench {
namespace {

using namespace ran::mac;
using Buffer = datapath::MbufBuffer;
using Pdu = ran::rlc::Pdu<Buffer>;

constexpr std::uint32_t kLcid = 4;
constexpr std::size_t kLine = 64;

void evict(const void* at, std::size_t octets) {
  const auto* const from = static_cast<const char*>(at);
  for (std::size_t i = 0; i < octets + kLine; i += kLine) _mm_clflush(from + i);
}

// The clock has steps of 10 ns on some machines, so small blocks are timed a few at once.
constexpr std::size_t kMostAtOnce = 4;

// A way to build blocks: what it needs before, the targets of the measured part, what stands in them, and how they are
// given back.
struct GatherWay {
  static constexpr const char* kName = "gather";
  ~GatherWay() { rte_free(memory); }
  void prepare(std::size_t bytes, std::size_t count, bool cold) {
    for (std::size_t i = 0; i < count; ++i) blocks[i] = MutableOctets(memory + i * kPitch, bytes);
    for (std::size_t i = 0; i < count && cold; ++i) evict(blocks[i].data(), bytes);
  }
  Gather<Buffer>& scheme() { return gather; }
  MutableOctets& target(std::size_t i) { return blocks[i]; }
  void look(std::size_t i, std::vector<std::uint8_t>& out) const { out.assign(blocks[i].begin(), blocks[i].end()); }
  void release(std::size_t) {}
  std::uint64_t searched() const { return 0; }

  static constexpr std::size_t kPitch = 1 << 16;
  Gather<Buffer> gather;
  // On huge pages, as the mbufs of blocks.
  std::uint8_t* memory = static_cast<std::uint8_t*>(rte_malloc(nullptr, kMostAtOnce* kPitch, kLine));
  std::array<MutableOctets, kMostAtOnce> blocks;
};
struct IovWay {
  static constexpr const char* kName = "iov";
  IovWay() {
    for (auto& block : blocks) block = IovBlock<Buffer>(512, 2048);
  }
  void prepare(std::size_t, std::size_t count, bool cold) {
    for (std::size_t i = 0; i < count && cold; ++i) evict(&blocks[i], sizeof blocks[i]);
  }
  Iov<Buffer>& scheme() { return iov; }
  IovBlock<Buffer>& target(std::size_t i) { return blocks[i]; }
  void look(std::size_t i, std::vector<std::uint8_t>& out) const {
    out.resize(blocks[i].size());
    blocks[i].linearize(out);
  }
  void release(std::size_t i) { blocks[i].release(); }
  std::uint64_t searched() const { return 0; }

  Iov<Buffer> iov;
  std::array<IovBlock<Buffer>, kMostAtOnce> blocks;
};
template <class S>
struct ChainWay {
  static constexpr const char* kName = std::is_same_v<S, datapath::ChainLinearize> ? "chain_linearize" : "chain";
  ChainWay(rte_mempool* of_blocks, rte_mempool* parts) : pool(of_blocks), chain(of_blocks, parts) {}
  void prepare(std::size_t bytes, std::size_t count, bool cold) {
    if (!cold) return;
    // The mempool's cache gives the same mbufs again.
    if (rte_pktmbuf_alloc_bulk(pool, blocks.data(), static_cast<unsigned>(count)) != 0)
      throw std::runtime_error("the bench ran out of blocks");
    for (std::size_t i = count; i-- != 0;) {
      evict(blocks[i], sizeof(rte_mbuf));
      evict(rte_pktmbuf_mtod(blocks[i], const void*), bytes);
      rte_pktmbuf_free(std::exchange(blocks[i], nullptr));
    }
  }
  S& scheme() { return chain; }
  rte_mbuf*& target(std::size_t i) { return blocks[i]; }
  void look(std::size_t i, std::vector<std::uint8_t>& out) const {
    const auto* const at = rte_pktmbuf_mtod(blocks[i], const std::uint8_t*);
    out.assign(at, at + blocks[i]->data_len);
  }
  void release(std::size_t i) { rte_pktmbuf_free(std::exchange(blocks[i], nullptr)); }
  std::uint64_t searched() const { return chain.counters().searched; }

  rte_mempool* pool;
  S chain;
  std::array<rte_mbuf*, kMostAtOnce> blocks{};
};

class Bench {
 public:
  explicit Bench(unsigned rounds) : rounds_(rounds) {
    sdus_ = rte_pktmbuf_pool_create("sdus", 8191, 256, 0, RTE_PKTMBUF_HEADROOM + 6000, SOCKET_ID_ANY);
    blocks_ = rte_pktmbuf_pool_create("blocks", 63, 8, 0, UINT16_MAX, SOCKET_ID_ANY);
    parts_ = rte_pktmbuf_pool_create("parts", 255, 32, 0, RTE_MBUF_DEFAULT_BUF_SIZE, SOCKET_ID_ANY);
    if (sdus_ == nullptr || blocks_ == nullptr || parts_ == nullptr)
      throw std::runtime_error("no memory for the bench's pools");
  }

  nlohmann::json run() {
    for (const std::size_t sdus : {1, 2, 5, 10, 20, 50, 75, 100, 150, 200, 250, 300}) schemes("sdus", sdus, 5000);
    for (const std::size_t bytes : {500, 1000, 2000, 5000, 10000, 20000, 40000, 60000}) schemes("octets", 20, bytes);
    for (const bool cold : {false, true}) {
      entities(cold);
      demux(cold);
      batch(cold);
      ciphering(cold);
    }
    rows_["mbufs_lost"] =
        rte_mempool_in_use_count(sdus_) + rte_mempool_in_use_count(blocks_) + rte_mempool_in_use_count(parts_);
    return rows_;
  }

 private:
  static Buffer filled(rte_mempool* pool, std::size_t bytes, unsigned salt) {
    Buffer buffer = Buffer::make(pool, bytes);
    if (!buffer) throw std::runtime_error("the bench ran out of mbufs");
    for (std::size_t i = 0; i < bytes; ++i) buffer.mutable_data()[i] = static_cast<std::uint8_t>(i * 7 + salt);
    return buffer;
  }
  static void evict_sdu(const Buffer& sdu) {
    evict(sdu.data(), sdu.size());
    evict(sdu.get(), sizeof(rte_mbuf));
  }

  // The lengths of SDUs that fill a block of `bytes` octets with their subheaders, as alike as possible.
  static std::vector<std::size_t> lengths(std::size_t sdus, std::size_t bytes) {
    std::vector<std::size_t> out(sdus);
    for (std::size_t i = 0; i < sdus; ++i) {
      const std::size_t room = bytes / sdus + (i < bytes % sdus ? 1 : 0);
      out[i] = wire::mac::most_sdu_bytes(kLcid, room);
    }
    return out;
  }

  // Builds `count` blocks in one measurement.
  template <class Way>
  void build_blocks(Way& way, const std::vector<std::size_t>& sdu_bytes, std::size_t bytes, std::size_t count,
                    bool cold, Meter& build, Meter& release) {
    const std::size_t sdus = sdu_bytes.size();
    for (std::size_t i = 0; i < count * sdus; ++i) {
      pdus_[i].sdu = filled(sdus_, sdu_bytes[i % sdus], static_cast<unsigned>(i % sdus));
      pdus_[i].length = static_cast<std::uint16_t>(sdu_bytes[i % sdus]);
    }
    way.prepare(bytes, count, cold);
    for (std::size_t i = 0; i < count * sdus && cold; ++i) evict_sdu(pdus_[i].sdu);
    auto& scheme = way.scheme();
    bool built = true;
    Pdu* pdu = pdus_.data();
    build.begin();
    for (std::size_t block = 0; block < count; ++block) {
      built = built && scheme.begin(way.target(block), bytes);
      for (std::size_t i = 0; i < sdus && built; ++i) {
        built = scheme.room() != 0;
        scheme.sdu(kLcid, std::move(*pdu++));
      }
      scheme.finish();
    }
    scheme.flush();
    build.end(static_cast<double>(count));
    if (!built) throw std::runtime_error("a block was not built");
    for (std::size_t block = 0; block < count; ++block) {
      way.look(block, octets_);
      if (first_.empty()) first_ = octets_;
      if (octets_ != first_) throw std::runtime_error(std::string(Way::kName) + " makes other octets than the others");
    }
    release.begin();
    for (std::size_t block = 0; block < count; ++block) way.release(block);
    release.end(static_cast<double>(count));
  }

  // The four schemes in turns, so that a slow time of the machine meets them all.
  void schemes(const char* axis, std::size_t sdus, std::size_t bytes) {
    const std::vector<std::size_t> sdu_bytes = lengths(sdus, bytes);
    const std::size_t at_once = sdus < 20 ? kMostAtOnce : 1;
    first_.clear();
    GatherWay gather;
    IovWay iov;
    ChainWay<datapath::ChainAtTheEnd> chain(blocks_, parts_);
    ChainWay<datapath::ChainLinearize> chain_linearize(blocks_, parts_);
    nlohmann::json row{{"sdus", sdus}, {"octets", bytes}};
    for (const bool cold : {false, true}) {
      std::map<std::string, std::pair<Meter, Meter>> meters;
      const auto meter = [&](const char* name) -> std::pair<Meter, Meter>& {
        return meters.try_emplace(name, Meter(instructions_, cold), Meter(instructions_)).first->second;
      };
      const unsigned rounds = cold ? std::max(rounds_ / 4, 16U) : rounds_;
      for (unsigned round = 0; round < rounds + 2; ++round) {
        if (round == 2) meters.clear();  // the first two warm up
        const auto turn = [&](auto& way) {
          auto& [build, release] = meter(way.kName);
          build_blocks(way, sdu_bytes, bytes, at_once, cold, build, release);
        };
        turn(chain);
        turn(gather);
        turn(chain_linearize);
        turn(iov);
      }
      for (auto& [name, pair] : meters) {
        row[cold ? "cold" : "hot"][name] = pair.first.figures();
        if (name == "iov") row[cold ? "cold" : "hot"]["iov_release"] = pair.second.figures();
      }
    }
    count(row, gather, sdu_bytes, bytes);
    count(row, iov, sdu_bytes, bytes);
    count(row, chain, sdu_bytes, bytes);
    count(row, chain_linearize, sdu_bytes, bytes);
    rows_[axis].push_back(row);
  }

  // Octets copied and mbufs searched by one block of a scheme.
  template <class Way>
  void count(nlohmann::json& row, Way& way, const std::vector<std::size_t>& sdu_bytes, std::size_t bytes) {
    Meter unused(instructions_), unused_too(instructions_);
    const std::uint64_t copied = way.scheme().copied_octets(), searched = way.searched();
    build_blocks(way, sdu_bytes, bytes, 1, false, unused, unused_too);
    row["copied"][Way::kName] = way.scheme().copied_octets() - copied;
    row["searched"][Way::kName] = way.searched() - searched;
  }

  // Blocks of 20 SDUs of 1,500 octets, pulled from RLC. AM keeps the SDUs; they are acknowledged outside of the time.
  void entities(bool cold) {
    constexpr std::size_t kSdus = 20, kBytes = 1500;
    ran::rlc::Memory<Buffer> memory({.sent_pages = 64, .received_pages = 8, .queue_pages = 64});
    ran::rlc::AmEntity<Buffer> am({.sn_bits = 18, .poll_pdu = 64, .t_poll_retransmit = Time{1} << 40}, memory);
    ran::rlc::UmSend<Buffer> um({.sn_bits = 12}, memory);
    const auto rows = [&](const std::string& name, auto& entity, std::size_t header) {
      Downlink<Buffer> downlink(1'000'000'000);
      if (!downlink.mux().add({.lcid = kLcid}, entity, 0)) throw std::runtime_error("no channel");
      const std::size_t bytes = kSdus * (kBytes + 3 + header);
      GatherWay gather;
      IovWay iov;
      Meter by_gather(instructions_, cold), by_iov(instructions_, cold);
      const auto once = [&](auto& way, Meter& meter) {
        for (std::size_t i = 0; i < kSdus; ++i) {
          Buffer sdu = filled(sdus_, kBytes, static_cast<unsigned>(i));
          if (cold) evict_sdu(sdu);
          (void)entity.send(sdu);
        }
        way.prepare(bytes, 1, cold);
        meter.begin();
        const bool built = downlink.build(way.scheme(), way.target(0), bytes, 0);
        way.scheme().flush();
        meter.end(kSdus);
        if (!built || downlink.mux().counters().padding_octets != 0) throw std::runtime_error("a block is not full");
        way.release(0);
        am.restart_at(am.sender().next());
      };
      for (unsigned round = 0; round < (cold ? std::max(rounds_ / 16, 16U) : rounds_); ++round) {
        once(gather, by_gather);
        once(iov, by_iov);
      }
      const std::string suffix = cold ? ".cold" : "";
      rows_["sdu_1500"]["gather." + name + suffix] = by_gather.figures();
      rows_["sdu_1500"]["iov." + name + suffix] = by_iov.figures();
    };
    rows("am18", am, 3);
    rows("um12", um, 1);
  }

  struct Sums {
    void sdus(std::span<const ReceivedSdu> batch) {
      for (const ReceivedSdu& sdu : batch) {
        octets += sdu.octets;
        places += sdu.place;
        last = sdu.data;
      }
    }
    bool element(std::uint8_t, Octets) { return true; }
    std::uint64_t octets = 0, places = 0;
    const std::uint8_t* last = nullptr;
  };

  // Blocks of SDUs of one size, or of mixed ones, on four channels: the walk and the batches, without RLC.
  void demux(bool cold) {
    ChannelMap channels;
    for (std::uint8_t i = 0; i < 4; ++i) (void)channels.set(kLcid + i, i);
    for (const std::size_t sdus : {20, 100, 300}) {
      for (const bool mixed : {false, true}) {
        std::mt19937 random(5);
        std::vector<std::uint8_t> block;
        std::size_t payload = 0;
        for (std::size_t i = 0; i < sdus; ++i) {
          const std::size_t bytes = mixed ? (random() % 2 == 0 ? 40 + random() % 40 : 300 + random() % 1200) : 50;
          std::uint8_t subheader[3];
          auto* const end = wire::mac::put_sdu_subheader(subheader, kLcid + (mixed ? random() % 4 : i % 4), bytes);
          block.insert(block.end(), subheader, end);
          block.resize(block.size() + bytes, 0x55);
          payload += bytes;
        }
        DemuxCounters counters;
        Meter meter(instructions_, cold);
        for (unsigned round = 0; round < (cold ? std::max(rounds_ / 16, 16U) : rounds_); ++round) {
          Sums sums;
          if (cold) evict(block.data(), block.size());
          meter.begin();
          demultiplex(block, Direction::kUplink, channels, counters, sums);
          meter.end(static_cast<double>(sdus));
          if (sums.octets != payload) throw std::runtime_error("a block was not read");
        }
        rows_["demux"][std::string(mixed ? "mixed" : "same") + std::to_string(sdus) + (cold ? ".cold" : "")] =
            meter.figures();
      }
    }
  }

  // A slot of 64 UEs of 4,096, each with two SDUs of 400 octets on a UM channel: as a batch, and one UE after another.
  void batch(bool cold) {
    constexpr std::size_t kUes = 4096, kSlot = 64, kSdus = 2, kBytes = 400, kBlock = kSdus * (kBytes + 4);
    ran::rlc::Memory<Buffer> memory({.sent_pages = 8, .received_pages = 8, .queue_pages = kUes + 8});
    std::vector<std::unique_ptr<ran::rlc::UmSend<Buffer>>> entities;
    std::vector<std::unique_ptr<Downlink<Buffer>>> ues;
    for (std::size_t i = 0; i < kUes; ++i) {
      entities.push_back(std::make_unique<ran::rlc::UmSend<Buffer>>(ran::rlc::UmConfig{}, memory));
      ues.push_back(std::make_unique<Downlink<Buffer>>(1'000'000'000));
      if (!ues.back()->mux().add({.lcid = kLcid}, *entities.back(), 0)) throw std::runtime_error("no channel");
    }
    using Order = BlockOrder<Gather<Buffer>, Buffer>;
    Gather<Buffer> gather;
    std::vector<std::uint8_t> memory_of_blocks(kSlot * kBlock);
    std::vector<MutableOctets> blocks;
    for (std::size_t i = 0; i < kSlot; ++i) {
      blocks.push_back(MutableOctets(memory_of_blocks).subspan(i * kBlock, kBlock));
    }
    Meter together(instructions_, cold), alone(instructions_, cold);
    std::mt19937 random(3);
    for (unsigned round = 0; round < std::max(rounds_ / 8, 32U); ++round) {
      for (const bool as_batch : {true, false}) {
        std::vector<Order> orders;
        for (std::size_t i = 0; i < kSlot; ++i) {
          const std::size_t ue = cold ? random() % (kUes / kSlot) * kSlot + i : i;
          for (std::size_t k = 0; k < kSdus; ++k) {
            Buffer sdu = filled(sdus_, kBytes, static_cast<unsigned>(k));
            if (cold) evict_sdu(sdu);
            (void)entities[ue]->send(sdu);
          }
          if (cold) {
            evict(ues[ue].get(), sizeof(Downlink<Buffer>));
            evict(entities[ue].get(), sizeof(ran::rlc::UmSend<Buffer>));
          }
          orders.push_back({.tb_bytes = kBlock, .ue = ues[ue].get(), .block = &blocks[i]});
        }
        Meter& meter = as_batch ? together : alone;
        meter.begin();
        if (as_batch) {
          build_slot(gather, std::span(orders), 0);
        } else {
          for (Order& order : orders) order.built = order.ue->build(gather, *order.block, order.tb_bytes, 0);
          gather.flush();
        }
        meter.end(kSlot);
        for (const Order& order : orders) {
          if (!order.built || order.ue->mux().volume() != 0)
            throw std::runtime_error("a block is not what it should be");
        }
      }
    }
    rows_["slot_of_64"][cold ? "batch.cold" : "batch"] = together.figures();
    rows_["slot_of_64"][cold ? "one_by_one.cold" : "one_by_one"] = alone.figures();
  }

  // A block of 32 SDUs of 1,500 octets with NEA2: ciphered in place and then gathered, or ciphered from the SDU's
  // buffer straight into the block. Keys are of one bearer.
  void ciphering(bool cold) {
    constexpr std::size_t kSdus = Engine::kBurst, kBytes = 1500, kBlock = kSdus * (kBytes + 3);
    const auto store = value_of(KeyStore::create());
    const auto engine = value_of(Engine::create());
    const auto secret = value_of(Secret::from_octets(std::array<std::uint8_t, 16>{1, 2, 3}));
    const auto key = value_of(store->make(CipherAlgorithm::nea2, secret));
    GatherWay way;
    std::uint32_t count = 0;
    const auto of = [&](std::uint32_t, Octets) {
      return Ciphering{.key = key.get(), .count = {count++ % std::uint32_t{kSdus}}, .bearer = 1, .clear_octets = 3};
    };
    CipherGather<Buffer, decltype(of)> scheme(*engine, of);
    Meter two_passes(instructions_, cold), one_pass(instructions_, cold);
    std::vector<std::uint8_t> expected;
    for (unsigned round = 0; round < (cold ? std::max(rounds_ / 16, 16U) : rounds_); ++round) {
      for (const bool at_once : {false, true}) {
        std::array<Pdu, kSdus> pdus;
        std::array<CipherJob, kSdus> jobs;
        for (std::size_t i = 0; i < kSdus; ++i) {
          pdus[i].sdu = filled(sdus_, kBytes, static_cast<unsigned>(i));
          pdus[i].length = kBytes;
          jobs[i] = {.key = key.get(), .count = {static_cast<std::uint32_t>(i)}, .bearer = 1};
          jobs[i].length = kBytes - 3;  // behind the header of PDCP
        }
        way.prepare(kBlock, 1, cold);
        for (std::size_t i = 0; i < kSdus && cold; ++i) evict_sdu(pdus[i].sdu);
        Meter& meter = at_once ? one_pass : two_passes;
        bool sound = true;
        meter.begin();
        if (at_once) {
          sound = scheme.begin(way.target(0), kBlock);
          for (Pdu& pdu : pdus) scheme.sdu(kLcid, std::move(pdu));
          scheme.finish();
          scheme.flush();
        } else {
          for (std::size_t i = 0; i < kSdus; ++i) jobs[i].in = jobs[i].out = pdus[i].sdu.mutable_data() + 3;
          sound = engine->cipher(jobs);
          sound = way.scheme().begin(way.target(0), kBlock) && sound;
          for (Pdu& pdu : pdus) way.scheme().sdu(kLcid, std::move(pdu));
          way.scheme().finish();
          way.scheme().flush();
        }
        meter.end(kSdus);
        way.look(0, octets_);
        if (expected.empty()) expected = octets_;
        if (!sound || octets_ != expected) throw std::runtime_error("ciphering gave other octets");
      }
    }
    rows_["nea2_1500"][cold ? "two_passes.cold" : "two_passes"] = two_passes.figures();
    rows_["nea2_1500"][cold ? "one_pass.cold" : "one_pass"] = one_pass.figures();
  }

  unsigned rounds_;
  Instructions instructions_;
  rte_mempool *sdus_ = nullptr, *blocks_ = nullptr, *parts_ = nullptr;
  std::vector<Pdu> pdus_ = std::vector<Pdu>(512);
  std::vector<std::uint8_t> octets_, first_;
  nlohmann::json rows_;
};

}  // namespace
}  // namespace splitplane::bench

int main(int argc, char** argv) {
  CLI::App app{"What a MAC transport block costs on mbufs, one core; prints JSON."};
  unsigned rounds = 512, core = 0;
  app.add_option("--rounds", rounds, "blocks of each row");
  app.add_option("--core", core, "core that is measured");
  CLI11_PARSE(app, argc, argv);

  using namespace splitplane::bench;
  return on_core("mac_bench", core, {.file_prefix = "splitmacbench", .megabytes = 256}, [&](bool hugepages) {
    const auto before = measure_jitter(100);
    nlohmann::json report = Bench(rounds).run();
    const auto after = measure_jitter(100);
    report["hugepages"] = hugepages;
    report["jitter_percent"] = std::max(before.lost_percent, after.lost_percent);
    std::printf("%s\n", report.dump(1).c_str());
  });
}
