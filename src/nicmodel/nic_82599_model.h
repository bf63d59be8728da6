// An Intel 82599 in this process: registers, receive and transmit rings, receive side scaling, statistics and the link,
// between a driver's memory and a wire. It is a software NIC for the ring driver on machines without that NIC. It also
// checks the driver: it counts what the datasheet forbids. It runs in lock-step with its caller (step()) or on a
// separate thread (start()).
//
// The DMA engine keeps a NIC's order: payload, then the descriptor by one 64-bit release store; tails are read with
// acquire. A bus address is looked up in the regions that add_memory() registered.
#pragma once

#include <array>
#include <atomic>
#include <functional>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "gpu/nic/bar.h"
#include "nicmodel/dma_regions.h"
#include "nicmodel/fault.h"
#include "nicmodel/register_file.h"
#include "nicmodel/rings.h"
#include "nicmodel/steering.h"
#include "nicmodel/wire.h"

namespace splitplane::nicmodel {

// Why a frame that came or left did not arrive.
// clang-format off
#define SPLITPLANE_NIC_DROPS(X)                                                             \
  X(no_descriptor, "the ring had no descriptor (QPRDC)")                                    \
  X(packet_buffer_full, "the receive packet buffer was full (RXMPC)")                       \
  X(reset, "a reset emptied the packet buffer")                                             \
  X(ring_disabled, "its ring was not enabled (4.6.7)")                                      \
  X(ring_stopped, "its ring had stopped, by an injected fault")                             \
  X(address, "for another address")                                                         \
  X(length, "shorter than 64 octets or longer than MAXFRS")                                 \
  X(buffer_unreachable, "the descriptor's buffer is no DMA memory")                         \
  X(transmit_descriptor, "a descriptor that cannot be sent")
// clang-format on
SPLITPLANE_OUTCOMES(NicDrop, SPLITPLANE_NIC_DROPS)

inline constexpr std::uint32_t kModelRings = 64;

// Counters since the model was made; any thread may read them. arrived = delivered + dropped + held in the packet
// buffer, and fetched = left + dropped as transmit_descriptor.
struct NicCounters {
  Counter arrived, delivered, fetched, left;
  Counter rounds, idle_rounds;
  Counter held;  // now
  std::array<Counter, kNicDropCount> dropped;
  std::array<Counter, kModelRings> no_descriptor;  // of those, by ring
  [[nodiscard]] std::uint64_t dropped_of(NicDrop reason) const {
    return dropped[static_cast<std::size_t>(reason)].get();
  }
};

class Nic82599Model final : public gpu::Bar {
 public:
  static constexpr std::uint32_t kRings = kModelRings;
  static constexpr std::uint32_t kBatch = 32;
  static constexpr std::uint32_t kLateRounds = 4;  // how early InjectedFault::early_done is

  explicit Nic82599Model(Wire& wire, MacAddress mac = {{0x02, 0x82, 0x59, 0x90, 0, 1}});
  ~Nic82599Model() override;
  Nic82599Model(const Nic82599Model&) = delete;
  Nic82599Model& operator=(const Nic82599Model&) = delete;

  // One round of the DMA engine: sends at most `max` frames of each ring, then receives at most `max`. Returns the
  // packets moved.
  std::uint32_t step(std::uint32_t max, std::uint64_t now_ns);
  std::uint32_t step(std::uint32_t max = kBatch);  // reads the clock

  // Starts a thread that makes rounds until stop(), on `core` if that is not negative.
  void start(int core = -1);
  void stop();

  // Adds memory that the NIC may access. Without `bus` the bus address is the host's virtual one.
  void add_memory(void* host, std::uint64_t bytes) { add_memory(host, bytes, reinterpret_cast<std::uintptr_t>(host)); }
  void add_memory(void* host, std::uint64_t bytes, std::uint64_t bus);

  // Makes `fault` once, after `after` more packets (doorbells: tail writes) of this ring. `stops` lasts until a reset.
  void inject(InjectedFault fault, std::uint32_t ring, std::uint64_t after = 0);
  [[nodiscard]] std::uint64_t injected() const { return injected_.get(); }  // faults that were made
  void plug(bool in);                                                       // the cable
  void fit_sfp_slot(bool module = true);  // otherwise the EEPROM sets the port's mode; call it before the bring-up
  void stick(std::uint32_t offset, std::uint32_t mask,
             std::uint32_t value);  // these register bits always read so
  void unplug_device();             // every register reads as ones

