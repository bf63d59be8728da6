// A logical channel as MAC sees it: an LCID, its place in prioritisation, and the RLC entity that is pulled.
#pragma once

#include "ran/mac/lcp.h"
#include "ran/rlc/am_entity.h"
#include "ran/rlc/tm_entity.h"
#include "ran/rlc/um_entity.h"

namespace splitplane::ran::mac {

struct ChannelConfig {
  std::uint32_t lcid = wire::mac::kLcidFirstDrb;  // 0..32, or an extended one, 320..65855
  std::uint8_t lcg = 0;                           // logical channel group, 0..7 (uplink)
  LcpConfig lcp;
};

// The sending side. The entity stays with its owner and lives as long as the channel.
template <buf::PacketBuffer B>
class Channel {
 public:
  Channel() = default;
  Channel(const ChannelConfig& config, rlc::AmEntity<B>& am) : config_(config), mode_(RlcMode::kAm), am_(&am) {}
  Channel(const ChannelConfig& config, rlc::UmSend<B>& um) : config_(config), mode_(RlcMode::kUm), um_(&um) {}
  Channel(const ChannelConfig& config, rlc::TmSend<B>& tm) : config_(config), mode_(RlcMode::kTm), tm_(&tm) {}

  [[nodiscard]] const ChannelConfig& config() const { return config_; }
  [[nodiscard]] std::uint32_t lcid() const { return config_.lcid; }

  // The next data PDU of at most `grant` octets; none if nothing waits, or nothing fits.
  [[nodiscard]] rlc::Pdu<B> pull(std::size_t grant, rlc::Time now) {
    switch (mode_) {
      case RlcMode::kAm:
        fetch_ahead(am_->sender().queue());
        return am_->pull_data(grant, now);
      case RlcMode::kUm:
        fetch_ahead(um_->queue());
        return um_->pull(grant);
      case RlcMode::kTm:
        break;
    }
    fetch_ahead(tm_->queue());
    rlc::Pdu<B> pdu;
    pdu.sdu = tm_->pull(grant);
    pdu.length = static_cast<std::uint16_t>(pdu.sdu.size());
    return pdu;
  }

  [[nodiscard]] bool status_due() const { return mode_ == RlcMode::kAm && am_->status_due(); }
  [[nodiscard]] std::size_t write_status(wire::MutableOctets out, rlc::Time now) { return am_->write_status(out, now); }

  // Octets of the PDUs that would carry everything that waits (TS 38.322 5.5).
  [[nodiscard]] std::uint64_t volume() const {
    switch (mode_) {
      case RlcMode::kAm:
        return am_->volume();
      case RlcMode::kUm:
        return um_->volume();
      case RlcMode::kTm:
        break;
    }
    return tm_->volume();
  }

  // What of it a grant could carry now: see AmEntity.
  [[nodiscard]] std::uint64_t sendable() const { return mode_ == RlcMode::kAm ? am_->sendable() : volume(); }

  // For a batch of many UEs, whose state is in no cache. Each function fetches what the next one looks at: the entity,
  // then the SDUs that wait, then the first of these buffers.
  void prefetch_entity() const {
    const auto* const at = static_cast<const char*>(entity());
    for (std::size_t octet = 0; octet < entity_bytes(); octet += kLine) __builtin_prefetch(at + octet, 1);
  }
  void prefetch_queue() const { queue().prefetch_page(); }
  void prefetch_sdus() const {
    for (unsigned i = 0; i < kAhead; ++i) {
      const B* const sdu = queue().ahead(i);
      if (sdu == nullptr) return;
      buf::prefetch(*sdu);
    }
  }

 private:
  static constexpr std::size_t kLine = 64;
  static constexpr unsigned kAhead = 8;  // SDUs whose buffers are fetched before they are pulled

  static void fetch_ahead(const rlc::SduQueue<B>& queue) {
    if (const B* const sdu = queue.ahead(kAhead); sdu != nullptr) buf::prefetch(*sdu);
  }
  [[nodiscard]] const rlc::SduQueue<B>& queue() const {
    return mode_ == RlcMode::kAm ? am_->sender().queue() : mode_ == RlcMode::kUm ? um_->queue() : tm_->queue();
  }
  [[nodiscard]] const void* entity() const {
    return mode_ == RlcMode::kAm   ? static_cast<const void*>(am_)
           : mode_ == RlcMode::kUm ? static_cast<const void*>(um_)
                                   : static_cast<const void*>(tm_);
  }
  [[nodiscard]] std::size_t entity_bytes() const {
    return mode_ == RlcMode::kAm   ? sizeof(rlc::AmEntity<B>)
           : mode_ == RlcMode::kUm ? sizeof(rlc::UmSend<B>)
                                   : sizeof(rlc::TmSend<B>);
  }

  ChannelConfig config_;
  RlcMode mode_ = RlcMode::kTm;
  union {
    rlc::AmEntity<B>* am_ = nullptr;
    rlc::UmSend<B>* um_;
    rlc::TmSend<B>* tm_;
  };
};

}  // namespace splitplane::ran::mac
