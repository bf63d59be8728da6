// The configuration of `splitplane gen` and `splitplane sink` as plain data. read.h reads it from a file.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/ip_address.h"
#include "base/types.h"
#include "ran/bearer_config.h"
#include "runtime/config/config.h"
#include "traffic/mix.h"
#include "traffic/schedule.h"

namespace splitplane::app {

// `count` bearers with UE addresses one further on each. Identities are one further on each too, or spread evenly over
// `shards` shards from the first one's on, as the gNB spreads a group.
struct GenBearersConfig {
  std::uint32_t count = 1, shards = 1;
  ran::BearerConfig first;
};

struct GenSizeConfig {
  std::uint16_t bytes = 0;  // of the inner IP packet
  std::uint32_t weight = 1;
};

struct GenConfig {
  std::string port;
  unsigned core = 0;
  Direction direction = Direction::kDownlink;
  std::uint32_t rate = 0;  // packets a second; 0 (replay only): as recorded
  traffic::Arrivals arrivals = traffic::Constant{};
  std::vector<GenSizeConfig> sizes{{128, 1}};
  traffic::Mix::Order order = traffic::Mix::Order::kInTurn;
  std::uint64_t seed = 1;
  std::uint64_t packets = 0;     // 0: no limit
  std::uint32_t duration_s = 0;  // 0: no limit
  std::uint32_t late_us = 100;
  bool retry = true;
  bool inner_ipv6 = false;
  MacAddress peer_mac{{0xff, 0xff, 0xff, 0xff, 0xff, 0xff}};
  std::optional<IpAddress> gnb_ipv4, gnb_ipv6;  // downlink: the gNB's N3 addresses
  IpAddress server_ipv4 = IpAddress::v4({10, 200, 0, 1});
  IpAddress server_ipv6 = IpAddress::v6({0xfd, 0, 0x02, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1});
  std::vector<GenBearersConfig> bearers;
  std::string gnb_control;            // instead of or beside `bearers`
  std::string replay;                 // a capture instead of bearers
  std::uint32_t speed_percent = 100;  // of a replay as recorded
};

struct SinkConfig {
  std::string port;
  unsigned core = 0;
  std::uint32_t flows = 65536;
  std::uint32_t window = 256;
  std::string hlog;          // empty: no log
  std::uint32_t idle_s = 0;  // ends after so long without a packet of ours; 0: does not
};

// A file has one of the sections, or both.
struct TrafficConfig : ProgramConfig {
  std::optional<GenConfig> gen;
  std::optional<SinkConfig> sink;
};

// The i-th bearer of a list entry.
[[nodiscard]] ran::BearerConfig bearer_at(const GenBearersConfig& bearers, std::uint32_t i);

}  // namespace splitplane::app
