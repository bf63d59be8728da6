#include "pdcp_steps.h"

#include <map>
#include <stdexcept>
#include <utility>
#include <vector>

#include "buf/heap_buffer.h"
#include "hex.h"
#include "ran/pdcp/entity.h"
#include "ran/pdcp/rx_burst.h"
#include "ran/pdcp/tx_burst.h"

namespace splitplane::pdcp_tool {
namespace {

using Json = nlohmann::json;
using namespace ran::pdcp;
using buf::HeapBuffer;
using Tx = Transmitter<HeapBuffer>;
using Rx = Receiver<HeapBuffer>;

constexpr std::size_t kLowerBytes = 5;  // of headers that stand for RLC's

template <class T>
T value_of(Expected<T> result) {
  if (!result) throw std::runtime_error(result.error().message);
  return std::move(*result);
}

std::string text_of(const Json& json, const char* key) {
  return json.at(key).get<std::string>();
}

Time time_of(const Json& value) {
  return value.is_null() ? kNever : value.get<Time>();
}

Config config_of(const Json& step) {
  const Json& json = step.at("config");
  Config config;
  const bool is_gnb = json.value("role", "gnb") == "gnb";
  const auto bits = [&](bool uplink) {
    return static_cast<std::uint8_t>(json.value(uplink ? "sn_bits_ul" : "sn_bits_dl", 18));
  };
  const auto header = [&](bool uplink) { return json.value(uplink ? "sdap_header_ul" : "sdap_header_dl", false); };
  config.drb = static_cast<std::uint8_t>(json.value("drb", 1));
  config.rlc = json.value("rlc", "am") == "am" ? RlcMode::kAm : RlcMode::kUm;
  config.sends = is_gnb ? Direction::kDownlink : Direction::kUplink;
  config.tx_sn_bits = bits(!is_gnb);
  config.rx_sn_bits = bits(is_gnb);
  config.tx_sdap_header = header(!is_gnb);
  config.rx_sdap_header = header(is_gnb);
  if (json.contains("t_reordering_us")) config.t_reordering = time_of(json.at("t_reordering_us"));
  if (json.contains("discard_timer_us")) config.discard_timer = time_of(json.at("discard_timer_us"));
  config.out_of_order_delivery = json.value("out_of_order_delivery", false);
  config.status_report_required = json.value("status_report_required", false);
  if (json.contains("max_in_flight") && !json.at("max_in_flight").is_null()) {
    config.max_in_flight = json.at("max_in_flight").get<std::uint32_t>();
  }
  config.count_threshold = json.value("count_threshold", config.count_threshold);
  config.count_stop = json.value("count_stop", config.count_stop);
  config.max_waiting = 1U << 16;  // the model has no limit
  config.max_held = 1U << 18;
  return config;
}

const char* name_of(Refusal refusal) {
  switch (refusal) {
    case Refusal::kNone:
      break;
    case Refusal::kNotAm:
      return "not_am";
    case Refusal::kSuspended:
      return "suspended";
    case Refusal::kKeyReused:
      return "key_reused";
    case Refusal::kNotEmpty:
      return "not_empty";
    case Refusal::kCountGoesBack:
      return "count_goes_back";
    case Refusal::kOutOfRange:
      return "out_of_range";
    case Refusal::kSendingAgain:
      return "sending_again";
    case Refusal::kCountTwice:
      return "count_twice";
    case Refusal::kNoMemory:
      return "no_memory";
  }
  return "";
}

// Keys by algorithm and text. A text is one key object, also of a null algorithm.
class Keys {
  inline static const std::string kNoKey = std::string(32, '0');
  template <class Map, class Algorithm>
  auto key(Map& map, Algorithm algorithm, const std::string& text, const std::string& more) {
    auto& one = map[{algorithm, text + more}];
    if (!one) {
      const auto secret =
          crypto::key_bytes(algorithm) == 0 ? crypto::Secret() : value_of(crypto::Secret::from_hex(text));
      one = value_of(store_->make(algorithm, secret));
    }
    return one.get();
  }

 public:
  Security security_of(const Json& json) {
    const auto algorithm = value_of(crypto::find_cipher_algorithm(text_of(json, "cipher")));
    const bool is_protected = !json.at("integrity").is_null();
    // The model compares the text of a key that no algorithm uses, so that text takes part in the name of the other.
    const std::string unused = is_protected ? "" : json.value("integrity_key", kNoKey);
    Security out{.cipher = key(ciphers_, algorithm, json.value("cipher_key", kNoKey), unused)};
    if (is_protected) {
      out.integrity = key(integrities_, value_of(crypto::find_integrity_algorithm(text_of(json, "integrity"))),
                          json.value("integrity_key", kNoKey), "");
    }
    return out;
  }

