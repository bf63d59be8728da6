#include "cli/keys.h"

#include <array>
#include <memory>
#include <nlohmann/json.hpp>

#include "config/load.h"
#include "config/load_gnb.h"
#include "config/traffic.h"
#include "fields/reference.h"

namespace splitplane::app {
namespace {

constexpr std::array kSections{metrics_section, memory_section,  port_section,       n3_section,
                               air_section,     bearers_section, gen_bearers_section};

}  // namespace

void add_keys(CLI::App& app, std::function<int(CliOutput&)>& action) {
  const auto docs = std::make_shared<bool>(false);
  CLI::App* keys = app.add_subcommand("keys", "Keys of sections as JSON schema, for `make reference`")->group("");
  keys->add_flag("--docs", *docs, "The tables of docs/reference/configuration.md instead");
  keys->footer("Example:\n  splitplane keys");
  keys->callback([docs, &action] {
    action = [docs](CliOutput& output) {
      auto all = nlohmann::ordered_json::object();
      for (const auto make : kSections) {
        const fields::Section section = make();
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
