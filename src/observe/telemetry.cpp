#include "observe/telemetry.h"

#include <rte_errno.h>
#include <rte_telemetry.h>
#include <rte_version.h>

#include <algorithm>
#include <charconv>
#include <mutex>
#include <optional>
#include <utility>

namespace splitplane::app {
namespace {

std::mutex g_mutex;  // held while a command is answered, so that its source outlives the answer
std::optional<TelemetrySource> g_source;

void add_number(rte_tel_data* data, std::string_view name, std::uint64_t value) {
#if RTE_VERSION >= RTE_VERSION_NUM(23, 3, 0, 0)
  rte_tel_data_add_dict_uint(data, std::string(name).c_str(), value);
#else
  rte_tel_data_add_dict_u64(data, std::string(name).c_str(), value);
#endif
}

template <class Owner, std::size_t N>
void add_counters(rte_tel_data* data, const std::array<CounterRow<Owner>, N>& rows, const Owner& owner) {
  for (const auto& row : rows) add_number(data, row.name, owner.*row.field);
}

template <class Item>
int list_names(const std::vector<Item>& items, rte_tel_data* data) {
  rte_tel_data_start_array(data, RTE_TEL_STRING_VAL);
  for (const auto& item : items) rte_tel_data_add_array_string(data, item.name.c_str());
  return 0;
}

// The item with this name; the only one if no name is given.
template <class Item>
const Item* named(const std::vector<Item>& items, const char* name) {
  if (name == nullptr || *name == '\0') return items.size() == 1 ? items.data() : nullptr;
  const auto at = std::find_if(items.begin(), items.end(), [&](const Item& item) { return item.name == name; });
  return at == items.end() ? nullptr : &*at;
}

int workers(const TelemetrySource& source, const char*, rte_tel_data* data) {
  return list_names(source.observe().workers, data);
}

int worker(const TelemetrySource& source, const char* name, rte_tel_data* data) {
  const Observation all = source.observe();
  const WorkerObservation* w = named(all.workers, name);
  if (w == nullptr) return -EINVAL;
  rte_tel_data_start_dict(data);
  rte_tel_data_add_dict_string(data, "name", w->name.c_str());
  add_number(data, "core", w->core);
  add_number(data, "received", w->counters.received);
  add_number(data, "dropped", w->counters.dropped());
  add_number(data, "held", w->held());
  add_counters(data, kWorkerCounters, w->counters);
  return 0;
}

int stages(const TelemetrySource& source, const char* name, rte_tel_data* data) {
  const Observation all = source.observe();
  const WorkerObservation* w = named(all.workers, name);
  if (w == nullptr) return -EINVAL;
  rte_tel_data_start_dict(data);
  for (std::size_t i = 0; i < datapath::kStageCount; ++i) {
    rte_tel_data* stage = rte_tel_data_alloc();
    if (stage == nullptr) return -ENOMEM;
    rte_tel_data_start_dict(stage);
    add_counters(stage, kStageCounters, w->counters.stages[i]);
    rte_tel_data_add_dict_container(data, std::string(datapath::kStageNames[i]).c_str(), stage, 0);
  }
  return 0;
}

// Drops of one worker, or of all together.
int drops(const TelemetrySource& source, const char* name, rte_tel_data* data) {
  const Observation all = source.observe();
  const bool one = name != nullptr && *name != '\0';
  if (one && named(all.workers, name) == nullptr) return -EINVAL;
  rte_tel_data_start_dict(data);
  for (std::size_t i = 0; i < datapath::kDropReasonCount; ++i) {
    std::uint64_t sum = 0;
    for (const auto& w : all.workers) sum += one && w.name != name ? 0 : w.counters.drops[i];
    add_number(data, datapath::kDropReasonNames[i], sum);
  }
  return 0;
}

int ports(const TelemetrySource& source, const char*, rte_tel_data* data) {
  return list_names(source.observe().ports, data);
}

int port(const TelemetrySource& source, const char* name, rte_tel_data* data) {
  const Observation all = source.observe();
  const PortObservation* p = named(all.ports, name);
  if (p == nullptr) return -EINVAL;
  rte_tel_data_start_dict(data);
  rte_tel_data_add_dict_string(data, "name", p->name.c_str());
  add_counters(data, kPortCounters, p->driver);
  return 0;
}

int gtpu(const TelemetrySource& source, const char* name, rte_tel_data* data) {
  const Observation all = source.observe();
  const N3Observation* n3 = named(all.n3, name);
  if (n3 == nullptr) return -EINVAL;
  rte_tel_data_start_dict(data);
  rte_tel_data_add_dict_string(data, "name", n3->name.c_str());
  for (std::size_t i = 0; i < kGtpuCounterCount; ++i)
    add_number(data, name_of(static_cast<GtpuCounter>(i)), n3->gtpu[i]);
  return 0;
}

int cards(const TelemetrySource& source, const char*, rte_tel_data* data) {
  return list_names(source.observe().card_links, data);
}

int card(const TelemetrySource& source, const char* name, rte_tel_data* data) {
  const Observation all = source.observe();
  const CardLinkView* link = named(all.card_links, name);
  if (link == nullptr) return -EINVAL;
  rte_tel_data_start_dict(data);
  rte_tel_data_add_dict_string(data, "name", link->name.c_str());
  rte_tel_data_add_dict_string(data, "state", link->state());
  add_number(data, "bearers", link->bearers);
  add_number(data, "waiting", link->waiting);
  add_number(data, "absent", link->absent);
  add_counters(data, kCardLinkCounters, *link);
  return 0;
}

int placement(const TelemetrySource& source, const char*, rte_tel_data* data) {
  const Observation all = source.observe();
  if (!all.placement) return -ENOENT;
  rte_tel_data_start_dict(data);
  rte_tel_data_add_dict_string(data, "mode", all.placement->mode.c_str());
  add_number(data, "bearers", all.placement->bearers);
  add_number(data, "movable", all.placement->movable);
  add_number(data, "on_cards", all.placement->on_cards);
  add_counters(data, kPlacementCounters, *all.placement);
  return 0;
}

int bearer(const TelemetrySource& source, const char* text, rte_tel_data* data) {
  std::string_view digits = text == nullptr ? "" : text;
  const bool hex = digits.starts_with("0x");
  if (hex) digits.remove_prefix(2);
  std::uint32_t id = 0;
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), id, hex ? 16 : 10);
  if (error != std::errc{} || end != digits.data() + digits.size()) return -EINVAL;
  const auto view = source.bearer(BearerId{id});
  if (!view) return -ENOENT;
  rte_tel_data_start_dict(data);
  add_number(data, "id", id);
  rte_tel_data_add_dict_string(data, "upf", view->config.upf.to_string().c_str());
  add_number(data, "ul_teid", view->config.uplink_teid.value);
  for (const auto& [direction, counters] : {std::pair{"downlink_", view->downlink}, {"uplink_", view->uplink}}) {
    for (const auto& row : kBearerCounters) add_number(data, direction + std::string(row.name), counters.*row.field);
  }
  return 0;
}

