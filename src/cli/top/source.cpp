#include "cli/top/source.h"

namespace splitplane::app {

Expected<void> TopSource::ask(Json& stats, std::vector<Json>& bearers, bool with_bearers) {
  if (!client_) {
    auto client = ControlClient::connect(socket_, std::chrono::milliseconds{3000});
    if (!client) return tl::unexpected(client.error());
    client_.emplace(*std::move(client));
  }
  auto answer = client_->call("stats");
  if (!answer) return tl::unexpected(answer.error());
  if (!answer->is_object() || !answer->contains("workers")) {
    return fail("{} belongs to no `splitplane run`", socket_);
  }
  stats = std::move(*answer);
  if (!with_bearers || stats.contains("guard")) return {};
  const auto all = client_->for_each_bearer(0, limit_, [&](const Json& bearer) { bearers.push_back(bearer); });
  if (!all) return tl::unexpected(all.error());
  return {};
}

Expected<void> TopSource::look(TopState& state, bool with_bearers) {
  Json stats;
  std::vector<Json> bearers;
  if (auto asked = ask(stats, bearers, with_bearers); !asked) {
    client_.reset();  // the next look connects anew
    before_ = nullptr;
    has_rates_ = false;
    return asked;
  }
  const auto now = std::chrono::steady_clock::now();
  const double seconds = std::chrono::duration<double>(now - when_).count();
  if (!before_.is_null()) {
    state.rates = rates_between(before_, stats, seconds);
    state.bearers.reset();
    if (with_bearers) state.bearers = bearer_rates(bearers_before_, bearers, seconds);
    has_rates_ = true;
  }
  before_ = std::move(stats);
  bearers_before_ = std::move(bearers);
  when_ = now;
  return {};
}

}  // namespace splitplane::app
