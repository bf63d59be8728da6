#include "traffic/replay.h"

#include <pcap/pcap.h>

#include <algorithm>
#include <cstring>
#include <memory>

#include "base/plain_file.h"

namespace splitplane::traffic {

Expected<Replay> Replay::load(const std::string& path, std::size_t longest_frame) {
  if (const auto refused = refuse_to_read(path)) return fail("{}: {}; allowed: a pcap or pcapng file", path, *refused);
  char why[PCAP_ERRBUF_SIZE] = {};
  const std::unique_ptr<pcap_t, decltype(&pcap_close)> file(
      pcap_open_offline_with_tstamp_precision(path.c_str(), PCAP_TSTAMP_PRECISION_NANO, why), &pcap_close);
  if (!file) return fail("{}: {}", path, why);
  if (pcap_datalink(file.get()) != DLT_EN10MB) {
    return fail("{}: link type {}; allowed: Ethernet", path, pcap_datalink(file.get()));
  }
  Replay replay;
  pcap_pkthdr* header = nullptr;
  const std::uint8_t* data = nullptr;
  int status = 0;
  while ((status = pcap_next_ex(file.get(), &header, &data)) == 1) {
    if (header->caplen != header->len) return fail("{}: frame {} was cut when recorded", path, replay.flows() + 1);
    if (header->caplen < kShortestFrame) {
      return fail("{}: frame {} has {} octets; allowed: at least {}, an Ethernet header", path, replay.flows() + 1,
                  header->caplen, kShortestFrame);
    }
    if (header->caplen > longest_frame) {
      return fail("{}: frame {} has {} octets; allowed: at most {} (memory.mbuf_data_bytes)", path, replay.flows() + 1,
                  header->caplen, longest_frame);
    }
    if (replay.octets_.size() + header->caplen > kMostBytes) return fail("{}: more than {} octets", path, kMostBytes);
    replay.frames_.push_back({replay.octets_.size(), header->caplen});
    replay.octets_.insert(replay.octets_.end(), data, data + header->caplen);
    const std::uint64_t at = static_cast<std::uint64_t>(header->ts.tv_sec) * 1'000'000'000 +
                             static_cast<std::uint64_t>(header->ts.tv_usec);  // ns, as asked for above
    replay.times_ns_.push_back(at);
  }
  if (status == PCAP_ERROR) return fail("{}: {}", path, pcap_geterr(file.get()));
  if (replay.frames_.empty()) return fail("{}: holds no frame", path);
  // Captures of several queues are not always in order; a packet never leaves before its predecessor.
  for (std::size_t i = replay.times_ns_.size(); i-- > 0;) {
    replay.times_ns_[i] -= std::min(replay.times_ns_[i], replay.times_ns_[0]);
  }
  for (std::size_t i = 1; i < replay.times_ns_.size(); ++i) {
    replay.times_ns_[i] = std::max(replay.times_ns_[i], replay.times_ns_[i - 1]);
  }
  return replay;
}

unsigned Replay::make(std::uint32_t flow, std::uint32_t /*size*/, std::uint64_t /*intended_ns*/,
                      std::uint8_t* out) const {
  const Frame& frame = frames_[flow];
  std::memcpy(out, &octets_[frame.offset], frame.bytes);
  return frame.bytes;
}

}  // namespace splitplane::traffic
