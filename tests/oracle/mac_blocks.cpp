// mac_blocks SEED COUNT: transport blocks that ran/mac builds of RLC entities and control elements, downlink and uplink
// in turns, one line each as wire_emit prints them: what was put into the block, and its octets. So tshark can judge
// the whole way from prioritisation to padding.
#include <algorithm>
#include <map>
#include <memory>

#include "buf/heap_buffer.h"
#include "emit.h"
#include "ran/mac/downlink.h"
#include "ran/mac/gather.h"
#include "ran/mac/iov.h"
#include "ran/mac/uplink.h"

namespace splitplane::oracle {
namespace {

using namespace ran::mac;
using Sdu = buf::HeapBuffer;
namespace rlc = ran::rlc;

constexpr std::uint32_t kAmLcid = 4, kUmLcid = 5;
constexpr std::uint8_t kAmLcg = 2, kUmLcg = 5;

// What a scheme is told, noted before it is passed on.
template <class S>
class Noted {
 public:
  using Block = typename S::Block;
  bool begin(Block& block, std::size_t bytes) {
    lcids.clear();
    lengths.clear();
    am_sn.clear();
    am_si.clear();
    um_si.clear();
    sdus.clear();
    padding = 0;
    return scheme_.begin(block, bytes);
  }
  [[nodiscard]] std::size_t room() const { return scheme_.room(); }
  void sdu(std::uint32_t channel, rlc::Pdu<Sdu>&& pdu) {
    Buffer octets(pdu.size());
    pdu.write(octets);
    note_sdu(channel, octets);
    scheme_.sdu(channel, std::move(pdu));
  }
  MutableOctets open(std::size_t most) { return opened_ = scheme_.open(most); }
  // A control element, or a STATUS PDU with the subheader of its channel.
  void close(std::size_t used) {
    if (used != 0) {
      wire::mac::Cursor cursor(opened_.first(used), direction);
      wire::mac::SubPdu s;
      if (!cursor.next(s)) std::exit(1);
      if (s.kind == wire::mac::Kind::kSdu) {
        note_sdu(s.lcid, Buffer(s.payload.begin(), s.payload.end()));
      } else {
        lcids.push_back(s.lcid);
        if (s.subheader_bytes > 1) lengths.push_back(static_cast<unsigned>(s.payload.size()));
      }
    }
    scheme_.close(used);
  }
  std::size_t finish() { return padding = scheme_.finish(); }
  void flush() { scheme_.flush(); }
  [[nodiscard]] std::uint64_t copied_octets() const { return scheme_.copied_octets(); }

  Direction direction = Direction::kDownlink;
  std::vector<unsigned> lcids, lengths, am_sn, am_si, um_si;
  std::string sdus;
  std::size_t padding = 0;

 private:
  void note_sdu(std::uint32_t channel, const Buffer& octets) {
    lcids.push_back(channel);
    lengths.push_back(static_cast<unsigned>(octets.size()));
    sdus.append(sdus.empty() ? "" : ",").append(to_hex(octets));
    if (const auto am = wire::rlc::parse_am(octets, 18); channel == kAmLcid && am) {
      am_sn.push_back(am->sn);
      am_si.push_back(static_cast<unsigned>(am->si));
    }
    if (const auto um = wire::rlc::parse_um(octets, 12); channel == kUmLcid && um) {
      um_si.push_back(static_cast<unsigned>(um->si));
    }
  }
  S scheme_;
  MutableOctets opened_;
};

class Ue {
 public:
  explicit Ue(Random& random) : random_(random), uplink_({.phr = PhrConfig{.periodic = 7}}) {
    bool added = downlink_.mux().add({.lcid = kAmLcid}, am_, 0) && downlink_.mux().add({.lcid = kUmLcid}, um_, 0);
    added = added && uplink_.add({.lcid = kAmLcid, .lcg = kAmLcg, .lcp = {.priority = 3}}, am_, 0);
    added = added && uplink_.add({.lcid = kUmLcid, .lcg = kUmLcg, .lcp = {.priority = 5}}, um_, 0);
    if (!added) std::exit(1);
    gather_.direction = Direction::kDownlink;
    iov_.direction = Direction::kUplink;
  }

  // Downlink blocks are gathered, uplink blocks are lists of pieces.
  void block(Time now) {
    arrive();
    std::map<std::string, std::string> told;
    const std::size_t bytes = random_.in(0, 9) == 0 ? random_.in(1, 12) : random_.in(20, 900);
    if (now % 2 == 0) {
      if (bytes >= 20) elements(told);
      Buffer memory(bytes, 0xEE);
      MutableOctets block(memory);
      if (!downlink_.build(gather_, block, bytes, now)) std::exit(1);
      gather_.flush();
      print(gather_, told, memory);
    } else {
      const RadioState radio{static_cast<std::uint8_t>(random_.in(0, 63)), static_cast<std::uint8_t>(random_.in(0, 63)),
                             90};
      const auto crnti = static_cast<std::uint16_t>(random_.in(1, 0xFFEF));
      const bool identify = bytes >= 20 && random_.flip();
      if (identify) uplink_.identify(crnti);
      waited_am_ = am_.volume();
      waited_um_ = um_.volume();
      IovBlock<Sdu> block(512, 2048);
      if (!uplink_.build(iov_, block, bytes, radio, now)) std::exit(1);
      Buffer memory(bytes);
      block.linearize(memory);
      if (identify) told["crnti"] = std::to_string(crnti);
      reports(told, radio);
      print(iov_, told, memory);
      block.release();
    }
    // The peer has received everything; it never answers.
    if (am_.sender().queue().size() == 0 && am_.sender().waiting() == 0) am_.restart_at(am_.sender().next());
  }