  [[nodiscard]] const NicCounters& counters() const { return counters_; }
  [[nodiscard]] const DriverFaults& faults() const { return faults_; }
  // Where frames go by the present registers, of a model whose thread does not run.
  [[nodiscard]] const Steering& steering();

  // gpu::Bar: the control plane's accesses are made between two rounds.
  [[nodiscard]] std::uint32_t read32(std::uint32_t offset) override;
  void write32(std::uint32_t offset, std::uint32_t value) override;
  [[nodiscard]] std::uint32_t* doorbell(std::uint32_t offset) override { return registers_.word(offset); }
  [[nodiscard]] const std::string& name() const override { return name_; }

 private:
  struct Injection {
    InjectedFault fault;
    std::uint32_t ring;
    std::uint64_t after;
  };
  // A frame on its way into a descriptor.
  struct Landing {
    ReceiveRing* ring;
    std::uint32_t descriptor;
    std::uint32_t pieces;
    const std::uint8_t* octets;
    std::uint32_t bytes;
    Steered steered;
    std::uint8_t* buffer;  // of its first piece
  };
  struct Late {
    std::uint8_t* to;
    std::vector<std::uint8_t> octets;
    std::uint32_t rounds = kLateRounds;
  };

  // control
  void on_engine(const std::function<void()>& call);
  void serve_call();
  void run();
  void apply(const Written& written);
  void enable_receive(std::uint32_t n);
  void enable_transmit(std::uint32_t n);
  [[nodiscard]] gpu::Descriptor* latch(std::uint32_t base, std::uint32_t control, ModelRing& ring);
  void configure_filter();
  void reset();
  // the receive path
  std::uint32_t receive(std::uint32_t max, std::uint64_t now_ns);
  [[nodiscard]] bool accept(const WireFrame& frame);
  [[nodiscard]] bool land(const WireFrame& frame, bool from_buffer);
  void flush_landings();
  void write_back(const Landing& landing);
  void hold(const WireFrame& frame);
  std::uint32_t empty_packet_buffer();
  // the transmit path
  std::uint32_t transmit(std::uint32_t max, std::uint64_t now_ns);
  std::uint32_t transmit_ring(TransmitRing& ring, std::uint32_t n, std::uint32_t max, std::uint64_t now_ns);
  std::uint32_t gather(TransmitRing& ring, std::uint32_t max);
  // faults
  [[nodiscard]] bool strikes(InjectedFault fault, std::uint32_t ring, std::uint64_t packets);
  void deliver_late();
  void look(ModelRing& ring, std::uint32_t n, InjectedFault lost_doorbell);

  void drop(NicDrop reason) { counters_.dropped[static_cast<std::size_t>(reason)].add(1); }

  Wire& wire_;
  std::string name_ = "the NIC model";
  DriverFaults faults_;
  NicCounters counters_;
  RegisterFile registers_;
  DmaRegions regions_;
  Steering steering_;
  bool steering_changed_ = true;
  std::array<ReceiveRing, kRings> receive_{};
  std::array<TransmitRing, kRings> transmit_{};
  std::uint32_t transmit_rings_ = 0;  // one more than the highest enabled
  // The receive filter as the registers define it.
  bool receiving_ = false, unicast_promiscuous_ = false, multicast_promiscuous_ = false, broadcast_ = false;
  std::vector<std::uint64_t> addresses_;
  std::uint32_t longest_ = 1518;
  bool pad_ = true, sending_ = false;

  std::array<WireFrame, kBatch> arriving_{};
  std::array<Landing, kBatch> landings_{};
  std::uint32_t landing_count_ = 0;
  PacketBuffer packet_buffer_;
  std::vector<Late> late_;
  // A batch of frames that leave: where each ends in its ring, and room for padded or fragmented ones.
  std::array<WireFrame, kBatch> leaving_{};
  std::array<std::uint32_t, kBatch> ends_{};
  std::vector<std::uint8_t> gathered_;

  std::vector<Injection> injections_;
  Counter injected_;

  std::thread thread_;
  std::atomic<bool> stop_{false};
  bool running_ = false;
  std::mutex callers_;
  std::atomic<const std::function<void()>*> call_{nullptr};
};

}  // namespace splitplane::nicmodel
