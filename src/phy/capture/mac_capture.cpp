#include "phy/capture/mac_capture.h"

#include <array>
#include <chrono>
#include <cstring>

#include "base/log.h"
#include "engine/tap_lane.h"
#include "tap/framing_headers.h"
#include "wire/mac_nr.h"

namespace splitplane::phy {
namespace {

constexpr std::chrono::milliseconds kPause{1};  // of a writer that found nothing
constexpr std::size_t kMostHeaders = tap::kFramingHeaderBytes + wire::mac_nr::kMaxHeaderBytes;

// In front of a record's octets.
struct Mark {
  std::uint64_t time_ns;
  std::uint32_t flags;  // those of pcapng: the gNB receives or sends
};

void write_head(tap::pcapng::Buffer& out) {
  tap::pcapng::put_section(out, "splitplane");
  tap::pcapng::put_interface(out, "air", "transport blocks between gNB and UEs",
                             static_cast<std::uint32_t>(kMostHeaders + tap::kMostFramingPayload));
}

}  // namespace

Expected<std::unique_ptr<MacCapture>> MacCapture::start(const Settings& settings) {
  auto file = tap::File::create(settings.file, settings.limits, write_head);
  if (!file) return tl::unexpected(file.error());
  std::unique_ptr<MacCapture> capture(new MacCapture(settings, *std::move(file)));
  capture->writer_ = std::thread([c = capture.get()] { c->run(); });
  return capture;
}

void MacCapture::crossed(const Grant& grant, wire::Octets block, bool decoded) {
  if (!decoded && !settings_.lost) return;
  const wire::mac_nr::Header header{.direction = grant.direction,
                                    .rnti = grant.rnti,
                                    .ue_id = grant.rnti,
                                    .harq_process = grant.process,
                                    .slot = wire::mac_nr::SlotInfo{grant.slot.sfn, grant.slot.slot}};
  std::array<std::uint8_t, kMostHeaders> headers;
  const wire::MutableOctets out(headers);
  const std::size_t framing = wire::mac_nr::write(out.subspan(tap::kFramingHeaderBytes), header);
  if (framing + block.size() > tap::kMostFramingPayload) return counters_.too_long.add(1);
  const std::size_t n = tap::write_framing_headers(out, grant.direction, grant.rnti, framing + block.size()) + framing;
  const bool up = grant.direction == Direction::kUplink;
  const auto direction = up ? datapath::TapDirection::kIn : datapath::TapDirection::kOut;
  const Mark mark{datapath::tap_time_ns(), static_cast<std::uint32_t>(direction)};
  const wire::Octets mark_octets(reinterpret_cast<const std::uint8_t*>(&mark), sizeof mark);
  if (!ring_.push({mark_octets, wire::Octets(headers).first(n), block})) counters_.no_room.add(1);
}

void MacCapture::finish() {
  end_.store(true, std::memory_order_release);
  if (writer_.joinable()) writer_.join();
}

// A disk that becomes full takes some of the collected blocks.
void MacCapture::count_written() {
  for (; !ends_.empty() && ends_.front() <= file_.bytes_written(); ends_.pop_front()) counters_.blocks.add(1);
}

void MacCapture::stop_writing(const Error& why) {
  writing_ = false;
  count_written();
  counters_.stopped.add(ends_.size());
  ends_.clear();
  log::warn("capture of transport blocks has stopped: {}; the air goes on", why.message);
}

void MacCapture::write(wire::Octets record) {
  if (!writing_) return counters_.stopped.add(1);
  Mark mark{};
  std::memcpy(&mark, record.data(), sizeof mark);
  const wire::Octets octets = record.subspan(sizeof mark);
  if (const auto room = file_.make_room(tap::pcapng::packet_block_bytes(octets.size())); !room) {
    counters_.stopped.add(1);
    return stop_writing(room.error());
  }
  tap::pcapng::put_packet(file_.blocks(), {.time_ns = mark.time_ns,
                                           .octets = octets,
                                           .original_bytes = static_cast<std::uint32_t>(octets.size()),
                                           .flags = mark.flags});
  ends_.push_back(file_.bytes_written() + file_.blocks().size());
  count_written();
}

void MacCapture::write_all() {
  std::vector<std::uint8_t> record;
  for (;;) {
    const bool last = end_.load(std::memory_order_acquire);  // read before the ring: nothing comes after it
    bool found = false;
    while (ring_.pop(record)) {
      write(record);
      found = true;
    }
    if (found && !last) continue;
    if (writing_ && !file_.blocks().empty()) {  // what there is can be read
      if (const auto written = file_.flush(); !written) stop_writing(written.error());
      count_written();
    }
    counters_.bytes.set(file_.bytes_written());
    if (last) return;
    std::this_thread::sleep_for(kPause);
  }
}

void MacCapture::run() {
  write_all();
  if (!writing_) return;
  const std::uint64_t missing = counters_.too_long.get() + counters_.no_room.get();
  tap::pcapng::put_statistics(file_.blocks(), 0, datapath::tap_time_ns(), counters_.blocks.get() + missing, missing);
  if (const auto written = file_.flush(); !written) stop_writing(written.error());
  counters_.bytes.set(file_.bytes_written());
}

}  // namespace splitplane::phy
