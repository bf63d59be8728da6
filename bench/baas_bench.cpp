// What the buffering service costs, beside what it replaces: one entry of a hash table for each packet.
//
//   service   the service alone, on one core: SDUs go into the windows and leave them by STATUS PDUs
//   rte_hash  the same messages into an rte_hash with the key (bearer, SN); an ACK deletes each key
//   rings     the rings alone: an SDU's copy over one ring and, three in a message, its release over another. SP/SC, as
//             the product has them, beside MP/MC, one pair for two threads. These are not crash-safe: a process that
//             dies inside an operation blocks all others (docs/design/baas.md)
//   memory    octets of a buffered SDU beside its packet
//   gnb       a worker's downlink with acknowledged bearers and the STATUS PDUs of the UEs: with windows in the worker,
//             in the service on the same core, and in the service on a second core
//
// Bearers send in random order, so each message is of another bearer, and its lines are cold. Times are CPU time of the
// thread, medians over the passes. Prints one JSON object.
#include <pthread.h>
#include <rte_hash.h>
#include <rte_hash_crc.h>
#include <rte_malloc.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <ctime>
#include <deque>
#include <nlohmann/json.hpp>
#include <numeric>
#include <random>
#include <thread>

#include "baas/buffering.h"
#include "baas/shared.h"
#include "host_pass.h"
#include "on_core.h"
#include "quiet.h"
#include "wire/rlc_status.h"

namespace splitplane::bench {
namespace {

using baas::Kind;
using baas::Message;
using datapath::kBurst;

struct Options {
  unsigned passes = 9, core = 0, second = 1;
  std::uint32_t bearers = 65536;
  double seconds = 25;
  std::vector<std::string> rows{"service", "rings", "gnb"};
  std::vector<unsigned> sdus{1, 8, 32};
};

constexpr unsigned kRingEntries = 4096, kChunk = 1024;
// SDUs of other bearers between an SDU and its STATUS: a round trip of 1.6 ms at 10 Mpps.
constexpr std::size_t kRoundTrip = 16384;
constexpr std::uint16_t kSduBytes = 1400;
// Time goes so slowly that no timer runs out while the bench does something else. The timers lie in the wheel as those
// of 45 ms do.
constexpr std::uint16_t kPollRetransmitMs = 45;
std::uint64_t slow_ticks_per_ms() {
  return rte_get_tsc_hz();
}

unsigned sn_bits_of(std::uint32_t bearer) {
  return bearer % 2 == 0 ? 18 : 12;
}
// The STATUS PDU that acknowledges everything below `ack`.
constexpr unsigned kStatusBytes = 3;
void write_status(std::uint8_t* to, unsigned sn_bits, std::uint32_t ack) {
  wire::rlc::StatusWriter writer({to, kStatusBytes}, sn_bits);
  if (writer.finish(ack & ran::rlc::sn_mask(sn_bits)) != kStatusBytes)
    throw std::runtime_error("a STATUS is not what it should be");
}

double thread_ns() {
  timespec now{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) * 1e9 + static_cast<double>(now.tv_nsec);
}
double wall_ns() {
  const auto now = std::chrono::steady_clock::now().time_since_epoch();
  return std::chrono::duration<double, std::nano>(now).count();
}
double ns_of(double cycles) {
  return cycles * 1e9 / static_cast<double>(rte_get_tsc_hz());
}
double median(std::vector<double> values) {
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  return *middle;
}
nlohmann::json figures(const std::vector<double>& ns) {
  const double mid = median(ns);
  const auto [least, most] = std::minmax_element(ns.begin(), ns.end());
  return {{"ns", mid}, {"ns_min", *least}, {"ns_max", *most}, {"mpps", 1e3 / mid}};
}

void pin_to(unsigned core) {
  cpu_set_t cpus;
  CPU_ZERO(&cpus);
  CPU_SET(core, &cpus);
  if (pthread_setaffinity_np(pthread_self(), sizeof cpus, &cpus) != 0) throw std::runtime_error("no second core");
}

struct Rings {
  explicit Rings(const std::string& name)
      : to_service(baas::make_message_ring(name + ".s", kRingEntries)),
        to_worker(baas::make_message_ring(name + ".w", kRingEntries)) {
    if (!to_service || !to_worker) throw std::runtime_error("no memory for the bench's rings");
  }
  [[nodiscard]] baas::Channel channel() const { return {to_service.get(), to_worker.get()}; }
  baas::MessageRing to_service, to_worker;
};

// Bearers in a steady state: each has its turn once in a round, and is acknowledged after every `sdus` of its SDUs, a
// round trip later. They do not begin together, so a bearer has half of `sdus` outstanding on average.
class Turns {
 public:
  Turns(std::uint32_t bearers, unsigned sdus) : sdus_(sdus), count(bearers), order_(bearers) {
    std::iota(order_.begin(), order_.end(), 0U);
  }
  // Calls sent(bearer, sn) for each bearer, and acknowledged(bearer, ack) where it is time.
  template <class Sent, class Acknowledged>
  void round(Sent&& sent, Acknowledged&& acknowledged) {
    std::shuffle(order_.begin(), order_.end(), random_);
    for (const std::uint32_t bearer : order_) {
      sent(bearer, count[bearer]++);
      const bool is_last = (count[bearer] + bearer / 2) % sdus_ == 0;
      on_the_way_.push_back({bearer, is_last ? count[bearer] : 0});
      if (on_the_way_.size() <= kRoundTrip) continue;
      if (const auto& [of, ack] = on_the_way_.front(); ack != 0) acknowledged(of, ack);
      on_the_way_.pop_front();
    }
  }
  // SDUs outstanding at most, of all bearers together.
  [[nodiscard]] std::size_t most() const { return (count.size() * (sdus_ + 1) / 2 + kRoundTrip) * 5 / 4; }

