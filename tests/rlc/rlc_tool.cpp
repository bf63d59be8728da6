// What the judges of RLC talk to (tests/oracle/rlc_schedule.py): entities of ran/rlc on heap buffers, one command a
// line in, one JSON object a line out with the entity's variables. Times are milliseconds.
//   new NAME am|um key=value...   seed NAME SN   send NAME HEX   pull NAME GRANT   receive NAME HEX   tick NAME NOW
//   discard NAME ID   reset NAME
#include <iostream>
#include <map>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <sstream>
#include <string>

#include "buf/heap_buffer.h"
#include "ran/rlc/am_entity.h"
#include "ran/rlc/um_entity.h"

namespace {

using namespace splitplane;
using namespace splitplane::ran::rlc;
using Json = nlohmann::json;
using Buffer = buf::HeapBuffer;
using Keys = std::map<std::string, std::uint32_t>;

std::vector<std::uint8_t> octets_of(const std::string& hex) {
  std::vector<std::uint8_t> out;
  for (std::size_t i = 0; i + 1 < hex.size(); i += 2) {
    out.push_back(static_cast<std::uint8_t>(std::stoul(hex.substr(i, 2), nullptr, 16)));
  }
  return out;
}

std::string hex_of(Octets octets) {
  static constexpr char kDigits[] = "0123456789abcdef";
  std::string out;
  for (const std::uint8_t o : octets) {
    out += kDigits[o >> 4];
    out += kDigits[o & 15];
  }
  return out;
}

Json expiry_of(const Timer& timer) {
  return timer.running() ? Json(timer.expiry()) : Json();
}

class Entity {
 public:
  virtual ~Entity() = default;
  virtual void restart_at(std::uint32_t sn) = 0;
  virtual bool send(Buffer sdu) = 0;
  virtual Json pull(std::size_t grant) = 0;
  virtual void receive(Buffer pdu) = 0;
  virtual void tick() = 0;
  virtual bool discard(std::uint64_t id) = 0;
  virtual Json state() = 0;
  virtual Json events() = 0;
  std::vector<std::string> delivered;
  Time now = 0;

 protected:
  void take(std::span<Part<Buffer>> parts) {
    std::string sdu;
    for (const auto& part : parts) sdu += hex_of(part.data());
    delivered.push_back(sdu);
  }
};

MemorySizes sizes() {
  return {.sent_pages = 4200,
          .received_pages = 4200,
          .queue_pages = 600,
          .directories = 600,
          .segments = 60000,
          .assemblies = 20000,
          .intervals = 60000};
}

class Am : public Entity {
 public:
  Am(const Keys& k)
      : config_{.sn_bits = static_cast<std::uint8_t>(k.at("sn_bits")),
                .max_retx = static_cast<std::uint8_t>(k.at("max_retx")),
                .poll_pdu = static_cast<std::uint16_t>(k.at("poll_pdu")),
                .poll_byte = k.at("poll_byte"),
                .t_poll_retransmit = k.at("t_poll_retransmit"),
                .t_reassembly = k.at("t_reassembly"),
                .t_status_prohibit = k.at("t_status_prohibit"),
                .max_queued = k.at("max_queued")},
        memory_(sizes()),
        entity_(config_, memory_) {}
  void restart_at(std::uint32_t sn) override {
    entity_.restart_at(sn);
    id_.clear();
    acked_.clear();
    max_retx_.clear();
  }
  bool send(Buffer sdu) override { return entity_.send(sdu); }
  Json pull(std::size_t grant) override {
    std::vector<std::uint8_t> out(grant);
    const std::uint32_t next = entity_.sender().next();
    const std::size_t bytes = entity_.pull(out, now);
    if (entity_.sender().next() != next) id_[next] = entity_.sender().last_ordinal();
    return bytes == 0 ? Json() : Json(hex_of(Octets(out).first(bytes)));
  }
  void receive(Buffer pdu) override {
    entity_.receive(std::move(pdu), now, [this](auto parts) { take(parts); }, [this](std::uint32_t sn) { note(sn); });
    release();
  }
  void tick() override {
    entity_.tick(now, [this](std::uint32_t sn) { note(sn); });
  }
  bool discard(std::uint64_t id) override { return entity_.discard(id); }
  Json state() override {
    const auto& s = entity_.sender();
    const auto& x = entity_.retx();
    const auto& r = entity_.receiver();
    const std::uint32_t mask = sn_mask(config_.sn_bits);
    return {{"tx_next", s.next() & mask},
            {"tx_next_ack", x.next_ack() & mask},
            {"poll_sn", x.poll_sn() & mask},
            {"pdu_without_poll", s.pdu_without_poll()},
            {"byte_without_poll", s.byte_without_poll()},
            {"poll_wanted", x.poll_wanted()},
            {"polls_in_vain", x.polls_in_vain()},
            {"peer_lost", x.peer_lost()},
            {"retx_volume", x.volume()},
            {"t_poll_retransmit", expiry_of(x.t_poll_retransmit())},
            {"rx_next", r.next() & mask},
            {"rx_next_highest", r.next_highest() & mask},
            {"rx_highest_status", r.highest_status() & mask},
            {"rx_next_status_trigger", r.status_trigger() & mask},
            {"t_reassembly", expiry_of(r.t_reassembly())},
            {"t_status_prohibit", expiry_of(r.t_status_prohibit())},
            {"status_triggered", r.triggered()},
            {"queued", s.waiting()},
            {"unacked", x.unacked()},
            {"pending_retx", x.pending()}};
  }
  Json events() override {
    std::sort(acked_.begin(), acked_.end());
    return {{"acked", std::exchange(acked_, {})}, {"max_retx", std::exchange(max_retx_, {})}};
  }

