#include "explain/words.h"

#include <algorithm>

#include "gnb/config/host_only.h"
#include "n3/message.h"
#include "n3/neighbor.h"
#include "placement/decision/decision.h"
#include "ran/control/bearer_json.h"
#include "wire/airhdr.h"
#include "wire/ethernet.h"
#include "wire/pdcp.h"
#include "wire/rlc.h"
#include "wire/sdap.h"

namespace splitplane::app {
namespace {

using datapath::Stage;
using Texts = std::vector<std::string>;
using View = std::span<const std::uint8_t>;

std::string plural(std::size_t n, const char* what) {
  return fmt::format("{} {}{}", n, what, n == 1 ? "" : "s");
}

std::string rlc_words(const wire::airhdr::Header& air) {
  constexpr std::array<const char*, 3> kModes{"TM", "UM", "AM"};
  const char* mode = kModes[static_cast<std::size_t>(air.rlc_mode)];
  return air.rlc_sn_bits == 0 ? mode : fmt::format("{} with {}-bit SN", mode, air.rlc_sn_bits);
}

// airhdr, RLC, PDCP and SDAP of an air frame, a line each, as far as they can be read.
Texts air_headers(View frame) {
  Texts texts;
  const auto ether = wire::ethernet::parse(frame);
  if (!ether) return texts;
  View in = frame.subspan(ether->header_bytes);
  const auto air = wire::airhdr::parse(in);
  if (!air) return texts;
  const bool down = air->direction == Direction::kDownlink;
  texts.push_back(fmt::format("airhdr {} B: {}, bearer {:#010x}, RLC {}, PDCP {}-bit SN, {}SDAP header, PDU {} B",
                              wire::airhdr::kHeaderBytes, down ? "downlink" : "uplink", air->bearer.value,
                              rlc_words(*air), air->pdcp_sn_bits, air->sdap_header ? "" : "no ", air->pdu_bytes));
  in = wire::airhdr::pdu_of(*air, in);
  std::size_t rlc_bytes = 0;
  if (air->rlc_mode == RlcMode::kTm) {
    texts.emplace_back("RLC 0 B: TM has no header");
  } else if (air->rlc_mode == RlcMode::kUm) {
    const auto rlc = wire::rlc::parse_um(in, air->rlc_sn_bits);
    if (!rlc || rlc->si != wire::rlc::Segment::kComplete) return texts;
    rlc_bytes = rlc->header_bytes;
    texts.push_back(fmt::format("RLC {} B: complete SDU (no SN in UM then)", rlc_bytes));
  } else {
    const auto rlc = wire::rlc::parse_am(in, air->rlc_sn_bits);
    if (!rlc || rlc->si != wire::rlc::Segment::kComplete) return texts;
    rlc_bytes = rlc->header_bytes;
    texts.push_back(fmt::format("RLC {} B: SN {}, complete SDU, {}", rlc_bytes, rlc->sn,
                                rlc->poll ? "P: asks for a STATUS" : "no poll"));
  }
  in = in.subspan(rlc_bytes);
  const auto pdcp = wire::pdcp::parse_data(in, air->pdcp_sn_bits);
  if (!pdcp) return texts;
  texts.push_back(fmt::format("PDCP {} B: SN {}", pdcp->header_bytes, pdcp->sn));
  in = in.subspan(pdcp->header_bytes);
  if (!air->sdap_header) return texts;
  if (const auto sdap = wire::sdap::parse_downlink(in); down && sdap) {
    texts.push_back(
        fmt::format("SDAP 1 B: QFI {}{}{}", sdap->qfi.value, sdap->rqi ? ", RQI" : "", sdap->rdi ? ", RDI" : ""));
  } else if (const auto up = wire::sdap::parse_uplink(in); !down && up) {
    texts.push_back(fmt::format("SDAP 1 B: QFI {}{}", up->qfi.value, up->is_data ? "" : ", end marker"));
  }
  return texts;
}

std::string bearer_words(const ran::BearerConfig& b) {
  std::string text =
      fmt::format("bearer {:#010x}: shard {}, RLC {}, PDCP {}-bit SN, QFI {}; UPF {}, uplink TEID {:#010x}", b.id.value,
                  ran::shard_of(b.id.value).value, ran::rlc_name(b.rlc_mode, b.rlc_sn_bits), b.pdcp_sn_bits,
                  b.qfi.value, b.upf.to_string(), b.uplink_teid.value);
  if (b.security) {
    text += fmt::format(", secured by {} and {} with keys {} as DRB {}: this program reads no keys",
                        ran::kCipherNames[static_cast<std::size_t>(b.security->cipher)],
                        ran::kIntegrityNames[static_cast<std::size_t>(b.security->integrity)], b.security->key,
                        b.security->drb);
  }
  if (b.ue_ipv4) text += ", UE " + b.ue_ipv4->to_string();
  if (b.ue_ipv6) text += ", UE " + b.ue_ipv6->to_string();
  return text;
}

Texts gpdu_words(const datapath::GPdu& gpdu) {
  Texts texts{fmt::format("G-PDU for TEID {:#010x}, T-PDU of {} at octet {}", gpdu.teid, plural(gpdu.bytes, "octet"),
                          gpdu.offset)};
  texts.push_back(
      gpdu.has_qfi ? fmt::format("PDU Session Container: QFI {}{}", gpdu.sdap & 0x3f, gpdu.sdap & 0x40 ? ", RQI" : "")
                   : std::string("no PDU Session Container: the bearer's own QFI counts"));
  return texts;
}

// What the control thread makes of a GTP-U message: the same decision, without its limits on the rate of answers.
std::string gtpu_words(const datapath::N3Message& message) {
  using Duty = datapath::N3Duty;
  const auto answers = [](const char* what, const Octets& frame) {
    return fmt::format("which answers with {} of {} to N3", what, plural(frame.size(), "octet"));
  };
  switch (datapath::duty_of(message)) {
    case Duty::kMalformed:
      if (!message.from_one_host) return "which ignores it: its sender is no single host";
      return message.reason == wire::Reason::ok ? "which ignores it: its content cannot be read"
                                                : fmt::format("which ignores it: {}", wire::text_of(message.reason));
    case Duty::kNone:
      return "which ignores it: TEID 0 is nobody's";
    case Duty::kNotifyExtensions:
      return answers("a Supported Extension Headers Notification", datapath::notify_extensions(message, {}));
    case Duty::kIndicateError:
      return answers("an Error Indication", datapath::indicate_error(message, {}));
    case Duty::kAnswerEcho:
      return answers("an Echo Response", *datapath::answer_echo(message, {}));
    case Duty::kTakeEchoResponse:
      return "an Echo Response: the supervision of its path takes it";
    case Duty::kTakeErrorIndication:
      return "an Error Indication: if it comes from the UPF of the bearer with its TEID, that uplink stops";
    case Duty::kTakeEndMarker:
      return "an End Marker: counted";
    case Duty::kTakeExtensions:
      return "a Supported Extension Headers Notification: logged";
  }
  return {};
}

// What the control thread makes of a frame that a worker hands to it: the same functions, asked the same way.
Texts punt_words(const Outcome& outcome) {
  const View frame(*outcome.punted);
  const auto ether = wire::ethernet::parse(frame);
  const auto result = datapath::handle_neighbor_frame(frame, {outcome.n3->ipv4, outcome.n3->ipv6, {}});
  const auto message = datapath::read_n3_message(frame);
  const bool arp = ether && ether->ether_type == wire::ethernet::kTypeArp;
  Texts texts{fmt::format("{}: handed to the control thread", arp       ? "ARP"
                                                              : message ? "GTP-U for the path or without a bearer"
                                                                        : "neighbour discovery")};
  if (message) {
    texts.push_back(gtpu_words(*message));
    return texts;
  }
  if (result.claim) {
    texts.push_back(fmt::format("which learns that {} is at {} if this answers its question, and asks if it does not",
                                result.claim->ip.to_string(), result.claim->mac.to_string()));
  }
  texts.push_back(result.answer ? fmt::format("which answers with {} to N3", plural(result.answer->size(), "octet"))
                                : std::string("which sends no answer"));
  return texts;
}

// Why the packet's flow has this bearer.
std::string session_words(const Outcome& o) {
  const ran::SessionBearer& bearer = *o.session->find(o.bearer->id);
  const std::string text = fmt::format("session {:#010x} of {} bearers: DRB {}", o.session->teid().value,
                                       o.session->bearers.size(), bearer.drb.value);
  if (!o.trace.gpdu) return text;
  if (!o.trace.gpdu->has_qfi) return text + ", the default for a G-PDU without a QFI";
  const Qfi qfi{static_cast<std::uint8_t>(o.trace.gpdu->sdap & 0x3f)};
  const bool ruled = std::ranges::count(bearer.flows, qfi) != 0;
  return text + (ruled ? fmt::format(", by the rule for QFI {}", qfi.value)
                       : fmt::format(", the default because QFI {} has no rule", qfi.value));
}

// Where the bearer lives, and whether that may change.
Texts placement_words(const Outcome& o) {
  if (!o.may_live) return {};
  const std::string& card = o.bearer->card;
  const std::string where = card.empty() ? "placed on the host" : fmt::format("placed on card {}", card);
  const MayLive& may = *o.may_live;
  if (may.why != placement::HostOnly::none) {
    const auto reason = forbids_moves_only(may.why) ? placement::PlaceReason::fixed : placement::PlaceReason::host_only;
    return {fmt::format("{}: {}: {}", where, text_of(reason), text_of(may.why))};
  }
  if (!may.pinned_to.empty()) return {fmt::format("{}: the file pins it to {}", where, may.pinned_to)};
  const auto mode = placement::kModeNames[static_cast<std::size_t>(may.mode)];
  return {fmt::format("{}: card {} may serve it; {}", where, may.card,
                      may.mode == placement::Mode::kStatic ? "mode static moves it only when it is told to"
                                                           : fmt::format("mode {} moves it", mode))};
}

// A bearer on a card: the card serves what it can read, and passes up the rest, which gets its numbers there all the
// same.
Texts bearer_found(const Outcome& o) {
  if (o.bearer == nullptr) return {};
  Texts texts{bearer_words(*o.bearer)};
  if (o.session != nullptr) texts.push_back(session_words(o));
  for (auto& text : placement_words(o)) texts.push_back(std::move(text));
  if (o.bearer->card.empty()) return texts;
  texts.push_back(fmt::format("lives on card {}, which numbers its packets and passes up only what it cannot read",
                              o.bearer->card));
  if (o.returned) {
    texts.push_back(
        fmt::format("goes back to the card as a returned frame of {} (EtherType 0x88B5, kind 1, TEID, RQI "
                    "and QFI, T-PDU), where it becomes:",
                    plural(o.to_n3.back().size(), "octet")));
    if (o.by_card) {
      for (auto& text : air_headers(*o.by_card)) texts.push_back(std::move(text));
    }
  }
  return texts;
}

// What a card made of the packet as it came.
Texts card_words(const Outcome& o) {
  const CardPassage& card = *o.card;
  Texts texts{card.from == nic::kN3Port ? fmt::format("card {}: from N3, table bearers", card.card)
                                        : fmt::format("card {}: from the air, table uplink", card.card)};
  if (card.dropped) {
    texts.push_back(fmt::format("drops it: {}: {}", name_of(*card.dropped), text_of(*card.dropped)));
  } else if (card.punted) {
    texts.push_back(fmt::format("passes it up by VF {} as it came: {}: {}", card.to - nic::kFirstVf,
                                name_of(*card.punted), text_of(*card.punted)));
  } else if (!o.by_card || o.returned) {
    texts.push_back(fmt::format("its entry is to_host: to VF {}, of worker {}", card.to - nic::kFirstVf, o.worker));
  } else if (card.to == nic::kAirPort) {
    texts.push_back(fmt::format("its entry is serve: headers and numbers on the card{}",
                                card.clones == 0 ? "" : ", a clone to the copies' VF"));
    if (o.bearer != nullptr) texts.push_back(bearer_words(*o.bearer));
    for (auto& text : placement_words(o)) texts.push_back(std::move(text));
    for (auto& text : air_headers(*o.by_card)) texts.push_back(std::move(text));
  } else if (card.to == nic::kN3Port) {
    texts.push_back(fmt::format("its entry is uplink_serve: stripped, GTP-U by the entry of table peers: {}",
                                plural(o.by_card->size(), "octet")));
  } else {
    texts.push_back(fmt::format("RLC control PDU: to the copies' VF {}", card.to - nic::kFirstVf));
  }
  return texts;
}

Texts stage_words(Stage stage, const Outcome& o, View frame) {
  switch (stage) {
    case Stage::dl_parse:
      return o.trace.gpdu ? gpdu_words(*o.trace.gpdu) : Texts{};
    case Stage::dl_bearer:
      return bearer_found(o);
    case Stage::dl_headers: {
      if (!o.own_in_air || !o.trace.gpdu) return {};
      const Octets& own = o.to_air[*o.own_in_air];
      Texts texts{fmt::format("{} in front of the T-PDU go, {} come:", plural(o.trace.gpdu->offset, "octet"),
                              own.size() - o.trace.gpdu->bytes)};
      for (auto& text : air_headers(own)) texts.push_back(std::move(text));
      return texts;
    }
    case Stage::dl_clone:
      return {o.copies != 0 ? "a reference goes to the consumer of copies" : "no reference was taken"};
    case Stage::ul_parse: {
      Texts texts = air_headers(frame);
      for (auto& text : bearer_found(o)) texts.push_back(std::move(text));
      return texts;
    }
    case Stage::ul_encap: {
      if (o.to_n3.empty() || o.bearer == nullptr) return {};
      Texts texts{fmt::format("GTP-U to {}: TEID {:#010x}, UL PDU Session Container with QFI {}",
                              o.bearer->upf.to_string(), o.bearer->uplink_teid.value, o.trace.qfi.value_or(0))};
      if (!o.n3->peer_mac) texts.emplace_back("its MAC address is asked for when running; zeros stand for it here");
      return texts;
    }
    case Stage::dl_tx: {
      if (!o.own_in_air) return {};
      Texts texts{plural(o.to_air[*o.own_in_air].size(), "octet")};
      const std::size_t before = *o.own_in_air, behind = o.to_air.size() - before - 1;
      if (before != 0) texts.push_back(fmt::format("behind {} that had waited", plural(before, "packet")));
      if (behind != 0) texts.push_back(fmt::format("and {} that waited for it", plural(behind, "packet")));
      return texts;
    }
    case Stage::ul_tx:
      return o.to_n3.empty() ? Texts{} : Texts{plural(o.to_n3.front().size(), "octet")};
    default:
      return {};
  }
}

// Held, while others whose order it decided left: the stages that they passed are not this packet's.
bool is_others(Stage stage, const Outcome& o) {
  const bool behind = stage == Stage::dl_headers || stage == Stage::dl_clone || stage == Stage::dl_tx;
  return behind && !o.own_in_air && !o.to_air.empty();
}

std::string verdict_of(const Outcome& o) {
  if (o.dropped) return fmt::format("dropped: {}: {}", name_of(*o.dropped), text_of(*o.dropped));
  if (o.punted) return "for the gNB itself";
  if (o.card && o.card->dropped) {
    return fmt::format("dropped by card {}: {}: {}", o.card->card, name_of(*o.card->dropped),
                       text_of(*o.card->dropped));
  }
  if (o.by_card && !o.returned) {
    if (o.card->to == nic::kAirPort) return fmt::format("sent to the air by card {}", o.card->card);
    if (o.card->to == nic::kN3Port) return fmt::format("sent to N3 by card {}", o.card->card);
    return fmt::format("RLC control: to the copies' VF of card {}", o.card->card);
  }
  if (o.rlc_control) return "RLC control: to the consumer of copies";
  if (o.own_in_air) return "sent to the air";
  if (o.returned) {
    return fmt::format("returned to card {}, which {}", o.card->card,
                       o.by_card ? "numbers it and sends it to the air" : "drops it");
  }
  if (!o.to_n3.empty()) return "sent to N3";
  return "held: waits for the packets before it";
}

}  // namespace

Story tell(const Outcome& outcome, const Octets& frame) {
  Story story;
  if (outcome.card) story.steps.push_back({"card", card_words(outcome)});
  if (!outcome.dispatcher.empty()) {
    Step step{std::string(name_of(Stage::dispatch)), {}};
    step.texts.push_back(outcome.worker.empty()
                             ? fmt::format("by worker {}", outcome.dispatcher)
                             : fmt::format("worker {} hands it to {}", outcome.dispatcher, outcome.worker));
    story.steps.push_back(std::move(step));
  }
  // A stage that no packet entered did nothing.
  for (const auto& [stage, packets] : outcome.trace.stages) {
    // Packets that were put in order take the way of every packet once more: it is told once.
    const bool told = std::any_of(story.steps.begin(), story.steps.end(),
                                  [s = stage](const Step& step) { return step.stage == name_of(s); });
    if (packets == 0 || told || is_others(stage, outcome)) continue;
    story.steps.push_back({std::string(name_of(stage)), stage_words(stage, outcome, frame)});
  }
  if (!story.steps.empty()) {
    Texts& last = story.steps.back().texts;
    if (outcome.punted) {
      for (auto& text : punt_words(outcome)) last.push_back(std::move(text));
    }
    if (!outcome.own_in_air && !outcome.to_air.empty() && !outcome.by_card) {
      last.push_back(
          fmt::format("pushes the window: the missing number is given up, {} that had waited for it: to the air",
                      plural(outcome.to_air.size(), "packet")));
    }
    if (outcome.dropped) last.push_back(fmt::format("dropped: {}", text_of(*outcome.dropped)));
    if (outcome.rlc_control) last.emplace_back("RLC control PDU: to the consumer of copies, which owns ARQ");
  }
  story.verdict = verdict_of(outcome);
  return story;
}

std::string render(const Story& story, const Outcome& outcome, const std::string& headline, bool hex) {
  std::string out = render_story(story, headline);
  if (hex) {
    for (const auto& frame : outcome.to_air) out += hex_lines(frame);
    for (const auto& frame : outcome.to_n3) out += hex_lines(frame);
  }
  return out;
}

Json to_json(const Story& story, const Outcome& outcome) {
  Json json = to_json(story);
  json["worker"] = outcome.worker;
  json["dropped"] = outcome.dropped ? Json(std::string(name_of(*outcome.dropped))) : Json(nullptr);
  json["punted"] = outcome.punted.has_value();
  json["rlc_control"] = outcome.rlc_control;
  if (outcome.bearer != nullptr) json["bearer"] = to_json(*outcome.bearer);
  json["out"] = Json::array();
  for (const auto& frame : outcome.to_air) json["out"].push_back({{"to", "air"}, {"hex", hex_of(frame)}});
  for (const auto& frame : outcome.to_n3) json["out"].push_back({{"to", "n3"}, {"hex", hex_of(frame)}});
  return json;
}

}  // namespace splitplane::app