 private:
  unsigned sdus_;

 public:
  std::vector<std::uint32_t> count;  // SDUs that a bearer sent

 private:
  std::vector<std::uint32_t> order_;
  std::deque<std::pair<std::uint32_t, std::uint32_t>> on_the_way_;  // bearer and ACK_SN, or 0 if it sends no STATUS
  std::mt19937 random_{42};
};

// The messages that a worker sends.
class Messages {
 public:
  // `polls`: every SDU has a poll, as if it were alone in its burst; otherwise only those before a STATUS.
  Messages(std::uint32_t bearers, unsigned sdus, bool polls) : turns(bearers, sdus), sdus_(sdus), polls_(polls) {}

  [[nodiscard]] std::vector<Message> open() const {
    std::vector<Message> all;
    for (std::uint32_t bearer = 0; bearer < turns.count.size(); ++bearer) {
      Message m{.kind = Kind::kOpen, .bytes = 1, .bearer = bearer};
      baas::Opening{static_cast<std::uint8_t>(sn_bits_of(bearer)), 32, kPollRetransmitMs}.put(m);
      all.push_back(m);
    }
    return all;
  }
  [[nodiscard]] std::vector<Message> rounds(unsigned n) {
    std::vector<Message> all;
    all.reserve(std::size_t{2} * n * turns.count.size());
    for (unsigned i = 0; i < n; ++i) {
      turns.round(
          [&](std::uint32_t bearer, std::uint32_t sn) {
            const bool is_last = (sn + 1 + bearer / 2) % sdus_ == 0;
            all.push_back({.kind = Kind::kCopy,
                           .flags = polls_ || is_last ? baas::kPoll : std::uint8_t{0},
                           .bytes = kSduBytes,
                           .bearer = bearer,
                           .sn = sn,
                           .slot = slot_++});
          },
          [&](std::uint32_t bearer, std::uint32_t ack) { all.push_back(status(bearer, ack)); });
    }
    return all;
  }
  // Acknowledges all that is outstanding.
  [[nodiscard]] std::vector<Message> end() const {
    std::vector<Message> all;
    for (std::uint32_t bearer = 0; bearer < turns.count.size(); ++bearer)
      all.push_back(status(bearer, turns.count[bearer]));
    return all;
  }

  Turns turns;

 private:
  static Message status(std::uint32_t bearer, std::uint32_t ack) {
    Message m{.kind = Kind::kStatus, .bytes = kStatusBytes, .bearer = bearer};
    write_status(reinterpret_cast<std::uint8_t*>(&m.sn), sn_bits_of(bearer), ack);
    return m;
  }
  unsigned sdus_;
  bool polls_;
  std::uint32_t slot_ = 0;
};

// Gives the messages to a server through its ring and returns the nanoseconds that the server took. Neither filling
// the ring nor emptying the one to the worker is timed; both stay in the cache.
template <class Server>
double feed(Server& server, const std::vector<Message>& all, unsigned chunk = kChunk) {
  double took = 0;
  for (std::size_t at = 0; at < all.size(); at += chunk) {
    const auto n = static_cast<unsigned>(std::min<std::size_t>(chunk, all.size() - at));
    if (!baas::send(server.channel().to_service, &all[at], n)) throw std::runtime_error("the bench's ring is full");
    const double begin = thread_ns();
    server.serve();
    took += thread_ns() - begin;
    server.empty();
  }
  return took;
}

// Empties the ring to the worker and returns how many slots were released.
std::uint64_t releases_in(rte_ring* ring) {
  std::uint64_t released = 0;
  std::array<Message, 64> in;
  while (const unsigned n = baas::receive(ring, in.data(), in.size())) {
    for (unsigned i = 0; i < n; ++i) released += in[i].kind == Kind::kRelease ? in[i].flags : 0;
  }
  return released;
}

class Service {
 public:
  explicit Service(const std::string& name, std::size_t max_copies)
      : rings_(name),
        buffering_({.channels = {rings_.channel()},
                    .max_copies = max_copies,
                    .ticks_per_ms = slow_ticks_per_ms(),
                    .now = rte_rdtsc()},
                   stats_) {}
  [[nodiscard]] baas::Channel channel() const { return rings_.channel(); }
  // As the worker loop does it: a burst, then a flush.
  bool serve_some() {
    datapath::Burst burst;
    baas::Buffering::Queue& queue = buffering_.queues().front();
    if (queue.receive(burst) != 0) buffering_.process(queue, burst);
    buffering_.flush();
    return burst.size != 0;
  }
  void serve() {
    while (serve_some()) {
    }
  }
  void empty() { told_ += releases_in(channel().to_worker); }
  // Everything came, was released, and was told.
  [[nodiscard]] bool all_released() const {
    const auto& c = buffering_.counters();
    return c.copies.get() == c.released.get() && told_ == c.released.get() && buffering_.held() == 0 &&
           c.strays.get() == 0 && c.no_room.get() == 0;
  }
  [[nodiscard]] std::uint64_t held() const { return buffering_.held(); }
  [[nodiscard]] std::uint64_t sent_again() const { return buffering_.counters().sent_again.get(); }