 private:
  std::unique_ptr<crypto::KeyStore> store_ = value_of(crypto::KeyStore::create());
  std::map<std::pair<crypto::CipherAlgorithm, std::string>, crypto::KeyStore::CipherKeyPtr> ciphers_;
  std::map<std::pair<crypto::IntegrityAlgorithm, std::string>, crypto::KeyStore::IntegrityKeyPtr> integrities_;
};

}  // namespace

struct PdcpSteps::Home {
  HeapBuffer make(std::size_t bytes) { return roomy.make(bytes); }
  // Buffers with much, with little and without room, in turns: the answers are the same.
  HeapBuffer buffer_of(const std::string& hex) {
    HeapPool* const pools[] = {&roomy, &narrow, &tight};
    return pools[turn++ % 3]->make(from_hex(hex));
  }

  using HeapPool = buf::HeapPool;
  HeapPool roomy{{.headroom = 128, .tailroom = 20}}, narrow{{.headroom = 10, .tailroom = 4}},
      tight{{.headroom = 0, .tailroom = 0}};
  std::size_t turn = 0;
  Keys keys;
  std::unique_ptr<crypto::Engine> engine = value_of(crypto::Engine::create());
  Memory<HeapBuffer> memory{{}};
  TxBurst<HeapBuffer> tx_burst{*engine};
  RxBurst<HeapBuffer> rx_burst{*engine};
  class Steps;
  std::map<std::string, std::unique_ptr<Steps>> entities;
};

// One entity, and the answer that its neighbours write while it serves a step.
class PdcpSteps::Home::Steps {
 public:
  Steps(Home& home, const Json& step)
      : home_(home), entity_(config_of(step), home.keys.security_of(step.at("security")), home.memory) {}

  Json run(const Json& step) {
    out_ = {{"reply", Json::object()}};
    for (const char* key : {"pdus", "delivered", "discards", "indications"}) out_[key] = Json::array();
    now_ = step.at("t");
    const auto op = step.at("op").get<std::string>();
    if (op != "new") entity_.advance(now_, *this);
    serve(op, step);
    show();
    return std::move(out_);
  }

  // As a TxSink and RxSink.
  void discard(Tx&, Count count) { out_["discards"].push_back(count.value); }
  void key_needed(Tx&) { out_["indications"].push_back({"key_needed", "tx"}); }
  void key_needed(Rx&) { out_["indications"].push_back({"key_needed", "rx"}); }
  void integrity_failure(Rx&, Count count) { out_["indications"].push_back({"integrity_failure", count.value}); }
  void deliver(Rx&, Count, HeapBuffer sdu) { out_["delivered"].push_back(to_hex(buf::octets(sdu))); }
  void status_report(Rx&, const wire::pdcp::StatusReport& report) { entity_.tx().receive_status_report(report, *this); }

 private:
  auto make() {
    return [this](std::size_t bytes) { return home_.make(bytes); };
  }

  void serve(const std::string& op, const Json& step) {
    if (op == "new" || op == "advance") return;
    if (op == "send_sdu") return send(home_.buffer_of(step.at("data")));
    if (op == "receive_pdu") return receive(home_.buffer_of(step.at("data")));
    if (op == "confirm") {
      for (const Json& count : step.at("counts")) entity_.tx().confirm(Count{count.get<std::uint32_t>()});
    } else if (op == "data_recovery") {
      go_on(entity_.data_recovery());
    } else if (op == "reestablish") {
      go_on(entity_.reestablish(home_.keys.security_of(step.at("security")), *this));
    } else if (op == "suspend") {
      refuse(entity_.suspend(*this));
    } else if (op == "release") {
      entity_.release(*this);
    } else if (op == "set_t_reordering") {
      entity_.rx().set_t_reordering(time_of(step.at("value_us")), now_, *this);
    } else if (op == "get_count") {
      get_count();
    } else if (op == "set_count") {
      set_count(step);
    } else if (op == "counter_check") {
      const auto [uplink, downlink] = entity_.counts_in_use();
      out_["reply"] = {{"uplink", uplink.value},
                       {"downlink", downlink.value},
                       {"uplink_msb", uplink.value >> 7},
                       {"downlink_msb", downlink.value >> 7}};
    } else {
      throw std::invalid_argument("no step " + op);
    }
  }

