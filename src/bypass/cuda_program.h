// The CUDA program of `make gpu` as a child process, because this program is built without nvcc. Scenarios go to it as
// lines of JSON on its standard input, and results come back as lines on its standard output.
#pragma once

#include <sys/types.h>

#include <chrono>
#include <filesystem>
#include <memory>
#include <string>

#include "bypass/result_json.h"

namespace splitplane::bypass {

class CudaProgram {
 public:
  // `beyond` is how much longer than planned a run may take before the program is ended. The error is one sentence that
  // says why there is no GPU to run on (no program, no driver, no device).
  static Expected<std::unique_ptr<CudaProgram>> start(const std::filesystem::path& program,
                                                      std::chrono::milliseconds beyond = kBeyond);
  ~CudaProgram();
  CudaProgram(const CudaProgram&) = delete;
  CudaProgram& operator=(const CudaProgram&) = delete;

  // Name and properties of the device.
  [[nodiscard]] const Json& device() const { return device_; }
  // Starts the program again if the previous run ended it. `observer` is called a few times a second in the modes that
  // report progress (gpu-e2, gpu-e3, gpu-staging); returning false ends the run in order.
  [[nodiscard]] Expected<Json> run(const Scenario& scenario, const Observer& observer = {});

 private:
  using Clock = std::chrono::steady_clock;
  static constexpr std::chrono::milliseconds kBeyond{60'000};

  CudaProgram(std::filesystem::path program, std::chrono::milliseconds beyond)
      : program_(std::move(program)), beyond_(beyond) {}
  Expected<void> spawn();
  Expected<std::string> read_line(Clock::time_point deadline);
  Expected<Json> ask(const Scenario& scenario, const Observer& observer, bool& ended);
  Expected<void> send_line(const std::string& line);
  void end(std::chrono::milliseconds within);

  std::filesystem::path program_;
  std::chrono::milliseconds beyond_;
  pid_t child_ = -1;
  int socket_ = -1;
  std::string rest_;
  Json device_;
};

// build/gpu/bin/host_bypass beside the build of this program, or the path in SPLITPLANE_CUDA_PROGRAM.
[[nodiscard]] std::filesystem::path cuda_program_path();

}  // namespace splitplane::bypass
