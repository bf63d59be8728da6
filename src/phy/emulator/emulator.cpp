#include "phy/emulator/emulator.h"

namespace splitplane::phy {
namespace {

Impairments impairments_of(const BlockLoss& loss) {
  return {.loss_percent = loss.loss_percent, .burst_length = loss.burst_length};
}

void less(Counter& counter) {
  counter.set(counter.get() - 1);
}

// Whether a UE sends what the PHY listens for.
bool agrees(const Grant& sent, const Grant& ordered) {
  return sent.process == ordered.process && sent.rv == ordered.rv && sent.mcs == ordered.mcs &&
         sent.first_prb == ordered.first_prb && sent.prbs == ordered.prbs && sent.tb_bytes == ordered.tb_bytes;
}

constexpr std::uint8_t kBit[2] = {0, 1};  // NACK and ACK in UCI on PUSCH
constexpr std::uint8_t kCrcWrong = 1, kCrcNotThere = 2;
constexpr std::uint8_t kHarqAck = 0, kHarqNack = 1, kHarqDtx = 2;
constexpr std::size_t kRxDataFixed = 6, kRxDataPdu = 16;  // octets of RX_DATA.indication besides the blocks

}  // namespace

struct Emulator::Held {
  explicit Held(std::size_t data_bytes) : blocks(data_bytes) {}

  void clear() {
    has_dl_tti = has_tx_data = has_ul_dci = has_ul_tti = false;
    downlink.clear();
    blocks.clear();
    dcis.clear();
    pusch.clear();
    pucch.clear();
    granted.clear();
    answers.clear();
    ues_granted.clear();
    ues_answering.clear();
  }

