#include "power/governor/governor.h"

#include "power/governor/core_files.h"

namespace splitplane::governor {

Governor::Governor(const GovernorSettings& settings) : settings_(settings), backend_(make_backend(settings)) {
  if (const auto taken = begin(); !taken) {
    why_not_ = fmt::format("core {}: {}", settings.core, taken.error().message);
    give_back();
  }
}

Expected<void> Governor::begin() {
  auto frequencies = backend_->begin();
  if (!frequencies) return tl::unexpected(frequencies.error());
  writes_.add(1);
  driver_ = std::move(frequencies->driver);
  khz_ = std::move(frequencies->khz);
  turbo_ = frequencies->turbo;
  settled_ = backend_->settled();
  return {};
}

std::array<float, 32> Governor::speed() const {
  std::array<float, 32> speed{1};
  for (std::size_t i = 1; i < khz_.size(); ++i) speed[i] = static_cast<float>(khz_[i]) / static_cast<float>(khz_[0]);
  return speed;
}

bool Governor::write(unsigned p_state, std::uint64_t now) {
  writes_.add(1);
  settled_ = backend_->set(current_, p_state);
  if (settled_) {
    current_ = p_state;
    next_write_ = 0;
    return true;
  }
  refused_writes_.add(1);
  refused_ = p_state;
  next_write_ = now + kPatienceUs * settings_.ticks_per_us;
  return false;
}

Expected<void> Governor::bound_wake_up(unsigned us) {
  if (!wake_up_) {
    auto loan = Loan::begin(settings_.loans, loan_name(settings_, fmt::format("cpu{}.latency", settings_.core)));
    if (!loan) return tl::unexpected(loan.error());
    wake_up_.emplace(*std::move(loan));
  }
  // 0 would remove the bound, and "n/a" is the kernel's word for no latency at all.
  const std::string text = us == 0 ? "n/a" : fmt::format("{}", us);
  return wake_up_->change(cpu_directory(settings_) + "/power/pm_qos_resume_latency_us", text);
}

void Governor::free_wake_up() {
  if (wake_up_) not_given_back_.add(wake_up_->give_back().size());
  wake_up_.reset();
}

void Governor::give_back() {
  khz_.resize(1);
  current_ = 0;
  settled_ = true;
  not_given_back_.add(backend_->give_back());
  free_wake_up();
}

}  // namespace splitplane::governor
