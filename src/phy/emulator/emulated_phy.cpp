#include "phy/emulator/emulated_phy.h"

namespace splitplane::phy {

// Failures are counted by the link.
class EmulatedPhy::Sender final : public Indications {
 public:
  Sender(PhyPeer& peer, Time now) : peer_(peer), now_(now) {}
  void take(const fapi::CrcIndication& message) override { (void)peer_.send(message, now_); }
  void take(const fapi::RxDataIndication& message) override { (void)peer_.send(message, now_); }
  void take(const fapi::UciIndication& message) override { (void)peer_.send(message, now_); }

 private:
  PhyPeer& peer_;
  Time now_;
};

EmulatedPhy::EmulatedPhy(const PhyPeer::Settings& peer, DatagramSocket p5, DatagramSocket p7,
                         const Emulator::Settings& emulator, Terminals& terminals, AirObserver* observer)
    : emulator_(emulator, terminals, observer), peer_(peer, std::move(p5), std::move(p7), emulator_) {}

void EmulatedPhy::poll(Ns now) {
  peer_.poll(now / 1000);
  if (clock_ && (!emulator_.running() || starts_ != emulator_.starts())) {
    clock_.reset();
    slot_.reset();
  }
  if (!emulator_.running()) return;
  if (!clock_) {
    starts_ = emulator_.starts();
    clock_.emplace(slot_at(emulator_.cell().numerology, 0), now);
  }
  const auto tick = clock_->poll(now);
  if (!tick) return;
  missed_.add(tick->missed);
  begin_slot(now);
}

// SLOT.indication goes first, since the L2 waits for it; then the slot before is run, with what poll() took for it.
void EmulatedPhy::begin_slot(Ns now) {
  const auto before = std::exchange(slot_, peer_.begin_slot(now / 1000));
  if (!before) return;
  Sender sender(peer_, now / 1000);
  emulator_.end_slot(*before, sender);
}

Ns EmulatedPhy::next_event(Ns now) const {
  constexpr Ns kIdle = 100'000'000;  // nothing happens without a message
  return clock_ ? std::max(now, clock_->next_begin()) : now + kIdle;
}

}  // namespace splitplane::phy