int bearers(const TelemetrySource& source, const char*, rte_tel_data* data) {
  rte_tel_data_start_dict(data);
  add_number(data, "bearers", source.observe().bearers);
  return 0;
}

int totals(const TelemetrySource& source, const char*, rte_tel_data* data) {
  const Observation all = source.observe();
  WorkerSnapshot sum;
  for (const auto& w : all.workers) {
    sum.received += w.counters.received;
    for (const auto& row : kWorkerCounters) sum.*row.field += w.counters.*row.field;
    for (std::size_t i = 0; i < sum.drops.size(); ++i) sum.drops[i] += w.counters.drops[i];
  }
  rte_tel_data_start_dict(data);
  add_number(data, "bearers", all.bearers);
  add_number(data, "tsc_hertz", all.tsc_hz);
  add_number(data, "received", sum.received);
  add_number(data, "dropped", sum.dropped());
  add_counters(data, kWorkerCounters, sum);
  return 0;
}

template <int (*Answer)(const TelemetrySource&, const char*, rte_tel_data*)>
int guarded(const char*, const char* parameters, rte_tel_data* data) {
  const std::lock_guard guard(g_mutex);
  if (!g_source) return -ENODEV;
  try {
    return Answer(*g_source, parameters, data);
  } catch (const std::exception&) {
    return -ENOMEM;
  }
}

struct Command {
  const char* path;
  telemetry_cb answer;
  const char* help;
};
constexpr std::array<Command, 13> kCommands{{
    {"/splitplane/workers", guarded<workers>, "Names of the workers"},
    {"/splitplane/worker", guarded<worker>, "Counters of a worker. Parameter: its name"},
    {"/splitplane/stages", guarded<stages>, "Packets and cycles of a worker's stages. Parameter: its name"},
    {"/splitplane/drops", guarded<drops>, "Dropped packets by reason. Parameter: a worker's name, none for all"},
    {"/splitplane/ports", guarded<ports>, "Names of the ports"},
    {"/splitplane/port", guarded<port>, "Counters of a port. Parameter: its name"},
    {"/splitplane/gtpu", guarded<gtpu>, "GTP-U messages of a port in the section n3. Parameter: its name"},
    {"/splitplane/cards", guarded<cards>, "Names of the cards in front of this host"},
    {"/splitplane/card", guarded<card>, "A card as this host sees it. Parameter: its name"},
    {"/splitplane/placement", guarded<placement>, "Where bearers live, and how many have moved"},
    {"/splitplane/bearer", guarded<bearer>, "A bearer. Parameter: its identity, as 67108865 or 0x04000001"},
    {"/splitplane/totals", guarded<totals>, "Sums over all workers"},
    {"/splitplane/bearers", guarded<bearers>, "How many bearers there are"},
}};

}  // namespace

Expected<std::unique_ptr<TelemetryTree>> TelemetryTree::publish(TelemetrySource source) {
  static bool registered = false;
  const std::lock_guard guard(g_mutex);
  for (const auto& command : kCommands) {
    const int error = registered ? 0 : rte_telemetry_register_cmd(command.path, command.answer, command.help);
    if (error != 0) return fail("telemetry: {} was not taken ({})", command.path, rte_strerror(-error));
  }
  registered = true;
  g_source = std::move(source);
  return std::unique_ptr<TelemetryTree>(new TelemetryTree);
}

TelemetryTree::~TelemetryTree() {
  const std::lock_guard guard(g_mutex);
  g_source.reset();
}

}  // namespace splitplane::app