  // What the L2 sent for the slot.
  bool has_dl_tti = false, has_tx_data = false, has_ul_dci = false, has_ul_tti = false;
  SlotReader::List<DownlinkAssignment> downlink;
  TxBlocks blocks;
  SlotReader::List<UplinkAssignment> dcis;
  SlotReader::List<PuschOrder> pusch;
  SlotReader::List<PucchOrder> pucch;
  // What UEs do in the slot, because of earlier ones. A UE is in each list once.
  struct HarqAck {
    bool ack = false, taken = false;
  };
  fapi::Bounded<Grant, RntiIndex::kMost> granted;
  fapi::Bounded<HarqAck, RntiIndex::kMost> answers;
  RntiIndex ues_granted, ues_answering;
};

struct Emulator::Pusch {
  enum class State : std::uint8_t { kEmpty, kWrong, kRight };
  State state = State::kEmpty;
  wire::Octets block;
};

Emulator::Emulator(const Settings& settings, Terminals& terminals, AirObserver* observer)
    : terminals_(terminals),
      observer_(observer),
      most_data_bytes_(settings.most_data_bytes),
      downlink_(settings.seed, 0, {}),
      uplink_(settings.seed + 1, 0, {}),
      dci_(settings.seed + 2),
      cell_{.shape = settings.shape},
      reader_(cell_),
      pusch_(std::make_unique<std::array<Pusch, fapi::kMaxPdus>>()) {
  held_.reserve(kSlots);
  for (unsigned i = 0; i < kSlots; ++i) held_.push_back(std::make_unique<Held>(most_data_bytes_));
  set(settings.loss);
}

Emulator::~Emulator() = default;

void Emulator::set(const AirLoss& loss) {
  loss_ = loss;
  downlink_.set(impairments_of(loss.downlink));
  uplink_.set(impairments_of(loss.uplink));
  dci_share_ = loss.dci_loss_percent / 100;
}

void Emulator::phy_starts(const fapi::ConfigRequest& config) {
  forget();
  const std::uint8_t mu = config.scs_common.value_or(0);
  cell_.numerology = {mu};
  cell_.prbs = config.dl_grid_size.value_or(fapi::PerNumerology{})[mu];
  cell_.cell_id = config.phy_cell_id.value_or(0);
  reader_.set(cell_);
  next_ = slot_at(cell_.numerology, 0);
  running_ = true;
  ++starts_;
  terminals_.phy_starts();
}

void Emulator::phy_stops() {
  forget();
  running_ = false;
}

void Emulator::forget() {
  for (const auto& slot : held_) slot->clear();
  counters_.answers_forgotten.add(counters_.answers_held.get());
  counters_.answers_held.set(0);
  counters_.ul_forgotten.add(counters_.ul_held.get());
  counters_.ul_held.set(0);
}

Emulator::Held& Emulator::held(Slot slot) {
  return *held_[slot.index() % kSlots];
}

Emulator::Held* Emulator::place_of(std::uint16_t sfn, std::uint16_t number, bool Held::* has) {
  const Slot slot{cell_.numerology, sfn, static_cast<std::uint8_t>(number)};
  const std::int32_t ahead = distance(next_, slot);
  if (!slot.valid() || ahead < 0 || ahead >= static_cast<std::int32_t>(kSlots)) {
    counters_.late.add(1);
    return nullptr;
  }
  Held& place = held(slot);
  if (place.*has) {
    counters_.repeated.add(1);
    return nullptr;
  }
  place.*has = true;
  return &place;
}

void Emulator::receive(const fapi::DlTtiRequest& message) {
  if (Held* const place = place_of(message.sfn, message.slot, &Held::has_dl_tti))
    reader_.read(message, place->downlink);
}

void Emulator::receive(const fapi::UlTtiRequest& message) {
  Held* const place = place_of(message.sfn, message.slot, &Held::has_ul_tti);
  if (place != nullptr) reader_.read(message, place->pusch, place->pucch);
}

void Emulator::receive(const fapi::TxDataRequest& message) {
  Held* const place = place_of(message.sfn, message.slot, &Held::has_tx_data);
  if (place != nullptr) counters_.tx_refused.add(place->blocks.fill(message));
}

void Emulator::receive(const fapi::UlDciRequest& message) {
  if (Held* const place = place_of(message.sfn, message.slot, &Held::has_ul_dci)) reader_.read(message, place->dcis);
}

void Emulator::end_slot(const fapi::SlotIndication& slot, Indications& to) {
  const Slot now{cell_.numerology, slot.sfn, static_cast<std::uint8_t>(slot.slot)};
  Held& here = held(now);
  run_downlink(here, now);
  run_grants(here);
  run_pusch(here, now);
  tell_pusch(here, now, to);
  tell_uci(here, now, to);
  terminals_.end_slot(now);
  here.clear();
  next_ = after(now, 1);
  counters_.slots.add(1);
}

void Emulator::observe(const Grant& grant, wire::Octets block, bool decoded) {
  if (observer_ != nullptr) observer_->crossed(grant, block, decoded);
}

void Emulator::run_downlink(Held& here, Slot now) {
  for (const DownlinkAssignment& each : here.downlink) {
    const Grant& grant = each.grant;
    counters_.dl_blocks.add(1);
    const auto block = here.blocks.take(each.pdu_index);
    if (!block || block->size() != grant.tb_bytes) {
      counters_.dl_no_data.add(1);
      continue;
    }
    if (dci_is_lost()) {
      counters_.dl_dci_lost.add(1);
      observe(grant, *block, false);
      continue;
    }
    const bool decoded = !downlink_.next(0).lost;
    (decoded ? counters_.dl_decoded : counters_.dl_lost).add(1);
    observe(grant, *block, decoded);
    const Answer answer = terminals_.receive(grant, *block, decoded, now);
    if (answer == Answer::kNone) {
      counters_.unanswered.add(1);
      continue;
    }
    const bool ack = answer == Answer::kAck;
    (ack ? counters_.acks : counters_.nacks).add(1);
    keep_answer(grant.rnti, ack, after(now, each.k1));
  }
  counters_.tx_unused.add(here.blocks.left());
}

void Emulator::keep_answer(Rnti rnti, bool ack, Slot when) {
  Held& there = held(when);
  if (!there.ues_answering.add(rnti, static_cast<std::uint8_t>(there.answers.size()))) {
    return counters_.answers_unasked.add(1);  // a second bit of the UE in that slot
  }
  there.answers.add({.ack = ack});
  counters_.answers_held.add(1);
}

void Emulator::run_grants(Held& here) {
  for (const UplinkAssignment& each : here.dcis) {
    counters_.ul_dcis.add(1);
    if (dci_is_lost()) {
      counters_.ul_dci_lost.add(1);
      continue;
    }
    Held& there = held(each.grant.slot);
    if (!there.ues_granted.add(each.grant.rnti, 0)) {
      counters_.ul_refused.add(1);
      continue;
    }
    there.granted.add(each.grant);
    counters_.ul_granted.add(1);
    counters_.ul_held.add(1);
    terminals_.granted(each.grant);
  }
}

void Emulator::run_pusch(Held& here, Slot now) {
  orders_.clear();
  senders_.clear();
  for (const PuschOrder& order : here.pusch) {
    (*pusch_)[orders_.size()] = {};
    orders_.add(order.grant.rnti, static_cast<std::uint8_t>(orders_.size()));
    counters_.pusch_ordered.add(1);
  }
  for (const Grant& grant : here.granted) {
    less(counters_.ul_held);
    const wire::Octets block = terminals_.transmit(grant.rnti, now);
    if (block.size() != grant.tb_bytes) {
      counters_.ul_silent.add(1);
      continue;
    }
    counters_.ul_sent.add(1);
    senders_.add(grant.rnti, 0);
    const std::uint8_t order = orders_.entry(grant.rnti);
    const bool heard = order != RntiIndex::kNone && agrees(grant, here.pusch[order].grant);
    const bool decoded = heard && !uplink_.next(0).lost;
    observe(grant, block, decoded);
    if (!heard) {
      counters_.ul_unheard.add(1);
      continue;
    }
    (decoded ? counters_.ul_decoded : counters_.ul_lost).add(1);
    (*pusch_)[order] = {decoded ? Pusch::State::kRight : Pusch::State::kWrong, block};
  }
}

// CRCs first, so that the L2 knows what comes.
void Emulator::tell_pusch(const Held& here, Slot now, Indications& to) {
  const auto begin = [now](auto& message) {
    message.sfn = now.sfn;
    message.slot = now.slot;
  };
  begin(*crc_);
  begin(*rx_data_);
  crc_->crcs.clear();
  rx_data_->pdus.clear();
  for (std::size_t i = 0; i < here.pusch.size(); ++i) {
    const PuschOrder& order = here.pusch[i];
    const Pusch& pusch = (*pusch_)[i];
    counters_.pusch_empty.add(pusch.state == Pusch::State::kEmpty ? 1 : 0);
    crc_->crcs.add({.handle = order.handle,
                    .rnti = order.grant.rnti,
                    .harq_id = order.grant.process,
                    .tb_crc_status = static_cast<std::uint8_t>(pusch.state == Pusch::State::kRight ? 0 : kCrcWrong)});
  }
  if (!crc_->crcs.empty()) to.take(*crc_);
  std::size_t bytes = kRxDataFixed;
  for (std::size_t i = 0; i < here.pusch.size(); ++i) {
    const Pusch& pusch = (*pusch_)[i];
    if (pusch.state != Pusch::State::kRight) continue;
    const std::size_t more = kRxDataPdu + pusch.block.size();
    if (bytes + more > most_data_bytes_ && !rx_data_->pdus.empty()) {
      to.take(*rx_data_);
      rx_data_->pdus.clear();
      bytes = kRxDataFixed;
    }
    bytes += more;
    const PuschOrder& order = here.pusch[i];
    rx_data_->pdus.add(
        {.handle = order.handle, .rnti = order.grant.rnti, .harq_id = order.grant.process, .pdu = {pusch.block}});
  }
  if (!rx_data_->pdus.empty()) to.take(*rx_data_);
}

std::optional<bool> Emulator::take_answer(Held& here, Rnti rnti) {
  const std::uint8_t entry = here.ues_answering.entry(rnti);
  if (entry == RntiIndex::kNone || here.answers[entry].taken) return std::nullopt;
  here.answers[entry].taken = true;
  less(counters_.answers_held);
  return here.answers[entry].ack;
}

void Emulator::tell_uci(Held& here, Slot now, Indications& to) {
  uci_->sfn = now.sfn;
  uci_->slot = now.slot;
  uci_->ucis.clear();
  const auto count_harq = [this](const std::optional<bool>& answer) {
    counters_.harq_ordered.add(1);
    (answer ? counters_.answers_sent : counters_.harq_dtx).add(1);
  };
  for (std::size_t i = 0; i < here.pusch.size(); ++i) {
    const PuschOrder& order = here.pusch[i];
    if (!order.harq) continue;
    const bool sent = (*pusch_)[i].state != Pusch::State::kEmpty;
    const std::optional<bool> answer = sent ? take_answer(here, order.grant.rnti) : std::nullopt;
    count_harq(answer);
    auto& pdu = uci_->ucis.append()->body.emplace<fapi::UciPuschPdu>();  // as many as PDUs of UL_TTI.request at most
    pdu.pdu_bitmap = fapi::kUciHasHarq;
    pdu.handle = order.handle;
    pdu.rnti = order.grant.rnti;
    pdu.harq = {.crc = answer ? kCrcNotThere : kCrcWrong,
                .bit_len = 1,
                .bits = {wire::Octets(&kBit[answer.value_or(false) ? 1 : 0], 1)}};
  }
  for (const PucchOrder& order : here.pucch) {
    const bool listens = !senders_.has(order.rnti);  // a UE with a PUSCH sends no PUCCH
    bool request = false;
    std::optional<bool> answer;
    if (order.sr) {
      request = listens && terminals_.requests(order.rnti, now);
      counters_.sr_chances.add(1);
      (request ? counters_.sr_sent : counters_.sr_quiet).add(1);
    }
    if (order.harq) {
      if (listens) answer = take_answer(here, order.rnti);
      count_harq(answer);
    }
    if (!order.harq && !request) continue;
    auto& pdu = uci_->ucis.append()->body.emplace<fapi::UciPucchFormat01Pdu>();
    pdu.handle = order.handle;
    pdu.rnti = order.rnti;
    pdu.pucch_format = order.format;
    if (order.sr) pdu.pdu_bitmap |= fapi::kUciHasSr;
    pdu.sr_indication = request ? 1 : 0;
    if (!order.harq) continue;
    pdu.pdu_bitmap |= fapi::kUciHasHarq;
    pdu.harq_values.add(!answer ? kHarqDtx : *answer ? kHarqAck : kHarqNack);
  }
  if (!uci_->ucis.empty()) to.take(*uci_);
  for (const Held::HarqAck& answer : here.answers) {
    if (answer.taken) continue;
    less(counters_.answers_held);
    counters_.answers_unasked.add(1);
  }
}

}  // namespace splitplane::phy
