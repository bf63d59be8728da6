#include "power/sensor/topology.h"

#include <algorithm>
#include <charconv>

#include "base/text.h"
#include "power/sensor/read_value.h"

namespace splitplane::sensor {
namespace {

constexpr unsigned kMostCpus = 8192;  // of the kernel's NR_CPUS on x86

bool read_cpu(std::string_view& text, unsigned& cpu) {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), cpu);
  if (error != std::errc{} || cpu >= kMostCpus) return false;
  text.remove_prefix(static_cast<std::size_t>(end - text.data()));
  return true;
}

}  // namespace

Expected<std::vector<unsigned>> cpus_in(const std::string& list) {
  std::vector<unsigned> cpus;
  std::string_view rest = list;
  while (!rest.empty()) {
    unsigned first = 0;
    bool good = read_cpu(rest, first);
    unsigned last = first;
    if (good && rest.starts_with("-")) {
      rest.remove_prefix(1);
      good = read_cpu(rest, last) && last >= first;
    }
    if (good && rest.starts_with(",")) {
      rest.remove_prefix(1);
      good = !rest.empty();
    } else if (!rest.empty()) {
      good = false;
    }
    if (!good) return fail("'{}' is no list of CPUs", app::printable(list, 32));
    for (unsigned cpu = first; cpu <= last; ++cpu) cpus.push_back(cpu);
  }
  return cpus;
}

Expected<CpuPlace> place_of(const std::string& root, unsigned cpu) {
  const std::string directory = fmt::format("{}/devices/system/cpu/cpu{}/topology/", root, cpu);
  const auto package = read_count(directory + "physical_package_id");
  if (!package) return tl::unexpected(package.error());
  const auto core = read_count(directory + "core_id");
  if (!core) return tl::unexpected(core.error());
  const auto text = read_text(directory + "thread_siblings_list");
  if (!text) return tl::unexpected(text.error());
  const auto threads = cpus_in(*text);
  if (!threads) return fail("{}thread_siblings_list: {}", directory, threads.error().message);
  return CpuPlace{.cpu = cpu,
                  .package = static_cast<unsigned>(*package),
                  .core = static_cast<unsigned>(*core),
                  .second_thread = std::any_of(threads->begin(), threads->end(), [&](unsigned t) { return t < cpu; })};
}

Expected<std::vector<CpuPlace>> read_topology(const std::string& root) {
  const std::string online = root + "/devices/system/cpu/online";
  const auto text = read_text(online);
  if (!text) return tl::unexpected(text.error());
  const auto cpus = cpus_in(*text);
  if (!cpus) return fail("{}: {}", online, cpus.error().message);
  std::vector<CpuPlace> places;
  for (const unsigned cpu : *cpus) {
    const auto place = place_of(root, cpu);
    if (!place) return tl::unexpected(place.error());
    places.push_back(*place);
  }
  return places;
}

}  // namespace splitplane::sensor
