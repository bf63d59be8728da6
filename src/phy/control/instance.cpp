#include "phy/control/instance.h"

#include <rte_cycles.h>

#include "base/log.h"
#include "phy/control/report.h"
#include "runtime/start_up.h"

namespace splitplane::app {
namespace {

constexpr unsigned kLcore = 1;
// retxBSR-Timer at its least (TS 38.331): if a UE has data of which the gNB does not know, nothing else ends its wait.
constexpr unsigned kRetxBsrMs = 10;
// Of all UEs of the cell. Each takes two pages of RLC's memory while it has packets that wait; what is needed for
// `max_sdus` is not exceeded.
constexpr std::size_t kMostChannels = 16384;
constexpr std::uint64_t kMebibyte = std::uint64_t{1} << 20;

// What an emulator can do, for PARAM.response (SCF-222.10.02 tables 3-9 to 3-14).
fapi::ParamResponse capabilities() {
  fapi::ParamResponse can;
  can.release_capability = 1;  // Release 15
  can.skip_blank_dl_config = can.skip_blank_ul_config = 1;
  can.cyclic_prefix = 1;                                                              // normal
  can.supported_subcarrier_spacings_dl = can.supported_subcarrier_spacings_ul = 0xF;  // 15 to 120 kHz
  can.max_number_mimo_layers_pdsch = can.max_number_mimo_layers_non_cb_pusch = 1;
  can.supported_max_modulation_order_dl = can.supported_max_modulation_order_ul = 2;  // 64QAM
  return can;
}

}  // namespace

Expected<std::unique_ptr<PhyInstance>> PhyInstance::start(const PhyProgramConfig& config) {
  auto eal = start_eal(config, {config.phy.core});
  if (!eal) return tl::unexpected(eal.error());
  return start_on(std::move(*eal), config);
}

Expected<std::unique_ptr<PhyInstance>> PhyInstance::start_on(std::optional<datapath::Eal> eal,
                                                             const PhyProgramConfig& config) {
  std::unique_ptr<PhyInstance> instance(new PhyInstance(config, std::move(eal)));
  if (const auto opened = instance->open(); !opened) return tl::unexpected(opened.error());
  return instance;
}

PhyInstance::~PhyInstance() {
  stop();
}

void PhyInstance::stop() {
  if (worker_) worker_->stop();
  if (capture_) capture_->finish();
}

Expected<void> PhyInstance::open() {
  auto pool = make_pool("the UEs", "ues", config_.memory);
  if (!pool) return tl::unexpected(pool.error());
  pool_ = *std::move(pool);
  if (auto opened = open_tun(); !opened) return opened;
  if (const auto& capture = config_.phy.capture) {
    auto started = phy::MacCapture::start(
        {.file = capture->file, .limits = {capture->max_mb * kMebibyte, capture->files}, .lost = capture->lost});
    if (!started) return tl::unexpected(started.error());
    capture_ = *std::move(started);
  }
  if (auto opened = open_worker(); !opened) return opened;
  if (auto opened = open_pdcp(); !opened) return opened;
  changes_.emplace(worker_->ues(), addresses_.get(),
                   [this](std::function<void()> command) { return worker_->execute(std::move(command)); });
  follower_.emplace(config_.ue.gnb_control,
                    BearerFollower::Ways{.unknown = [this] { return worker_->ues().unknown(); },
                                         .failed = [this] { return failed_bearers(); },
                                         .change = [this](const auto& list) { return changes_->carry_out(list); }},
                    config_.ue.gnb_worker);
  return worker_->start(kLcore);
}

Expected<void> PhyInstance::open_tun() {
  auto tun = ue::Tun::create({.name = config_.ue.tun, .mtu = config_.ue.tun_mtu});
  if (!tun) return tl::unexpected(tun.error());
  tun_ = std::make_unique<ue::Tun>(*std::move(tun));
  addresses_ = std::make_unique<ue::UeAddresses>(*tun_);
  if (!config_.ue.default_route) return {};
  if (auto added = tun_->add_default_route(false); !added) return added;
  // A kernel without IPv6 is no reason to stop.
  if (const auto added = tun_->add_default_route(true); !added) log::warn("{}", added.error().message);
  return {};
}

Expected<void> PhyInstance::open_worker() {
  const EmulatedPhyConfig& ends = config_.phy;
  auto p5 = phy::DatagramSocket::open({ends.local, ends.local_p5_port}, {ends.address, ends.p5_port});
  if (!p5) return tl::unexpected(p5.error());
  auto p7 = phy::DatagramSocket::open({ends.local, ends.local_p7_port}, {ends.address, ends.p7_port});
  if (!p7) return tl::unexpected(p7.error());
  const phy::PhyWorker::Settings settings{
      .peer = {.phy_id = ends.phy_id, .p7 = {.max_datagram_bytes = ends.max_datagram}, .capabilities = capabilities()},
      .emulator = {.seed = ends.seed, .loss = ends.loss},
      .ues = {.radio = {.rlc = {.pool = pool_.get(),
                                .max_sdus = config_.memory.mbufs / 4,
                                .max_channels = kMostChannels,
                                .ticks_per_ms = rte_get_tsc_hz() / 1000,
                                .now = rte_rdtsc()},
                        .mac = {.ticks_per_ms = rte_get_tsc_hz() / 1000, .retx_bsr_ms = kRetxBsrMs}},
              .tun = tun_.get(),
              .tun_ues = config_.ue.tun_ues},
      .capture = capture_.get()};
  worker_ = std::make_unique<phy::PhyWorker>(settings, *std::move(p5), *std::move(p7));
  return {};
}

Expected<void> PhyInstance::open_pdcp() {
  if (config_.ue.key_file.empty()) return {};
  auto keys = datapath::BearerKeys::create(config_.ue.key_file);
  if (!keys) return tl::unexpected(keys.error());
  auto pdcp = datapath::WorkerPdcp::create({.sends = Direction::kUplink,
                                            .pool = pool_.get(),
                                            .max_held = config_.memory.mbufs / 4,
                                            .ticks_per_ms = rte_get_tsc_hz() / 1000,
                                            .now = rte_rdtsc()},
                                           *keys);
  if (!pdcp) return tl::unexpected(pdcp.error());
  worker_->ues().take_pdcp(std::move(*pdcp));
  return {};
}

Expected<BearerView> PhyInstance::show_bearer(BearerId id) {
  auto view = std::make_shared<std::optional<BearerView>>();
  if (!worker_->execute([id, view, worker = worker_.get()] { *view = worker->ues().show(id); }))
    return fail("the worker does not answer");
  if (!view->has_value()) return fail("no bearer with identity {:#010x}", id.value);
  return std::move(**view);
}

Expected<std::vector<BearerView>> PhyInstance::list_bearers(std::uint32_t after, std::size_t limit) {
  auto views = std::make_shared<std::vector<BearerView>>();
  const bool done = worker_->execute(
      [after, limit, views, worker = worker_.get()] { *views = worker->ues().list(BearerId{after}, limit); });
  if (!done) return fail("the worker does not answer");
  return std::move(*views);
}

Expected<Json> PhyInstance::stats() {
  const auto taken = phy::take_report(*worker_);
  if (!taken) return tl::unexpected(taken.error());
  return stats_json(*taken, capture_.get(), config_.phy.core);
}

Expected<Json> PhyInstance::set_loss(const LossPatch& patch) {
  auto loss = std::make_shared<phy::AirLoss>();
  const bool done = worker_->execute([patch, loss, worker = worker_.get()] {
    phy::Emulator& emulator = worker->phy().emulator();
    *loss = patch.applied_to(emulator.loss());
    emulator.set(*loss);
  });
  if (!done) return fail("the worker does not answer");
  return json_of(*loss);
}

// Radio link failure of the UEs' senders.
std::vector<BearerId> PhyInstance::failed_bearers() {
  auto ids = std::make_shared<std::vector<BearerId>>();
  const bool done = worker_->execute([ids, worker = worker_.get()] { *ids = worker->ues().failed(); });
  return done ? std::move(*ids) : std::vector<BearerId>{};
}

}  // namespace splitplane::app
