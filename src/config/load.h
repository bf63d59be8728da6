// Reads a configuration from YAML text. load.cpp reads the document and its common sections,
// load_gnb.cpp the workers and bearers, load_power.cpp their policies, load_ue.cpp the UE side,
// load_traffic.cpp gen and sink, load_card.cpp a card; check.cpp then checks the whole.
#pragma once

#include <string>
#include <vector>

#include "base/expected.h"
#include "config/config.h"
#include "config/yaml_value.h"
#include "fields/reference.h"

namespace splitplane::app {

// As load_config, from text; `file` is for messages.
[[nodiscard]] Expected<Config> parse_config(const std::string& text, const std::string& file);

// The sections whose keys are rows, for config/schema.json and docs/reference/configuration.md.
[[nodiscard]] fields::Section metrics_section();
[[nodiscard]] fields::Section memory_section();
[[nodiscard]] fields::Section port_section();
[[nodiscard]] fields::Section n3_section();
[[nodiscard]] fields::Section air_section();
[[nodiscard]] fields::Section bearers_section();
[[nodiscard]] fields::Section gen_bearers_section();

// Throw Refusal.
[[nodiscard]] std::string read_path(const YamlValue& value);       // of a socket
[[nodiscard]] std::string read_directory(const YamlValue& value);  // from / on
[[nodiscard]] power::Settings read_policy(const YamlValue& value);
void read_schedule(const YamlMap& map, ScheduleConfig& schedule);  // schedule, fifo_priority
[[nodiscard]] std::vector<WorkerConfig> read_workers(const YamlValue& value);
[[nodiscard]] std::vector<CardLinkConfig> read_cards(const YamlValue& value);
[[nodiscard]] std::vector<BearerGroupConfig> read_bearers(const YamlValue& value);
[[nodiscard]] UeConfig read_ue(const YamlValue& value);
[[nodiscard]] GenConfig read_gen(const YamlValue& value);
[[nodiscard]] SinkConfig read_sink(const YamlValue& value);
[[nodiscard]] CardConfig read_card(const YamlValue& value, const std::vector<PortConfig>& ports);

}  // namespace splitplane::app
