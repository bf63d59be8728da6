#include "card/control/spec.h"

#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "base/text.h"

namespace splitplane::app {
namespace {

// What the first line of the file must say: p4/specs.py writes it.
std::vector<std::string> defines_of(const CardConfig& card) {
  if (card.program != CardConfig::Program::kGnb) return {};
  std::vector<std::string> defines{fmt::format("FEATURE=FEATURE_{}", datapath::name_of(card.features))};
  if (card.lookup == CardConfig::Lookup::kUeAddress) defines.emplace_back("BY_UE_ADDRESS");
  if (has_marker(card)) defines.emplace_back("MARKER");
  return defines;
}

std::string program_of(const CardConfig& card) {
  const std::string name = spec_name(card);
  return name.substr(0, name.find('-'));
}

}  // namespace

Expected<nic::SpecFile> load_spec(const CardConfig& card) {
  const std::string path = nic::spec_path(card.specs, spec_name(card));
  if (::access(path.c_str(), R_OK) != 0) {
    return fail("{}: {}; allowed: a directory with {}.spec", printable(path, 200), std::strerror(errno),
                spec_name(card));
  }
  auto spec = nic::read_spec(path);
  if (!spec) return spec;
  const auto defines = defines_of(card);
  if (spec->program == program_of(card) && std::ranges::is_permutation(spec->defines, defines)) return spec;
  return fail("{} holds program {} ({}), and the card is to run {} ({}); allowed: a file that `make p4` wrote",
              printable(path, 200), printable(spec->program),
              printable(fmt::format("{}", fmt::join(spec->defines, ", "))), program_of(card), fmt::join(defines, ", "));
}

}  // namespace splitplane::app