 private:
  Rings rings_;
  datapath::WorkerStats stats_;
  baas::Buffering buffering_;
  std::uint64_t told_ = 0;
};

// The baseline: an entry for each packet. Plain calls with a key of 8 octets; an ACK deletes each key that it
// acknowledges. Without `releases` it tells the worker nothing and looks up no slot, which is in its favour. In a
// secondary process of DPDK it would not work at all: the hash function is a pointer in the shared memory, valid in the
// process that made it only, so that rte_hash_lookup() crashes in the other one (a documented limit of DPDK).
class HashServer {
 public:
  HashServer(const std::string& name, std::uint32_t bearers, std::size_t entries, bool releases)
      : rings_(name), acked_(bearers), releases_(releases) {
    const std::size_t before = heap();
    const rte_hash_parameters parameters{.name = name.c_str(),
                                         .entries = static_cast<std::uint32_t>(entries),
                                         .reserved = 0,
                                         .key_len = sizeof(Key),
                                         .hash_func = rte_hash_crc,
                                         .hash_func_init_val = 0,
                                         .socket_id = SOCKET_ID_ANY,
                                         .extra_flag = 0};
    hash_.reset(rte_hash_create(&parameters));
    if (!hash_) throw std::runtime_error("no memory for the bench's rte_hash");
    octets_ = heap() - before;
  }
  [[nodiscard]] baas::Channel channel() const { return rings_.channel(); }
  void serve() {
    std::array<Message, kBurst> in;
    while (const unsigned n = baas::receive(channel().to_service, in.data(), kBurst)) {
      for (unsigned i = 0; i < n; ++i) take(in[i]);
    }
  }
  void empty() { told_ += releases_in(channel().to_worker); }
  [[nodiscard]] bool all_released() const {
    return failed_ == 0 && (!releases_ || told_ == taken_) && rte_hash_count(hash_.get()) == 0;
  }
  [[nodiscard]] std::size_t octets() const { return octets_; }
  [[nodiscard]] std::size_t held() const { return static_cast<std::size_t>(rte_hash_count(hash_.get())); }

 private:
  struct Key {
    std::uint32_t bearer, sn;
  };
  struct Free {
    void operator()(rte_hash* hash) const { rte_hash_free(hash); }
  };
  // Octets that DPDK's heaps have given out.
  static std::size_t heap() {
    std::size_t sum = 0;
    for (int socket = 0; socket < RTE_MAX_NUMA_NODES; ++socket) {
      rte_malloc_socket_stats stats{};
      if (rte_malloc_get_socket_stats(socket, &stats) == 0) sum += stats.heap_allocsz_bytes;
    }
    return sum;
  }
  void take(const Message& m) {
    if (m.kind == Kind::kCopy) {
      const Key key{m.bearer, m.sn};
      auto* const slot = reinterpret_cast<void*>(std::uintptr_t{m.slot});
      failed_ += rte_hash_add_key_data(hash_.get(), &key, slot) != 0 ? 1 : 0;
      ++taken_;
    } else if (m.kind == Kind::kStatus) {
      const unsigned bits = sn_bits_of(m.bearer);
      const auto status = wire::rlc::parse_status({reinterpret_cast<const std::uint8_t*>(&m.sn), m.bytes}, bits);
      if (!status) throw std::runtime_error("a STATUS is not what it should be");
      const std::uint32_t ack = ran::rlc::from_base(acked_[m.bearer], status->ack_sn, bits);
      for (std::uint32_t& sn = acked_[m.bearer]; sn != ack; ++sn) {
        const Key key{m.bearer, sn};
        if (releases_) release(key);
        failed_ += rte_hash_del_key(hash_.get(), &key) < 0 ? 1 : 0;
      }
      if (out_.flags != 0) tell();
    }
  }
  // Slots go back three in a message, as the service sends them.
  void release(const Key& key) {
    void* slot = nullptr;
    failed_ += rte_hash_lookup_data(hash_.get(), &key, &slot) < 0 ? 1 : 0;
    const std::array to{&out_.bearer, &out_.sn, &out_.slot};
    *to[out_.flags++] = static_cast<std::uint32_t>(reinterpret_cast<std::uintptr_t>(slot));
    if (out_.flags == to.size()) tell();
  }
  void tell() {
    failed_ += baas::send(channel().to_worker, &out_, 1) ? 0 : 1;
    out_.flags = 0;
  }

  Rings rings_;
  std::unique_ptr<rte_hash, Free> hash_;
  std::vector<std::uint32_t> acked_;
  std::size_t octets_ = 0;
  std::uint64_t failed_ = 0, taken_ = 0, told_ = 0;
  bool releases_;
  Message out_{.kind = Kind::kRelease};
};

// A worker with acknowledged bearers, half of them with 12-bit SNs. Its windows are here, or in `service`.
class Worker {
 public:
  struct Sink {
    unsigned send(rte_mbuf** mbufs, unsigned n) const {
      rte_pktmbuf_free_bulk(mbufs, n);
      return n;
    }
  };

