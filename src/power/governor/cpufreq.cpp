#include "power/governor/cpufreq.h"

#include <array>
#include <charconv>
#include <string_view>

#include "power/governor/core_files.h"

namespace splitplane::governor {

Expected<Frequencies> Cpufreq::begin() {
  const std::string cpufreq = cpufreq_directory(settings_);
  // The loan begins before the limits are read: until then they may be those that a crash left.
  auto loan = begin_frequency_loan(settings_);
  if (!loan) return tl::unexpected(loan.error());
  loan_.emplace(*std::move(loan));
  const auto frequencies = read_frequencies(cpufreq);
  if (!frequencies) return tl::unexpected(frequencies.error());
  if (frequencies->userspace) {
    // The earlier speed is meaningful only if `userspace` was in force before.
    const bool was = read_line(cpufreq + "/scaling_governor") == "userspace";
    auto done = loan_->change(cpufreq + "/scaling_governor", "userspace");
    if (done && was) done = loan_->remember(cpufreq + "/scaling_setspeed");
    if (!done) return tl::unexpected(done.error());
    auto file = open_for_writing(cpufreq + "/scaling_setspeed");
    if (!file) return tl::unexpected(file.error());
    speed_ = *std::move(file);
  } else if (const auto opened = open_limits(cpufreq); !opened) {
    return tl::unexpected(opened.error());
  }
  khz_ = frequencies->khz;
  if (!set(0, 0)) return fail("{} kHz is refused", khz_[0]);
  return frequencies;
}

Expected<void> Cpufreq::open_limits(const std::string& cpufreq) {
  for (const auto& [name, file] : {std::pair{"scaling_min_freq", &lowest_}, {"scaling_max_freq", &highest_}}) {
    const std::string path = fmt::format("{}/{}", cpufreq, name);
    if (auto remembered = loan_->remember(path); !remembered) return remembered;
    auto opened = open_for_writing(path);
    if (!opened) return tl::unexpected(opened.error());
    *file = *std::move(opened);
  }
  return {};
}

// The kernel refuses a lowest frequency above the highest. So the limit on the side of the new frequency moves first.
bool Cpufreq::set(unsigned before, unsigned p_state) {
  std::array<char, 16> digits{};
  const auto end = std::to_chars(digits.data(), digits.data() + digits.size(), khz_[p_state]).ptr;
  const std::string_view text(digits.data(), static_cast<std::size_t>(end - digits.data()));
  if (speed_.is_open()) return write_line(speed_, text);
  const bool up = khz_[p_state] >= khz_[before];
  return write_line(up ? highest_ : lowest_, text) && write_line(up ? lowest_ : highest_, text);
}

std::size_t Cpufreq::give_back() {
  for (Descriptor* file : {&speed_, &lowest_, &highest_}) file->close();
  const std::size_t left = loan_ ? loan_->give_back().size() : 0;
  loan_.reset();
  return left;
}

}  // namespace splitplane::governor
