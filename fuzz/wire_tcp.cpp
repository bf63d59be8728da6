// Compares src/wire with a slow reader for TCP, its options and checksums: both accept the same segments and read the
// same. Fields that change anywhere give the checksum of the whole. What an ICMP error quotes stays within the message.
#include "slow_tcp.h"
#include "wire/icmp_error.h"
#include "wire/tcp_options.h"

namespace splitplane::fuzz {
namespace {

namespace tcp = wire::tcp;

std::uint32_t number_of(Octets octets) {
  std::uint32_t value = 0;
  for (const std::uint8_t octet : octets) value = value << 8 | octet;
  return value;
}

void compare_options(Octets in, const tcp::Header& h, const SlowTcp& slow) {
  const auto syn = tcp::parse_syn_options(in, h);
  const auto places = tcp::find_options(in, h);
  same(bool{syn}, slow.options_are_good, "options accepted");
  same(bool{places}, slow.options_are_good, "options found");
  if (!slow.options_are_good) return;
  const auto data = [&slow](unsigned kind) {
    const auto found = slow.options.find(kind);
    return found == slow.options.end() ? Octets{} : found->second.second;
  };
  const auto place = [&slow](unsigned kind) {
    const auto found = slow.options.find(kind);
    return found == slow.options.end() ? std::size_t{0} : found->second.first;
  };
  if (number_of(data(2)) != 0) same(std::uint32_t{syn->mss}, number_of(data(2)), "MSS");
  same(syn->window_scale.has_value(), slow.options.contains(3), "window scale");
  if (syn->window_scale) same(std::uint32_t{*syn->window_scale}, std::min(number_of(data(3)), 14U), "window scale");
  same(syn->sack_permitted, slow.options.contains(4), "SACK permitted");
  same(syn->has_timestamps, slow.options.contains(8), "timestamps");
  same(syn->has_fast_open, slow.options.contains(34), "fast open");
  same(std::size_t{places->timestamps}, place(8), "place of TSval");
  same(std::size_t{places->sack}, place(5), "place of SACK blocks");
  same(std::size_t{places->sack_blocks}, data(5).size() / 8, "SACK blocks");
  if (syn->has_timestamps) {
    same(syn->ts_value, number_of(data(8).first(4)), "TSval");
    same(syn->ts_echo, number_of(data(8).subspan(4)), "TSecr");
  }
  // As our writer has them.
  std::array<std::uint8_t, 60> room{};
  const std::size_t bytes = tcp::write_syn_options(wire::MutableOctets(room).subspan(20), *syn);
  room[12] = static_cast<std::uint8_t>((20 + bytes) / 4 << 4);
  const auto again = slow_tcp(Octets(room).first(20 + bytes));
  require(again && again->options_are_good, "options that are written cannot be read");
  for (const unsigned kind : {3U, 4U, 8U})
    same(again->options.contains(kind), slow.options.contains(kind), "an option that is written");
}

void compare(Octets in) {
  const auto ours = tcp::parse(in);
  const auto slow = slow_tcp(in);
  same(bool{ours}, slow.has_value(), "TCP accepted");
  if (!slow) return;
  const tcp::Header& h = *ours;
  same(std::uint32_t{h.source_port}, slow->source_port, "source port");
  same(std::uint32_t{h.destination_port}, slow->destination_port, "destination port");
  same(h.sequence, slow->sequence, "sequence number");
  same(h.acknowledgment, slow->acknowledgment, "acknowledgment number");
  same(std::uint32_t{h.header_bytes}, slow->header_bytes, "header length");
  same(std::uint32_t{h.flags}, slow->flags, "flags");
  same(std::uint32_t{h.window}, slow->window, "window");
  compare_options(in, h, *slow);
  // Between 0.0.0.0 and 0.0.0.0.
  const std::array<std::uint8_t, 4> none{};
  Bytes whole{0, 6, static_cast<std::uint8_t>(in.size() >> 8), static_cast<std::uint8_t>(in.size())};
  whole.insert(whole.end(), in.begin(), in.end());
  whole[4 + 16] = whole[4 + 17] = 0;
  same(tcp::checksum(none, none, in), slow_checksum(whole), "checksum");
}

// Replaces fields of octets, one after the other.
void compare_checksum_changes(Input in) {
  const unsigned changes = in.below(8);
  struct Change {
    unsigned at;
    std::uint32_t to;
    bool wide;
  };
  std::vector<Change> all;
  for (unsigned i = 0; i < changes; ++i) all.push_back({in.word(), number_of(in.bytes(4)), in.octet() % 2 == 0});
  Bytes octets = in.bytes(2000);
  if (octets.size() < 5) return;
  octets[0] |= 1;  // no pseudo header is all zero
  const std::uint16_t before = slow_checksum(octets);
  std::uint16_t one_by_one = before;
  wire::ChecksumChange together;
  for (const Change& c : all) {
    const std::size_t at = 1 + c.at % (octets.size() - 4);
    std::uint8_t* const p = octets.data() + at;
    if (c.wide) {
      one_by_one = wire::checksum_adjust32(one_by_one, wire::load_be32(p), c.to, at % 2 != 0);
      together.replace32_at(at, wire::load_be32(p), c.to);
      wire::store_be32(p, c.to);
    } else {
      const auto to = static_cast<std::uint16_t>(c.to);
      one_by_one = wire::checksum_adjust16(one_by_one, wire::load_be16(p), to, at % 2 != 0);
      at % 2 != 0 ? together.replace16_at_odd(wire::load_be16(p), to) : together.replace16(wire::load_be16(p), to);
      wire::store_be16(p, to);
    }
  }
  same(one_by_one, slow_checksum(octets), "checksum after changes");
  same(together.applied_to(before), slow_checksum(octets), "checksum after all changes");
}

void check_quotation(Octets in, wire::icmp_error::Version version) {
  if (!wire::icmp_error::parse(in, version)) return;
  const Octets packet = wire::icmp_error::quoted(in);
  const auto q = wire::icmp_error::parse_quoted(packet, version);
  if (!q) return;
  require(q->upper_offset <= packet.size(), "a quoted header ends behind the message");
  const Octets upper = packet.subspan(q->upper_offset);
  const auto quoted = tcp::parse_quoted(upper);
  same(bool{quoted}, upper.size() >= 8, "quoted TCP accepted");
  if (!quoted) return;
  same(quoted->sequence, number_of(upper.subspan(4, 4)), "quoted sequence number");
  same(quoted->has_acknowledgment, upper.size() >= 12, "quoted acknowledgment number");
  if (quoted->has_acknowledgment)
    same(quoted->acknowledgment, number_of(upper.subspan(8, 4)), "quoted acknowledgment number");
}

}  // namespace
}  // namespace splitplane::fuzz

extern "C" int LLVMFuzzerInitialize(int*, char***) {
  return 0;
}

// The first octet chooses the test.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t bytes) {
  namespace fuzz = splitplane::fuzz;
  using splitplane::wire::icmp_error::Version;
  fuzz::Input in(data, bytes);
  switch (in.octet() % 4) {
    case 0:
      fuzz::compare_checksum_changes(in);
      break;
    case 1:
      fuzz::check_quotation(in.rest(), Version::kIcmp);
      break;
    case 2:
      fuzz::check_quotation(in.rest(), Version::kIcmpv6);
      break;
    default:
      fuzz::compare(in.rest());
      break;
  }
  return 0;
}