  Worker(std::uint32_t bearers, rte_mempool* pool, std::size_t max_unacked, const Service* service)
      : pool_(pool), ids_(bearers), downlink_(bearers), uplink_(bearers), drops_(bearers) {
    context_->n3.ipv4 = __builtin_bswap32(0x0a640001);
    context_->n3.source_mask = ~0U;
    context_->pool = pool;
    context_->air_header = {0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 2, 0, 0, 0, 0, 1, 0x88, 0xb5};
    frame_ = make_frame_template(context_->n3);
    datapath::Arq::Settings settings{.sends = Direction::kDownlink,
                                     .ethernet = context_->air_header,
                                     .pool = pool,
                                     .max_unacked = max_unacked,
                                     .ticks_per_ms = slow_ticks_per_ms(),
                                     .now = rte_rdtsc()};
    if (service != nullptr) {
      settings.service = {service->channel()};
      settings.max_bearers = bearers;
      to_service_ = service->channel().to_service;
    }
    context_->arq = std::make_unique<datapath::Arq>(settings);
    if (service != nullptr) context_->arq->service()->connect();
    const std::uint32_t per_shard = (bearers + ran::kShards - 1) / ran::kShards;
    for (std::uint32_t at = 0; at < bearers; ++at) {
      const ShardId shard{static_cast<std::uint8_t>(at / per_shard)};
      if (at % per_shard == 0) {
        const std::uint32_t n = std::min(per_shard, bearers - at);
        context_->bearers.attach(shard, {&downlink_[at], &uplink_[at], &drops_[at], n});
        context_->arq_bearers.attach(shard, n);
      }
      add(at, ran::make_teid(1, shard, at % per_shard));
    }
  }
  ~Worker() {
    for (const std::uint32_t id : ids_) context_->arq->detach(*context_->arq_bearers.find(id));
  }
  Worker(const Worker&) = delete;
  Worker& operator=(const Worker&) = delete;

  // Frames from N3 and STATUS PDUs from the air, which the next step() takes.
  void add_sdu(std::uint32_t bearer) {
    rte_mbuf* const m = make(kFrameBytes);
    auto* const octets = datapath::octets(m);
    std::memcpy(octets, frame_.head.data(), 58);
    const std::uint32_t teid = __builtin_bswap32(ids_[bearer]);
    std::memcpy(octets + 46, &teid, 4);
    sdus_.push_back(m);
  }
  void add_status(std::uint32_t bearer, std::uint32_t ack) {
    rte_mbuf* const m = make(datapath::kAirRlcOffset + kStatusBytes);
    std::uint8_t* const octets = datapath::octets(m);
    const unsigned bits = sn_bits_of(bearer);
    std::memcpy(octets, context_->air_header.data(), 14);
    wire::store_be64(octets + 14, wire::airhdr::encode({.direction = Direction::kUplink,
                                                        .rlc_sn_bits = static_cast<std::uint8_t>(bits),
                                                        .pdcp_sn_bits = static_cast<std::uint8_t>(bits),
                                                        .epoch = kEpoch,
                                                        .bearer = BearerId{ids_[bearer]}}));
    wire::store_be16(octets + datapath::kAirRlcOffset - 2, kStatusBytes);
    write_status(octets + datapath::kAirRlcOffset, bits, ack);
    statuses_.push_back(m);
  }
  [[nodiscard]] std::size_t waiting() const { return sdus_.size(); }
  // True if what is at hand surely finds room on the ring, also if each SDU is the first of its bearer.
  [[nodiscard]] bool has_room() const {
    return to_service_ == nullptr || rte_ring_free_count(to_service_) > 2 * sdus_.size() + statuses_.size() + 128;
  }
  // Serves all of it, a burst at a time; `between` is called after each.
  template <class Between>
  void step(Between&& between) {
    datapath::Burst burst;
    std::size_t answered = 0;
    for (std::size_t at = 0; at < sdus_.size(); at += kBurst) {
      fill(burst, sdus_, at);
      burst.ahead = sdus_.data() + std::min(at + kBurst, sdus_.size());
      burst.ahead_size = static_cast<unsigned>(std::min<std::size_t>(kBurst, sdus_.size() - at - burst.size));
      const std::size_t done = at + burst.size;
      downward_.process(burst);
      // STATUS PDUs come in full bursts, as soon as there are enough of them for the SDUs until now.
      const std::size_t due = statuses_.size() * done / sdus_.size();
      if (due - answered >= kBurst || due == statuses_.size()) answered = answer(answered, due);
      downward_.serve_acknowledged();
      between();
    }
    answer(answered, statuses_.size());
    sdus_.clear();
    statuses_.clear();
  }
  void serve() { downward_.serve_acknowledged(); }
  [[nodiscard]] std::uint64_t unacked() const { return context_->arq->unacked(); }
  [[nodiscard]] std::uint64_t sent() const { return context_->stats.transmitted_air.get(); }
  // What must not happen here, by kind; empty if nothing did.
  [[nodiscard]] nlohmann::json mishaps() const {
    const datapath::Arq::Counters& c = context_->arq->counters();
    nlohmann::json all = nlohmann::json::object();
    const auto note = [&all](const char* what, std::uint64_t n) {
      if (n != 0) all[what] = n;
    };
    note("dropped", context_->stats.dropped());
    note("sent_again", c.retransmitted);
    note("status_ignored", c.status_stale + c.status_malformed);
    note("failed", c.max_retx + c.peer_lost);
    if (const baas::WorkerEnd* const service = context_->arq->service(); service != nullptr) {
      note("status_lost", service->counters().status_lost);
      note("told_again", service->counters().told_again);
      note("no_room", service->counters().no_room);
      note("strays", service->counters().strays);
    }
    return all;
  }

