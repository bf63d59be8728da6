#include "gnb/phy/phys.h"

#include <algorithm>

#include "phy/slots/tb_size.h"

namespace splitplane::gnb {
namespace {

using app::PhyConfig;

// How many slots after its transmission a block without feedback counts as lost: the slots from the plan to the
// feedback, and some for a PHY that is late.
constexpr unsigned kLateSlots = 8;

fapi::PerNumerology grid_of(const PhyConfig& phy) {
  fapi::PerNumerology grid{};
  grid[phy.numerology] = phy.prbs;
  return grid;
}

fapi::ConfigRequest config_of(const PhyConfig& phy) {
  fapi::ConfigRequest config;
  config.dl_grid_size = config.ul_grid_size = grid_of(phy);
  config.phy_cell_id = 0;
  config.frame_duplex_type = 0;
  config.scs_common = phy.numerology;
  config.timing_window = std::min(30, phy.lead_slots + phy.feedback_slots + 2);
  return config;
}

PhyThread::Settings thread_settings(const PhyWorker& worker) {
  const PhyConfig& phy = worker.config;
  return {.worker = worker.name,
          .local_p5 = {phy.local, phy.local_p5_port},
          .local_p7 = {phy.local, phy.local_p7_port},
          .p5 = {phy.address, phy.p5_port},
          .p7 = {phy.address, phy.p7_port},
          .link = {.phy_id = phy.phy_id, .p7 = {.max_datagram_bytes = phy.max_datagram}, .config = config_of(phy)},
          .cell = {.numerology = {phy.numerology},
                   .prbs = phy.prbs,
                   .k = phy.feedback_slots,
                   .most_tx_data_bytes = std::size_t{128} * (phy.max_datagram - fapi::kP7HeaderBytes)}};
}

template <class Counters>
void put(nlohmann::json& row, const Counters& counters) {
  counters.for_each(
      [&](std::string_view name, std::string_view, std::uint64_t value) { row[std::string(name)] = value; });
}

// Plain numbers, which a worker copies between two rounds.
struct SlotNumbers {
  datapath::CellSlots::Counters both;
  datapath::DownlinkSlots::Counters downlink;
  datapath::UplinkSlots::Counters uplink;
  phy::HarqSenderCounters downlink_harq, uplink_harq;
  std::uint64_t downlink_no_place = 0, uplink_no_place = 0;

  void take(const datapath::CellSlots& slots) {
    both = slots.counters();
    downlink = slots.downlink().counters();
    uplink = slots.uplink().counters();
    downlink_harq = slots.downlink().harq_counters();
    uplink_harq = slots.uplink().harq_counters();
    downlink_no_place = slots.downlink().no_place();
    uplink_no_place = slots.uplink().no_place();
  }
};

nlohmann::json to_json(const phy::HarqSenderCounters& harq) {
  return {{"blocks", harq.blocks},
          {"retransmissions", harq.retransmissions},
          {"acked", harq.counted(phy::Feedback::acked) + harq.counted(phy::Feedback::late)},
          {"nacked", harq.counted(phy::Feedback::nacked)},
          {"no_feedback", harq.no_feedback},
          {"given_up", harq.counted(phy::Feedback::given_up)},
          {"stale", harq.counted(phy::Feedback::stale) + harq.counted(phy::Feedback::duplicate)},
          {"discarded", harq.discarded}};
}

nlohmann::json to_json(const SlotNumbers& n) {
  using datapath::UplinkReception;
  const auto& up = n.uplink;
  return {{"downlink",
           {{"slots", n.downlink.slots},
            {"no_place", n.downlink_no_place},
            {"no_block", n.downlink.no_block},
            {"silent", n.downlink.silent},
            {"feedback_without_place", n.downlink.feedback_without_place},
            {"harq", to_json(n.downlink_harq)}}},
          {"uplink",
           {{"slots", up.slots},
            {"no_place", n.uplink_no_place},
            {"requests", up.requests},
            {"delivered", up.counted(UplinkReception::delivered)},
            {"missing", up.counted(UplinkReception::missing)},
            {"superfluous", up.counted(UplinkReception::superfluous)},
            {"bsrs", up.short_bsrs + up.long_bsrs + up.truncated_bsrs},
            {"stale_bsrs", up.stale_bsrs},
            {"phrs", up.phrs},
            {"crntis", up.crntis},
            {"other_elements", up.other_elements},
            {"silent", up.silent},
            {"harq", to_json(n.uplink_harq)}}},
          {"of_no_ue", n.both.feedback_of_no_ue + n.both.requests_of_no_ue + n.both.blocks_of_no_ue},
          {"time_jumps", n.both.time_jumps}};
}

}  // namespace

datapath::CellSlots::Settings slots_settings(const PhyConfig& phy) {
  const auto feedback = static_cast<std::uint16_t>(phy.lead_slots + phy.feedback_slots + kLateSlots);
  const phy::HarqSettings harq{.max_retransmissions = phy.max_retransmissions, .feedback_slots = feedback};
  // Blocks of all slots from a plan to its feedback, and of some that are sent again.
  const std::size_t blocks = std::size_t{phy.max_grants} * 2U * feedback;
  return {.downlink = {.prbs = phy.prbs,
                       .shape = {},
                       .mcs = phy.dl_mcs,
                       .most_ues = phy.max_ues,
                       .most_grants = phy.max_grants,
                       .most_blocks = blocks,
                       .harq = harq},
          .uplink = {.prbs = phy.prbs,
                     .shape = {},
                     .mcs = phy.ul_mcs,
                     .most_ues = phy.max_ues,
                     .most_grants = phy.max_grants,
                     .harq = harq,
                     .request_takes_slots = feedback,
                     .request_period_slots = phy.request_slots},
          .uplink_after = phy.feedback_slots};
}

datapath::PhyExchange::Settings exchange_settings(const PhyConfig& phy) {
  const std::size_t block = phy::tb_bytes(phy::TbShape{}, phy.ul_mcs, phy.prbs);
  return {.report_bytes = std::max<std::size_t>(std::size_t{1} << 20, 64 * block),
          .most_grants = phy.max_grants,
          .most_chances = std::size_t{phy.max_ues} / phy.request_slots + 1,
          .lead_slots = phy.lead_slots};
}

Expected<void> Phys::start(std::vector<PhyWorker> workers) {
  for (PhyWorker& worker : workers) {
    auto thread = PhyThread::start(thread_settings(worker), worker.exchange, worker.wakeup);
    if (!thread) return tl::unexpected(thread.error());
    all_.push_back({std::move(worker), *std::move(thread)});
  }
  return {};
}

nlohmann::json Phys::rows() const {
  nlohmann::json rows = nlohmann::json::array();
  for (const auto& [worker, thread] : all_) {
    nlohmann::json row{{"worker", worker.name}, {"state", phy::name_of(thread->link().state())}};
    put(row, thread->counters());
    put(row["link"], thread->link().counters());
    put(row["p5"], thread->link().p5().counters());
    put(row["p7"], thread->link().p7().counters());
    put(row["datagrams"], thread->link().p7().datagrams());
    SlotNumbers numbers;
    if (worker.execute([&numbers, &slots = worker.slots] { numbers.take(slots); })) row["slots"] = to_json(numbers);
    rows.push_back(std::move(row));
  }
  return rows;
}

}  // namespace splitplane::gnb
