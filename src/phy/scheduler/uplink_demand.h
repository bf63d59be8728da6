// How many octets wait in a UE's uplink, as its gNB knows: from scheduling requests and buffer status reports, less
// what was granted since (TS 38.321 5.4.4, 5.4.5).
//
// A report says what waited when the UE built the TB that carries it. So grants of later slots than that TB's are taken
// off; grants of that slot and before are in the report already. Slots are numbered since the start (Tick::number): a
// UE may be silent for longer than frame numbers can tell.
#pragma once

#include <algorithm>
#include <array>

#include "phy/slots/grant.h"
#include "wire/mac_bsr.h"
#include "wire/mac_ce.h"

namespace splitplane::phy {

class UplinkDemand {
 public:
  // What a scheduling request is worth: a TB that can carry a long BSR with all groups and some data.
  static constexpr std::uint32_t kRequestBytes = 64;
  // What a TB needs besides the reported octets, which count no headers: a MAC and an RLC header, and the next report.
  static constexpr std::uint32_t kHeaderBytes = 16;

  // The UE asks for a grant and reports nothing (a scheduling request, or random access).
  void requested() { asked_ = true; }

  // A report in the TB of slot `sent_in`: of one logical channel group; of all groups. A short BSR says that all other
  // groups are empty, since only one has data; a short truncated one says nothing of them (TS 38.321 5.4.5). A report
  // that is older than the last one, since its TB had to be sent again, says nothing new.
  void report(std::uint64_t sent_in, const wire::mac::ShortBsr& bsr, bool truncated = false) {
    if (!newest(sent_in)) return;
    if (!truncated) groups_.fill(0);
    groups_[bsr.lcg % groups_.size()] = bounded(wire::mac::bsr5_octets(bsr.size), wire::mac::kBsr5.back());
  }
  void report(std::uint64_t sent_in, const wire::mac::LongBsr& bsr) {
    if (!newest(sent_in)) return;
    for (std::size_t lcg = 0; lcg < groups_.size(); ++lcg) {
      const bool present = (bsr.present >> lcg & 1) != 0;
      groups_[lcg] = present ? bounded(wire::mac::bsr8_octets(bsr.size[lcg]), wire::mac::kBsr8.back()) : 0;
    }
  }
  // A long truncated BSR names the groups that wait, but not which of them its sizes are of: the next report will tell.
  void report(std::uint64_t sent_in, const wire::mac::LongTruncatedBsr& bsr) {
    if (!newest(sent_in)) return;
    for (std::size_t lcg = 0; lcg < groups_.size(); ++lcg) {
      const bool waits = (bsr.with_data >> lcg & 1) != 0;
      groups_[lcg] = waits ? std::max(groups_[lcg], 1U) : 0;
    }
  }

  // The scheduler granted a new TB. A retransmission takes nothing off.
  void granted(std::uint64_t slot, std::uint32_t tb_bytes) {
    asked_ = false;
    recent_[next_] = {slot, tb_bytes};
    next_ = (next_ + 1) % recent_.size();
    granted_ += tb_bytes;
  }

  // Octets that the next TB should have. It is 0 if the UE is known to have nothing.
  [[nodiscard]] std::uint32_t bytes() const {
    std::uint64_t reported = 0;
    for (const std::uint32_t group : groups_) reported += group;
    const std::uint64_t left = reported > granted_ ? reported - granted_ : 0;
    if (left == 0) return asked_ ? kRequestBytes : 0;
    return static_cast<std::uint32_t>(std::min<std::uint64_t>(left + kHeaderBytes, 0xFFFFFFFF));
  }

  [[nodiscard]] std::uint64_t reports() const { return reports_; }      // that were taken
  [[nodiscard]] std::uint64_t stale_reports() const { return stale_; }  // that came after a younger one

 private:
  struct Recent {
    std::uint64_t slot = 0;
    std::uint32_t bytes = 0;
  };
  // The last index means "more than the table's last value", which is all that is known.
  static std::uint32_t bounded(std::uint32_t octets, std::uint32_t last) {
    return octets == wire::mac::kUnbounded ? last + 1 : octets;
  }

  bool newest(std::uint64_t sent_in) {
    if (reports_ != 0 && sent_in < last_report_) {
      ++stale_;
      return false;
    }
    ++reports_;
    last_report_ = sent_in;
    granted_ = 0;
    for (const Recent& grant : recent_) {
      if (grant.slot > sent_in) granted_ += grant.bytes;
    }
    asked_ = false;
    return true;
  }

  std::array<std::uint32_t, wire::mac::kLcgs> groups_{};  // octets reported
  std::uint64_t granted_ = 0;                             // octets granted in later slots than the last report's
  std::array<Recent, 2 * kHarqProcesses> recent_{};       // the last grants, which a late report has to look at
  std::size_t next_ = 0;
  std::uint64_t last_report_ = 0;
  bool asked_ = false;
  std::uint64_t reports_ = 0, stale_ = 0;
};

}  // namespace splitplane::phy