 private:
  static constexpr std::uint8_t kEpoch = 0x5a;

  void add(std::uint32_t at, std::uint32_t id) {
    const auto bits = static_cast<std::uint8_t>(sn_bits_of(at));
    ran::BearerConfig config{.id = BearerId{id},
                             .uplink_teid = Teid{id},
                             .upf = IpAddress::v4({10, 100, 0, 2}),
                             .rlc_sn_bits = bits,
                             .pdcp_sn_bits = bits};
    config.acknowledged = true;
    config.arq.t_poll_retransmit_ms = kPollRetransmitMs;
    if (const auto why = ran::refuse(config)) throw std::runtime_error(*why);
    ids_[at] = id;
    downlink_[at] = ran::make_downlink(config);
    uplink_[at] = ran::make_uplink(config, PeerId{0});
    ran::set_epoch(downlink_[at], kEpoch);
    context_->arq_bearers.exchange(id, context_->arq->make(config, kEpoch));
    datapath::set_count_limit(*context_, downlink_[at]);
  }
  rte_mbuf* make(unsigned bytes) {
    rte_mbuf* const m = rte_pktmbuf_alloc(pool_);
    if (m == nullptr) throw std::runtime_error("the bench ran out of mbufs");
    m->data_len = static_cast<std::uint16_t>(bytes);
    m->pkt_len = bytes;
    return m;
  }
  static void fill(datapath::Burst& burst, const std::vector<rte_mbuf*>& from, std::size_t at) {
    burst.size = static_cast<unsigned>(std::min<std::size_t>(kBurst, from.size() - at));
    std::copy_n(from.begin() + static_cast<std::ptrdiff_t>(at), burst.size, burst.mbuf.begin());
    burst.ahead_size = 0;
  }
  std::size_t answer(std::size_t at, std::size_t end) {
    datapath::Burst burst;
    while (at < end) {
      fill(burst, statuses_, at);
      at += burst.size;
      upward_.process(burst);
    }
    return at;
  }

  std::unique_ptr<datapath::GnbContext> context_ = std::make_unique<datapath::GnbContext>();
  rte_mempool* pool_;
  rte_ring* to_service_ = nullptr;
  FrameTemplate frame_;
  std::vector<std::uint32_t> ids_;
  std::vector<ran::BearerDownlink> downlink_;
  std::vector<ran::BearerUplink> uplink_;
  std::vector<ran::BearerDrops> drops_;
  std::vector<rte_mbuf*> sdus_, statuses_;
  datapath::GnbDownlink<FeatureSet::clone, Sink, datapath::SampledCycles> downward_{*context_, Sink{}, Sink{}};
  datapath::GnbUplink<FeatureSet::clone, Sink, datapath::SampledCycles> upward_{*context_, Sink{}};
};

// The service in a thread of its own, with a loop like the worker loop's without rest.
class SecondCore {
 public:
  SecondCore(Service& service, unsigned core)
      : thread_([this, &service, core] {
          pin_to(core);
          while (!stop_.load(std::memory_order_relaxed)) {
            const std::uint64_t begin = rte_rdtsc();
            if (service.serve_some()) busy_.add(rte_rdtsc() - begin);
          }
        }) {}
  ~SecondCore() {
    stop_ = true;
    thread_.join();
  }
  SecondCore(const SecondCore&) = delete;
  SecondCore& operator=(const SecondCore&) = delete;
  [[nodiscard]] std::uint64_t busy_cycles() const { return busy_.get(); }

 private:
  std::atomic<bool> stop_{false};
  Counter busy_;
  std::thread thread_;
};

// A ring for copies and one for releases, for one thread or for several.
class RingPair {
 public:
  RingPair(const std::string& name, bool shared)
      : copies_(make(name + ".c", shared)), releases_(make(name + ".r", shared)) {}

  // Inserts `sdus` SDUs in bursts and frees them. Another thread may take what this one put, and the other way round.
  // Returns the nanoseconds of this thread for each of its SDUs.
  double insert_and_free(std::uint64_t sdus, unsigned burst) {
    std::array<Message, kBurst> messages;
    messages.fill({.kind = Kind::kCopy});
    unsigned left = 0;  // SDUs of which no release has gone yet
    std::uint64_t freed = 0, failed = 0;
    const double begin = thread_ns();
    for (std::uint64_t done = 0; done < sdus; done += burst) {
      failed += send(copies_.get(), messages.data(), burst) ? 0 : 1;
      left += receive(copies_.get(), messages.data(), burst);
      failed += send(releases_.get(), messages.data(), left / 3) ? 0 : 1;
      freed += 3 * receive(releases_.get(), messages.data(), left / 3);
      left %= 3;
    }
    const double took = thread_ns() - begin;
    freed_ += freed + left;
    failed_ += failed;
    return took / static_cast<double>(sdus);
  }
  // What is on the rings after all threads, in SDUs.
  [[nodiscard]] std::uint64_t left() const {
    return rte_ring_count(copies_.get()) + std::uint64_t{3} * rte_ring_count(releases_.get());
  }
  [[nodiscard]] std::uint64_t freed() const { return freed_; }
  [[nodiscard]] std::uint64_t failed() const { return failed_; }