 private:
  void note(std::uint32_t sn) { max_retx_.push_back(id_.at(sn)); }
  void release() {
    entity_.release(1U << 20, [this](std::uint32_t sn, Buffer) {
      acked_.push_back(id_.at(sn));
      id_.erase(sn);
    });
  }

  AmConfig config_;
  Memory<Buffer> memory_;
  AmEntity<Buffer> entity_;
  std::map<std::uint32_t, std::uint64_t> id_;
  std::vector<std::uint64_t> acked_, max_retx_;
};

class Um : public Entity {
 public:
  Um(const Keys& k)
      : config_{.sn_bits = static_cast<std::uint8_t>(k.at("sn_bits")),
                .t_reassembly = k.at("t_reassembly"),
                .max_queued = k.at("max_queued")},
        memory_(sizes()),
        send_(config_, memory_),
        receive_(config_, memory_) {}
  void restart_at(std::uint32_t sn) override {
    send_.restart_at(sn);
    receive_.restart_at(sn);
  }
  bool send(Buffer sdu) override { return send_.send(sdu); }
  Json pull(std::size_t grant) override {
    std::vector<std::uint8_t> out(grant);
    const auto pdu = send_.pull(grant);
    return pdu ? Json(hex_of(Octets(out).first(pdu.write(out)))) : Json();
  }
  void receive(Buffer pdu) override {
    receive_.receive(std::move(pdu), now, [this](auto parts) { take(parts); });
  }
  void tick() override { receive_.tick(now); }
  bool discard(std::uint64_t id) override { return send_.discard(id); }
  Json state() override {
    const std::uint32_t mask = sn_mask(config_.sn_bits);
    return {{"tx_next", send_.next() & mask},
            {"rx_next_reassembly", receive_.next_reassembly() & mask},
            {"rx_next_highest", receive_.next_highest() & mask},
            {"rx_timer_trigger", receive_.timer_trigger() & mask},
            {"t_reassembly", expiry_of(receive_.t_reassembly())},
            {"queued", send_.waiting()},
            {"held", receive_.held()}};
  }
  Json events() override { return {{"acked", Json::array()}, {"max_retx", Json::array()}}; }

 private:
  UmConfig config_;
  Memory<Buffer> memory_;
  UmSend<Buffer> send_;
  UmReceive<Buffer> receive_;
};

std::unique_ptr<Entity> make(std::istream& words) {
  std::string kind, word;
  words >> kind;
  Keys keys;
  while (words >> word) {
    const auto at = word.find('=');
    keys[word.substr(0, at)] = static_cast<std::uint32_t>(std::stoul(word.substr(at + 1)));
  }
  if (kind == "am") return std::make_unique<Am>(keys);
  return std::make_unique<Um>(keys);
}

}  // namespace

int main() {
  std::ios::sync_with_stdio(false);
  buf::HeapPool pool({.headroom = 0});
  std::map<std::string, std::unique_ptr<Entity>> entities;
  const auto buffer = [&](std::istream& words) {
    std::string hex;
    words >> hex;
    return pool.make(octets_of(hex));
  };
  for (std::string line; std::getline(std::cin, line);) {
    std::istringstream words(line);
    std::string command, name;
    words >> command >> name;
    if (command == "new") entities[name] = make(words);
    Entity& e = *entities.at(name);
    Json reply = Json::object();
    std::uint64_t number = 0;
    if (command == "send") {
      reply["accepted"] = e.send(buffer(words));
    } else if (command == "receive") {
      e.receive(buffer(words));
      reply["delivered"] = std::exchange(e.delivered, {});
    } else if (command == "reset") {
      e.restart_at(0);
    } else if (words >> number) {
      if (command == "seed") e.restart_at(static_cast<std::uint32_t>(number));
      if (command == "pull") reply["pdu"] = e.pull(number);
      if (command == "discard") reply["discarded"] = e.discard(number);
      if (command == "tick") {
        e.now = number;
        e.tick();
      }
    }
    reply["state"] = e.state();
    reply["events"] = e.events();
    std::cout << reply.dump() << std::endl;
  }
  return 0;
}
