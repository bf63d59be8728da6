#include "card/link/fit.h"

#include <algorithm>
#include <array>
#include <tuple>

#include "gnb/datapath/feature_set.h"

namespace splitplane::app {

std::string card_text(const Json& show, const char* key) {
  const auto at = show.find(key);
  return at != show.end() && at->is_string() ? at->get<std::string>() : std::string{};
}

Expected<void> fits_host(const Json& show, const CardLinkSettings& host) {
  const std::string program = card_text(show, "program"), features = card_text(show, "features");
  if (card_text(show, "boot").empty()) return fail("what answers at {} is no card", host.control);
  if (!program.starts_with("gnb")) {
    return fail("its program is {}, which serves no bearers; allowed: gnb", program);
  }
  constexpr auto kLooking = static_cast<std::ptrdiff_t>(datapath::FeatureSet::mat);
  const auto& names = datapath::kFeatureSetNames;
  if (std::find(names.begin() + kLooking, names.end(), features) == names.end()) {
    return fail("its features are {}, which look for no bearers; allowed: {}", features,
                fmt::join(names.begin() + kLooking, names.end(), ", "));
  }
  const auto vfs = show.find("vfs");
  const std::size_t count = vfs != show.end() && vfs->is_array() ? vfs->size() : 0;
  if (count != host.vfs) return fail("it has {} VFs, and this host's ports are {}; allowed: as many", count, host.vfs);
  const std::string wanted = host.by_ue_address ? "ue_address" : "teid";
  if (const std::string lookup = card_text(show, "lookup"); lookup != wanted) {
    return fail("it looks for bearers by {}, and this host by {}; allowed: the same lookup on both", lookup, wanted);
  }
  return {};
}

std::vector<std::string> punt_warnings(const Json& show, const CardLinkSettings& host) {
  std::vector<std::string> warnings;
  for (const auto& [key, side, ours] :
       {std::tuple{"punt_n3", "N3", host.punt_n3}, {"punt_air", "the air", host.punt_air}}) {
    const auto theirs = show.find(key);
    if (theirs == show.end() || !theirs->is_number_unsigned() || theirs->get<unsigned>() == ours) continue;
    warnings.push_back(fmt::format(
        "card {}: what it cannot read from {} comes by VF {}, and this host reads that side's from VF {}: it is lost; "
        "allowed: the same port as {} there and here",
        host.name, side, theirs->get<unsigned>(), ours, key));
  }
  return warnings;
}

}  // namespace splitplane::app
