// The servers that a running guard protects: the rules in force, and the same rules on each worker.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "guard/control/arming_events.h"
#include "guard/control/loops.h"

namespace splitplane::app {

class ProtectedServers {
 public:
  explicit ProtectedServers(GuardLoops& loops) : loops_(loops) {}

  // A server that is there with the same rule is no error: false then. Error: one sentence, which begins with the key
  // at fault where the rule is one that cannot be.
  [[nodiscard]] Expected<bool> add(const guard::ServerRule& rule);
  // `change` gets the rule as it is. Returns the rule that is in force now.
  [[nodiscard]] Expected<guard::ServerRule> change(const std::string& name,
                                                   const std::function<void(guard::ServerRule& rule)>& change);
  // False: it was not there.
  [[nodiscard]] Expected<bool> remove(const std::string& name);

  // In the order of their addition.
  [[nodiscard]] std::vector<guard::ServerRule> rules() const;
  // Whether each is armed on each worker, read beside the workers, which may sleep.
  [[nodiscard]] std::vector<ArmedNow> armed_now() const;

 private:
  struct Server {
    guard::ServerRule rule;
    std::vector<std::uint16_t> places;  // in the statistics of each worker
  };
  [[nodiscard]] Expected<void> put(Server& server);
  [[nodiscard]] std::vector<Server>::iterator find(const std::string& name);

  GuardLoops& loops_;
  std::vector<Server> servers_;
};

}  // namespace splitplane::app