 private:
  void arrive() {
    for (std::uint32_t n = random_.in(0, 4); n != 0; --n) {
      Sdu sdu = pool_.make(random_.data(random_.in(0, 4) == 0 ? random_.in(200, 700) : random_.in(1, 60)));
      if (random_.flip() ? !am_.send(sdu) : !um_.send(sdu)) std::exit(1);
    }
  }
  void elements(std::map<std::string, std::string>& told) {
    bool added = true;
    if (random_.flip()) added = downlink_.add(ControlElement::drx());
    if (random_.flip()) {
      const wire::mac::TimingAdvance ta{static_cast<std::uint8_t>(random_.in(0, 3)),
                                        static_cast<std::uint8_t>(random_.in(0, 63))};
      added = added && downlink_.add(ControlElement::of(ta));
      told["tag"] = std::to_string(ta.tag_id);
      told["ta"] = std::to_string(ta.command);
    }
    if (random_.flip()) {
      wire::mac::ContentionResolutionId id{};
      const Buffer any = random_.data(6);
      std::copy(any.begin(), any.end(), id.begin());
      added = added && downlink_.add(ControlElement::of(id));
      told["contention"] = to_hex(any);
    }
    if (!added) std::exit(1);
  }
  // What the reports of an uplink block have to say of what waits now, by the rules of TS 38.321 5.4.5 for its format.
  void reports(std::map<std::string, std::string>& told, const RadioState& radio) {
    const auto has = [&](unsigned lcid) {
      return std::find(iov_.lcids.begin(), iov_.lcids.end(), lcid) != iov_.lcids.end();
    };
    if (has(wire::mac::ul::kSinglePhr)) {
      told["ph"] = std::to_string(radio.power_headroom);
      told["pcmax"] = std::to_string(radio.pcmax);
    }
    const auto short_report = [&](unsigned lcg) {
      told["short_lcg"] = std::to_string(lcg);
      told["bs" + std::to_string(lcg)] = std::to_string(wire::mac::bsr5_index(waits(lcg)));
    };
    const auto long_size = [&](unsigned lcg) {
      told["bs" + std::to_string(lcg)] = std::to_string(wire::mac::bsr8_index(waits(lcg)));
    };
    if (has(wire::mac::ul::kShortBsr)) short_report(waited_am_ == 0 && waited_um_ != 0 ? kUmLcg : kAmLcg);
    if (has(wire::mac::ul::kShortTruncatedBsr)) short_report(kAmLcg);  // it has the higher priority
    if (has(wire::mac::ul::kLongBsr)) {
      if (waited_am_ != 0) long_size(kAmLcg);
      if (waited_um_ != 0) long_size(kUmLcg);
    }
    if (has(wire::mac::ul::kLongTruncatedBsr) && iov_.lengths.back() == 2) {
      told["truncated_size"] = std::to_string(wire::mac::bsr8_index(waits(kAmLcg)));
    }
    if (!has(wire::mac::ul::kLongBsr) && !has(wire::mac::ul::kLongTruncatedBsr)) return;
    for (unsigned lcg = 0; lcg < wire::mac::kLcgs; ++lcg) {
      const bool data = (lcg == kAmLcg && waited_am_ != 0) || (lcg == kUmLcg && waited_um_ != 0);
      told["in_long" + std::to_string(lcg)] = data ? "1" : "0";
    }
  }
  [[nodiscard]] std::uint64_t waits(unsigned lcg) const { return lcg == kAmLcg ? am_.volume() : um_.volume(); }

  template <class S>
  void print(const Noted<S>& noted, const std::map<std::string, std::string>& told, const Buffer& octets) {
    Line line("mac");
    std::vector<unsigned> lcids = noted.lcids;
    if (noted.padding != 0) lcids.push_back(wire::mac::kLcidPadding);
    line.add("direction", static_cast<unsigned>(noted.direction)).list("lcid", lcids).list("length", noted.lengths);
    line.list("am_sn", noted.am_sn).list("am_si", noted.am_si).list("um_si", noted.um_si);
    if (!noted.sdus.empty()) line.add("sdu", noted.sdus);
    if (noted.padding > 1) line.add("padding", std::string(2 * (noted.padding - 1), '0'));
    for (const auto& [key, value] : told) line.add(key.c_str(), value);
    line.print(octets);
  }

  Random& random_;
  buf::HeapPool pool_{{.headroom = 0}};
  rlc::Memory<Sdu> memory_{{.sent_pages = 64, .received_pages = 4, .queue_pages = 64}};
  rlc::AmEntity<Sdu> am_{{.sn_bits = 18, .poll_pdu = 8, .t_poll_retransmit = Time{1} << 40}, memory_};
  rlc::UmSend<Sdu> um_{{.sn_bits = 12}, memory_};
  Downlink<Sdu> downlink_{1'000'000'000};
  Uplink<Sdu> uplink_;
  Noted<Gather<Sdu>> gather_;
  Noted<Iov<Sdu>> iov_;
  std::uint64_t waited_am_ = 0, waited_um_ = 0;  // before the block
};

}  // namespace
}  // namespace splitplane::oracle

int main(int argc, char** argv) {
  using namespace splitplane::oracle;
  if (argc != 3) {
    std::fprintf(stderr, "usage: mac_blocks SEED COUNT\n");
    return 2;
  }
  Random random(std::strtoull(argv[1], nullptr, 10));
  const auto count = static_cast<unsigned>(std::strtoul(argv[2], nullptr, 10));
  for (unsigned ue = 0; ue < 20; ++ue) {
    Ue one(random);
    for (unsigned i = 0; i < count / 20; ++i) one.block(i);
  }
}
