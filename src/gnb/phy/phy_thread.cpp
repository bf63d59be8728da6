#include "gnb/phy/phy_thread.h"

#include <poll.h>
#include <sys/eventfd.h>
#include <sys/prctl.h>
#include <time.h>
#include <unistd.h>

#include <utility>

#include "base/log.h"
#include "phy/slots/monotonic_time.h"

namespace splitplane::gnb {
namespace {

using datapath::PhyReport;
using datapath::Rnti;

constexpr phy::Time kEndTime = 300'000;  // us that the end of the PHY may take
constexpr phy::Time kPatience = 5'000;   // us that a plan of the worker is looked for often
constexpr long kOftenNs = 20'000, kSeldomNs = 1'000'000, kIdleNs = 20'000'000;

}  // namespace

Expected<std::unique_ptr<PhyThread>> PhyThread::start(const Settings& settings, datapath::PhyExchange& exchange,
                                                      datapath::Wakeup& worker) {
  auto p5 = phy::DatagramSocket::open(settings.local_p5, settings.p5);
  if (!p5) return tl::unexpected(p5.error());
  auto p7 = phy::DatagramSocket::open(settings.local_p7, settings.p7);
  if (!p7) return tl::unexpected(p7.error());
  std::unique_ptr<PhyThread> made(new PhyThread(settings, exchange, worker, *std::move(p5), *std::move(p7)));
  if (made->stop_event_ < 0) return fail("no descriptor is left for the PHY of worker {}", settings.worker);
  made->thread_ = std::thread([thread = made.get()] { thread->loop(); });
  return made;
}

PhyThread::PhyThread(const Settings& settings, datapath::PhyExchange& exchange, datapath::Wakeup& worker,
                     phy::DatagramSocket p5, phy::DatagramSocket p7)
    : settings_(settings),
      exchange_(exchange),
      worker_(worker),
      link_(settings.link, std::move(p5), std::move(p7), *this),
      writer_(settings.cell),
      stop_event_(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)) {}

PhyThread::~PhyThread() {
  stop();
  if (stop_event_ >= 0) ::close(stop_event_);
}

void PhyThread::stop() {
  if (!thread_.joinable()) return;
  stop_.store(true, std::memory_order_release);
  const std::uint64_t one = 1;
  [[maybe_unused]] const auto written = ::write(stop_event_, &one, sizeof one);
  thread_.join();
}

phy::Time PhyThread::now() const {
  return phy::MonotonicTime(0).now() / 1000;
}

void PhyThread::loop() {
  (void)::prctl(PR_SET_TIMERSLACK, 1UL);  // its waits are shorter than the default slack
  while (!stop_.load(std::memory_order_acquire)) {
    link_.poll(now());
    send_plans();
    wait();
  }
  link_.end(now());
  for (const phy::Time end = now() + kEndTime; link_.state() != phy::PhyLinkState::ended && now() < end;) {
    link_.poll(now());
    ::usleep(1000);
  }
}

void PhyThread::send_plans() {
  while (const datapath::SlotOrder* const order = exchange_.orders.front()) {
    if (link_.state() == phy::PhyLinkState::running) {
      send(*order);
      counters_.plans_sent.add(1);
    } else {
      counters_.plans_dropped.add(1);
    }
    exchange_.orders.pop();
  }
}

void PhyThread::send(const datapath::SlotOrder& order) {
  downlink_.clear();
  for (const auto& [grant, block] : order.downlink) downlink_.push_back({grant, block});
  writer_.write({order.slot, downlink_, order.uplink, order.request_chances});
  (void)writer_.send([this](const auto& message) {
    const bool sent = link_.send(message, now()) == phy::SendOutcome::sent;
    if (!sent) counters_.messages_dropped.add(1);
    return sent;
  });
  for (const phy::Grant& grant : writer_.left_out()) report_left_out(grant);
}

void PhyThread::report_left_out(const phy::Grant& grant) {
  counters_.left_out.add(1);
  const bool is_downlink = grant.direction == Direction::kDownlink;
  report({.kind = is_downlink ? PhyReport::Kind::kHarq : PhyReport::Kind::kBlock,
          .process = grant.process,
          .rnti = Rnti{grant.rnti},
          .slot = grant.slot});
}

// As long as the worker has a reported slot to plan, its plan is looked for often. A worker that does not answer is
// asked less and less.
void PhyThread::wait() {
  const std::uint64_t done = exchange_.slots_done.load(std::memory_order_acquire);
  const bool due =
      done != exchange_.slots_reported.load(std::memory_order_relaxed) || exchange_.orders.front() != nullptr;
  if (std::exchange(slots_done_, done) != done || !due) plan_due_since_ = 0;  // the worker answers
  if (due && plan_due_since_ == 0) plan_due_since_ = now();
  const bool often = due && now() - plan_due_since_ < kPatience;
  std::array<pollfd, 3> look{
      {{link_.p5().descriptor(), POLLIN, 0}, {link_.p7().descriptor(), POLLIN, 0}, {stop_event_, POLLIN, 0}}};
  const timespec length{.tv_sec = 0, .tv_nsec = often ? kOftenNs : due ? kSeldomNs : kIdleNs};
  (void)::ppoll(look.data(), look.size(), &length, nullptr);
}