  void send(HeapBuffer sdu) {
    TxItem<HeapBuffer> item{.from = &entity_.tx(), .buffer = std::move(sdu)};
    home_.tx_burst.protect({&item, 1}, now_, *this, make());
    submit({&item, 1});
  }
  void receive(HeapBuffer pdu) {
    RxItem<HeapBuffer> item{.to = &entity_.rx(), .pdu = std::move(pdu)};
    home_.rx_burst.receive({&item, 1}, now_, *this, make());
  }
  // What lower layers do: headers before the PDU, then the PDU is sent.
  void submit(std::span<TxItem<HeapBuffer>> items) {
    for (auto& item : items) {
      if (item.outcome != TxOutcome::sent) continue;
      out_["pdus"].push_back({item.count.value, to_hex(buf::octets(item.buffer))});
      if (item.buffer.prepend(kLowerBytes) != nullptr) item.lower_bytes = kLowerBytes;
    }
    home_.tx_burst.keep(items);
  }
  // After a procedure that sends SDUs again: the status report, then all of them.
  void go_on(Refusal refusal) {
    refuse(refusal);
    if (refusal != Refusal::kNone) return;
    if (entity_.rx().report_is_due()) {
      std::vector<std::uint8_t> report(entity_.rx().report_bytes());
      report.resize(entity_.rx().write_report(report));
      out_["pdus"].push_back({nullptr, to_hex(report)});
    }
    std::array<TxItem<HeapBuffer>, 7> items;
    while (entity_.tx().sending_again()) {
      const std::size_t count = home_.tx_burst.send_again(entity_.tx(), items, *this, make());
      submit(std::span(items).first(count));
    }
  }
  void refuse(Refusal refusal) {
    if (refusal != Refusal::kNone) out_["reply"] = {{"refused", name_of(refusal)}};
  }

  void get_count() {
    const auto& rx = entity_.rx();
    std::vector<std::uint8_t> bitmap;
    rx.for_each_received([&](std::uint32_t count) {
      const std::uint32_t bit = count - rx.rx_deliv() - 1;
      bitmap.resize(std::max<std::size_t>(bitmap.size(), bit / 8 + 1));
      bitmap[bit / 8] = static_cast<std::uint8_t>(bitmap[bit / 8] | 0x80U >> bit % 8);
    });
    out_["reply"] = {{"tx_next", entity_.tx().tx_next()}, {"rx_deliv", rx.rx_deliv()}, {"bitmap", to_hex(bitmap)}};
  }
  void set_count(const Json& step) {
    std::vector<Forwarded<HeapBuffer>> received;
    for (const Json& one : step.at("received")) {
      received.push_back({Count{one[0].get<std::uint32_t>()}, home_.buffer_of(one[1])});
    }
    refuse(entity_.set_counts(Count{step.at("tx_next").get<std::uint32_t>()},
                              Count{step.at("rx_deliv").get<std::uint32_t>()}, received, *this));
  }

  void show() {
    const auto& tx = entity_.tx();
    const auto& rx = entity_.rx();
    const auto deadline = rx.next_deadline();
    out_["state"] = {{"tx_next", tx.tx_next()},
                     {"rx_next", rx.rx_next()},
                     {"rx_deliv", rx.rx_deliv()},
                     {"rx_reord", rx.reordering() ? Json(rx.rx_reord()) : Json()},
                     {"t_reordering", deadline == kNever ? Json() : Json(deadline)},
                     {"unconfirmed", tx.is_am() ? Json(tx.unconfirmed()) : Json()},
                     {"waiting", tx.waiting()},
                     {"held", rx.held()},
                     {"suspended", tx.suspended()}};
    Json counters = Json::object();
    const auto add = [&](std::string_view name, std::uint64_t value) {
      auto& at = counters[std::string(name)];
      at = value + (at.is_null() ? 0 : at.get<std::uint64_t>());
    };
    for (std::size_t i = 0; i < kTxOutcomeCount; ++i) add(kTxOutcomeNames[i], tx.counters()[static_cast<TxOutcome>(i)]);
    for (std::size_t i = 0; i < kRxOutcomeCount; ++i) add(kRxOutcomeNames[i], rx.counters()[static_cast<RxOutcome>(i)]);
    out_["counters"] = std::move(counters);
  }

  Home& home_;
  Entity<HeapBuffer> entity_;
  Json out_;
  Time now_ = 0;
};

PdcpSteps::PdcpSteps() : home_(std::make_unique<Home>()) {}
PdcpSteps::~PdcpSteps() = default;

void PdcpSteps::forget(const std::string& name) {
  home_->entities.erase(name);
}

Json PdcpSteps::answer(const Json& step) {
  const auto name = step.at("entity").get<std::string>();
  if (step.at("op") == "new") {
    forget(name);
    home_->entities[name] = std::make_unique<Home::Steps>(*home_, step);
  }
  Json out = home_->entities.at(name)->run(step);
  if (step.at("op") == "release") forget(name);
  return out;
}

}  // namespace splitplane::pdcp_tool
