#include "power/governor/backend.h"

#include "power/governor/cpufreq.h"
#include "power/governor/epp.h"
#include "power/governor/uclamp.h"

namespace splitplane::governor {
namespace {

// For a kind that this program or this core does not have.
class Absent : public Backend {
 public:
  explicit Absent(std::string why) : why_(std::move(why)) {}
  [[nodiscard]] Expected<Frequencies> begin() override { return fail("{}", why_); }
  [[nodiscard]] bool set(unsigned /*before*/, unsigned /*p_state*/) override { return false; }
  [[nodiscard]] std::size_t give_back() override { return 0; }

 private:
  std::string why_;
};

}  // namespace

std::unique_ptr<Backend> make_backend(const GovernorSettings& settings) {
  switch (settings.kind) {
    case Kind::none:
      return std::make_unique<Absent>("the configuration has no governor");
    case Kind::rte_power:
      if (settings.rte_power) return settings.rte_power(settings);
      return std::make_unique<Absent>("this program is without rte_power");
    case Kind::epp:
      return std::make_unique<Epp>(settings);
    case Kind::uclamp:
      return std::make_unique<Uclamp>(settings);
    case Kind::cpufreq:
      break;
  }
  return std::make_unique<Cpufreq>(settings);
}

}  // namespace splitplane::governor
