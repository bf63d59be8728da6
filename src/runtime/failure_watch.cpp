#include "runtime/failure_watch.h"

#include <fmt/format.h>

namespace splitplane::app {

std::vector<std::string> FailureWatch::look(const std::string& worker, const Counts& counts, Time now) {
  static constexpr std::array<const char*, 3> kTexts{
      "worker {}: {} SDUs were sent again `max_retx` times without an acknowledgement; their bearers send "
      "nothing until RLC begins anew (`ctl bearer show` says failed)",
      "worker {}: RLC AM failed {} times because no poll was answered any more; the bearers send nothing until "
      "RLC begins anew (`ctl bearer show` says failed)",
      "worker {}: {} SDUs were dropped because their bearer's COUNTs are used up (count_exhausted in `ctl "
      "bearer show`); release the bearer and add it again, or give it new keys (`ctl bearer rekey`)"};
  const std::array<std::uint64_t, 3> values{counts.max_retx, counts.peer_lost, counts.count_exhausted};
  std::vector<std::string> messages;
  auto& kinds = workers_[worker];
  for (std::size_t i = 0; i < kinds.size(); ++i) {
    if (values[i] <= kinds[i].said || now < kinds[i].next) continue;
    messages.push_back(fmt::format(fmt::runtime(kTexts[i]), worker, values[i] - kinds[i].said));
    kinds[i] = {values[i], now + kPause};
  }
  return messages;
}

}  // namespace splitplane::app
