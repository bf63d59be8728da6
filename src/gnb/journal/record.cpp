#include "gnb/journal/record.h"

#include <zlib.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <optional>
#include <string_view>

namespace splitplane::app {
namespace {

constexpr std::string_view kMagic = "splitplane journal\n";
constexpr std::uint32_t kVersion = 1;
constexpr std::uint32_t kFrameMagic = 0x53504a46;  // "SPJF"
constexpr std::size_t kFrameHeader = 20;           // magic 4, length 4, sequence 8, CRC of these 4
constexpr std::size_t kCrcBytes = 4;
enum class Record : std::uint8_t {
  kBearer = 1,
  kNumbers = 2,
  kGone = 3,
  kReleased = 4,
  kRevived = 5,
  kOfSession = 6,
  kSecuredBearer = 7,
  kSecuredOfSession = 8,
  kUsedKey = 9,
  kEcn = 16,            // what a bearer's record before it does not have
  kUnackedOctets = 17,  // likewise
  kPin = 18,            // likewise
};

// CRC-32 of IEEE 802.3.
std::uint32_t crc(std::span<const std::uint8_t> octets) {
  return static_cast<std::uint32_t>(::crc32_z(0, octets.data(), octets.size()));
}

template <class Int>
void put(JournalOctets& to, Int value) {
  for (std::size_t i = sizeof(Int); i-- != 0;) to.push_back(static_cast<std::uint8_t>(value >> (8 * i)));
}
// Octet by octet: g++ 12 warns of an overflow where a vector's insert() is inlined at -O3.
void append(JournalOctets& to, std::span<const std::uint8_t> octets) {
  for (const std::uint8_t o : octets) to.push_back(o);
}
void put(JournalOctets& to, std::string_view text) {
  for (const char c : text) to.push_back(static_cast<std::uint8_t>(c));
}
void put(JournalOctets& to, const std::optional<IpAddress>& address) {
  const std::size_t octets = !address ? 0 : address->is_v6() ? 16 : 4;
  put(to, static_cast<std::uint8_t>(octets));
  if (address) append(to, std::span(address->octets()).first(octets));
}

// Reads what was put; past the end everything is 0, and ok() is false.
class Reader {
 public:
  explicit Reader(std::span<const std::uint8_t> from) : from_(from) {}
  template <class Int>
  [[nodiscard]] Int get() {
    const auto octets = take(sizeof(Int));
    Int value = 0;
    for (const std::uint8_t o : octets) value = static_cast<Int>(static_cast<std::uint64_t>(value) << 8 | o);
    return value;
  }
  [[nodiscard]] bool flag() {
    const auto value = get<std::uint8_t>();
    ok_ = ok_ && value <= 1;
    return value == 1;
  }
  [[nodiscard]] std::string text(std::size_t length) {
    const auto octets = take(length);
    return {octets.begin(), octets.end()};
  }
  [[nodiscard]] std::optional<IpAddress> address() {
    const auto length = get<std::uint8_t>();
    const auto octets = take(length);
    if (length == 4 && octets.size() == 4) return IpAddress::v4({octets[0], octets[1], octets[2], octets[3]});
    if (length == 16 && octets.size() == 16) {
      std::array<std::uint8_t, 16> v6;
      std::ranges::copy(octets, v6.begin());
      return IpAddress::v6(v6);
    }
    ok_ = ok_ && length == 0;
    return std::nullopt;
  }
  [[nodiscard]] bool ok() const { return ok_; }
  void refuse() { ok_ = false; }
  [[nodiscard]] bool at_end() const { return from_.empty(); }

