// YAML text as a configuration, loaded and checked. A refusal is one printable line with the file and a line that the
// text has. In an accepted configuration all names lead to something, shards have one owner, and bearers fit.
#include <algorithm>
#include <map>
#include <set>

#include "cli/config/any_config.h"
#include "fuzz.h"
#include "gnb/config/check.h"

namespace splitplane::fuzz {
namespace {

using app::WorkerConfig;

void check_refusal(const std::string& sentence, const std::string& text) {
  require(sentence.starts_with("f.yaml:"), "no file: {}", sentence);
  for (const char c : sentence) require(c >= 0x20 || c < 0, "a control character in the sentence");
  const std::size_t colon = sentence.find(':', 7);
  const std::string number = sentence.substr(7, colon - 7);
  require(!number.empty() && number.size() < 8 && number.find_first_not_of("0123456789") == std::string::npos,
          "no line: {}", sentence);
  const auto lines =
      static_cast<unsigned long>(std::ranges::count_if(text, [](char c) { return c == '\n' || c == '\r'; }));
  require(std::stoul(number) >= 1 && std::stoul(number) <= lines + 1, "line {} of {}", number, lines + 1);
  require(sentence.size() > colon + 2, "no words: {}", sentence);
}

std::set<std::string> check_ports(const app::ProgramConfig& c) {
  std::set<std::string> ports;
  for (const auto& port : c.ports) {
    require(ports.insert(port.name).second, "two ports {}", port.name);
    require(port.mtu >= 68 && port.mtu <= 9600 && port.rx_queues >= 1 && port.tx_queues >= 1, "port {}", port.name);
  }
  return ports;
}

void check_accepted(const app::UeConfig& c) {
  require(check_ports(c).contains(c.port) && c.tun.size() < 16, "ue");
}
void check_accepted(const app::ProgramConfig& c) {
  (void)check_ports(c);
}
void check_accepted(const app::GnbConfig& c) {
  const std::set<std::string> ports = check_ports(c);
  const auto known = [&](const std::string& name) { return name.empty() || ports.contains(name); };
  for (const auto& n3 : c.n3) require(!n3.port.empty() && known(n3.port), "n3 on port '{}'", n3.port);
  for (const auto& air : c.air) require(!air.port.empty() && known(air.port), "air on port '{}'", air.port);
  for (const auto& tap : c.taps) require(known(tap.port), "a tap on port '{}'", tap.port);
  std::set<std::string> workers;
  std::map<unsigned, std::string> owner;
  for (const WorkerConfig& w : c.workers) {
    require(workers.insert(w.name).second, "two workers {}", w.name);
    require(known(w.n3) && known(w.air) && known(w.rx) && known(w.tx), "worker {} on a port that is not there", w.name);
    if (w.function != WorkerConfig::Function::kGnb) continue;
    require(w.shard_first <= w.shard_last && w.shard_last < ran::kShards, "shards of {}", w.name);
    for (unsigned shard = w.shard_first; shard <= w.shard_last; ++shard) {
      const auto [at, first] = owner.emplace(shard, w.name);
      require(first, "shard {} of {} and {}", shard, at->second, w.name);
    }
  }
  std::size_t bearers = 0;
  for (const auto& group : c.bearers) {
    bearers += group.count;
    const auto wrong = ran::refuse(group.first);
    require(!wrong, "a bearer that the control socket refuses: {}", wrong.value_or(""));
    require(!group.shard || owner.contains(*group.shard), "bearers in shard {} of nobody", group.shard.value_or(0));
  }
  require(bearers <= c.max_bearers, "{} bearers where {} fit", bearers, c.max_bearers);
  require(!app::check_gnb(c), "accepted, and refused when looked at again");
}

}  // namespace
}  // namespace splitplane::fuzz

extern "C" int LLVMFuzzerInitialize(int*, char***) {
  return 0;
}

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t bytes) {
  using namespace splitplane::fuzz;
  const std::string text(reinterpret_cast<const char*>(data), bytes);
  const auto config = splitplane::app::parse_any(text, "f.yaml");
  if (config) {
    std::visit([](const auto& one) { check_accepted(one); }, *config);
  } else {
    check_refusal(config.error().message, text);
  }
  return 0;
}
