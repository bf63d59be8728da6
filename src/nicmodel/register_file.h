// The model's registers: their values after reset, the side effects of writes, and the orders of writes that the
// datasheet forbids. It reports changes of rings, paths and filters to the model as an Action. Only the model's thread
// calls it. Tail registers are plain words that a driver also writes directly (ring_doorbell).
#pragma once

#include <cstdint>
#include <cstdlib>
#include <map>
#include <memory>
#include <vector>

#include "base/ip_address.h"
#include "gpu/nic/registers_82599.h"
#include "nicmodel/fault.h"
#include "nicmodel/statistics.h"

namespace splitplane::nicmodel {

// What the DMA engine must do after a write.
enum class Action : std::uint8_t { kNone, kReset, kReceiveRing, kTransmitRing, kSteering, kFilter };

struct Written {
  Action action = Action::kNone;
  std::uint32_t ring = 0;  // of kReceiveRing and kTransmitRing
};

class RegisterFile {
 public:
  RegisterFile(const MacAddress& mac, DriverFaults& faults);

  [[nodiscard]] std::uint32_t read(std::uint32_t offset);
  [[nodiscard]] Written write(std::uint32_t offset, std::uint32_t value);

  // For the model: the value without the side effects of a driver's access.
  [[nodiscard]] std::uint32_t value(std::uint32_t offset) const { return words_[offset / 4]; }
  void set(std::uint32_t offset, std::uint32_t value) { words_[offset / 4] = value; }
  [[nodiscard]] std::uint32_t* word(std::uint32_t offset) { return &words_[offset / 4]; }
  [[nodiscard]] Statistics& statistics() { return statistics_; }

  // Turns the NIC into one with an SFP+ slot: its EEPROM does not set the link's mode, and the laser is on after a
  // reset. `module`: a module is in the slot. The link then needs mode, light and cable.
  void fit_sfp_slot(bool module);
  // The link is up when the cable is in and the negotiation is over, which takes a few rounds or reads of LINKS.
  void plug(bool in);
  [[nodiscard]] bool link_is_up() const { return link_can_be() && link_polls_ == 0; }
  void pass_time() { link_polls_ -= link_can_be() && link_polls_ > 0 ? 1 : 0; }
  // For faults of the device: from now on these bits of the register always read so.
  void stick(std::uint32_t offset, std::uint32_t mask, std::uint32_t value) { stuck_.push_back({offset, mask, value}); }
  // A device that is gone answers with ones.
  void unplug_device() { gone_ = true; }

  void reset();

 private:
  struct Free {
    void operator()(std::uint32_t* words) const { std::free(words); }
  };
  struct Stuck {
    std::uint32_t offset, mask, value;
  };
  [[nodiscard]] std::uint32_t read_plain(std::uint32_t offset);
  [[nodiscard]] bool known(std::uint32_t offset) const { return known_[offset / 4]; }
  void know(std::uint32_t first, std::uint32_t n = 1, std::uint32_t stride = 4);
  [[nodiscard]] Written write_queue(std::uint32_t offset, std::uint32_t value);
  void write_semaphore(std::uint32_t value);
  // True with cable, module, light, and a mode that the far end supports.
  [[nodiscard]] bool link_can_be() const;

  DriverFaults& faults_;
  MacAddress mac_;
  std::unique_ptr<std::uint32_t[], Free>
      words_;  // on a page: each ring's words have separate cache lines, as in the BAR
  std::vector<bool> known_;
  Statistics statistics_;
  std::map<const std::uint64_t*, std::uint64_t> latched_;  // counters of 36 bits whose low word was read
  std::vector<Stuck> stuck_;
  bool gone_ = false;
  bool cable_ = true;
  bool slot_ = false, module_ = false;
  // How many more reads return that something is not done yet, because a driver's polling takes time.
  std::uint32_t reset_polls_ = 0, eeprom_polls_ = 0, dma_polls_ = 0, link_polls_ = 0;
};

// Maps registers with two addresses to the address that the model uses (8.2.2).
[[nodiscard]] std::uint32_t canonical(std::uint32_t offset);

}  // namespace splitplane::nicmodel
