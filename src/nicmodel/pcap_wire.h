// The wire's far end as files. Frames of a capture arrive as fast as the NIC takes them or at their recorded times.
// Frames that leave are recorded. Either may be absent.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "base/counter.h"
#include "base/expected.h"
#include "nicmodel/wire.h"

struct pcap;
struct pcap_dumper;

namespace splitplane::nicmodel {

struct PcapSettings {
  std::string replay;          // pcap or pcapng, link type Ethernet; empty: no frame arrives
  std::string record;          // pcap; empty: frames that leave are only counted
  std::uint32_t rounds = 1;    // how often the capture is replayed; 0: for ever
  bool recorded_time = false;  // at the intervals of the capture; false: as fast as frames are taken
};

class PcapWire final : public Wire {
 public:
  static Expected<std::unique_ptr<PcapWire>> open(const PcapSettings& settings);
  ~PcapWire() override;
  PcapWire(const PcapWire&) = delete;
  PcapWire& operator=(const PcapWire&) = delete;

  [[nodiscard]] std::uint32_t arrive(WireFrame* frames, std::uint32_t max, std::uint64_t now_ns) override;
  [[nodiscard]] std::uint32_t leave(const WireFrame* frames, std::uint32_t n, std::uint64_t now_ns) override;

  [[nodiscard]] std::uint64_t arrived() const { return arrived_.get(); }
  [[nodiscard]] std::uint64_t left() const { return left_.get(); }
  // True if all frames of the capture have arrived. Any thread may call this and the two above.
  [[nodiscard]] bool done() const;
  // Writes out the recording. The error is one sentence.
  Expected<void> flush();

 private:
  struct Frame {
    std::size_t offset;
    std::uint32_t bytes;
    std::uint64_t at_ns;  // since the first frame
  };
  explicit PcapWire(PcapSettings settings) : settings_(std::move(settings)) {}
  Expected<void> load();
  Expected<void> create();

  PcapSettings settings_;
  std::vector<std::uint8_t> octets_;
  std::vector<Frame> frames_;
  Counter arrived_, left_;
  std::uint64_t start_ns_ = 0;
  pcap* dead_ = nullptr;
  pcap_dumper* file_ = nullptr;
};

}  // namespace splitplane::nicmodel
