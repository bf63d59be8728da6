// Reads a configuration from YAML text. config_load.cpp reads the document and its common sections,
// config_load_worker.cpp the workers and bearers, config_load_power.cpp their policies, config_load_ue.cpp the UE side,
// config_load_traffic.cpp gen and sink, config_load_card.cpp a card; config_check.cpp then checks the whole.
#pragma once

#include <string>
#include <vector>

#include "app/config.h"
#include "app/yaml_value.h"
#include "base/expected.h"

namespace splitplane::app {

// As load_config, from text; `file` is for messages.
[[nodiscard]] Expected<Config> parse_config(const std::string& text, const std::string& file);

// Throw Refusal.
[[nodiscard]] std::string read_path(const YamlValue& value);       // of a socket
[[nodiscard]] std::string read_directory(const YamlValue& value);  // from / on
[[nodiscard]] power::Settings read_policy(const YamlValue& value);
void read_schedule(const YamlMap& map, ScheduleConfig& schedule);  // schedule, fifo_priority
[[nodiscard]] std::vector<WorkerConfig> read_workers(const YamlValue& value);
[[nodiscard]] std::vector<CardLinkConfig> read_cards(const YamlValue& value);
[[nodiscard]] std::vector<BearerGroupConfig> read_bearers(const YamlValue& value);
// The keys that describe a bearer alike on both ends: qfi, rlc, pdcp_sn, sdap, poll_pdu, ue_ipv4, ue_ipv6.
void read_bearer_modes(const YamlMap& map, ran::BearerConfig& bearer);
[[nodiscard]] UeConfig read_ue(const YamlValue& value);
[[nodiscard]] GenConfig read_gen(const YamlValue& value);
[[nodiscard]] SinkConfig read_sink(const YamlValue& value);
[[nodiscard]] CardConfig read_card(const YamlValue& value, const std::vector<PortConfig>& ports);

}  // namespace splitplane::app
