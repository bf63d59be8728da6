#include "power/governor/governor.h"

#include <algorithm>
#include <charconv>
#include <filesystem>
#include <functional>

namespace splitplane::governor {
namespace {

std::string cpu_directory(const GovernorSettings& settings) {
  return fmt::format("{}/devices/system/cpu/cpu{}", settings.root, settings.core);
}

// Cores under another root are different cores.
std::string loan_name(const GovernorSettings& settings, const std::string& what) {
  return settings.root == "/sys" ? what : fmt::format("{}.{:x}", what, std::hash<std::string>{}(settings.root));
}

// Cores of one clock domain share one directory, policyN, with links to it. A loan of that directory covers them all.
std::string domain_of(const std::string& cpufreq, unsigned core) {
  std::error_code failed;
  const auto real = std::filesystem::canonical(cpufreq, failed);
  if (failed || real.filename() == "cpufreq") return fmt::format("cpu{}", core);
  return real.filename().string();
}

}  // namespace

Governor::Governor(const GovernorSettings& settings) : settings_(settings) {
  const std::string cpufreq = cpu_directory(settings) + "/cpufreq";
  if (const auto taken = begin(cpufreq); !taken) {
    why_not_ = fmt::format("core {}: {}", settings.core, taken.error().message);
    give_back();
  }
}

Expected<void> Governor::begin(const std::string& cpufreq) {
  if (read_line(cpufreq + "/scaling_driver")) {
    // The loan begins before the limits are read: until then they may be those that a crash left.
    auto loan = Loan::begin(settings_.loans, loan_name(settings_, domain_of(cpufreq, settings_.core) + ".frequency"));
    if (!loan) return tl::unexpected(loan.error());
    frequency_.emplace(*std::move(loan));
  }
  const auto frequencies = read_frequencies(cpufreq);
  if (!frequencies) return tl::unexpected(frequencies.error());
  driver_ = frequencies->driver;
  if (frequencies->userspace) {
    // The earlier speed is meaningful only if `userspace` was in force before.
    const bool was = read_line(cpufreq + "/scaling_governor") == "userspace";
    auto done = frequency_->change(cpufreq + "/scaling_governor", "userspace");
    if (done && was) done = frequency_->remember(cpufreq + "/scaling_setspeed");
    if (!done) return done;
    auto file = open_for_writing(cpufreq + "/scaling_setspeed");
    if (!file) return tl::unexpected(file.error());
    speed_ = *std::move(file);
  } else if (auto opened = open_limits(cpufreq); !opened) {
    return opened;
  }
  khz_ = frequencies->khz;
  turbo_ = frequencies->turbo;
  if (!write_khz(khz_[0])) return fail("{} kHz is refused", khz_[0]);
  return {};
}

Expected<void> Governor::open_limits(const std::string& cpufreq) {
  for (const auto& [name, file] : {std::pair{"scaling_min_freq", &lowest_}, {"scaling_max_freq", &highest_}}) {
    const std::string path = fmt::format("{}/{}", cpufreq, name);
    if (auto remembered = frequency_->remember(path); !remembered) return remembered;
    auto opened = open_for_writing(path);
    if (!opened) return tl::unexpected(opened.error());
    *file = *std::move(opened);
  }
  return {};
}

std::array<float, 32> Governor::speed() const {
  std::array<float, 32> speed{1};
  for (std::size_t i = 1; i < khz_.size(); ++i) speed[i] = static_cast<float>(khz_[i]) / static_cast<float>(khz_[0]);
  return speed;
}

// The kernel refuses a lowest frequency above the highest. So the limit on the side of the new frequency moves first.
bool Governor::write_khz(unsigned khz) {
  std::array<char, 16> digits{};
  const auto end = std::to_chars(digits.data(), digits.data() + digits.size(), khz).ptr;
  const std::string_view text(digits.data(), static_cast<std::size_t>(end - digits.data()));
  writes_.add(1);
  if (speed_.is_open()) return write_line(speed_, text);
  const bool up = khz >= khz_[current_];
  return write_line(up ? highest_ : lowest_, text) && write_line(up ? lowest_ : highest_, text);
}

bool Governor::write(unsigned p_state, std::uint64_t now) {
  settled_ = write_khz(khz_[p_state]);
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
  for (Descriptor* file : {&speed_, &lowest_, &highest_}) file->close();
  khz_.resize(1);
  current_ = 0;
  settled_ = true;
  if (frequency_) not_given_back_.add(frequency_->give_back().size());
  frequency_.reset();
  free_wake_up();
}

}  // namespace splitplane::governor
