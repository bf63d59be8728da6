// Supervision of the paths to the UPFs by GTP-U Echo (TS 29.281 7.2): which UPF answers, which does not, which
// restarted. It is pure: the caller brings the time and sends the requests. Each N3 interface has one instance, on the
// control thread.
#pragma once

#include <chrono>
#include <cstdint>
#include <map>
#include <optional>
#include <vector>

#include "base/ip_address.h"
#include "base/outcome_list.h"

namespace splitplane::datapath {

#define SPLITPLANE_PATH_STATES(X)                       \
  X(unknown, "no request was answered or given up yet") \
  X(up, "the last request was answered")                \
  X(down, "no answer: the cause says to what")          \
  X(resolving, "asked for the MAC address; not answered yet")

SPLITPLANE_OUTCOMES(PathState, SPLITPLANE_PATH_STATES)

// Why a path is down.
#define SPLITPLANE_PATH_CAUSES(X)                                                   \
  X(none, "it is not down")                                                         \
  X(arp_unanswered, "nobody answers ARP for the UPF or the gateway")                \
  X(nd_unanswered, "nobody answers neighbour discovery for the UPF or the gateway") \
  X(no_echo_response, "the last Echo Request and its repetitions were not answered")

SPLITPLANE_OUTCOMES(PathCause, SPLITPLANE_PATH_CAUSES)

struct EchoSettings {
  std::chrono::milliseconds interval{60'000};  // from one first request to the next; 0: no requests
  std::chrono::milliseconds timeout{3'000};    // T3-RESPONSE
  unsigned retries = 2;                        // repetitions of an unanswered request: N3-REQUESTS less one
};

struct IpLess {
  bool operator()(const IpAddress& a, const IpAddress& b) const {
    return a.is_v6() != b.is_v6() ? b.is_v6() : a.octets() < b.octets();
  }
};

class PathSupervisor {
 public:
  using Time = std::chrono::steady_clock::time_point;

  struct Path {
    PathState state = PathState::unknown;          // by Echo alone: unknown, up, down
    bool unresolved = false;                       // the last request could not be sent: the MAC address is unknown
    std::optional<std::chrono::microseconds> rtt;  // of the last request that was answered at its first sending
    Time answered_at{};                            // the last answer
    std::optional<std::uint8_t> restart_counter;   // of the last Echo Response that had a Recovery IE
    std::uint64_t sent = 0, answered = 0, lost = 0, downs = 0, restarts = 0;
    bool waiting = false;               // for an answer, or for a chance to send
    std::uint16_t sequence_number = 0;  // a repetition has the number of its request
    unsigned left = 0;                  // sendings left of this request
    Time begun{};                       // when this request was due
    Time again{};                       // when to repeat it, or to begin the next one
    Time give_up{};                     // when it counts as unanswered
    Time sent_at{};
  };
  enum class Change : std::uint8_t { kNone, kUp, kDown, kRestarted };
  struct Event {
    IpAddress upf;
    Change change = Change::kNone;
  };
  struct Turn {
    std::vector<std::pair<IpAddress, std::uint16_t>> requests;  // to send now: UPF, sequence number
    std::vector<Event> events;
  };

  explicit PathSupervisor(const EchoSettings& settings = {}) : settings_(settings) {}

  // Sets the UPFs that have bearers. New ones are asked at once, and those that are gone are forgotten.
  void watch(const std::vector<IpAddress>& upfs, Time now);
  // Asks now, whatever the interval is, and also without supervision.
  void ask_now(const IpAddress& upf, Time now);
  // The actions that are due. A request that cannot be sent yet (`can_send` is false: no MAC address) waits as if it
  // were lost.
  template <class CanSend>
  [[nodiscard]] Turn turn(Time now, CanSend can_send) {
    Turn turn;
    for (auto& [upf, path] : paths_) advance(upf, path, now, can_send(upf), turn);
    return turn;
  }
  // Takes an Echo Response. Returns nothing if no request waits for it.
  [[nodiscard]] std::optional<Change> answered(const IpAddress& upf, std::uint16_t sequence_number,
                                               std::optional<std::uint8_t> restart_counter, Time now);

  [[nodiscard]] const std::map<IpAddress, Path, IpLess>& paths() const { return paths_; }

 private:
  void begin(Path& path, Time now) const;
  void advance(const IpAddress& upf, Path& path, Time now, bool can_send, Turn& turn) const;
  EchoSettings settings_;
  std::map<IpAddress, Path, IpLess> paths_;
};

}  // namespace splitplane::datapath