void PhyThread::phy_runs(const fapi::ParamResponse&) {
  log::info("worker {}: the PHY at {} runs", settings_.worker, settings_.p5.address.to_string());
  refusal_said_ = false;
  begins_anew(PhyReport::Kind::kRuns);
}

void PhyThread::phy_is_away() {
  log::warn("worker {}: the PHY at {} has stopped or is silent; it is asked again", settings_.worker,
            settings_.p5.address.to_string());
  begins_anew(PhyReport::Kind::kAway);
}

// The worker has to know: where the report finds no room, it goes before the next one.
void PhyThread::begins_anew(PhyReport::Kind kind) {
  reset_due_ = kind;
  (void)report_reset();
}

bool PhyThread::report_reset() {
  if (!reset_due_) return true;
  if (!exchange_.reports.put({.kind = *reset_due_})) return false;
  reset_due_.reset();
  worker_.wake();
  return true;
}

void PhyThread::config_is_refused(const fapi::ConfigResponse& response) {
  if (std::exchange(refusal_said_, true)) return;
  log::warn("worker {}: the PHY at {} refuses its configuration ({} values not allowed, {} missing)", settings_.worker,
            settings_.p5.address.to_string(), response.invalid.size(), response.missing.size());
}

template <class Message>
std::optional<phy::Slot> PhyThread::slot_of(const Message& message) {
  const phy::Slot slot{settings_.cell.numerology, message.sfn, static_cast<std::uint8_t>(message.slot)};
  if (message.slot <= 0xFF && slot.valid()) return slot;
  counters_.other_slots.add(1);
  return std::nullopt;
}

bool PhyThread::report(const PhyReport& report, wire::Octets octets) {
  if (!report_reset() || !exchange_.reports.put(report, octets)) {
    counters_.reports_dropped.add(1);
    return false;
  }
  worker_.wake();
  return true;
}

void PhyThread::slot_begins(const fapi::SlotIndication& message) {
  const auto slot = slot_of(message);
  if (!slot) return;
  exchange_.newest_slot.store(slot->index(), std::memory_order_release);
  if (!report({.kind = PhyReport::Kind::kSlot, .slot = *slot})) return;
  exchange_.slots_reported.fetch_add(1, std::memory_order_relaxed);
}

// A block that is right comes with its octets in RX_DATA.indication, and is reported with them.
void PhyThread::receive(const fapi::CrcIndication& message) {
  const auto slot = slot_of(message);
  if (!slot) return;
  for (const auto& crc : message.crcs) {
    if (crc.tb_crc_status == 0) continue;
    counters_.crc_wrong.add(1);
    report({.kind = PhyReport::Kind::kBlock, .process = crc.harq_id, .rnti = Rnti{crc.rnti}, .slot = *slot});
  }
}

void PhyThread::receive(const fapi::RxDataIndication& message) {
  const auto slot = slot_of(message);
  if (!slot) return;
  for (const auto& pdu : message.pdus) {
    if (pdu.pdu.size() == 0) continue;  // CRC.indication says that it is wrong
    counters_.blocks.add(1);
    report(
        {.kind = PhyReport::Kind::kBlock, .good = true, .process = pdu.harq_id, .rnti = Rnti{pdu.rnti}, .slot = *slot},
        pdu.pdu.octets);
  }
}

void PhyThread::receive(const fapi::UciIndication& message) {
  const auto slot = slot_of(message);
  if (!slot) return;
  for (const auto& uci : message.ucis) {
    if (const auto* pucch = std::get_if<fapi::UciPucchFormat01Pdu>(&uci.body)) {
      const bool has_harq = (pucch->pdu_bitmap & fapi::kUciHasHarq) != 0 && pucch->harq_values.size() != 0;
      const bool request = (pucch->pdu_bitmap & fapi::kUciHasSr) != 0 && pucch->sr_indication != 0;
      report_uci(*slot, pucch->rnti, has_harq, has_harq ? pucch->harq_values[0] : std::uint8_t{0}, request);
    } else if (const auto* pusch = std::get_if<fapi::UciPuschPdu>(&uci.body)) {
      // One bit, of which 1 is an ACK; a wrong CRC of the UCI says nothing.
      const bool has_harq = (pusch->pdu_bitmap & fapi::kUciHasHarq) != 0 && pusch->harq.bit_len != 0;
      const bool ack = has_harq && pusch->harq.crc != 1 && (pusch->harq.bits.octets[0] & 1) != 0;
      report_uci(*slot, pusch->rnti, has_harq, ack ? 0 : 1, false);
    } else {
      counters_.uci_unread.add(1);
    }
  }
}

void PhyThread::report_uci(phy::Slot slot, std::uint16_t rnti, bool has_harq, std::uint8_t harq, bool request) {
  if (has_harq) {
    (harq == 0 ? counters_.harq_acks : counters_.harq_nacks).add(1);
    report({.kind = PhyReport::Kind::kHarq,
            .good = harq == 0,
            .rnti = Rnti{rnti},
            .slot = phy::after(slot, -static_cast<std::int64_t>(settings_.cell.k))});
  }
  if (!request) return;
  counters_.requests.add(1);
  report({.kind = PhyReport::Kind::kRequest, .rnti = Rnti{rnti}, .slot = slot});
}

}  // namespace splitplane::gnb
