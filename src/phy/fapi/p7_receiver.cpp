#include "phy/fapi/p7_receiver.h"

#include <algorithm>
#include <utility>

namespace splitplane::fapi {

P7Receiver::P7Receiver(const Config& config)
    : config_(config),
      kept_(std::max<std::size_t>(config.messages_at_once, 1)),
      sorted_(std::make_unique<std::uint8_t[]>(config.max_message_bytes)) {
  config_.timeout = std::max<Time>(config.timeout, 1);
  for (Kept& kept : kept_) kept.octets = std::make_unique<std::uint8_t[]>(config.max_message_bytes);
}

P7Receiver::Event P7Receiver::receive(Octets datagram, Time now) {
  expire(now);
  const Parsed<P7Header> parsed = parse_p7(datagram, config_.checksums);
  Event event{.outcome = P7Outcome::refused, .reason = parsed.reason, .header = parsed.header, .body = {}};
  if (event.reason == Reason::ok && parsed.header.phy_id != config_.phy_id) event.reason = Reason::other_phy;
  if (event.reason != Reason::ok) {
    ++counters_.reasons[static_cast<std::size_t>(event.reason)];
  } else if (Kept* const kept = find(parsed.header.sequence)) {
    event.outcome = keep(*kept, parsed.header, parsed.body);
    if (event.outcome == P7Outcome::message) event.body = whole(*kept);
  } else if (!begins(parsed.header.sequence, now)) {
    event.outcome = P7Outcome::stale;
  } else if (parsed.body.size() > config_.max_message_bytes) {
    event.outcome = P7Outcome::overflow;
  } else if (!parsed.header.more && parsed.header.segment == 0) {
    event.outcome = P7Outcome::message;
    event.body = parsed.body;
  } else if (impossible(parsed.header, parsed.body)) {
    // None of these takes the place of a message that may become complete.
    event.outcome = P7Outcome::contradiction;
  } else {
    event.outcome = keep(make_room(parsed.header, now), parsed.header, parsed.body);
  }
  if (event.outcome != P7Outcome::refused && event.outcome != P7Outcome::stale) {
    last_arrival_ = now;
    far_run_ = 0;
  }
  ++counters_.outcomes[static_cast<std::size_t>(event.outcome)];
  return event;
}

void P7Receiver::expire(Time now) {
  for (Kept& kept : kept_) {
    if (!kept.used || now - kept.since < config_.timeout) continue;
    kept.used = false;
    ++counters_.timed_out;
  }
}

void P7Receiver::restart() {
  for (Kept& kept : kept_) counters_.evicted += std::exchange(kept.used, false) ? 1 : 0;
  synchronized_ = false;
}

std::size_t P7Receiver::kept_messages() const {
  return static_cast<std::size_t>(std::ranges::count_if(kept_, [](const Kept& kept) { return kept.used; }));
}

// True if no datagram with this sequence number came before. The numbers have eight bits, so what is far behind may as
// well be a peer that began again, or went on after an outage: it is taken after a silence, or after some in order.
bool P7Receiver::begins(std::uint8_t sequence, Time now) {
  if (synchronized_ && now - last_arrival_ >= config_.timeout) {
    synchronized_ = false;
    ++counters_.resynchronized;
  }
  if (!synchronized_) {
    resynchronize(sequence);
    return true;
  }
  const auto ahead = static_cast<std::int8_t>(sequence - newest_);
  if (ahead > 0) {
    counters_.sequence_gaps += static_cast<std::uint64_t>(ahead - 1);
    newest_ = sequence;
    seen_ = (static_cast<unsigned>(ahead) < kHistory ? seen_ << ahead : 0) | 1;
    give_up_outpaced();
    return true;
  }
  const auto behind = static_cast<unsigned>(-ahead);
  if (behind >= kHistory) return runs_far_behind(sequence);
  if ((seen_ >> behind & 1) != 0) return false;
  seen_ |= std::uint64_t{1} << behind;
  ++counters_.reordered;
  return true;
}

// Late ones of one message come with one number; some messages between may be missing.
bool P7Receiver::runs_far_behind(std::uint8_t sequence) {
  constexpr unsigned kMissing = 4;
  const auto step = static_cast<std::uint8_t>(sequence - far_last_);
  if (far_run_ != 0 && step == 0) return false;
  far_run_ = far_run_ != 0 && step <= kMissing ? far_run_ + 1 : 1;
  far_last_ = sequence;
  if (far_run_ < kFarRun) return false;
  ++counters_.resynchronized;
  resynchronize(sequence);
  return true;
}

void P7Receiver::resynchronize(std::uint8_t sequence) {
  for (Kept& kept : kept_) {
    if (kept.used) ++counters_.outpaced;
    kept.used = false;
  }
  synchronized_ = true;
  newest_ = sequence;
  seen_ = 1;
}

// find() knows a message by its number. No kept one is older than kHistory when the newest advances by 127 at most, so
// the difference of eight bits is its true age.
void P7Receiver::give_up_outpaced() {
  for (Kept& kept : kept_) {
    if (!kept.used || static_cast<std::uint8_t>(newest_ - kept.sequence) < kHistory) continue;
    kept.used = false;
    ++counters_.outpaced;
  }
}

P7Receiver::Kept* P7Receiver::find(std::uint8_t sequence) {
  const auto found =
      std::ranges::find_if(kept_, [sequence](const Kept& kept) { return kept.used && kept.sequence == sequence; });
  return found == kept_.end() ? nullptr : &*found;
}

P7Receiver::Kept& P7Receiver::make_room(const P7Header& header, Time now) {
  // Unused ones first, then the oldest.
  Kept& kept = *std::ranges::min_element(kept_, {}, [](const Kept& k) { return k.used ? k.since + 1 : 0; });
  if (kept.used) ++counters_.evicted;
  kept.used = true;
  kept.in_order = true;
  kept.sequence = header.sequence;
  kept.message_id = header.message_id;
  kept.last = kept.highest = -1;
  kept.bytes = 0;
  kept.since = now;
  kept.there.reset();
  return kept;
}

bool P7Receiver::impossible(const P7Header& header, Octets body) {
  return body.empty() || (header.more && header.segment + std::size_t{1} == kMaxSegments);
}

bool P7Receiver::contradicts(const Kept& kept, const P7Header& header, Octets body) {
  if (impossible(header, body) || header.message_id != kept.message_id) return true;
  if (header.more) return kept.last >= 0 && header.segment >= kept.last;
  return kept.last >= 0 || header.segment < kept.highest;
}

P7Outcome P7Receiver::keep(Kept& kept, const P7Header& header, Octets body) {
  if (kept.there[header.segment]) return P7Outcome::stale;
  if (contradicts(kept, header, body)) {
    kept.used = false;
    return P7Outcome::contradiction;
  }
  if (body.size() > config_.max_message_bytes - kept.bytes) {
    kept.used = false;
    return P7Outcome::overflow;
  }
  wire::copy_octets(kept.octets.get() + kept.bytes, body.data(), body.size());
  kept.parts[header.segment] = {static_cast<std::uint32_t>(kept.bytes), static_cast<std::uint32_t>(body.size())};
  kept.bytes += body.size();
  kept.there.set(header.segment);
  if (header.segment < kept.highest) kept.in_order = false;
  kept.highest = std::max<int>(kept.highest, header.segment);
  if (!header.more) kept.last = header.segment;
  if (kept.last < 0 || kept.there.count() != static_cast<std::size_t>(kept.last) + 1) return P7Outcome::segment;
  kept.used = false;
  return P7Outcome::message;
}

Octets P7Receiver::whole(const Kept& kept) {
  if (kept.in_order) return {kept.octets.get(), kept.bytes};
  std::size_t at = 0;
  for (int segment = 0; segment <= kept.last; ++segment) {
    const Part& part = kept.parts[static_cast<std::size_t>(segment)];
    wire::copy_octets(sorted_.get() + at, kept.octets.get() + part.at, part.bytes);
    at += part.bytes;
  }
  return {sorted_.get(), at};
}

}  // namespace splitplane::fapi