 private:
  // DPDK's own, which look at the ring's flags.
  static bool send(rte_ring* ring, const Message* from, unsigned n) {
    return n == 0 || rte_ring_enqueue_bulk_elem(ring, from, sizeof(Message), n, nullptr) == n;
  }
  static unsigned receive(rte_ring* ring, Message* to, unsigned n) {
    return n == 0 ? 0 : rte_ring_dequeue_burst_elem(ring, to, sizeof(Message), n, nullptr);
  }
  static baas::MessageRing make(const std::string& name, bool shared) {
    if (!shared) return baas::make_message_ring(name, kRingEntries);
    return baas::MessageRing(
        rte_ring_create_elem(name.c_str(), sizeof(Message), kRingEntries, SOCKET_ID_ANY, RING_F_EXACT_SZ));
  }

  baas::MessageRing copies_, releases_;
  std::atomic<std::uint64_t> freed_{0}, failed_{0};
};

class Bench {
 public:
  explicit Bench(const Options& options) : options_(options) {}

  nlohmann::json run() {
    const auto wants = [&](const char* name) { return std::ranges::find(options_.rows, name) != options_.rows.end(); };
    if (wants("service")) {
      for (const unsigned sdus : options_.sdus) service_and_hash(sdus, true);
      service_and_hash(options_.sdus.back(), false);
    }
    if (wants("rings")) {
      for (const unsigned burst : {1U, kBurst}) {
        for (const unsigned threads : {1U, 2U}) {
          for (const bool shared : {false, true}) rings(shared, threads, burst);
        }
      }
    }
    memory();
    if (!wants("gnb")) return rows_;
    for (const Way way : {Way::kInline, Way::kSameCore, Way::kSecondCore}) gnb(way);
    return rows_;
  }

 private:
  enum class Way { kInline, kSameCore, kSecondCore };
  static constexpr unsigned kRounds = 8;  // of all bearers, in a pass
  static constexpr unsigned kGnbSdus = 8, kGnbRounds = 4;

  [[nodiscard]] bool has_second_core() const {
    return options_.second != options_.core && options_.second < std::thread::hardware_concurrency();
  }
  // Fewer passes when the time is over.
  [[nodiscard]] bool goes_on(std::size_t passes) const {
    return passes < options_.passes && (passes < 3 || wall_ns() - begin_ < options_.seconds * 1e9);
  }

  void service_and_hash(unsigned sdus, bool polls) {
    Messages messages(options_.bearers, sdus, polls);
    // A bearer has up to two pages, and the service makes one page for eight copies.
    const std::size_t max_copies = std::size_t{20} * options_.bearers;
    const std::string name = "b" + std::to_string(rows_.size() * 100 + sdus) + (polls ? "p" : "");
    Service service("s" + name, max_copies);
    HashServer hash("h" + name, options_.bearers, messages.turns.most(), false);
    HashServer releasing("r" + name, options_.bearers, messages.turns.most(), true);
    feed(service, messages.open());
    const auto each = [&](const std::vector<Message>& all) {
      return std::array{feed(service, all), feed(hash, all), feed(releasing, all)};
    };
    for (unsigned i = 0; i < std::max(sdus, kRounds); i += kRounds) each(messages.rounds(kRounds));
    const std::uint64_t held = service.held();
    std::vector<double> of_service, of_hash, of_releasing;
    while (goes_on(of_service.size())) {
      const auto took = each(messages.rounds(kRounds));
      const double packets = static_cast<double>(kRounds) * options_.bearers;
      of_service.push_back(took[0] / packets);
      of_hash.push_back(took[1] / packets);
      of_releasing.push_back(took[2] / packets);
    }
    nlohmann::json row = figures(of_service);
    row["sdus_per_status"] = sdus;
    row["polls"] = polls ? "every SDU" : "before a STATUS";
    row["held"] = held;
    row["sent_again"] = service.sent_again();
    nlohmann::json base = figures(of_hash);
    base["sdus_per_status"] = sdus;
    base["ratio"] = median(of_hash) / median(of_service);
    // With what the service does, too: it finds the slot of each SDU and tells the worker of it.
    base["ns_with_releases"] = median(of_releasing);
    base["ratio_with_releases"] = median(of_releasing) / median(of_service);
    const std::vector<Message> end = messages.end();
    constexpr unsigned kFew = 64;  // each releases many SDUs, and the ring to the worker is to hold them all
    feed(service, end, kFew);
    feed(hash, end, kFew);
    feed(releasing, end, kFew);
    row["all_released"] = service.all_released();
    base["all_released"] = hash.all_released() && releasing.all_released();
    if (!polls) {
      rows_["service_few_polls"].push_back(row);
      return;
    }
    rows_["service"].push_back(row);
    rows_["rte_hash"].push_back(base);
    auto& octets = rows_["memory"]["rte_hash"];
    octets.push_back({{"sdus_per_status", sdus},
                      {"per_entry", static_cast<double>(hash.octets()) / static_cast<double>(messages.turns.most())},
                      {"per_sdu_held", static_cast<double>(hash.octets()) / static_cast<double>(held)},
                      {"measured", "heap_allocsz_bytes of rte_malloc before and after rte_hash_create"}});
  }

