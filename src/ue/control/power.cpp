// The power policy of the UE side's worker, over its control socket.
#include "base/text.h"
#include "runtime/power_view.h"
#include "ue/control/instance.h"

namespace splitplane::app {

constexpr const char* kWorker = "ue";

Expected<Json> UeSide::show_power() {
  const auto view = std::make_shared<Json>();
  const bool done = worker_->execute(
      [view, worker = worker_.get()](ue::UeBearers&) { *view = view_of(worker->power(), worker->worker_stats()); });
  if (!done) return fail("the worker does not answer");
  (*view)["name"] = kWorker;
  (*view)["core"] = config_.ue->core;
  (*view)["governor"] = nullptr;
  return Json::array({std::move(*view)});
}

Expected<Json> UeSide::set_power(const std::string& worker, const power::Settings& settings) {
  if (worker != kWorker) return fail("worker: there is no '{}'; allowed: {}", printable(worker), kWorker);
  const bool done = worker_->execute([settings, w = worker_.get()](ue::UeBearers&) { w->power().set(settings); });
  if (!done) return fail("the worker does not answer; its policy stays as it was");
  return Json{{"name", kWorker}, {"policy", to_json(settings)}, {"governor", nullptr}};
}

}  // namespace splitplane::app
