// The logical channels of one UE in one direction: fills a transport block with their SDUs, in the order that
// prioritisation gives. Downlink and Uplink put control elements before and after.
#pragma once

#include <cstring>

#include "ran/mac/channel.h"
#include "ran/mac/scheme.h"

namespace splitplane::ran::mac {

struct MuxCounters {
  std::uint64_t blocks = 0, octets = 0;            // transport blocks, and octets of them
  std::uint64_t no_block = 0;                      // grants of 0 octets, or that the scheme could not serve
  std::uint64_t sdus = 0, sdu_octets = 0;          // RLC PDUs, also STATUS PDUs
  std::uint64_t status = 0;                        // STATUS PDUs among them
  std::uint64_t elements = 0, padding_octets = 0;  // control elements; octets of padding with their subheaders
};

template <buf::PacketBuffer B>
class Multiplexer {
 public:
  explicit Multiplexer(Time ticks_per_second) : lcp_(ticks_per_second) {}

  // Returns false if there are kMostChannels already, or one with this LCID, or if the LCID is none of a channel.
  template <class Entity>
  [[nodiscard]] bool add(const ChannelConfig& config, Entity& entity, Time now) {
    const bool known_form =
        config.lcid <= wire::mac::kLcidLastSdu ||
        (config.lcid >= wire::mac::kFirstExtendedLcid && config.lcid - wire::mac::kFirstExtendedLcid <= 0xFFFF);
    if (!known_form || lcp_.size() == Prioritisation::kMostChannels || find(config.lcid) != nullptr) return false;
    const unsigned at = lcp_.add(config.lcp, now);
    for (unsigned i = lcp_.size() - 1; i != at; --i) channels_[i] = channels_[i - 1];
    channels_[at] = Channel<B>(config, entity);
    return true;
  }
  // Returns false if there is no such channel.
  bool remove(std::uint32_t lcid) {
    for (unsigned at = 0; at < lcp_.size(); ++at) {
      if (channels_[at].lcid() != lcid) continue;
      lcp_.remove(at);
      for (unsigned i = at; i < lcp_.size(); ++i) channels_[i] = channels_[i + 1];
      return true;
    }
    return false;
  }
  [[nodiscard]] std::span<const Channel<B>> channels() const { return {channels_.data(), lcp_.size()}; }
  [[nodiscard]] std::uint64_t volume() const {
    std::uint64_t octets = 0;
    for (const Channel<B>& channel : channels()) octets += channel.volume();
    return octets;
  }
  // What of it a grant could carry now.
  [[nodiscard]] std::uint64_t sendable() const {
    std::uint64_t octets = 0;
    for (const Channel<B>& channel : channels()) octets += channel.sendable();
    return octets;
  }

  // MAC is set up or reset (TS 38.321 5.12): as if all channels were new.
  void restart(Time now) { lcp_.restart(now); }

  // Puts SDUs into the block until nothing more fits, and leaves `reserved` octets of it.
  template <Scheme<B> S>
  void fill(S& scheme, std::size_t reserved, Time now) {
    lcp_.serve(now, [&](unsigned at) { return take(channels_[at], scheme, reserved, now); });
  }

  // For a batch of many UEs. Fetches the state of prioritisation and of the first two channels, then the entities, then
  // their queues, then the first SDUs.
  void prefetch() const {
    fetch(&lcp_, 3);
    fetch(channels_.data(), 2);
    fetch(&counters_, 2);
  }
  void prefetch_entities() const {
    for (const Channel<B>& channel : channels()) channel.prefetch_entity();
  }
  void prefetch_queues() const {
    for (const Channel<B>& channel : channels()) channel.prefetch_queue();
  }
  void prefetch_sdus() const {
    for (const Channel<B>& channel : channels()) channel.prefetch_sdus();
  }

  [[nodiscard]] MuxCounters& counters() { return counters_; }
  [[nodiscard]] const MuxCounters& counters() const { return counters_; }

 private:
  [[nodiscard]] const Channel<B>* find(std::uint32_t lcid) const {
    for (const Channel<B>& channel : channels()) {
      if (channel.lcid() == lcid) return &channel;
    }
    return nullptr;
  }

  static void fetch(const void* at, unsigned lines) {
    for (unsigned i = 0; i < lines; ++i) __builtin_prefetch(static_cast<const char*>(at) + std::size_t{64} * i, 1);
  }

  // Puts the next PDU of a channel into the block and returns its octets, 0 if none fits.
  template <class S>
  std::size_t take(Channel<B>& channel, S& scheme, std::size_t reserved, Time now) {
    const std::size_t room = scheme.room();
    const std::size_t most = room <= reserved ? 0 : wire::mac::most_sdu_bytes(channel.lcid(), room - reserved);
    if (most == 0) return 0;
    if (channel.status_due()) [[unlikely]] {
      if (const std::size_t bytes = put_status(channel, scheme, room - reserved, now); bytes != 0) return bytes;
    }
    rlc::Pdu<B> pdu = channel.pull(most, now);
    if (!pdu) return 0;
    const std::size_t bytes = pdu.size();
    ++counters_.sdus;
    counters_.sdu_octets += bytes;
    scheme.sdu(channel.lcid(), std::move(pdu));
    return bytes;
  }

  // A STATUS is written where it stays, behind a short subheader. It moves by an octet if it needs a long one.
  template <class S>
  std::size_t put_status(Channel<B>& channel, S& scheme, std::size_t room, Time now) {
    const MutableOctets out = scheme.open(room);
    const std::size_t most = wire::mac::most_sdu_bytes(channel.lcid(), out.size());
    const std::size_t before = wire::mac::sdu_subheader_bytes(channel.lcid(), 0);
    const std::size_t bytes = most == 0 ? 0 : channel.write_status(out.subspan(before, most), now);
    if (bytes == 0) {
      scheme.close(0);
      return 0;
    }
    const std::size_t subheader = wire::mac::sdu_subheader_bytes(channel.lcid(), bytes);
    if (subheader != before) std::memmove(out.data() + subheader, out.data() + before, bytes);
    (void)wire::mac::put_sdu_subheader(out.data(), channel.lcid(), bytes);
    scheme.close(subheader + bytes);
    ++counters_.status;
    ++counters_.sdus;
    counters_.sdu_octets += bytes;
    return bytes;
  }

  Prioritisation lcp_;
  std::array<Channel<B>, Prioritisation::kMostChannels> channels_;
  MuxCounters counters_;
};

}  // namespace splitplane::ran::mac