  // `shared`: all threads use one pair of MP/MC rings; otherwise each has an SP/SC pair.
  void rings(bool shared, unsigned threads, unsigned burst) {
    if (threads == 2 && !has_second_core()) return;
    constexpr std::uint64_t kSdus = std::uint64_t{kBurst} << 13;
    const std::string name = fmt::format("{}{}{}", shared ? "m" : "s", threads, burst);
    RingPair first(name + "a", shared), own(name + "b", false);
    RingPair& second = shared ? first : own;
    std::vector<double> ns;
    std::uint64_t in = 0;
    while (goes_on(ns.size())) {
      std::atomic<unsigned> ready{0};
      const auto begin = [&] {
        ready.fetch_add(1);
        while (ready.load() < threads) {
        }
      };
      std::optional<std::thread> other;
      if (threads == 2) {
        other.emplace([&] {
          pin_to(options_.second);
          begin();
          second.insert_and_free(kSdus, burst);
        });
      }
      begin();
      ns.push_back(first.insert_and_free(kSdus, burst));
      if (other) other->join();
      in += threads * kSdus;
    }
    nlohmann::json row = figures(ns);
    row["rings"] = shared ? "MP/MC, not crash-safe" : "SP/SC";
    row["threads"] = threads;
    row["burst"] = burst;
    const bool two_pairs = !shared && threads == 2;
    const std::uint64_t failed = first.failed() + (two_pairs ? own.failed() : 0);
    const std::uint64_t out = first.freed() + first.left() + (two_pairs ? own.freed() + own.left() : 0);
    row["all_freed"] = failed == 0 && out == in;
    rows_["rings"].push_back(row);
  }

  // Octets of windows in use for each SDU, with `sdus` outstanding in every bearer.
  static double window_octets(unsigned sdus) {
    constexpr unsigned kBearers = 512;
    using ran::rlc::AmRetx;
    ran::rlc::Memory<baas::Kept> memory({.sent_pages = 2 * kBearers,
                                         .received_pages = 0,
                                         .queue_pages = 0,
                                         .directories = 2 * kBearers,
                                         .segments = 0,
                                         .assemblies = 0,
                                         .intervals = 1});
    std::vector<std::unique_ptr<AmRetx<baas::Kept>>> all;
    for (std::uint32_t bearer = 0; bearer < kBearers; ++bearer) {
      const ran::rlc::AmConfig config{.sn_bits = static_cast<std::uint8_t>(sn_bits_of(bearer)), .whole_sdus = true};
      all.push_back(std::make_unique<AmRetx<baas::Kept>>(config, memory));
      for (std::uint32_t sn = 0; sn < sdus; ++sn)
        all.back()->submitted({.sdu = baas::Kept(sn), .sn = sn, .bytes = kSduBytes, .sent = kSduBytes}, 0);
    }
    const auto used = [](const auto& pool, std::size_t each) { return (pool.size() - pool.available()) * each; };
    const std::size_t octets = used(memory.sent_pages, sizeof(ran::rlc::SentPage<baas::Kept>)) +
                               used(memory.directories, sizeof(ran::rlc::Directory));
    return static_cast<double>(octets) / kBearers / sdus;
  }
  void memory() {
    auto& row = rows_["memory"];
    row["ledger_slot"] = sizeof(baas::Ledger::Slot);
    row["message_in_flight"] = sizeof(Message);
    row["window_64_sdus_per_bearer"] = window_octets(64);
    row["window_1_sdu_per_bearer"] = window_octets(1);
    row["sum_64_sdus_per_bearer"] = sizeof(baas::Ledger::Slot) + window_octets(64);
    row["sum_1_sdu_per_bearer"] = sizeof(baas::Ledger::Slot) + window_octets(1);
    row["per_bearer"] = {{"worker", sizeof(baas::Window)}, {"service", sizeof(ran::rlc::AmRetx<baas::Kept>)}};
  }

