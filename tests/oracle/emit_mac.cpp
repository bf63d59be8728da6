// MAC transport blocks with SDUs and control elements, as our writers write them.
#include <algorithm>
#include <map>

#include "emit.h"
#include "wire/mac.h"
#include "wire/mac_ce.h"

namespace splitplane::oracle {
namespace {

using namespace wire;

std::string numbered(const char* key, unsigned n) {
  return std::string(key).append(std::to_string(n));
}

// A transport block and what was put into it.
struct Block {
  explicit Block(Direction d) : direction(d) {}
  void subheader(std::uint8_t lcid, std::size_t bytes) {
    append(octets, [&](MutableOctets o) { return mac::write_subheader(o, direction, lcid, bytes); });
    lcids.push_back(lcid);
    lengths.push_back(static_cast<unsigned>(bytes));
  }
  void sdu(std::uint8_t lcid, const Buffer& payload) {
    subheader(lcid, payload.size());
    append(octets, payload);
    sdus.append(sdus.empty() ? "" : ",").append(to_hex(payload));
  }
  void fixed(std::uint8_t lcid) {
    append(octets, [&](MutableOctets o) { return mac::write_fixed_subheader(o, direction, lcid); });
    lcids.push_back(lcid);
  }
  template <class Ce>
  void fixed(std::uint8_t lcid, const Ce& ce) {
    fixed(lcid);
    append(octets, [&](MutableOctets o) { return mac::write(o, ce); });
  }
  void finish(Random& random) {
    Buffer rest(random.in(0, 4));
    const std::size_t padding = mac::write_padding(rest);
    append(octets, rest);
    if (padding != 0) lcids.push_back(mac::kLcidPadding);
    Line line("mac");
    line.add("direction", static_cast<unsigned>(direction)).list("lcid", lcids).list("length", lengths);
    if (!sdus.empty()) line.add("sdu", sdus);
    if (padding > 1) line.add("padding", std::string(2 * (padding - 1), '0'));
    for (const auto& [key, value] : elements) line.add(key.c_str(), value);
    line.print(octets);
  }

  Direction direction;
  Buffer octets;
  std::vector<unsigned> lcids, lengths;
  std::string sdus;
  std::map<std::string, std::string> elements;
};

void sdus(Random& random, Block& block) {
  for (std::uint32_t n = random.in(0, 4); n > 0; --n) {
    const std::uint32_t size = random.in(0, 3) == 0 ? random.in(250, 600) : random.in(1, 40);
    block.sdu(static_cast<std::uint8_t>(random.in(4, 32)), random.data(size));
  }
}

void downlink_block(Random& random) {
  Block b(Direction::kDownlink);
  if (random.flip()) b.fixed(mac::dl::kDrx);
  if (random.flip()) {
    const mac::TimingAdvance ta{static_cast<std::uint8_t>(random.in(0, 3)),
                                static_cast<std::uint8_t>(random.in(0, 63))};
    b.fixed(mac::dl::kTimingAdvance, ta);
    b.elements["tag"] = std::to_string(ta.tag_id);
    b.elements["ta"] = std::to_string(ta.command);
  }
  if (random.flip()) {
    mac::ContentionResolutionId id{};
    const Buffer any = random.data(6);
    std::copy(any.begin(), any.end(), id.begin());
    b.fixed(mac::dl::kContentionResolution, id);
    b.elements["contention"] = to_hex(any);
  }
  if (random.flip()) {
    const mac::ScellActivation a{static_cast<std::uint8_t>(random.in(0, 127) << 1)};
    b.fixed(mac::dl::kScellActivation1, a);
    for (unsigned i = 1; i < 8; ++i) b.elements[numbered("scell", i)] = std::to_string(a.active >> i & 1);
  }
  sdus(random, b);
  if (b.octets.empty()) b.fixed(mac::dl::kLongDrx);
  b.finish(random);
}

void uplink_block(Random& random) {
  Block b(Direction::kUplink);
  const std::uint32_t ccch = random.in(0, 5);
  // CCCH without RRC in it: tshark is told not to look.
  if (ccch == 0 || ccch == 1) {
    const Buffer sdu = random.data(ccch == 0 ? 6 : 8);
    b.fixed(ccch == 0 ? mac::kLcidUlCcch : mac::kLcidCcch);
    append(b.octets, sdu);
    b.sdus = to_hex(sdu);
  } else {
    sdus(random, b);
  }
  if (random.flip()) {
    const mac::Crnti c{static_cast<std::uint16_t>(random.in(1, 0xFFEF))};
    b.fixed(mac::ul::kCrnti, c);
    b.elements["crnti"] = std::to_string(c.rnti);
  }
  if (random.flip()) {
    const mac::SinglePhr phr{static_cast<std::uint8_t>(random.in(0, 63)), static_cast<std::uint8_t>(random.in(0, 63))};
    b.fixed(mac::ul::kSinglePhr, phr);
    b.elements["ph"] = std::to_string(phr.power_headroom);
    b.elements["pcmax"] = std::to_string(phr.pcmax);
  }
  if (random.flip()) {
    const mac::ShortBsr bsr{static_cast<std::uint8_t>(random.in(0, 7)), static_cast<std::uint8_t>(random.in(0, 31))};
    const bool truncated = random.flip();
    b.fixed(truncated ? mac::ul::kShortTruncatedBsr : mac::ul::kShortBsr, bsr);
    b.elements["short_lcg"] = std::to_string(bsr.lcg);
    b.elements[numbered("bs", bsr.lcg)] = std::to_string(bsr.size);
  } else {
    mac::LongBsr bsr{static_cast<std::uint8_t>(random.in(1, 255)), {}};
    for (unsigned lcg = 0; lcg < mac::kLcgs; ++lcg) {
      if ((bsr.present >> lcg & 1) == 0) continue;
      bsr.size[lcg] = static_cast<std::uint8_t>(random.in(0, 254));
      b.elements[numbered("bs", lcg)] = std::to_string(bsr.size[lcg]);
    }
    b.subheader(mac::ul::kLongBsr, 1 + mac::popcount8(bsr.present));
    append(b.octets, [&](MutableOctets o) { return mac::write(o, bsr); });
  }
  b.finish(random);
}

}  // namespace

void emit_mac(Random& random, unsigned count) {
  for (unsigned i = 0; i < count; ++i) {
    downlink_block(random);
    uplink_block(random);
  }
}

}  // namespace splitplane::oracle
