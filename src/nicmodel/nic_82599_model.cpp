// First the model's control: registers on the engine's thread, rings that are enabled and disabled, resets, its thread;
// then its receive path and its transmit path.
//
// The model has no time on the wire (the peer keeps to 10 Gbit/s) or on PCIe, and no interrupts beyond their masks. It
// has no offloads (checksums, segmentation, VLAN, coalescing), no flow control, no multicast table and no virtual
// functions. It ignores the thresholds of TXDCTL: each requested DD is written at once.
#include "nicmodel/nic_82599_model.h"

#include <pthread.h>
#include <sched.h>
#include <time.h>

#include <algorithm>
#include <cstring>

#include "nicmodel/octets.h"
#include "wire/ethernet.h"

namespace splitplane::nicmodel {

namespace reg = gpu::reg;

namespace {

constexpr std::uint32_t kPacketBufferBytes = 512 * 1024;       // RXPBSIZE[0] without DCB (8.2.3.8.9)
constexpr std::uint32_t kMostFrameBytes = 16 * 1024;           // 7.2.3.2: a packet of 15.5 KiB at most
constexpr std::uint32_t kMostTransmitBytes = 15 * 1024 + 512;  // 7.2.3.2.2: 15.5 KiB
constexpr std::uint64_t kTxTypeContext = 2ULL << 20;           // 7.2.3.2.3: DTYP 0010b
constexpr unsigned kIdleRounds = 64;  // idle rounds before the thread yields its core for a while

std::uint64_t clock_ns() {
  timespec now{};
  clock_gettime(CLOCK_MONOTONIC, &now);
  return static_cast<std::uint64_t>(now.tv_sec) * 1'000'000'000 + static_cast<std::uint64_t>(now.tv_nsec);
}

}  // namespace

Nic82599Model::Nic82599Model(Wire& wire, MacAddress mac)
    : wire_(wire),
      registers_(mac, faults_),
      packet_buffer_(kPacketBufferBytes),
      gathered_(std::size_t{kBatch} * kMostFrameBytes) {
  injections_.reserve(64);
  late_.reserve(kBatch);
  configure_filter();
}

Nic82599Model::~Nic82599Model() {
  stop();
}

const Steering& Nic82599Model::steering() {
  if (steering_changed_) steering_.configure(registers_);
  steering_changed_ = false;
  return steering_;
}

std::uint32_t Nic82599Model::step(std::uint32_t max) {
  return step(max, clock_ns());
}

std::uint32_t Nic82599Model::step(std::uint32_t max, std::uint64_t now_ns) {
  if (steering_changed_) [[unlikely]]
    (void)steering();
  max = std::min(max, kBatch);
  if (!late_.empty()) [[unlikely]]
    deliver_late();
  const std::uint32_t moved = transmit(max, now_ns) + receive(max, now_ns);
  counters_.rounds.add(1);
  if (moved == 0) counters_.idle_rounds.add(1);
  return moved;
}

void Nic82599Model::start(int core) {
  const std::lock_guard lock(callers_);
  if (running_) return;
  stop_.store(false);
  running_ = true;
  thread_ = std::thread([this] { run(); });
  if (core < 0) return;
  cpu_set_t set;
  CPU_ZERO(&set);
  CPU_SET(static_cast<unsigned>(core), &set);
  pthread_setaffinity_np(thread_.native_handle(), sizeof set, &set);
}

void Nic82599Model::stop() {
  const std::lock_guard lock(callers_);
  if (!running_) return;
  stop_.store(true);
  thread_.join();
  running_ = false;
}

void Nic82599Model::run() {
  unsigned idle = 0;
  while (!stop_.load(std::memory_order_relaxed)) {
    if (call_.load(std::memory_order_relaxed) != nullptr) serve_call();
    idle = step(kBatch) != 0 ? 0 : idle + 1;
    if (idle >= kIdleRounds) {
      sched_yield();
      idle = 0;
    }
  }
  serve_call();
}

void Nic82599Model::serve_call() {
  if (const auto* const call = call_.load(std::memory_order_acquire)) {
    (*call)();
    call_.store(nullptr, std::memory_order_release);
  }
}

// Runs `call` while no other thread uses the model: between two rounds of its thread, or on the calling thread if it
// has none.
void Nic82599Model::on_engine(const std::function<void()>& call) {
  const std::lock_guard lock(callers_);
  if (!running_) {
    call();
    return;
  }
  call_.store(&call, std::memory_order_release);
  while (call_.load(std::memory_order_acquire) != nullptr) sched_yield();
}

void Nic82599Model::add_memory(void* host, std::uint64_t bytes, std::uint64_t bus) {
  on_engine([&] { regions_.add(bus, host, bytes); });
}
void Nic82599Model::inject(InjectedFault fault, std::uint32_t ring, std::uint64_t after) {
  on_engine([&] { injections_.push_back({fault, ring, after}); });
}
void Nic82599Model::plug(bool in) {
  on_engine([&] { registers_.plug(in); });
}
void Nic82599Model::fit_sfp_slot(bool module) {
  on_engine([&] { registers_.fit_sfp_slot(module); });
}
void Nic82599Model::stick(std::uint32_t offset, std::uint32_t mask, std::uint32_t value) {
  on_engine([&] { registers_.stick(offset, mask, value); });
}
void Nic82599Model::unplug_device() {
  on_engine([&] { registers_.unplug_device(); });
}

std::uint32_t Nic82599Model::read32(std::uint32_t offset) {
  std::uint32_t value = 0;
  on_engine([&] {
    for (std::uint32_t n = 0; n < kRings; ++n) {
      if (offset == reg::rdh(n) && receive_[n].enabled) registers_.set(offset, receive_[n].head);
      if (offset == reg::tdh(n) && transmit_[n].enabled) registers_.set(offset, transmit_[n].head);
    }
    value = registers_.read(offset);
  });
  return value;
}

void Nic82599Model::write32(std::uint32_t offset, std::uint32_t value) {
  on_engine([&] { apply(registers_.write(offset, value)); });
}

void Nic82599Model::apply(const Written& written) {
  switch (written.action) {
    case Action::kReset:
      reset();
      break;
    case Action::kReceiveRing:
      enable_receive(written.ring);
      break;
    case Action::kTransmitRing:
      enable_transmit(written.ring);
      break;
    case Action::kFilter:
      configure_filter();
      steering_changed_ = true;  // MRQC
      break;
    case Action::kSteering:
      steering_changed_ = true;
      break;
    case Action::kNone:
      break;
  }
}

void Nic82599Model::reset() {
  const bool requests = (registers_.value(reg::kCtrl) & reg::kCtrlMasterDisable) == 0;
  for (std::uint32_t n = 0; n < kRings; ++n) {
    if (requests && (receive_[n].enabled || transmit_[n].enabled)) {
      faults_.count(DriverFault::reset_with_rings_running);
      break;
    }
  }
  receive_ = {};
  transmit_ = {};
  transmit_rings_ = 0;
  late_.clear();
  for (std::uint32_t i = packet_buffer_.frames(); i > 0; --i) drop(NicDrop::reset);
  packet_buffer_.clear();
  counters_.held.set(0);
  std::erase_if(injections_, [](const Injection& i) { return i.fault == InjectedFault::stops; });
  registers_.reset();
  configure_filter();
  steering_changed_ = true;
}

// Checks a ring's registers when it is enabled. Returns nullptr and counts a fault if the NIC could not run it.
gpu::Descriptor* Nic82599Model::latch(std::uint32_t base, std::uint32_t control, ModelRing& ring) {
  const std::uint64_t address = registers_.value(base) | std::uint64_t{registers_.value(base + 4)} << 32;
  const std::uint32_t bytes = registers_.value(base + 8);
  gpu::Descriptor* descriptors = nullptr;
  if (address == 0) {
    faults_.count(DriverFault::ring_base_missing);
  } else if (address % gpu::kRingAlignment != 0) {
    faults_.count(DriverFault::ring_base_unaligned);
  } else if (bytes == 0 || bytes % gpu::kRingAlignment != 0 ||
             bytes > reg::kMostDescriptors * sizeof(gpu::Descriptor)) {
    faults_.count(DriverFault::ring_length_invalid);
  } else if (auto* const at = regions_.find(address, bytes)) {
    descriptors = reinterpret_cast<gpu::Descriptor*>(at);
  } else {
    faults_.count(DriverFault::ring_address_unknown);
  }
  if (descriptors == nullptr) {
    registers_.set(control, registers_.value(control) & ~reg::kQueueEnable);  // a driver polls it without success
    return nullptr;
  }
  ring.descriptors = descriptors;
  ring.size = bytes / static_cast<std::uint32_t>(sizeof(gpu::Descriptor));
  ring.head = registers_.value(base + 0x10) % ring.size;
  ring.tail_word = registers_.word(base + 0x18);
  if (gpu::load_acquire(ring.tail_word) != ring.head) faults_.count(DriverFault::tail_before_enable);
  ring.tail = ring.head;
  return descriptors;
}

void Nic82599Model::enable_receive(std::uint32_t n) {
  ReceiveRing& ring = receive_[n];
  const bool wanted = (registers_.value(reg::rxdctl(n)) & reg::kQueueEnable) != 0;
  if (wanted == ring.enabled) return;
  if (!wanted) {
    ring.enabled = false;
    registers_.set(reg::rdh(n), ring.head);
    return;
  }
  const std::uint32_t split = registers_.value(reg::srrctl(n));
  ReceiveRing fresh;
  if (latch(reg::rdbal(n), reg::rxdctl(n), fresh) == nullptr) return;
  if ((split & reg::kSrrctlTypeMask) != reg::kSrrctlAdvancedOneBuffer) {
    faults_.count(DriverFault::receive_type_unsupported);
    registers_.set(reg::rxdctl(n), registers_.value(reg::rxdctl(n)) & ~reg::kQueueEnable);
    return;
  }
  fresh.buffer_bytes = std::max(split & reg::kSrrctlPacketKib, 1U) * 1024;
  fresh.drop = (split & reg::kSrrctlDropEnable) != 0;
  fresh.set = registers_.value(reg::rqsmr(n / 4)) >> (n % 4 * 8) & 0xF;
  fresh.enabled = true;
  ring = fresh;
}

void Nic82599Model::enable_transmit(std::uint32_t n) {
  if (n >= kRings) return;
  TransmitRing& ring = transmit_[n];
  const bool wanted = (registers_.value(reg::txdctl(n)) & reg::kQueueEnable) != 0;
  if (wanted == ring.enabled) return;
  if (!wanted) {
    ring.enabled = false;
    registers_.set(reg::tdh(n), ring.head);
    return;
  }
  if ((registers_.value(reg::kDmatxctl) & reg::kDmatxctlEnable) == 0) {
    faults_.count(DriverFault::transmit_path_disabled);
    registers_.set(reg::txdctl(n), registers_.value(reg::txdctl(n)) & ~reg::kQueueEnable);
    return;
  }
  TransmitRing fresh;
  if (latch(reg::tdbal(n), reg::txdctl(n), fresh) == nullptr) return;
  fresh.set = registers_.value(reg::tqsm(n / 4)) >> (n % 4 * 8) & 0xF;
  fresh.enabled = true;
  ring = fresh;
  transmit_rings_ = std::max(transmit_rings_, n + 1);
}

void Nic82599Model::configure_filter() {
  const std::uint32_t filter = registers_.value(reg::kFctrl);
  unicast_promiscuous_ = (filter & reg::kFctrlUnicastPromiscuous) != 0;
  multicast_promiscuous_ = (filter & reg::kFctrlMulticastPromiscuous) != 0;
  broadcast_ = multicast_promiscuous_ || (filter & reg::kFctrlBroadcastAccept) != 0;
  receiving_ = (registers_.value(reg::kRxctrl) & reg::kRxctrlEnable) != 0 &&
               (registers_.value(reg::kSecrxctrl) & reg::kSecrxctrlDisable) == 0;
  sending_ = (registers_.value(reg::kDmatxctl) & reg::kDmatxctlEnable) != 0;
  const std::uint32_t mac = registers_.value(reg::kHlreg0);
  pad_ = (mac & reg::kHlreg0TxPad) != 0;
  longest_ = (mac & reg::kHlreg0Jumbo) != 0 ? registers_.value(reg::kMaxfrs) >> 16 : 1518;
  addresses_.clear();
  for (std::uint32_t n = 0; n < 128; ++n) {
    const std::uint32_t high = registers_.value(reg::rah(n));
    if ((high & reg::kRahValid) == 0) continue;
    addresses_.push_back(registers_.value(reg::ral(n)) | std::uint64_t{high & 0xFFFF} << 32);
  }
}

void Nic82599Model::deliver_late() {
  for (Late& late : late_) {
    if (--late.rounds == 0) __builtin_memcpy(late.to, late.octets.data(), late.octets.size());
  }
  std::erase_if(late_, [](const Late& late) { return late.rounds == 0; });
}

// True if a requested fault occurs with these packets or this doorbell of the ring.
bool Nic82599Model::strikes(InjectedFault fault, std::uint32_t ring, std::uint64_t packets) {
  for (auto i = injections_.begin(); i != injections_.end(); ++i) {
    if (i->fault != fault || i->ring != ring) continue;
    if (i->after >= packets) {
      i->after -= packets;
      return false;
    }
    injections_.erase(i);
    injected_.add(1);
    return true;
  }
  return false;
}

// Reads the tail register, unless a doorbell is to be lost: then the write has no effect.
void Nic82599Model::look(ModelRing& ring, std::uint32_t n, InjectedFault lost_doorbell) {
  const std::uint32_t before = ring.tail;
  ring.look(faults_);
  if (injections_.empty() || ring.tail == before) [[likely]]
    return;
  if (!strikes(lost_doorbell, n, 1)) return;
  std::uint32_t written = ring.tail;
  std::atomic_ref(*ring.tail_word).compare_exchange_strong(written, before, std::memory_order_acq_rel);
  ring.tail = before;
}

// --- Receive: wire -> address filter -> steering -> descriptors of a ring, or a counted drop. Frames of a batch first
// get their descriptors, whose buffers are prefetched; then they are copied.

std::uint32_t Nic82599Model::receive(std::uint32_t max, std::uint64_t now_ns) {
  if (!registers_.link_is_up()) [[unlikely]] {
    registers_.pass_time();
    return 0;
  }
  // The far end begins when the receiver is open. On a real link earlier frames are lost without a trace.
  if (!receiving_) return 0;
  std::uint32_t moved = packet_buffer_.empty() ? 0 : empty_packet_buffer();
  const std::uint32_t n = wire_.arrive(arriving_.data(), max, now_ns);
  if (n == 0) return moved;
  counters_.arrived.add(n);
  for (std::uint32_t i = 0; i < n; ++i) {
    const WireFrame& frame = arriving_[i];
    if (!accept(frame)) continue;
    if (!packet_buffer_.empty() || !land(frame, false)) hold(frame);
  }
  flush_landings();
  return moved + n;
}

// The MAC and the address filter (7.1.1). They count what they refuse.
bool Nic82599Model::accept(const WireFrame& frame) {
  Statistics& s = registers_.statistics();
  const std::uint32_t octets = frame.bytes + kCrcBytes;
  ++s.tpr;
  s.tor += octets;
  if (octets < 64) {
    ++s.ruc;
    drop(NicDrop::length);
    return false;
  }
  const std::uint16_t type = wire::load_be16(frame.octets + 12);
  if (octets > longest_ + (type == wire::ethernet::kTypeVlan ? wire::ethernet::kTagBytes : 0)) {
    ++s.roc;
    drop(NicDrop::length);
    return false;
  }
  std::uint64_t to = 0;
  std::memcpy(&to, frame.octets, 6);
  constexpr std::uint64_t kBroadcast = 0xFFFFFFFFFFFF;
  bool wanted = false;
  if (to == kBroadcast) {
    wanted = broadcast_;
    s.bprc += wanted ? 1 : 0;
  } else if ((to & 1) != 0) {
    wanted = multicast_promiscuous_;
    s.mprc += wanted ? 1 : 0;
  } else {
    wanted = unicast_promiscuous_ || std::ranges::find(addresses_, to) != addresses_.end();
  }
  if (!wanted) {
    drop(NicDrop::address);
    return false;
  }
  ++s.gprc;
  s.gorc += octets;
  ++s.prc[size_class(octets)];
  return true;
}

// Gives a frame its descriptors. Returns false if there are none and the ring does not drop; the frame must then wait.
bool Nic82599Model::land(const WireFrame& frame, bool from_buffer) {
  const Steered steered = steering_.steer(frame.octets, frame.bytes);
  const std::uint32_t n = steered.ring;
  ReceiveRing& ring = receive_[n % kRings];
  if (!ring.enabled || n >= kRings) {
    drop(NicDrop::ring_disabled);
    return true;
  }
  if (!injections_.empty() && strikes(InjectedFault::stops, n, 1)) ring.stopped = transmit_[n].stopped = true;
  if (ring.stopped) {
    drop(NicDrop::ring_stopped);
    return true;
  }
  const std::uint32_t pieces = frame.bytes <= ring.buffer_bytes ? 1 : (frame.bytes - 1) / ring.buffer_bytes + 1;
  const auto available = [&ring] {
    return ring.tail >= ring.head ? ring.tail - ring.head : ring.tail + ring.size - ring.head;
  };
  if (available() < pieces) {
    look(ring, n, InjectedFault::loses_receive_doorbell);
    if (available() < pieces) {
      if (!ring.drop) return false;
      ++registers_.statistics().qprdc[ring.set];
      drop(NicDrop::no_descriptor);
      counters_.no_descriptor[n].add(1);
      return true;
    }
  }
  Landing& landing = landings_[landing_count_++];
  landing = {
      .ring = &ring,
      .descriptor = ring.head,
      .pieces = pieces,
      .octets = frame.octets,
      .bytes = frame.bytes,
      .steered = steered,
      .buffer = regions_.find(gpu::rx_buffer(ring.descriptors[ring.head]), std::min(frame.bytes, ring.buffer_bytes))};
  __builtin_prefetch(landing.buffer, 1);
  for (std::uint32_t i = 0; i < pieces; ++i) ring.head = ring.after(ring.head);
  if (landing_count_ == kBatch || from_buffer) flush_landings();
  return true;
}

void Nic82599Model::flush_landings() {
  std::uint32_t good = 0;
  for (std::uint32_t i = 0; i < landing_count_; ++i) {
    write_back(landings_[i]);
    good += landings_[i].buffer != nullptr ? 1 : 0;
  }
  landing_count_ = 0;
  counters_.delivered.add(good);
}

// Writes the payload, then the descriptor over itself (7.1.6.2): first the low word, then DD with length and status by
// one release store.
void Nic82599Model::write_back(const Landing& landing) {
  const ReceiveRing& ring = *landing.ring;
  const auto n = static_cast<std::uint32_t>(&ring - receive_.data());
  Statistics& s = registers_.statistics();
  if (landing.buffer != nullptr) {
    ++s.qprc[ring.set];
    s.qbrc[ring.set] += landing.bytes + kCrcBytes;
  } else {
    drop(NicDrop::buffer_unreachable);
  }
  std::uint32_t descriptor = landing.descriptor;
  std::uint32_t done = 0;
  for (std::uint32_t piece = 0; piece < landing.pieces; ++piece) {
    gpu::Descriptor& d = ring.descriptors[descriptor];
    const std::uint32_t bytes = std::min(landing.bytes - done, ring.buffer_bytes);
    std::uint8_t* const to = piece == 0 ? landing.buffer : regions_.find(gpu::rx_buffer(d), bytes);
    std::uint64_t hi = std::uint64_t{bytes} << 32 | gpu::kRxDone;
    if (piece + 1 == landing.pieces) hi |= gpu::kRxEndOfPacket;
    bool early = false;
    if (!injections_.empty()) [[unlikely]] {
      if (strikes(InjectedFault::corrupts_descriptor, n, 1)) hi |= 0xFFFFULL << 32;
      if (strikes(InjectedFault::reports_error, n, 1)) hi |= gpu::kRxErrorMac;
      early = strikes(InjectedFault::early_done, n, 1);
    }
    if (to == nullptr) {
      faults_.count(DriverFault::buffer_address_unknown);
    } else if (early) {
      late_.push_back({.to = to, .octets = {landing.octets + done, landing.octets + done + bytes}});
    } else {
      copy_octets(to, landing.octets + done, bytes);
    }
    d.lo = std::uint64_t{landing.steered.hash} << 32 | landing.steered.type;
    gpu::store_release(&d.hi, hi);
    done += bytes;
    descriptor = ring.after(descriptor);
  }
}

// A frame without a descriptor, or behind such a frame, waits in the packet buffer.
void Nic82599Model::hold(const WireFrame& frame) {
  if (packet_buffer_.push(frame.octets, frame.bytes)) {
    counters_.held.set(packet_buffer_.frames());
    return;
  }
  ++registers_.statistics().rxmpc[0];
  drop(NicDrop::packet_buffer_full);
}

std::uint32_t Nic82599Model::empty_packet_buffer() {
  std::uint32_t moved = 0;
  while (!packet_buffer_.empty() && moved < kBatch) {
    WireFrame frame;
    frame.octets = packet_buffer_.front(frame.bytes);
    if (!land(frame, true)) break;
    packet_buffer_.pop();
    ++moved;
  }
  counters_.held.set(packet_buffer_.frames());
  return moved;
}

// --- Transmit: descriptors of each ring between head and tail -> frames -> wire -> DD for frames that the wire took.
// Frames go from the driver's buffer; only padded or fragmented ones are copied first.

std::uint32_t Nic82599Model::transmit(std::uint32_t max, std::uint64_t now_ns) {
  if (!sending_ || !registers_.link_is_up()) return 0;
  std::uint32_t moved = 0;
  for (std::uint32_t n = 0; n < transmit_rings_; ++n) {
    TransmitRing& ring = transmit_[n];
    if (!ring.enabled || ring.stopped) continue;
    if (ring.head == ring.tail) {
      look(ring, n, InjectedFault::loses_transmit_doorbell);
      if (ring.head == ring.tail) continue;
    }
    moved += transmit_ring(ring, n, max, now_ns);
  }
  return moved;
}

std::uint32_t Nic82599Model::transmit_ring(TransmitRing& ring, std::uint32_t n, std::uint32_t max,
                                           std::uint64_t now_ns) {
  const std::uint32_t frames = gather(ring, max);
  if (frames == 0) return 0;
  if (!injections_.empty() && strikes(InjectedFault::stops, n, frames)) {
    ring.stopped = receive_[n].stopped = true;
    return 0;
  }
  // A frame without octets cannot be sent: it is completed but never reaches the wire.
  std::uint32_t done = 0;
  std::uint32_t left = 0;
  while (done < frames) {
    if (leaving_[done].bytes == 0) {
      drop(NicDrop::transmit_descriptor);
      ++done;
      continue;
    }
    std::uint32_t run = done;
    while (run < frames && leaving_[run].bytes != 0) ++run;
    const std::uint32_t taken = wire_.leave(&leaving_[done], run - done, now_ns);
    done += taken;
    left += taken;
    if (done < run) break;
  }
  if (done == 0) return 0;
  Statistics& s = registers_.statistics();
  for (std::uint32_t i = 0; i < done; ++i) {
    if (leaving_[i].bytes == 0) continue;
    const std::uint32_t octets = leaving_[i].bytes + kCrcBytes;
    ++s.gptc, ++s.tpt;
    s.gotc += octets;
    ++s.ptc[size_class(octets)];
    ++s.qptc[ring.set];
    s.qbtc[ring.set] += octets;
    if ((leaving_[i].octets[0] & 1) != 0) ++(leaving_[i].octets[0] == 0xFF ? s.bptc : s.mptc);
  }
  counters_.fetched.add(done);
  counters_.left.add(left);
  // Writes back the descriptors that request it (7.2.3.5.1). From here on the driver may use buffer and descriptor
  // again.
  const std::uint32_t end = ends_[done - 1];
  while (ring.head != end) {
    gpu::Descriptor& d = ring.descriptors[ring.head];
    if (gpu::tx_wants_report(gpu::load_relaxed(&d.hi))) gpu::store_release(&d.hi, gpu::kTxDone);
    ring.head = ring.after(ring.head);
  }
  return done;
}

// Makes frames of the ring's descriptors, whole ones only, and returns their number. ends_ says where each stops.
std::uint32_t Nic82599Model::gather(TransmitRing& ring, std::uint32_t max) {
  std::uint32_t frames = 0;
  std::uint32_t at = ring.head;
  while (frames < max && at != ring.tail) {
    std::uint8_t* const room = &gathered_[std::size_t{frames} * kMostFrameBytes];
    WireFrame frame;
    bool good = true;
    bool end = false;
    std::uint32_t promised = 0;
    std::uint32_t next = at;
    for (bool first = true; !end && next != ring.tail; next = ring.after(next)) {
      const gpu::Descriptor& d = ring.descriptors[next];
      const std::uint64_t hi = gpu::load_relaxed(&d.hi);
      const std::uint64_t type = hi & gpu::kTxTypeMask;
      if ((hi & gpu::kTxExtension) != 0 && type == kTxTypeContext && first) {
        continue;  // offload context: this model offloads nothing
      }
      if ((hi & gpu::kTxExtension) == 0 || type != gpu::kTxTypeData) {
        faults_.count(DriverFault::descriptor_unsupported);
        good = false;
        end = true;
        continue;
      }
      const std::uint32_t bytes = gpu::tx_length(hi);
      end = (hi & gpu::kTxEndOfPacket) != 0;
      if (first) promised = gpu::tx_payload_length(hi);
      if (bytes == 0 || frame.bytes + bytes > kMostTransmitBytes) {
        if (good) faults_.count(DriverFault::transmit_length_invalid);
        good = false;
      }
      if (first && (hi & gpu::kTxInsertFcs) == 0) {
        faults_.count(DriverFault::transmit_without_fcs);
        good = false;
      }
      const std::uint8_t* const from = good ? regions_.find(gpu::tx_buffer(d), bytes) : nullptr;
      if (good && from == nullptr) {
        faults_.count(DriverFault::buffer_address_unknown);
        good = false;
      }
      if (good) {
        if (first && end) {
          frame.octets = from;
          __builtin_prefetch(from);
        } else {
          std::memcpy(room + frame.bytes, from, bytes);
          frame.octets = room;
        }
        frame.bytes += bytes;
      }
      first = false;
    }
    if (!end) break;  // the rest of this packet is missing so far
    if (good && promised != frame.bytes) {
      faults_.count(DriverFault::transmit_length_invalid);
      good = false;
    }
    if (good && frame.bytes < 60 && pad_) {
      if (frame.octets != room) std::memcpy(room, frame.octets, frame.bytes);
      std::memset(room + frame.bytes, 0, 60 - frame.bytes);
      frame = {room, 60};
    }
    leaving_[frames] = good ? frame : WireFrame{};
    ends_[frames] = next;
    ++frames;
    at = next;
  }
  return frames;
}

}  // namespace splitplane::nicmodel