  void gnb(Way way) {
    const bool is_away = way != Way::kInline;
    if (way == Way::kSecondCore && !has_second_core()) return;
    // The inline windows also have one page for eight SDUs, and a bearer needs one or two.
    const std::size_t max_unacked = std::size_t{10} * options_.bearers;
    if (pool_ == nullptr) {
      pool_ = rte_pktmbuf_pool_create("frames", 6 * options_.bearers + 16383, 512, 0,
                                      RTE_PKTMBUF_HEADROOM + kFrameBytes, SOCKET_ID_ANY);
      if (pool_ == nullptr) throw std::runtime_error("no memory for the bench's frames");
    }
    std::optional<Service> service;
    if (is_away) service.emplace(way == Way::kSameCore ? "one" : "two", max_unacked);
    Turns turns(options_.bearers, kGnbSdus);
    std::vector<double> worker_ns, service_ns, wall, harness;
    nlohmann::json mishaps;
    bool all_released = false;
    {
      Worker worker(options_.bearers, pool_, max_unacked, service ? &*service : nullptr);
      std::optional<SecondCore> second;
      if (way == Way::kSecondCore) second.emplace(*service, options_.second);
      double worked = 0, stood = 0;  // nanoseconds of this thread with packets, and of waiting for the other one
      const auto step = [&] {
        double begin = wall_ns();
        while (!worker.has_room()) {
          if (way == Way::kSameCore) service->serve();
          worker.serve();
        }
        stood += wall_ns() - begin;
        begin = thread_ns();
        worker.step([&] {
          if (way == Way::kSameCore) service->serve();
        });
        worked += thread_ns() - begin;
        // STATUS PDUs answer what was sent until now, in the next step.
        for (const auto& [bearer, ack] : answers_) worker.add_status(bearer, ack);
        answers_.clear();
      };
      const auto pass = [&](unsigned rounds) {
        for (unsigned i = 0; i < rounds; ++i) {
          turns.round(
              [&](std::uint32_t bearer, std::uint32_t) {
                if (worker.waiting() == kChunk) step();
                worker.add_sdu(bearer);
              },
              [&](std::uint32_t bearer, std::uint32_t ack) { answers_.emplace_back(bearer, ack); });
        }
      };
      pass(2 * kGnbSdus);
      while (goes_on(worker_ns.size())) {
        const double packets = static_cast<double>(kGnbRounds) * options_.bearers;
        worked = stood = 0;
        const std::uint64_t busy = second ? second->busy_cycles() : 0;
        const double begin = wall_ns();
        pass(kGnbRounds);
        const double took = wall_ns() - begin;
        worker_ns.push_back(worked / packets);
        wall.push_back(took / packets);
        harness.push_back(std::max(0.0, took - worked - stood) / packets);
        if (second) service_ns.push_back(ns_of(static_cast<double>(second->busy_cycles() - busy)) / packets);
      }
      step();
      step();
      for (std::uint32_t bearer = 0; bearer < options_.bearers; ++bearer) {
        worker.add_status(bearer, turns.count[bearer]);
        if (bearer % kChunk == kChunk - 1 || bearer + 1 == options_.bearers) step();
      }
      const double begin = wall_ns();
      while (worker.unacked() != 0 && wall_ns() - begin < 2e9) {
        if (way == Way::kSameCore) service->serve();
        worker.serve();
      }
      const std::uint64_t sent = std::accumulate(turns.count.begin(), turns.count.end(), std::uint64_t{0});
      all_released = worker.unacked() == 0 && rte_mempool_in_use_count(pool_) == 0 && worker.sent() == sent;
      mishaps = worker.mishaps();
    }
    const char* const names[] = {"inline", "service_same_core", "service_second_core"};
    nlohmann::json row = figures(worker_ns);
    row["windows"] = names[static_cast<int>(way)];
    row["cycles"] = median(worker_ns) * static_cast<double>(rte_get_tsc_hz()) / 1e9;
    row["harness_ns"] = median(harness);
    row["mpps_with_harness"] = 1e3 / median(wall);
    if (!service_ns.empty()) {
      // By the clock on the wall, because both cores work. The worker's harness is left out, as in the other rows.
      std::vector<double> net;
      for (std::size_t i = 0; i < wall.size(); ++i) net.push_back(wall[i] - harness[i]);
      row["mpps"] = 1e3 / median(net);
      row["service_ns"] = median(service_ns);
    }
    row["all_released"] = all_released;
    row["mishaps"] = mishaps;
    rows_["gnb"].push_back(row);
  }

  Options options_;
  double begin_ = wall_ns();
  rte_mempool* pool_ = nullptr;
  std::vector<std::pair<std::uint32_t, std::uint32_t>> answers_;
  nlohmann::json rows_;
};

}  // namespace
}  // namespace splitplane::bench

int main(int argc, char** argv) {
  using namespace splitplane::bench;
  CLI::App app{"What the buffering service costs, beside an rte_hash and beside windows in the worker; prints JSON."};
  Options options;
  app.add_option("--core", options.core, "core that is measured");
  app.add_option("--second", options.second, "the other core, for the service beside a worker");
  app.add_option("--passes", options.passes, "passes per row, median")->check(CLI::Range(1, 1001));
  app.add_option("--bearers", options.bearers, "acknowledged bearers")->check(CLI::Range(1024, 131072));
  app.add_option("--seconds", options.seconds, "after these, three passes per row are enough");
  app.add_option("--rows", options.rows, "which to measure: service, with rte_hash, rings, and gnb")
      ->delimiter(',')
      ->check(CLI::IsMember({"service", "rings", "gnb"}));
  app.add_option("--sdus", options.sdus, "SDUs per STATUS PDU")->delimiter(',')->check(CLI::Range(1, 60));
  CLI11_PARSE(app, argc, argv);

  return on_core("baas_bench", options.core, {.file_prefix = "splitbaasbench", .megabytes = 768}, [&](bool hugepages) {
    const auto before = measure_jitter(100);
    nlohmann::json report = Bench(options).run();
    const auto after = measure_jitter(100);
    report["bearers"] = options.bearers;
    report["hugepages"] = hugepages;
    report["jitter_percent"] = std::max(before.lost_percent, after.lost_percent);
    std::printf("%s\n", report.dump(1).c_str());
  });
}
