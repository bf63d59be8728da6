#include "radio/uplink_slots.h"

#include <algorithm>

#include "wire/mac.h"

namespace splitplane::datapath {
namespace {

constexpr auto kNothing = [](UplinkBlock) {};  // the octets are the UE's

}  // namespace

UplinkSlots::UplinkSlots(const Settings& settings)
    : settings_(settings),
      scheduler_(settings.most_ues, settings.most_grants),
      harq_(settings.most_ues, settings.harq),
      facts_(settings.most_ues),
      ues_(settings.most_ues),
      places_(settings.most_ues),
      grants_(settings.most_grants) {
  settings_.request_period_slots = std::max(settings.request_period_slots, 1U);
  chances_.reserve(settings.most_ues / settings_.request_period_slots + 1);
}

std::span<const phy::Grant> UplinkSlots::run(Cell& cell, phy::Slot pusch_slot, std::uint64_t number) {
  ++counters_.slots;
  slot_ = pusch_slot;
  number_ = number;
  harq_.expire(pusch_slot, [this](UplinkBlock block) { given_up(block.place); });
  take_arrivals(cell);
  make_room();
  for (std::size_t place = 0; place < facts_.size(); ++place) {
    phy::UeFacts& facts = facts_[place];
    if (facts.backlog_bytes == 0) continue;
    const auto& harq = harq_.ue(static_cast<std::uint16_t>(place));
    facts.process = harq.free_process();
    if (facts.process != phy::kNoProcess) facts.ndi = harq.next_ndi(facts.process);
  }
  const std::size_t count = scheduler_.schedule({.slot = pusch_slot,
                                                 .direction = Direction::kUplink,
                                                 .prbs = settings_.prbs,
                                                 .shape = settings_.shape,
                                                 .ues = facts_,
                                                 .average_rates = {},
                                                 .retransmissions = harq_.waiting()},
                                                grants_);
  const std::span<const phy::Grant> grants(grants_.data(), count);
  harq_.retransmit(grants);
  for (const phy::Grant& grant : grants) {
    Ue& ue = ues_[grant.ue];
    ue.last_grant_number = number;
    if (grant.retransmission) continue;
    (void)harq_.start(grant, {grant.ue});  // the process is idle: it was chosen above
    ue.demand.granted(number, grant.tb_bytes);
    look_at(grant.ue);
  }
  offer_chances();
  return grants;
}

// A UE that is in the cell may ask, whether or not it ever had data in the downlink.
void UplinkSlots::take_arrivals(Cell& cell) {
  cell.take_arrivals([this](RadioUe& ue) {
    if (ue.uplink_place != RadioUe::kNoPlace) {
      begin(ue);
    } else if (places_.give(ue)) {
      enter(ue);
    }
  });
}

// While UEs wait for a place, one that did not use two chances to ask gives its place away, and waits itself. So does
// one that had its place for long: it gets no new grants until its blocks are through.
void UplinkSlots::make_room() {
  const std::uint64_t patience = 2U * settings_.request_period_slots + settings_.request_takes_slots;
  for (unsigned i = 0; i < UplinkPlaces::kExchanges; ++i) {
    RadioUe* const idle = places_.find_idle([this, patience](const RadioUe& ue) {
      const std::uint16_t place = ue.uplink_place;
      Ue& one = ues_[place];
      if (number_ - one.begun > std::max(UplinkPlaces::kMostSlots, 2 * patience)) one.yields = true;
      if (one.yields) facts_[place].backlog_bytes = 0;
      const bool asks = !one.yields && number_ - std::max(one.begun, one.last_grant_number) <= patience;
      return facts_[place].backlog_bytes == 0 && !asks && !harq_.ue(place).active();
    });
    if (idle == nullptr) return;
    remove(*idle);
    (void)places_.give(*idle);
  }
}

void UplinkSlots::enter(const RadioUe& ue) {
  harq_.set_ndis(ue.uplink_place, ue.uplink_ndis);
  begin(ue);
}

void UplinkSlots::leave(RadioUe& ue) {
  forget(ue.uplink_place);
  facts_[ue.uplink_place] = {};
  ue.uplink_ndis = harq_.ue(ue.uplink_place).ndis();
}

void UplinkSlots::begin(const RadioUe& ue) {
  forget(ue.uplink_place);
  ues_[ue.uplink_place].begun = number_;
  facts_[ue.uplink_place] = {.rnti = ue.rnti.value().value, .mcs = settings_.mcs};
}

void UplinkSlots::forget(std::uint16_t place) {
  harq_.discard_all(place, kNothing);
  ues_[place] = {};
  facts_[place].backlog_bytes = 0;
}

void UplinkSlots::look_at(std::uint16_t place) {
  facts_[place].backlog_bytes = ues_[place].yields ? 0 : ues_[place].demand.bytes();
}

// The block may have held a report, so the UE gets a grant to tell again. A UE that sends nothing gets no more grants.
void UplinkSlots::given_up(std::uint16_t place) {
  Ue& ue = ues_[place];
  if (++ue.missing >= kMostMissing) {
    counters_.silent += ue.missing == kMostMissing ? 1 : 0;
    ue.demand = {};
  } else {
    ue.demand.requested();
  }
  look_at(place);
}

// The chances of a UE are at one place of each period, and the UEs share the slots of a period evenly.
void UplinkSlots::offer_chances() {
  chances_.clear();
  const unsigned period = settings_.request_period_slots;
  for (std::size_t place = number_ % period; place < facts_.size(); place += period) {
    if (facts_[place].rnti != 0 && ues_[place].last_grant_number != number_) chances_.push_back(facts_[place].rnti);
  }
}

void UplinkSlots::requested(const RadioUe& ue) {
  ++counters_.requests;
  if (ue.uplink_place == RadioUe::kNoPlace) return;  // it asks again when it has one
  Ue& one = ues_[ue.uplink_place];
  one.missing = 0;
  one.demand.requested();
  look_at(ue.uplink_place);
}

std::optional<std::uint64_t> UplinkSlots::judge(const RadioUe& ue, std::uint8_t process, phy::Slot slot, bool crc_ok) {
  const std::uint16_t place = ue.uplink_place;
  if (place == RadioUe::kNoPlace) return std::nullopt;
  const phy::Slot built_in = process < phy::kHarqProcesses ? harq_.ue(place).first_slot(process) : phy::Slot{};
  const phy::Feedback what = harq_.feedback(place, process, slot, crc_ok, kNothing);
  if (what == phy::Feedback::given_up) given_up(place);
  if (what != phy::Feedback::acked && what != phy::Feedback::late) return std::nullopt;
  ues_[place].missing = 0;
  const std::int64_t age = phy::distance(built_in, slot_);
  return number_ - std::min(number_, static_cast<std::uint64_t>(std::max<std::int64_t>(age, 0)));
}

bool UplinkSlots::take_element(std::uint16_t place, std::uint64_t built_in, std::uint8_t lcid, wire::Octets contents) {
  namespace mac = wire::mac;
  phy::UplinkDemand& demand = ues_[place].demand;
  const auto report = [&](std::uint64_t& counter, const auto& bsr, auto... truncated) {
    if (!bsr) return false;
    ++counter;
    const std::uint64_t stale = demand.stale_reports();
    demand.report(built_in, *bsr, truncated...);
    counters_.stale_bsrs += demand.stale_reports() - stale;
    return true;
  };
  switch (lcid) {
    case mac::ul::kShortBsr:
      return report(counters_.short_bsrs, mac::parse_short_bsr(contents));
    case mac::ul::kShortTruncatedBsr:
      return report(counters_.truncated_bsrs, mac::parse_short_bsr(contents), true);
    case mac::ul::kLongBsr:
      return report(counters_.long_bsrs, mac::parse_long_bsr(contents));
    case mac::ul::kLongTruncatedBsr:
      return report(counters_.truncated_bsrs, mac::parse_long_truncated_bsr(contents));
    case mac::ul::kSinglePhr:
      if (!mac::parse_single_phr(contents)) return false;
      ++counters_.phrs;
      return true;
    case mac::ul::kCrnti:
      if (!mac::parse_crnti(contents)) return false;
      ++counters_.crntis;
      return true;
    default:
      ++counters_.other_elements;
      return true;
  }
}

void UplinkSlots::remove(RadioUe& ue) {
  if (ue.uplink_place != RadioUe::kNoPlace) leave(ue);
  RadioUe* const next = places_.take(ue);
  if (next != nullptr) enter(*next);
}

void UplinkSlots::reset() {
  harq_.discard_all(kNothing);
  std::ranges::fill(ues_, Ue{});
  for (phy::UeFacts& facts : facts_) facts.backlog_bytes = 0;
}

}  // namespace splitplane::datapath
