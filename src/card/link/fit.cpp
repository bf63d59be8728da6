#include "card/link/fit.h"

#include <algorithm>
#include <array>
#include <tuple>

#include "gnb/datapath/feature_set.h"

namespace splitplane::app {

Expected<void> fits_host(const CardShow& show, const CardLinkSettings& host) {
  if (show.boot.empty()) return fail("what answers at {} is no card", host.control);
  if (!show.program.starts_with("gnb")) {
    return fail("its program is {}, which serves no bearers; allowed: gnb", show.program);
  }
  constexpr auto kLooking = static_cast<std::ptrdiff_t>(datapath::FeatureSet::mat);
  const auto& names = datapath::kFeatureSetNames;
  const auto end =
      names.begin() + static_cast<std::ptrdiff_t>(datapath::FeatureSet::clone) + 1;  // those of header mode
  if (std::find(names.begin() + kLooking, end, show.features) == end) {
    return fail("its features are {}, which look for no bearers; allowed: {}", show.features,
                fmt::join(names.begin() + kLooking, end, ", "));
  }
  if (show.vfs.size() != host.vfs) {
    return fail("it has {} VFs, and this host's ports are {}; allowed: as many", show.vfs.size(), host.vfs);
  }
  const std::string wanted = host.by_ue_address ? "ue_address" : "teid";
  if (show.lookup != wanted) {
    return fail("it looks for bearers by {}, and this host by {}; allowed: the same lookup on both", show.lookup,
                wanted);
  }
  return {};
}

std::vector<std::string> punt_warnings(const CardShow& show, const CardLinkSettings& host) {
  std::vector<std::string> warnings;
  for (const auto& [key, side, ours, theirs] : {std::tuple{"punt_n3", "N3", host.punt_n3, show.punt_n3},
                                                {"punt_air", "the air", host.punt_air, show.punt_air}}) {
    if (!theirs || *theirs == ours) continue;
    warnings.push_back(fmt::format(
        "card {}: what it cannot read from {} comes by VF {}, and this host reads that side's from VF {}: it is lost; "
        "allowed: the same port as {} there and here",
        host.name, side, *theirs, ours, key));
  }
  return warnings;
}

}  // namespace splitplane::app
