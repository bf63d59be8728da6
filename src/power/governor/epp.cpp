#include "power/governor/epp.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <sstream>
#include <vector>

#include "power/governor/core_files.h"

namespace splitplane::governor {

Expected<Frequencies> Epp::begin() {
  const std::string cpufreq = cpufreq_directory(settings_), path = cpufreq + "/energy_performance_preference";
  auto loan = begin_frequency_loan(settings_);
  if (!loan) return tl::unexpected(loan.error());
  loan_.emplace(*std::move(loan));
  const auto list = read_line(cpufreq + "/energy_performance_available_preferences");
  if (!list)
    return fail("{}/energy_performance_available_preferences: {}; only hardware that chooses its frequency has it",
                cpufreq, std::strerror(errno));
  std::istringstream stream(*list);
  std::vector<std::string> known;
  for (std::string word; stream >> word;) known.push_back(word);
  const auto has = [&](const char* word) { return std::find(known.begin(), known.end(), word) != known.end(); };
  words_ = {"performance", has("power") ? "power" : "balance_power"};
  for (const std::string& word : words_) {
    if (!has(word.c_str())) return fail("{} has no preference {}; it has: {}", cpufreq, word, *list);
  }
  const auto lowest = read_number(cpufreq + "/cpuinfo_min_freq"), highest = read_number(cpufreq + "/cpuinfo_max_freq");
  if (!lowest || !highest || *lowest == 0 || *lowest >= *highest)
    return fail("{} does not say between which frequencies the core runs", cpufreq);
  if (const auto done = loan_->change(path, words_[0]); !done) return tl::unexpected(done.error());
  auto file = open_for_writing(path);
  if (!file) return tl::unexpected(file.error());
  file_ = *std::move(file);
  return Frequencies{.driver = fmt::format("{}, {}", read_line(cpufreq + "/scaling_driver").value_or(""), "epp"),
                     .khz = {*highest, *lowest}};
}

bool Epp::set(unsigned /*before*/, unsigned p_state) {
  return write_line(file_, words_[p_state]);
}

std::size_t Epp::give_back() {
  file_.close();
  const std::size_t left = loan_ ? loan_->give_back().size() : 0;
  loan_.reset();
  return left;
}

}  // namespace splitplane::governor
