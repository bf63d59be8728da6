#include "cli/keys.h"

#include <algorithm>
#include <array>
#include <memory>
#include <nlohmann/json.hpp>

#include "card/config/fields.h"
#include "fields/reference.h"
#include "gnb/config/fields.h"
#include "guard/config/fields.h"
#include "phy/config/fields.h"
#include "runtime/config/fields.h"
#include "traffic/config/fields.h"
#include "ue/config/fields.h"

namespace splitplane::app {
namespace {

constexpr std::array kMachines{program_sections, gnb_sections,     card_sections, ue_sections,
                               phy_sections,     traffic_sections, guard_sections};

// Several machines have keys of the same section, which is the file's top level.
std::vector<fields::Section> all_sections() {
  std::vector<fields::Section> all;
  for (const auto sections : kMachines) {
    for (fields::Section section : sections()) {
      const auto same = std::ranges::find(all, section.name, &fields::Section::name);
      if (same == all.end()) {
        all.push_back(std::move(section));
      } else {
        same->keys = std::move(same->keys) + section.keys;
      }
    }
  }
  return all;
}

}  // namespace

void add_keys(CLI::App& app, std::function<int(CliOutput&)>& action) {
  const auto docs = std::make_shared<bool>(false);
  CLI::App* keys = app.add_subcommand("keys", "Keys of sections as JSON schema, for `make reference`")->group("");
  keys->add_flag("--docs", *docs, "The tables of docs/reference/configuration.md instead");
  keys->footer("Example:\n  splitplane keys");
  keys->callback([docs, &action] {
    action = [docs](CliOutput& output) {
      auto all = nlohmann::ordered_json::object();
      for (const fields::Section& section : all_sections()) {
        if (*docs) {
          all[section.name] = fields::table_of(section);
        } else {
          all[section.name] = fields::schema_of(section);
        }
      }
      output.out << all.dump(2) << '\n';
      return kExitGood;
    };
  });
}

}  // namespace splitplane::app
