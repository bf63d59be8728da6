// The readers of captures for `gen` and `power replay`. For any file a refusal is one sentence, and an accepted file
// has whole frames with ascending times from 0. A reader of 40 lines also reads classic pcap files of microseconds or
// nanoseconds, and both must return the same frames.
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <optional>
#include <string>

#include "fuzz.h"
#include "power/replay/arrivals.h"
#include "traffic/replay.h"

namespace splitplane::fuzz {
namespace {

constexpr std::size_t kLongest = 2048, kShortest = 14;

// The input as a file in memory.
class MemoryFile {
 public:
  explicit MemoryFile(Octets octets) : descriptor_(::memfd_create("capture", MFD_CLOEXEC)) {
    require(
        descriptor_ >= 0 && ::write(descriptor_, octets.data(), octets.size()) == static_cast<ssize_t>(octets.size()),
        "no memory for a file");
  }
  MemoryFile(const MemoryFile&) = delete;
  MemoryFile& operator=(const MemoryFile&) = delete;
  ~MemoryFile() { ::close(descriptor_); }
  [[nodiscard]] std::string path() const { return "/proc/self/fd/" + std::to_string(descriptor_); }

 private:
  int descriptor_;
};

// The frames of a classic pcap file (little endian, link type Ethernet); nothing if it is another kind of file, ends
// inside a record, or has a record that `gen` cannot send.
std::optional<std::vector<Octets>> slow_pcap(Octets file) {
  const auto word = [&](std::size_t at) {
    std::uint32_t value = 0;
    for (std::size_t i = 4; i-- > 0;) value = value * 256 + file[at + i];
    return value;
  };
  if (file.size() < 24 || (word(0) != 0xa1b2c3d4 && word(0) != 0xa1b23c4d)) return std::nullopt;
  if (file[4] != 2 || file[5] != 0 || file[6] != 4 || file[7] != 0 || word(20) != 1) return std::nullopt;
  if (word(16) < kLongest) return std::nullopt;  // libpcap decides about a snapshot length that cuts records
  std::vector<Octets> frames;
  for (std::size_t at = 24; at != file.size();) {
    if (file.size() - at < 16) return std::nullopt;
    const std::uint32_t captured = word(at + 8), original = word(at + 12);
    if (captured != original || captured > kLongest || captured < kShortest) return std::nullopt;
    if (file.size() - at - 16 < captured) return std::nullopt;
    frames.push_back(file.subspan(at + 16, captured));
    at += 16 + captured;
  }
  if (frames.empty()) return std::nullopt;
  return frames;
}

void check(Octets file) {
  const MemoryFile memory(file);
  const auto replay = traffic::Replay::load(memory.path(), kLongest);
  const auto slow = slow_pcap(file);
  require(replay || !slow, "a good file is refused: {}", replay ? "" : replay.error().message);
  if (replay) {
    require(replay->flows() != 0 && replay->times_ns().size() == replay->flows(), "no frames, or no times");
    require(replay->times_ns().front() == 0, "the first time is not 0");
    require(std::ranges::is_sorted(replay->times_ns()), "times go back");
    if (slow) same(std::size_t{replay->flows()}, slow->size(), "frames");
    for (std::uint32_t flow = 0; flow < replay->flows(); ++flow) {
      Bytes frame(kLongest);
      replay->prefetch(flow);
      frame.resize(replay->make(flow, 0, 0, frame.data()));
      require(frame.size() >= kShortest, "frame {} of {} octets is sent", flow, frame.size());
      require(!slow || std::ranges::equal(frame, (*slow)[flow]), "frame {} differs", flow);
    }
  } else {
    require(!replay.error().message.empty() && replay.error().message.find('\n') == std::string::npos, "no sentence");
  }
  const auto times = power::replay::load_times(memory.path());
  require(times || !replay, "gen reads a file that power replay refuses");
  if (times) require(!times->times_ns.empty() && times->times_ns.front() == 0, "times begin elsewhere");
  if (times) require(std::ranges::is_sorted(times->times_ns), "times of power replay go back");
}

}  // namespace
}  // namespace splitplane::fuzz

extern "C" int LLVMFuzzerInitialize(int*, char***) {
  return 0;
}

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t bytes) {
  splitplane::fuzz::check({data, bytes});
  return 0;
}
