#include "radio/radio_ue.h"

#include <algorithm>

namespace splitplane::datapath {

void RadioUe::add(LogicalChannel& channel, Time now) {
  channel.ue = this;
  (void)places.set(channel.lcid(), static_cast<std::uint8_t>(size));  // below 33, so there is a place
  channels[size++] = &channel;
  const ran::mac::ChannelConfig config{.lcid = channel.lcid()};  // equal priority, and no rate that is kept free
  channel.visit([&](auto& entity) { (void)downlink.mux().add(config, entity, now); });
}

RlcView::Mac RadioUe::view() const {
  const ran::mac::MuxCounters& sent = downlink.mux().counters();
  RlcView::Mac view{.blocks_sent = sent.blocks,
                    .octets_sent = sent.octets,
                    .padding_octets_sent = sent.padding_octets,
                    .blocks_received = demux.blocks,
                    .octets_received = demux.octets,
                    .drops = {}};
  for (std::size_t i = 0; i < demux.drops.size(); ++i) {
    if (demux.drops[i] != 0) view.drops.emplace_back(name_of(static_cast<ran::mac::MacDrop>(i)), demux.drops[i]);
  }
  return view;
}

void RadioUe::remove(const LogicalChannel& channel) {
  (void)downlink.mux().remove(channel.lcid());
  const auto end = channels.begin() + size;
  const auto at = std::find(channels.begin(), end, &channel);
  std::copy(at + 1, end, at);
  --size;
  (void)places.set(channel.lcid(), ran::mac::ChannelMap::kNone);
  for (unsigned i = 0; i < size; ++i) (void)places.set(channels[i]->lcid(), static_cast<std::uint8_t>(i));
}

}  // namespace splitplane::datapath
