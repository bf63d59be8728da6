#include "gpu/nic/sfp_slot.h"

#include "gpu/nic/registers_82599.h"

namespace splitplane::gpu {

using namespace std::chrono_literals;

namespace {

constexpr auto kDark = 100us;  // SFF-8431: time until TX_DISABLE has switched the laser off
constexpr auto kLit = 100ms;   // the opposite takes 2 ms; vendors' drivers wait this long for slow modules

}  // namespace

bool SfpSlot::is_empty() {
  return (bar_.read32(reg::kEsdp) & reg::kEsdpModuleThere) == 0;
}

void SfpSlot::darken() {
  bar_.write32(reg::kEsdp, bar_.read32(reg::kEsdp) | reg::kEsdpLaserOff);
  (void)bar_.read32(reg::kEsdp);  // the write reaches the pin before the time begins
  sleep_(kDark);
}

void SfpSlot::light() {
  bar_.write32(reg::kEsdp, bar_.read32(reg::kEsdp) & ~reg::kEsdpLaserOff);
  (void)bar_.read32(reg::kEsdp);
  sleep_(kLit);
}

void SfpSlot::use_sfi() {
  const std::uint32_t other = bar_.read32(reg::kAutoc2) & ~reg::kAutoc2SerialMask;
  bar_.write32(reg::kAutoc2, other | reg::kAutoc2SerialSfi);
  const std::uint32_t rest = bar_.read32(reg::kAutoc) & ~reg::kAutocModeMask;
  bar_.write32(reg::kAutoc, rest | reg::kAutocMode10gSerial | reg::kAutocRestart);
}

}  // namespace splitplane::gpu
