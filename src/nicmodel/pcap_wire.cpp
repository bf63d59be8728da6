#include "nicmodel/pcap_wire.h"

#include <pcap/pcap.h>

#include <algorithm>

#include "base/plain_file.h"

namespace splitplane::nicmodel {

namespace {

constexpr std::size_t kMostBytes = std::size_t{1} << 30;  // of frames, held in memory
constexpr std::uint32_t kMostBytesInFile = 16 * 1024;

}  // namespace

Expected<std::unique_ptr<PcapWire>> PcapWire::open(const PcapSettings& settings) {
  std::unique_ptr<PcapWire> wire(new PcapWire(settings));
  if (!settings.replay.empty()) {
    if (auto done = wire->load(); !done) return tl::unexpected(done.error());
  }
  if (!settings.record.empty()) {
    if (auto done = wire->create(); !done) return tl::unexpected(done.error());
  }
  return wire;
}

PcapWire::~PcapWire() {
  if (file_ != nullptr) pcap_dump_close(file_);
  if (dead_ != nullptr) pcap_close(dead_);
}

Expected<void> PcapWire::load() {
  const std::string& path = settings_.replay;
  if (const auto refused = refuse_to_read(path)) return fail("{}: {}; allowed: a pcap or pcapng file", path, *refused);
  char why[PCAP_ERRBUF_SIZE] = {};
  const std::unique_ptr<pcap_t, decltype(&pcap_close)> file(
      pcap_open_offline_with_tstamp_precision(path.c_str(), PCAP_TSTAMP_PRECISION_NANO, why), &pcap_close);
  if (!file) {  // libpcap names the file if it could not be opened
    const std::string said(why);
    return said.starts_with(path) ? fail("{}", said) : fail("{}: {}", path, said);
  }
  if (pcap_datalink(file.get()) != DLT_EN10MB) {
    return fail("{}: link type {}; allowed: Ethernet", path, pcap_datalink(file.get()));
  }
  pcap_pkthdr* header = nullptr;
  const std::uint8_t* data = nullptr;
  int status = 0;
  std::uint64_t first_ns = 0;
  while ((status = pcap_next_ex(file.get(), &header, &data)) == 1) {
    const std::size_t n = frames_.size() + 1;
    if (header->caplen != header->len) return fail("{}: frame {} was cut when recorded", path, n);
    if (header->caplen < 14 || header->caplen > kMostBytesInFile) {
      return fail("{}: frame {} has {} octets; allowed: 14 to {}", path, n, header->caplen, kMostBytesInFile);
    }
    if (octets_.size() + header->caplen > kMostBytes) return fail("{}: more than {} octets", path, kMostBytes);
    const std::uint64_t at = static_cast<std::uint64_t>(header->ts.tv_sec) * 1'000'000'000 +
                             static_cast<std::uint64_t>(header->ts.tv_usec);  // ns, as asked for above
    if (frames_.empty()) first_ns = at;
    const std::uint64_t since = at > first_ns ? at - first_ns : 0;
    // A wire pads frames that are shorter than 60 octets before it adds the CRC.
    const std::uint32_t bytes = std::max(header->caplen, 60U);
    frames_.push_back({octets_.size(), bytes, frames_.empty() ? 0 : std::max(since, frames_.back().at_ns)});
    octets_.insert(octets_.end(), data, data + header->caplen);
    octets_.resize(octets_.size() + (bytes - header->caplen));
  }
  if (status == PCAP_ERROR) return fail("{}: {}", path, pcap_geterr(file.get()));
  if (frames_.empty()) return fail("{}: holds no frame", path);
  return {};
}

Expected<void> PcapWire::create() {
  dead_ =
      pcap_open_dead_with_tstamp_precision(DLT_EN10MB, static_cast<int>(kMostBytesInFile), PCAP_TSTAMP_PRECISION_NANO);
  if (dead_ == nullptr) return fail("{}: no memory", settings_.record);
  file_ = pcap_dump_open(dead_, settings_.record.c_str());
  if (file_ == nullptr) return fail("{}", pcap_geterr(dead_));
  return {};
}

bool PcapWire::done() const {
  return settings_.rounds != 0 && arrived_.get() == std::uint64_t{settings_.rounds} * frames_.size();
}

std::uint32_t PcapWire::arrive(WireFrame* frames, std::uint32_t max, std::uint64_t now_ns) {
  if (frames_.empty()) return 0;
  if (start_ns_ == 0) start_ns_ = now_ns;
  const std::uint64_t round_ns = frames_.back().at_ns + 1;
  std::uint32_t n = 0;
  while (n < max && !done()) {
    const std::uint64_t arrived = arrived_.get();
    const Frame& frame = frames_[arrived % frames_.size()];
    if (settings_.recorded_time && now_ns - start_ns_ < arrived / frames_.size() * round_ns + frame.at_ns) break;
    frames[n++] = {&octets_[frame.offset], frame.bytes};
    arrived_.add(1);
  }
  return n;
}

std::uint32_t PcapWire::leave(const WireFrame* frames, std::uint32_t n, std::uint64_t now_ns) {
  left_.add(n);
  if (file_ == nullptr) return n;
  for (std::uint32_t i = 0; i < n; ++i) {
    pcap_pkthdr header{};
    header.ts.tv_sec = static_cast<time_t>(now_ns / 1'000'000'000);
    header.ts.tv_usec = static_cast<suseconds_t>(now_ns % 1'000'000'000);
    header.caplen = header.len = frames[i].bytes;
    pcap_dump(reinterpret_cast<u_char*>(file_), &header, frames[i].octets);
  }
  return n;
}

Expected<void> PcapWire::flush() {
  if (file_ != nullptr && pcap_dump_flush(file_) != 0) return fail("{}: could not be written", settings_.record);
  return {};
}

}  // namespace splitplane::nicmodel
