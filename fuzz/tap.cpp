// Taps. A reader that was written from the format reads the pcapng files of the tap's writer back, from one file or a
// rotation. Interfaces and packets are the same. A file that is cut anywhere ends for whole_blocks() after its last
// whole block. An air view of any frame is a correct UDP datagram that ends with the octets of the frame's PDU.
#include <unistd.h>

#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <optional>
#include <string>

#include "slow_pcapng.h"
#include "tap/air_view.h"
#include "tap/file.h"

namespace splitplane::fuzz {
namespace {

namespace fs = std::filesystem;
namespace pcapng = tap::pcapng;

Bytes read(const fs::path& path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

// One file, or as many as the rotation makes.
void write_and_read(Input& in) {
  const fs::path folder = fs::temp_directory_path() / ("splitplane-fuzz-tap-" + std::to_string(::getpid()));
  fs::remove_all(folder);
  fs::create_directories(folder);
  const std::string path = (folder / "t.pcapng").string();
  std::vector<std::pair<std::string, std::uint32_t>> interfaces(1 + in.octet() % 3);
  for (auto& [name, snap] : interfaces) {
    const Bytes octets = in.bytes(in.octet() % 40);
    name.assign(octets.begin(), octets.end());
    snap = in.word();
  }
  const auto head = [&](pcapng::Buffer& out) {
    pcapng::put_section(out, "splitplane");
    for (const auto& [name, snap] : interfaces) pcapng::put_interface(out, name, "worker", snap);
  };
  constexpr unsigned kFiles = 64;  // more than there can be
  const std::uint64_t limit = in.octet() % 2 == 0 ? 0 : 700 + in.word() % 2000;
  std::vector<SlowPacket> written;
  Bytes last;
  {
    auto file = tap::File::create(path, {limit, limit == 0 ? 1 : kFiles}, head);
    require(file.has_value(), "{}", file ? "" : file.error().message);
    while (!in.empty() && written.size() < 60) {
      SlowPacket p;
      p.interface = in.octet() % static_cast<std::uint32_t>(interfaces.size());
      p.flags = 1 + in.octet() % 2;
      p.time = std::uint64_t{in.word()} << 40 | in.word();
      p.octets = in.bytes(in.octet());
      p.original = static_cast<std::uint32_t>(p.octets.size()) + in.octet();
      const std::size_t bytes = pcapng::packet_block_bytes(p.octets.size());
      const auto room = file->make_room(bytes);
      require(room.has_value(), "{}", room ? "" : room.error().message);
      const std::size_t before = file->blocks().size();
      pcapng::put_packet(file->blocks(), {p.interface, p.time, p.octets, p.original, p.flags});
      same(file->blocks().size() - before, bytes, "octets of a packet's block");
      written.push_back(std::move(p));
    }
    pcapng::put_statistics(file->blocks(), 0, 1, written.size(), 0);
    last = file->blocks();
    require(file->flush().has_value(), "not written");
  }
  // At any place, as a full disk would end it.
  const std::size_t cut = last.empty() ? 0 : (written.size() * 37) % (last.size() + 1);
  const std::size_t whole = pcapng::whole_blocks(last, cut);
  require(whole <= cut && (whole == cut || whole + le(last, whole + 4, 4) > cut || cut - whole < 8),
          "not whole blocks");
  std::vector<SlowPacket> found;
  unsigned statistics = 0;
  for (unsigned n = kFiles + 1; n-- > 0;) {
    const fs::path one = n == 0 ? fs::path(path) : fs::path(tap::rotated_name(path, n));
    if (!fs::exists(one)) continue;
    require(limit == 0 || fs::file_size(one) <= limit + 400, "a file of {} octets, the limit is {}", fs::file_size(one),
            limit);
    SlowFile file = slow_pcapng(read(one));
    require(file.interfaces == interfaces, "other interfaces");
    std::ranges::move(file.packets, std::back_inserter(found));
    statistics += file.statistics;
  }
  require(found == written, "{} packets written, {} read, or others", written.size(), found.size());
  same(statistics, 1U, "statistics");
  fs::remove_all(folder);
}

void translate(tap::View view, Octets frame, std::uint32_t more) {
  tap::AirView air(view);
  const auto seen = air.translate(frame, static_cast<std::uint32_t>(frame.size()) + more);
  if (!seen) return;
  const Octets o = seen->octets;
  std::size_t at = 14;
  while (frame[at - 2] != 0x88 || frame[at - 1] != 0xb5) at += 4;  // tags
  const std::size_t bytes = frame[at + 8] * 256U + frame[at + 9], pdu = at + 10;
  const std::size_t end = std::min(frame.size(), pdu + bytes), cut = pdu + bytes - end;
  require(cut <= more, "{} octets of the PDU lie behind the frame", cut - more);
  require(o.size() > 42 && o[12] == 0x08 && o[13] == 0 && o[14] == 0x45 && o[23] == 17, "no UDP over IPv4");
  same(std::size_t{seen->original_bytes}, o.size() + cut, "original length");
  same(std::size_t{o[16]} * 256 + o[17] + 14, o.size() + cut, "IPv4 length");
  same(std::size_t{o[38]} * 256 + o[39] + 34, o.size() + cut, "UDP length");
  std::uint32_t sum = 0;
  for (std::size_t i = 14; i < 34; i += 2) sum += o[i] * 256U + o[i + 1];
  same(sum % 0xFFFF, 0U, "IPv4 checksum");
  // After the framing comes the PDU, up to its end.
  const std::string text(reinterpret_cast<const char*>(o.data()), o.size());
  require(text.find(view == tap::View::kRlcNr ? "rlc-nr" : "pdcp-nr") == 42, "no framing");
  require(o.back() == frame[end - 1], "it ends otherwise");
}

}  // namespace
}  // namespace splitplane::fuzz

extern "C" int LLVMFuzzerInitialize(int*, char***) {
  return 0;
}

// The first octet chooses the test.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t bytes) {
  using namespace splitplane;
  using namespace splitplane::fuzz;
  Input in(data, bytes);
  const unsigned what = in.octet();
  if (what % 8 == 0) {
    write_and_read(in);
  } else if (what % 8 == 1) {
    const Octets blocks = in.rest();
    require(tap::pcapng::whole_blocks(blocks, blocks.size()) <= blocks.size(), "more than there is");
  } else {
    const std::uint32_t more = what >= 0x80 ? what * 300U : 0;
    translate(what % 2 == 0 ? tap::View::kRlcNr : tap::View::kPdcpNr, in.rest(), more);
  }
  return 0;
}
