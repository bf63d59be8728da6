// The other end of the control socket: `splitplane ctl`, and `splitplane ue`, which learns the gNB's bearers here.
#pragma once

#include <chrono>
#include <functional>
#include <string>

#include "base/expected.h"
#include "control/params.h"
#include "control/socket.h"

namespace splitplane::app {

class ControlClient {
 public:
  // Error: one sentence, "nothing runs at ..." where no server listens.
  [[nodiscard]] static Expected<ControlClient> connect(const std::string& path,
                                                       std::chrono::milliseconds timeout = std::chrono::seconds(30));
  // From here on, instead of the time limit of connect().
  void wait_no_longer_than(std::chrono::milliseconds timeout) { limit(fd_, timeout); }
  // The result of one request, or the server's error.
  [[nodiscard]] Expected<Json> call(const std::string& method, const Json& params = Json::object());
  // The last call() ended with an answer that refuses what was asked for: neither the connection nor the instance
  // failed.
  [[nodiscard]] bool refused() const { return refused_; }
  // Calls `visit` with every bearer after identity `after`, page by page, at most `limit` of them. Returns the identity
  // to go on from, 0 if that was the last.
  [[nodiscard]] Expected<std::uint32_t> for_each_bearer(std::uint32_t after, std::size_t limit,
                                                        const std::function<void(const Json&)>& visit);

 private:
  explicit ControlClient(Fd fd) : fd_(std::move(fd)) {}
  [[nodiscard]] Expected<std::string> read_line();
  Fd fd_;
  bool refused_ = false;
  std::string in_;
  std::uint64_t next_id_ = 1;
};

}  // namespace splitplane::app
