// What bearers look like: read on the threads of their workers between two rounds, and by their cards.
#include <algorithm>

#include "gnb/control/instance.h"

namespace splitplane::app {

Expected<std::vector<BearerView>> UserPlane::read_views(const std::vector<ran::BearerConfig>& bearers) {
  auto views = std::make_shared<std::vector<BearerView>>(bearers.size());
  for (std::size_t w = 0; w < workers_.size(); ++w) {
    WorkerRuntime& worker = *workers_[w];
    if (!worker.gnb) continue;
    auto mine = std::make_shared<std::vector<std::size_t>>();
    for (std::size_t i = 0; i < bearers.size(); ++i) {
      if (!worker.gnb->bearers.owns(bearers[i].id.value)) continue;
      mine->push_back(i);
      (*views)[i].config = bearers[i];
      (*views)[i].worker = w;
    }
    if (mine->empty()) continue;
    datapath::GnbContext* gnb = worker.gnb.get();
    const bool done = worker.execute([gnb, views, mine] {
      for (const std::size_t i : *mine) {
        BearerView& view = (*views)[i];
        const std::uint32_t id = view.config.id.value;
        const ran::BearerDownlink& dl = *gnb->bearers.downlink_line(id);
        const ran::BearerUplink& ul = *gnb->bearers.uplink_line(id);
        const ran::BearerLosses& losses = gnb->bearers.losses(id);
        const std::uint64_t held = gnb->reorder.held(view.config.id);
        view.downlink = {dl.received + held, dl.received - losses.downlink, losses.downlink, held, dl.bytes};
        view.uplink = {ul.received, ul.received - losses.uplink, losses.uplink, 0, ul.bytes};
        view.pdcp_tx_next = dl.pdcp_tx_next;
        view.rlc_tx_next = dl.rlc_tx_next;
        view.pdcp_rx_next = ul.pdcp_rx_next;
        view.rlc_rx_next = ul.rlc_rx_next_highest;
        if (const auto* arq = gnb->arq_bearers.find(id); arq != nullptr) view.rlc_am = datapath::view_of(*arq);
      }
    });
    if (!done) return fail("worker {} does not answer", worker.config.name);
  }
  for (BearerView& view : *views) {
    const auto seen = bearer_gtpu_.find(view.config.id.value);
    if (seen == bearer_gtpu_.end()) continue;
    view.uplink_stopped = seen->second.uplink_stopped();
    view.uplink_state = datapath::name_of(seen->second.uplink.state());
    view.uplink_stops = seen->second.uplink_stops;
    view.error_indications = seen->second.error_indications;
    view.end_markers = seen->second.end_markers;
  }
  return *views;
}

Expected<BearerView> UserPlane::show_bearer(BearerId id) {
  std::unique_lock lock(mutex_);
  const ran::BearerConfig* config = store_->find(id);
  if (config == nullptr) return fail("no bearer with identity {:#010x}", id.value);
  auto views = read_views({*config});
  if (!views) return tl::unexpected(views.error());
  lock.unlock();
  add_card_numbers(*views);
  return views->front();
}

// A page is read in small pieces, so that no round of a worker grows long.
Expected<std::vector<BearerView>> UserPlane::list_bearers(std::uint32_t after, std::size_t limit) {
  constexpr std::size_t kPiece = 64;
  std::unique_lock lock(mutex_);
  const auto page = store_->after(after, limit);
  std::vector<BearerView> all;
  for (std::size_t first = 0; first < page.size(); first += kPiece) {
    const std::size_t last = std::min(page.size(), first + kPiece);
    auto views = read_views(
        {page.begin() + static_cast<std::ptrdiff_t>(first), page.begin() + static_cast<std::ptrdiff_t>(last)});
    if (!views) return views;
    all.insert(all.end(), views->begin(), views->end());
  }
  lock.unlock();
  add_card_numbers(all);
  return all;
}

std::size_t UserPlane::bearer_count() {
  const std::lock_guard guard(mutex_);
  return store_->size();
}

std::vector<PathObservation> UserPlane::observe_paths(const N3Runtime& n3) const {
  std::vector<PathObservation> all;
  for (const auto& [upf, path] : n3.gtpu.paths.paths()) {
    using datapath::PathCause, datapath::PathState;
    PathObservation one{.upf = upf, .path = path, .state = path.state};
    const bool resolved = mac_of(n3, upf).has_value();
    if (!resolved) {
      const bool unanswered = path.unresolved || n3.neighbors.is_unanswered(next_hop(n3, upf));
      one.state = unanswered ? PathState::down : PathState::resolving;
      if (unanswered) one.cause = upf.is_v6() ? PathCause::nd_unanswered : PathCause::arp_unanswered;
    } else if (path.state == PathState::down) {
      // With an address since a moment: the Echo Request is on its way.
      one.state = path.unresolved ? PathState::unknown : PathState::down;
      if (!path.unresolved) one.cause = PathCause::no_echo_response;
    }
    one.resolved = resolved;
    all.push_back(one);
  }
  return all;
}

}  // namespace splitplane::app
