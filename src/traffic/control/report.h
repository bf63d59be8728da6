// What `splitplane gen` and `splitplane sink` found, as JSON (docs/guide/traffic.md lists the fields) and in words.
#pragma once

#include <nlohmann/json.hpp>
#include <string>

#include "traffic/generator.h"
#include "traffic/packet_maker.h"
#include "traffic/selftest.h"
#include "traffic/sink.h"

namespace splitplane::app {

using Json = nlohmann::json;

// A Maker's generator, without its type.
struct GeneratorView {
  const traffic::GeneratorStats& stats;
  const Histogram& lateness;
  std::uint64_t started_ns = 0, last_sent_ns = 0;
  std::uint32_t flows = 0;
  std::uint32_t rate = 0;  // asked for; 0: as recorded
  bool downlink = false, replay = false;
};

[[nodiscard]] Json to_json(const GeneratorView& gen);
// `sent`: what the generator of this process sent; null: losses at the end of a flow cannot be seen.
[[nodiscard]] Json to_json(const traffic::Sink& sink, const traffic::PacketMaker* sent);
[[nodiscard]] Json to_json(const traffic::SelfTestResult& result);

// Some lines each, from the JSON above.
[[nodiscard]] std::string describe_generator(const Json& gen);
[[nodiscard]] std::string describe_sink(const Json& sink);
[[nodiscard]] std::string describe_self_test(const Json& result);

}  // namespace splitplane::app
