#include "power/sensor/external.h"

#include "base/text.h"
#include "power/sensor/read_value.h"
#include "power/sensor/run_command.h"

namespace splitplane::sensor {
namespace {

// The rest of the line that begins with `title`, behind the colon.
std::string_view field_of(std::string_view answer, std::string_view title) {
  const std::size_t at = answer.find(title);
  if (at == std::string_view::npos) return {};
  std::string_view line = answer.substr(at + title.size());
  line = line.substr(0, line.find('\n'));
  const std::size_t colon = line.find(':');
  return colon == std::string_view::npos ? std::string_view{} : line.substr(colon + 1);
}

Expected<std::unique_ptr<Source>> tried(std::unique_ptr<External> source) {
  if (const auto first = source->sample(0); !first) return tl::unexpected(first.error());
  return std::unique_ptr<Source>(std::move(source));
}

}  // namespace

Expected<double> dcmi_watts(std::string_view answer) {
  const std::string_view state = field_of(answer, "Power reading state is");
  if (state.find("deactivated") != std::string_view::npos) return fail("ipmitool: power reading is deactivated");
  const std::string_view reading = field_of(answer, "Instantaneous power reading");
  if (reading.empty()) return fail("ipmitool: no line 'Instantaneous power reading' in its answer");
  const auto watts = watts_in(reading);
  if (!watts) return fail("ipmitool: {}", watts.error().message);
  if (*watts == 0) return fail("ipmitool: reads 0 W, so its controller does not measure");
  return watts;
}

Expected<std::unique_ptr<Source>> External::open_ipmi(const std::string& tool) {
  return tried(std::make_unique<External>("ipmi", "DCMI", [tool]() -> Expected<double> {
    const auto answer = run_command({tool, "dcmi", "power", "reading"}, kLimitMs);
    if (!answer) return tl::unexpected(answer.error());
    return dcmi_watts(*answer);
  }));
}

Expected<std::unique_ptr<Source>> External::open_file(const std::string& path) {
  return tried(std::make_unique<External>("file", path, [path]() -> Expected<double> {
    const auto text = read_text(path);
    if (!text) return tl::unexpected(text.error());
    const auto watts = watts_in(*text);
    if (!watts) return fail("{}: {}", path, watts.error().message);
    return watts;
  }));
}

Expected<std::unique_ptr<Source>> External::open_command(const std::string& command) {
  return tried(std::make_unique<External>("command", app::printable(command, 40), [command]() -> Expected<double> {
    const auto text = run_command({"sh", "-c", command}, kLimitMs);
    if (!text) return tl::unexpected(text.error());
    const auto watts = watts_in(*text);
    if (!watts) return fail("command '{}': {}", app::printable(command, 40), watts.error().message);
    return watts;
  }));
}

Expected<std::vector<Reading>> External::sample(std::uint64_t /*now_ns*/) {
  const auto watts = read_();
  if (!watts) return tl::unexpected(watts.error());
  return std::vector<Reading>{{.scope = "system", .name = of_, .watts = *watts}};
}

}  // namespace splitplane::sensor
