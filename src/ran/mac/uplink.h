// The sending MAC of a UE: SDUs first, then control elements, then padding (TS 38.321 6.1.2). What goes into a block is
// chosen in the order of 5.4.3.1.3: C-RNTI or CCCH, BSR, PHR, the other channels, BSR in the place of padding.
#pragma once

#include <optional>

#include "ran/mac/bsr.h"
#include "ran/mac/multiplexer.h"
#include "ran/mac/phr.h"

namespace splitplane::ran::mac {

struct UplinkConfig {
  Time ticks_per_second = 1'000'000'000;
  BsrConfig bsr;
  std::optional<PhrConfig> phr;  // none: no power headroom reports
};

template <buf::PacketBuffer B>
class Uplink {
 public:
  explicit Uplink(const UplinkConfig& config) : mux_(config.ticks_per_second), bsr_(config.bsr) {
    if (config.phr) phr_.emplace(*config.phr);
  }

  // Adds a channel with LCID 1..32 or an extended one; false as Multiplexer::add. LCID 0 is CCCH: set_ccch().
  template <class Entity>
  [[nodiscard]] bool add(const ChannelConfig& config, Entity& entity, Time now) {
    return config.lcid != wire::mac::kLcidCcch && config.lcg < wire::mac::kLcgs && mux_.add(config, entity, now);
  }
  bool remove(std::uint32_t lcid) { return mux_.remove(lcid); }
  // SDUs of CCCH have 6 or 8 octets and no L; others stay where they are.
  void set_ccch(rlc::TmSend<B>& ccch) { ccch_ = &ccch; }
  // Puts a C-RNTI CE into the next block that has room for it.
  void identify(std::uint16_t rnti) { crnti_ = rnti; }

  [[nodiscard]] const Multiplexer<B>& mux() const { return mux_; }
  [[nodiscard]] const BufferStatus& bsr() const { return bsr_; }

  // Looks for new data and runs the timers of the BSR.
  void tick(Time now) {
    WaitingList waiting;
    bsr_.observe(look(waiting));
    bsr_.tick(now);
  }

  // Builds a block of exactly `bytes` octets for a grant for new data; see Downlink::build.
  template <Scheme<B> S>
  bool build(S& scheme, typename S::Block& block, std::size_t bytes, const RadioState& radio, Time now) {
    MuxCounters& counters = mux_.counters();
    if (bytes == 0 || !scheme.begin(block, bytes)) {
      ++counters.no_block;
      return false;
    }
    tick(now);
    bsr_.granted(now);
    if (phr_) phr_->granted(radio, now);
    WaitingList before_list, after_list;
    const std::span<const Waiting> before = look(before_list);

    std::size_t reserved = 0;
    const auto reserve = [&](bool wanted, std::size_t octets) {
      const bool fits = wanted && scheme.room() >= reserved + octets;
      reserved += fits ? octets : 0;
      return fits;
    };
    const bool crnti = reserve(crnti_.has_value(), kCrntiBytes);
    if (ccch_ != nullptr) put_ccch(scheme, reserved);
    const bool bsr = reserve(bsr_.triggered(), BufferStatus::size(before));
    const bool phr = reserve(phr_ && phr_->triggered(), PowerHeadroom::kBytes);

    mux_.fill(scheme, reserved, now);

    const std::span<const Waiting> after = look(after_list);
    // What a scheme without memory refuses waits for the next block.
    if (crnti && put(scheme, ControlElement::of(wire::mac::Crnti{*crnti_}))) crnti_.reset();
    if (bsr) put_bsr(scheme, BufferStatus::report(before, after), now);
    if (phr && put(scheme, PowerHeadroom::report(radio))) phr_->sent(radio, now);
    if (!bsr) put_bsr(scheme, BufferStatus::pad(scheme.room(), before, after), now);
    bsr_.observe(after);

    counters.padding_octets += scheme.finish();
    ++counters.blocks;
    counters.octets += bytes;
    return true;
  }

 private:
  static constexpr std::size_t kCrntiBytes = 3;
  using WaitingList = std::array<Waiting, Prioritisation::kMostChannels>;

  std::span<const Waiting> look(WaitingList& list) const {
    std::size_t count = 0;
    for (const Channel<B>& channel : mux_.channels()) {
      list[count++] = {channel.config().lcg, channel.config().lcp.priority, channel.volume()};
    }
    return {list.data(), count};
  }

  template <class S>
  void put_bsr(S& scheme, const ControlElement& bsr, Time now) {
    if (put(scheme, bsr)) bsr_.sent(bsr, now);
  }
  // False: there is no such element, or no memory for it.
  template <class S>
  [[nodiscard]] bool put(S& scheme, const ControlElement& element) {
    if (element.size() == 0 || !put_octets(scheme, element.octets(), {})) return false;
    ++mux_.counters().elements;
    return true;
  }
  template <class S>
  bool put_octets(S& scheme, Octets first, Octets then) {
    const MutableOctets to = scheme.open(first.size() + then.size());
    if (to.size() < first.size() + then.size()) {
      scheme.close(0);
      return false;
    }
    wire::copy_octets(to.data(), first.data(), first.size());
    wire::copy_octets(to.data() + first.size(), then.data(), then.size());
    scheme.close(first.size() + then.size());
    return true;
  }
  template <class S>
  void put_ccch(S& scheme, std::size_t reserved) {
    const std::size_t bytes = ccch_->next_bytes();
    if ((bytes != 6 && bytes != 8) || scheme.room() < reserved + 1 + bytes) return;
    const B sdu = ccch_->pull(bytes);
    const std::uint8_t subheader = bytes == 6 ? wire::mac::kLcidUlCcch : wire::mac::kLcidCcch;
    if (put_octets(scheme, Octets(&subheader, 1), buf::octets(sdu))) {
      ++mux_.counters().sdus;
      mux_.counters().sdu_octets += bytes;
    }
  }

  Multiplexer<B> mux_;
  BufferStatus bsr_;
  std::optional<PowerHeadroom> phr_;
  rlc::TmSend<B>* ccch_ = nullptr;
  std::optional<std::uint16_t> crnti_;
};

}  // namespace splitplane::ran::mac
