#include "tap/settings_fields.h"

namespace splitplane::tap {
namespace {

constexpr std::array<std::string_view, 3> kDirections{"in", "out", "both"};

fields::Value direction(const Settings& tap) {
  return std::string(kDirections[tap.in && tap.out ? 2 : tap.in ? 0 : 1]);
}
void set_direction(Settings& tap, const fields::Value& value) {
  const auto& word = std::get<std::string>(value);
  tap.in = word != "out";
  tap.out = word != "in";
}

// clang-format off
constexpr std::array<fields::Field, 11> kRows{
    fields::name<&Settings::name>("name", kMostName, {.help = "Name of the tap", .special = "absent: the port's, with the view behind it"}),
    fields::text<&Settings::port>("port", "the name of a port", {.help = "Name of a port that a worker uses", .required = true}),
    fields::text<&Settings::worker>("worker", "the name of a worker", {
        .help = "Only this worker's end of the port", .special = "absent: all of them"}),
    fields::with_most_octets(fields::text<&Settings::file>("file", "the path of a file", {
        .help = "pcapng file; a relative path begins where `splitplane run` was started", .required = true}), kMostPath),
    fields::word<kViewNames, &Settings::view>("view", {
        .help = "Air: the frames, or what Wireshark's rlc_nr_udp and pdcp_nr_udp open"}),
    fields::word_by_functions<kDirections, Settings, direction, set_direction>("direction", {.help = "Which packets of the port"}),
    fields::integer<&Settings::max_mb>("max_mb", 1, 1U << 20, {.help = "MiB to which a file grows", .special = "absent: no limit"}),
    fields::integer<&Settings::files>("files", 1, 1000, {
        .help = "How many files are kept, the newest", .special = "1: the tap ends at max_mb"}),
    fields::integer<&Settings::snap>("snap", 64, 65000, {
        .help = "Octets kept of each packet", .special = "absent: memory.mbuf_data_bytes"}),
    fields::integer<&Settings::buffers>("buffers", 127, 1U << 20, {.help = "Packets of each worker that may wait for the disk"}),
    fields::integer<&Settings::bearer>("bearer", 1, 0xffffffff, {.help = "Air: only this bearer"}),
};
// clang-format on
constexpr fields::Fields<Settings> kFields(kRows);

}  // namespace

fields::Fields<Settings> settings_fields() {
  return kFields;
}

}  // namespace splitplane::tap
