// The guard of `splitplane explain`: the function of `splitplane guard`, between memory instead of ports and without a
// thread. One packet goes in, and what happened to it comes out; what the guard learns and translates goes on from
// packet to packet.
#pragma once

#include <array>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "engine/eal.h"
#include "explain/story.h"
#include "guard/config/config.h"
#include "guard/guard_function.h"
#include "guard/state/state_file.h"
#include "runtime/resources.h"

namespace splitplane::app {

// A frame that the guard sent because of a packet.
struct GuardFrame {
  guard::Side to = guard::Side::kClient;
  std::vector<std::uint8_t> octets;
};

// What the guard saw of a packet, what it decided, and what it sent.
struct GuardOutcome {
  guard::Side from = guard::Side::kClient;
  std::size_t bytes = 0;
  guard::Segment segment;                    // as the parser read it; its mbuf is gone
  std::vector<std::string> options;          // of the TCP header
  std::optional<guard::ServerRule> server;   // absent: it concerns no protected server
  bool acts = false;                         // the server's guard
  guard::Proof proof = guard::Proof::kNone;  // of the client, before the packet
  std::optional<guard::Flow> flow;           // of the connection, before the packet
  guard::Outcome outcome = guard::Outcome::passed;
  std::vector<GuardFrame> sent;
};

class GuardExplainer {
 public:
  // Starts DPDK in ordinary memory, without a privilege. `armed`: every server in mode auth or proxy acts, as during a
  // flood. Error: one sentence.
  [[nodiscard]] static Expected<std::unique_ptr<GuardExplainer>> make(const GuardConfig& config, bool armed);
  // The same with DPDK running.
  [[nodiscard]] static Expected<std::unique_ptr<GuardExplainer>> make_on(std::optional<datapath::Eal> eal,
                                                                         const GuardConfig& config, bool armed);
  ~GuardExplainer();
  GuardExplainer(const GuardExplainer&) = delete;
  GuardExplainer& operator=(const GuardExplainer&) = delete;

  // `from` absent: the server side if the packet is from a protected server, else the client side.
  [[nodiscard]] Expected<GuardOutcome> run(const std::vector<std::uint8_t>& frame,
                                           std::optional<guard::Side> from = std::nullopt);
  // What the headers of a frame say, for people: "TCP SYN ACK, 10.70.0.2:80 to 192.0.2.7:4000, ...".
  [[nodiscard]] std::string words_of(const GuardFrame& frame) const;

 private:
  using Function = guard::GuardFunction<datapath::RingSource, datapath::RingSink>;

  GuardExplainer(const GuardConfig& config, std::optional<datapath::Eal> eal);
  [[nodiscard]] Expected<void> build(bool armed);
  [[nodiscard]] Expected<rte_mbuf*> packet(const std::vector<std::uint8_t>& frame) const;
  [[nodiscard]] guard::Side side_of(rte_mbuf* m) const;
  void look_before(rte_mbuf* m, GuardOutcome& outcome);
  void take_sent(GuardOutcome& outcome);

  const GuardConfig config_;
  std::optional<datapath::Eal> eal_;
  Pool pool_;
  std::array<Ring, 2> in_, out_;  // by guard::Side
  std::optional<guard::StateFile> tables_;
  std::optional<guard::WorkerGuard> guard_;
  std::optional<Function> function_;
};

// A line or more for each step: parse, server, client, connection, and where the packet went.
[[nodiscard]] Story tell(const GuardOutcome& outcome, const GuardExplainer& explainer);
// Adds what `story` does not say for machines.
[[nodiscard]] Json to_json(const Story& story, const GuardOutcome& outcome);

}  // namespace splitplane::app