 private:
  std::span<const std::uint8_t> take(std::size_t length) {
    if (length > from_.size()) {
      ok_ = false;
      from_ = {};
      return {};
    }
    const auto octets = from_.first(length);
    from_ = from_.subspan(length);
    return octets;
  }
  std::span<const std::uint8_t> from_;
  bool ok_ = true;
};

void put(JournalOctets& to, const JournalNumbers& n) {
  put(to, n.end);
  put(to, n.heard);
  put(to, n.rx_next);
  put(to, n.epoch);
}

void put(JournalOctets& to, const JournalSession& s) {
  put(to, s.teid.value);
  put(to, s.spare.value);
  put(to, s.bearers);
  put(to, s.number);
  put(to, s.drb.value);
  put(to, s.default_drb.value);
  put(to, static_cast<std::uint8_t>(s.reflective));
  put(to, static_cast<std::uint8_t>(s.flows.size()));
  for (const Qfi qfi : s.flows) put(to, qfi.value);
}

JournalNumbers read_numbers(Reader& from) {
  JournalNumbers n;
  n.end = from.get<std::uint32_t>();
  n.heard = from.get<std::uint32_t>();
  n.rx_next = from.get<std::uint32_t>();
  n.epoch = from.get<std::uint8_t>();
  if (n.heard > n.end) from.refuse();
  return n;
}

ran::SecurityConfig read_security(Reader& from) {
  ran::SecurityConfig security;
  security.cipher = static_cast<ran::Cipher>(from.get<std::uint8_t>());
  security.integrity = static_cast<ran::Integrity>(from.get<std::uint8_t>());
  security.key = from.get<std::uint32_t>();
  security.drb = from.get<std::uint8_t>();
  security.t_reordering_ms = from.get<std::uint16_t>();
  if (security.cipher > ran::Cipher::kNea3 || security.integrity > ran::Integrity::kNia3) from.refuse();
  if (security.drb < 1 || security.drb > 32) from.refuse();
  return security;
}

JournalBearer read_bearer(Reader& from, bool is_secured) {
  JournalBearer b;
  ran::BearerConfig& c = b.config;
  if (is_secured) c.security = read_security(from);
  c.id.value = from.get<std::uint32_t>();
  c.uplink_teid.value = from.get<std::uint32_t>();
  const auto upf = from.address();
  c.qfi.value = from.get<std::uint8_t>();
  const auto mode = from.get<std::uint8_t>();
  c.rlc_mode = static_cast<RlcMode>(mode);
  c.rlc_sn_bits = from.get<std::uint8_t>();
  c.pdcp_sn_bits = from.get<std::uint8_t>();
  c.sdap_header_dl = from.flag();
  c.sdap_header_ul = from.flag();
  c.poll_pdu = from.get<std::uint16_t>();
  c.arq.t_poll_retransmit_ms = from.get<std::uint16_t>();
  c.arq.t_reassembly_ms = from.get<std::uint16_t>();
  c.arq.t_status_prohibit_ms = from.get<std::uint16_t>();
  c.arq.max_retx = from.get<std::uint8_t>();
  c.arq.max_unacked = from.get<std::uint32_t>();
  c.require_psc = from.flag();
  if (from.flag()) {
    const auto window = from.get<std::uint16_t>();
    c.n3_reorder = ran::N3ReorderConfig{window, from.get<std::uint16_t>()};
  }
  c.ue_ipv4 = from.address();
  c.ue_ipv6 = from.address();
  if (from.flag()) c.dl_teid = Teid{from.get<std::uint32_t>()};
  c.card = from.text(from.get<std::uint8_t>());
  const bool in_file = from.flag();
  b.origin = in_file ? JournalBearer::Origin::kFile : JournalBearer::Origin::kControl;
  const auto file_upf = from.address();
  b.file.uplink_teid.value = from.get<std::uint32_t>();
  b.numbers = read_numbers(from);
  if (!upf || in_file != file_upf.has_value() || mode > static_cast<std::uint8_t>(RlcMode::kAm) || c.id.value == 0)
    from.refuse();
  c.upf = upf.value_or(IpAddress{});
  b.file.upf = file_upf.value_or(IpAddress{});
  if (from.ok() && ran::refuse(c)) from.refuse();
  return b;
}

// A bearer of a session with several ones: the bearer's record, and what belongs to the session.
JournalBearer read_of_session(Reader& from, bool is_secured) {
  JournalBearer bearer = read_bearer(from, is_secured);
  JournalSession session;
  session.teid.value = from.get<std::uint32_t>();
  session.spare.value = from.get<std::uint32_t>();
  session.bearers = from.get<std::uint8_t>();
  session.number = from.get<std::uint8_t>();
  session.drb.value = from.get<std::uint8_t>();
  session.default_drb.value = from.get<std::uint8_t>();
  session.reflective = from.flag();
  for (auto left = from.get<std::uint8_t>(); left != 0 && from.ok(); --left) {
    session.flows.push_back(Qfi{from.get<std::uint8_t>()});
  }
  if (session.number == 0 || session.number > session.bearers || session.bearers > ran::kMaxSessionBearers)
    from.refuse();
  bearer.session = std::move(session);
  return bearer;
}

// False: no bearer of such a kind.
bool read_ecn(Reader& from, JournalBearers& bearers) {
  const auto at = bearers.find(from.get<std::uint32_t>());
  const auto law = from.get<std::uint8_t>();
  ran::EcnConfig ecn{.law = static_cast<ran::ecn::Scalable>(law)};
  ecn.target_us = from.get<std::uint32_t>();
  ecn.classic_target_us = from.get<std::uint32_t>();
  if (!from.ok() || at == bearers.end() || law >= ran::kEcnLawNames.size()) return false;
  at->second.config.ecn = ecn;
  return !ran::refuse(at->second.config);
}

bool read_unacked_octets(Reader& from, JournalBearers& bearers) {
  const auto at = bearers.find(from.get<std::uint32_t>());
  const auto most = from.get<std::uint32_t>();
  if (!from.ok() || at == bearers.end()) return false;
  at->second.config.arq.max_unacked_octets = most;
  return true;
}

bool read_pin(Reader& from, JournalBearers& bearers) {
  const auto at = bearers.find(from.get<std::uint32_t>());
  std::string to = from.text(from.get<std::uint8_t>());
  if (!from.ok() || at == bearers.end()) return false;
  at->second.pin = std::move(to);
  return true;
}

FileKey read_key(Reader& from) {
  const auto upf = from.address();
  if (!upf) from.refuse();
  return {upf.value_or(IpAddress{}), Teid{from.get<std::uint32_t>()}};
}

tl::unexpected<Error> damaged(std::size_t octet) {
  return fail(
      "is damaged at octet {}, so that its numbers cannot be trusted; allowed: the option --fresh, with which all "
      "numbers begin at 0 (secured bearers then need new keys)",
      octet);
}

// The records of a frame whose CRC is right, and which stands at `octet` of the file.
Expected<void> take_records(std::span<const std::uint8_t> records, std::size_t octet, JournalContent& content) {
  JournalBearers& bearers = content.bearers;
  Reader from(records);
  while (from.ok() && !from.at_end()) {
    const auto kind = static_cast<Record>(from.get<std::uint8_t>());
    switch (kind) {
      case Record::kBearer:
      case Record::kSecuredBearer:
      case Record::kOfSession:
      case Record::kSecuredOfSession: {
        const bool is_secured = kind == Record::kSecuredBearer || kind == Record::kSecuredOfSession;
        const bool of_session = kind == Record::kOfSession || kind == Record::kSecuredOfSession;
        JournalBearer bearer = of_session ? read_of_session(from, is_secured) : read_bearer(from, is_secured);
        if (from.ok()) bearers.insert_or_assign(bearer.config.id.value, std::move(bearer));
        break;
      }
      case Record::kEcn:
        if (!read_ecn(from, bearers)) return damaged(octet);
        break;
      case Record::kUnackedOctets:
        if (!read_unacked_octets(from, bearers)) return damaged(octet);
        break;
      case Record::kPin:
        if (!read_pin(from, bearers)) return damaged(octet);
        break;
      case Record::kNumbers: {
        const auto id = from.get<std::uint32_t>();
        const JournalNumbers numbers = read_numbers(from);
        const auto at = bearers.find(id);
        if (at == bearers.end()) return damaged(octet);
        if (from.ok()) at->second.numbers = numbers;
        break;
      }
      case Record::kGone:
        bearers.erase(from.get<std::uint32_t>());  // it may have come and gone between two frames
        break;
      case Record::kReleased:
        content.released.insert(read_key(from));
        break;
      case Record::kRevived:
        content.released.erase(read_key(from));
        break;
      case Record::kUsedKey: {
        const auto key = from.get<std::uint32_t>();
        content.used_keys.insert({key, from.get<std::uint8_t>()});
        break;
      }
      default:
        return fail(
            "has a record of kind {} at octet {}, which a newer program wrote and this one does not know; allowed: the "
            "program that wrote it, or the option --fresh, with which all numbers begin at 0",
            static_cast<unsigned>(kind), octet);
    }
  }
  if (!from.ok()) return damaged(octet);
  return {};
}

// Whether `octets` could be the beginning of what `whole` is.
bool begins(std::span<const std::uint8_t> octets, std::span<const std::uint8_t> whole) {
  const std::size_t common = std::min(octets.size(), whole.size());
  return std::equal(octets.begin(), octets.begin() + static_cast<std::ptrdiff_t>(common), whole.begin());
}

JournalOctets frame_header(std::uint64_t sequence, std::uint32_t length) {
  JournalOctets header;
  put(header, kFrameMagic);
  put(header, length);
  put(header, sequence);
  put(header, crc(header));
  return header;
}

// How long the header is; its owner must be ours.
Expected<std::size_t> check_header(std::span<const std::uint8_t> file, const JournalOwner& owner) {
  Reader from(file);
  if (from.text(kMagic.size()) != kMagic) return fail("is no journal of splitplane; allowed: another path as journal");
  const auto version = from.get<std::uint32_t>();
  if (!from.ok()) return damaged(file.size());
  if (version != kVersion) {
    return fail(
        "has format {}, and this program reads {}; allowed: the program that wrote it, or the option --fresh, with "
        "which "
        "all numbers begin at 0",
        version, kVersion);
  }
  JournalOwner theirs;
  theirs.instance = from.get<std::uint32_t>();
  const auto length = from.get<std::uint16_t>();
  theirs.file_prefix = from.text(length);
  const std::size_t covered = kMagic.size() + 10 + length;
  const auto sum = from.get<std::uint32_t>();
  if (!from.ok() || sum != crc(file.first(covered))) return damaged(kMagic.size());
  if (theirs.file_prefix != owner.file_prefix || theirs.instance != owner.instance) {
    return fail(
        "is that of file_prefix '{}', instance {}, and this is '{}', instance {}; allowed: another path as journal, or "
        "the option --fresh, with which all numbers begin at 0",
        theirs.file_prefix, theirs.instance, owner.file_prefix, owner.instance);
  }
  return covered + kCrcBytes;
}

}  // namespace

void JournalRecords::bearer(const JournalBearer& b) {
  JournalOctets& to = octets;
  const ran::BearerConfig& c = b.config;
  const Record plain = b.session ? Record::kOfSession : Record::kBearer;
  const Record secured = b.session ? Record::kSecuredOfSession : Record::kSecuredBearer;
  put(to, static_cast<std::uint8_t>(c.security ? secured : plain));
  if (c.security) {
    put(to, static_cast<std::uint8_t>(c.security->cipher));
    put(to, static_cast<std::uint8_t>(c.security->integrity));
    put(to, c.security->key);
    put(to, c.security->drb);
    put(to, c.security->t_reordering_ms);
  }
  put(to, c.id.value);
  put(to, c.uplink_teid.value);
  put(to, std::optional(c.upf));
  put(to, c.qfi.value);
  put(to, static_cast<std::uint8_t>(c.rlc_mode));
  put(to, c.rlc_sn_bits);
  put(to, c.pdcp_sn_bits);
  put(to, static_cast<std::uint8_t>(c.sdap_header_dl));
  put(to, static_cast<std::uint8_t>(c.sdap_header_ul));
  put(to, c.poll_pdu);
  put(to, c.arq.t_poll_retransmit_ms);
  put(to, c.arq.t_reassembly_ms);
  put(to, c.arq.t_status_prohibit_ms);
  put(to, c.arq.max_retx);
  put(to, c.arq.max_unacked);
  put(to, static_cast<std::uint8_t>(c.require_psc));
  put(to, static_cast<std::uint8_t>(c.n3_reorder.has_value()));
  if (c.n3_reorder) {
    put(to, c.n3_reorder->window);
    put(to, c.n3_reorder->timer_ms);
  }
  put(to, c.ue_ipv4);
  put(to, c.ue_ipv6);
  put(to, static_cast<std::uint8_t>(c.dl_teid.has_value()));
  if (c.dl_teid) put(to, c.dl_teid->value);
  put(to, static_cast<std::uint8_t>(c.card.size()));
  put(to, std::string_view(c.card));
  const bool in_file = b.origin == JournalBearer::Origin::kFile;
  put(to, static_cast<std::uint8_t>(in_file));
  put(to, in_file ? std::optional(b.file.upf) : std::nullopt);
  put(to, b.file.uplink_teid.value);
  put(to, b.numbers);
  if (b.session) put(to, *b.session);
  if (c.ecn) {
    put(to, static_cast<std::uint8_t>(Record::kEcn));
    put(to, c.id.value);
    put(to, static_cast<std::uint8_t>(c.ecn->law));
    put(to, c.ecn->target_us);
    put(to, c.ecn->classic_target_us);
  }
  if (c.arq.max_unacked_octets != 0) {
    put(to, static_cast<std::uint8_t>(Record::kUnackedOctets));
    put(to, c.id.value);
    put(to, c.arq.max_unacked_octets);
  }
  if (b.pin) {
    put(to, static_cast<std::uint8_t>(Record::kPin));
    put(to, c.id.value);
    put(to, static_cast<std::uint8_t>(b.pin->size()));
    put(to, std::string_view(*b.pin));
  }
  ends.push_back(to.size());
}

void JournalRecords::numbers(BearerId id, const JournalNumbers& numbers) {
  put(octets, static_cast<std::uint8_t>(Record::kNumbers));
  put(octets, id.value);
  put(octets, numbers);
  ends.push_back(octets.size());
}

void JournalRecords::gone(BearerId id) {
  put(octets, static_cast<std::uint8_t>(Record::kGone));
  put(octets, id.value);
  ends.push_back(octets.size());
}

void JournalRecords::released(const FileKey& file) {
  put(octets, static_cast<std::uint8_t>(Record::kReleased));
  put(octets, std::optional(file.upf));
  put(octets, file.uplink_teid.value);
  ends.push_back(octets.size());
}

void JournalRecords::revived(const FileKey& file) {
  put(octets, static_cast<std::uint8_t>(Record::kRevived));
  put(octets, std::optional(file.upf));
  put(octets, file.uplink_teid.value);
  ends.push_back(octets.size());
}

void JournalRecords::used_key(const UsedKey& key) {
  put(octets, static_cast<std::uint8_t>(Record::kUsedKey));
  put(octets, key.key);
  put(octets, key.drb);
  ends.push_back(octets.size());
}

JournalOctets journal_header(const JournalOwner& owner) {
  JournalOctets header;
  put(header, kMagic);
  put(header, kVersion);
  put(header, owner.instance);
  put(header, static_cast<std::uint16_t>(owner.file_prefix.size()));
  put(header, std::string_view(owner.file_prefix));
  put(header, crc(header));
  return header;
}

JournalOctets journal_frame(std::uint64_t sequence, std::span<const std::uint8_t> records) {
  JournalOctets frame = frame_header(sequence, static_cast<std::uint32_t>(records.size()));
  frame.insert(frame.end(), records.begin(), records.end());
  put(frame, crc(frame));
  return frame;
}

Expected<JournalContent> read_journal(std::span<const std::uint8_t> file, const JournalOwner& owner) {
  const auto header = check_header(file, owner);
  if (!header) return tl::unexpected(header.error());
  JournalContent content;
  for (std::size_t at = *header; at < file.size();) {
    const auto rest = file.subspan(at);
    const auto given = rest.first(std::min(rest.size(), kFrameHeader));
    Reader from(given);
    const auto magic = from.get<std::uint32_t>();
    const auto length = from.get<std::uint32_t>();
    if (given.size() < kFrameHeader) {
      // Cut off: as far as it goes it must be a header's beginning. Of a length that is not whole nothing is known.
      JournalOctets wanted = frame_header(content.frames, length);
      if (given.size() < 8) wanted.resize(4);
      if (!begins(given, wanted)) return damaged(at);
      content.torn = rest.size();
      return content;
    }
    if (magic != kFrameMagic || !begins(given, frame_header(content.frames, length)) || length > kMaxFrameRecords)
      return damaged(at);
    const std::size_t whole = kFrameHeader + length + kCrcBytes;
    if (rest.size() < whole) {
      content.torn = rest.size();
      return content;
    }
    Reader sum(rest.subspan(kFrameHeader + length, kCrcBytes));
    if (sum.get<std::uint32_t>() != crc(rest.first(kFrameHeader + length))) return damaged(at);
    if (auto taken = take_records(rest.subspan(kFrameHeader, length), at, content); !taken)
      return tl::unexpected(taken.error());
    ++content.frames;
    at += whole;
  }
  return content;
}

}  // namespace splitplane::app
