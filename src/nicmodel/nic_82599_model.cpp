// The model's control: registers on the engine's thread, rings that are enabled and disabled, resets, and its thread.
// The model has no time on the wire (the peer keeps to 10 Gbit/s) or on PCIe, and no interrupts beyond their masks. It
// has no offloads (checksums, segmentation, VLAN, coalescing), no flow control, no multicast table and no virtual
// functions. It ignores the thresholds of TXDCTL: each requested DD is written at once.
#include "nicmodel/nic_82599_model.h"

#include <pthread.h>
#include <sched.h>
#include <time.h>

namespace splitplane::nicmodel {

namespace reg = gpu::reg;

namespace {

constexpr std::uint32_t kPacketBufferBytes = 512 * 1024;  // RXPBSIZE[0] without DCB (8.2.3.8.9)
constexpr std::uint32_t kMostFrameBytes = 16 * 1024;      // 7.2.3.2: a packet of 15.5 KiB at most
constexpr unsigned kIdleRounds = 64;                      // idle rounds before the thread yields its core for a while

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

}  // namespace splitplane::nicmodel
