// Meters outside of the kernel: the board's controller by IPMI, and a PDU or any other meter by a file or a command.
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "power/sensor/source.h"

namespace splitplane::sensor {

// A source with one value of the whole machine.
class External : public Source {
 public:
  // By `ipmitool dcmi power reading`; `tool`: the program instead. It knows whole watts, and not each second a new one.
  [[nodiscard]] static Expected<std::unique_ptr<Source>> open_ipmi(const std::string& tool = "ipmitool");
  // A file that another program writes: watts in its first line.
  [[nodiscard]] static Expected<std::unique_ptr<Source>> open_file(const std::string& path);
  // A command for the shell that prints watts, as one that asks a PDU by SNMP.
  [[nodiscard]] static Expected<std::unique_ptr<Source>> open_command(const std::string& command);

  using Read = std::function<Expected<double>()>;
  External(std::string name, std::string of, Read read)
      : name_(std::move(name)), of_(std::move(of)), read_(std::move(read)) {}
  [[nodiscard]] std::string name() const override { return name_; }
  [[nodiscard]] Expected<std::vector<Reading>> sample(std::uint64_t now_ns) override;

  static constexpr unsigned kLimitMs = 5000;  // a controller may take seconds

 private:
  std::string name_, of_;
  Read read_;
};

// Of the answer of `ipmitool dcmi power reading`. Error: it has no such line, or says that it does not measure.
[[nodiscard]] Expected<double> dcmi_watts(std::string_view answer);

}  // namespace splitplane::sensor
