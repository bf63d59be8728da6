#include "tap/tap.h"

#include <chrono>

#include "base/log.h"

namespace splitplane::tap {
namespace {

constexpr std::chrono::milliseconds kPause{1};  // pause of a writer that found no copies
constexpr std::uint64_t kMebibyte = std::uint64_t{1} << 20;

}  // namespace

Expected<std::unique_ptr<Tap>> Tap::start(const Settings& settings, const std::vector<Source>& sources,
                                          std::shared_ptr<const SecuredDrbs> secured) {
  std::unique_ptr<Tap> tap(new Tap(settings, std::move(secured)));
  for (const Source& source : sources) {
    auto lane = datapath::TapLane::make(
        {.buffers = settings.buffers, .snap = static_cast<std::uint16_t>(settings.snap), .bearer = settings.bearer});
    if (!lane) return fail("tap {}: {}", settings.name, lane.error().message);
    tap->lanes_.push_back(std::make_unique<Lane>(Lane{source, std::move(*lane)}));
  }
  tap->writer_ = std::thread([t = tap.get()] { t->run(); });
  return tap;
}

bool Tap::open() {
  auto file = File::create(settings_.file, {settings_.max_mb * kMebibyte, settings_.files},
                           [this](pcapng::Buffer& out) { write_head(out); });
  if (file) {
    file_ = std::make_unique<File>(std::move(*file));
    bytes_.set(file_->bytes_written());
    writing_ = true;
  }
  {
    const std::lock_guard guard(mutex_);
    state_ = file ? State::kOn : State::kStopped;
    if (!file) why_ = file.error().message;
  }
  changed_.notify_all();
  return file.has_value();
}

Tap::State Tap::wait_open(std::chrono::milliseconds patience) {
  std::unique_lock lock(mutex_);
  changed_.wait_for(lock, patience, [this] { return state_ != State::kOpening; });
  return state_;
}

bool Tap::wait_end(std::chrono::milliseconds patience) {
  std::unique_lock lock(mutex_);
  return changed_.wait_for(lock, patience, [this] { return ended_; });
}

void Tap::finish() {
  end();
  if (writer_.joinable()) writer_.join();
}

void Tap::write_head(pcapng::Buffer& out) const {
  const unsigned more = settings_.view == View::kEthernet ? 0U : static_cast<unsigned>(kMostViewBytes);
  pcapng::put_section(out, "splitplane");
  for (const auto& lane : lanes_) {
    pcapng::put_interface(out, lane->source.name, lane->source.description, settings_.snap + more);
  }
}

Numbers Tap::numbers() const {
  Numbers numbers{packets_.get(), bytes_.get(), lost_.get(), skipped_.get()};
  for (const auto& lane : lanes_) numbers.dropped += lane->lane->dropped();
  return numbers;
}

Tap::State Tap::state() const {
  const std::lock_guard guard(mutex_);
  return state_;
}

std::string Tap::stopped() const {
  const std::lock_guard guard(mutex_);
  return why_;
}

void Tap::stop_writing(const std::string& why) {
  writing_ = false;
  bytes_.set(file_->bytes_written());
  {
    const std::lock_guard guard(mutex_);
    state_ = State::kStopped;
    why_ = why;
  }
  log::warn("tap {} has stopped: {}; traffic goes on", settings_.name, why);
}

void Tap::run() {
  if (!open()) log::warn("tap {}: {}", settings_.name, stopped());
  write_all();
  file_.reset();  // closed on this thread, because that may take as long as the disk needs
  {
    const std::lock_guard guard(mutex_);
    ended_ = true;
  }
  changed_.notify_all();
}

void Tap::write_all() {
  for (;;) {
    const bool last = end_.load(std::memory_order_acquire);  // read before the lanes: nothing comes after it
    unsigned found = 0;
    for (std::uint32_t i = 0; i < lanes_.size(); ++i) found += drain(i);
    if (writing_) bytes_.set(file_->bytes_written());
    if (found != 0) continue;
    // Idle: writes what there is, so that it can be read.
    if (writing_ && !file_->blocks().empty()) {
      if (const auto written = file_->flush(); !written) stop_writing(written.error().message);
      bytes_.set(file_->bytes_written());
    }
    if (last) break;
    std::this_thread::sleep_for(kPause);
  }
  if (!writing_) return;
  for (std::uint32_t i = 0; i < lanes_.size(); ++i) {
    const std::uint64_t dropped = lanes_[i]->lane->dropped();
    pcapng::put_statistics(file_->blocks(), i, datapath::tap_time_ns(), lanes_[i]->seen + dropped, dropped);
  }
  if (const auto written = file_->flush(); !written) stop_writing(written.error().message);
  bytes_.set(file_->bytes_written());
}

unsigned Tap::drain(std::uint32_t index) {
  datapath::TapLane& lane = *lanes_[index]->lane;
  const unsigned n = lane.receive(copies_);
  for (unsigned i = 0; i < n; ++i) write(index, copies_[i]);
  datapath::TapLane::give_back(std::span(copies_).first(n));
  return n;
}

void Tap::write(std::uint32_t index, rte_mbuf* copy) {
  const datapath::TapMark& mark = datapath::TapLane::mark(copy);
  if (!mark.wanted) return;
  ++lanes_[index]->seen;
  if (!writing_) {
    lost_.add(1);
    return;
  }
  pcapng::Packet packet{.interface = index,
                        .time_ns = mark.time_ns,
                        .octets = {rte_pktmbuf_mtod(copy, const std::uint8_t*), copy->data_len},
                        .original_bytes = mark.bytes,
                        .flags = static_cast<std::uint32_t>(mark.direction)};
  if (settings_.view != View::kEthernet) {
    const auto seen = view_.translate(packet.octets, packet.original_bytes);
    if (!seen) {
      skipped_.add(1);
      return;
    }
    packet.octets = seen->octets;
    packet.original_bytes = seen->original_bytes;
  }
  if (const auto room = file_->make_room(pcapng::packet_block_bytes(packet.octets.size())); !room) {
    lost_.add(1);
    return stop_writing(room.error().message);
  }
  pcapng::put_packet(file_->blocks(), packet);
  packets_.add(1);
}

}  // namespace splitplane::tap
