// Counters of energy in files: RAPL by powercap, and the sockets and cores of AMD by hwmon's amd_energy.
#pragma once

#include <string>
#include <vector>

#include "power/sensor/energy_counter.h"
#include "power/sensor/source.h"

namespace splitplane::sensor {

class EnergyFiles : public Source {
 public:
  struct Zone {
    std::string scope, name, file;
    EnergyCounter counter;
  };

  // RAPL: each package, and in it the cores, the uncore and the memory as far as the processor counts them. On most
  // machines only root may read them. They are without NICs, fans and power supply. Zones of intel-rapl-mmio are left
  // out, as they count the same packages again.
  [[nodiscard]] static Expected<std::unique_ptr<Source>> open_rapl(const std::string& root);
  // AMD: each socket and each core.
  [[nodiscard]] static Expected<std::unique_ptr<Source>> open_amd(const std::string& root);

  EnergyFiles(std::string name, std::vector<Zone> zones) : name_(std::move(name)), zones_(std::move(zones)) {}
  [[nodiscard]] std::string name() const override { return name_; }
  [[nodiscard]] Expected<std::vector<Reading>> sample(std::uint64_t now_ns) override;

 private:
  std::string name_;
  std::vector<Zone> zones_;
};

}  // namespace splitplane::sensor
