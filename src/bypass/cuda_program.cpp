#include "bypass/cuda_program.h"

#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <thread>

#include "bypass/live_lines.h"

namespace splitplane::bypass {
namespace {

constexpr std::chrono::milliseconds kEndWithin{5000};

}  // namespace

std::filesystem::path cuda_program_path() {
  if (const char* named = std::getenv("SPLITPLANE_CUDA_PROGRAM"); named != nullptr) return named;
  std::error_code error;
  const auto self = std::filesystem::read_symlink("/proc/self/exe", error);
  return self.parent_path().parent_path() / "gpu" / "bin" / "host_bypass";
}

Expected<std::unique_ptr<CudaProgram>> CudaProgram::start(const std::filesystem::path& program,
                                                          std::chrono::milliseconds beyond) {
  std::unique_ptr<CudaProgram> made(new CudaProgram(program, beyond));
  if (auto spawned = made->spawn(); !spawned) return tl::unexpected(spawned.error());
  return made;
}

CudaProgram::~CudaProgram() {
  end(kEndWithin);
}

Expected<void> CudaProgram::spawn() {
  const std::string path = program_.string();
  if (std::error_code error; !std::filesystem::exists(program_, error)) {
    return fail("no GPU: the CUDA programs are not built (make gpu)");
  }
  int ends[2];
  if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0) return fail("no GPU: no socket to {}", path);
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_adddup2(&actions, ends[1], STDIN_FILENO);
  posix_spawn_file_actions_adddup2(&actions, ends[1], STDOUT_FILENO);
  std::string name = path, serve = "--serve";
  char* arguments[] = {name.data(), serve.data(), nullptr};
  const int failed = ::posix_spawn(&child_, path.c_str(), &actions, nullptr, arguments, ::environ);
  posix_spawn_file_actions_destroy(&actions);
  ::close(ends[1]);
  socket_ = ends[0];
  if (failed != 0) {
    child_ = -1;
    return fail("no GPU: {} cannot be run: {}", path, std::strerror(failed));
  }
  rest_.clear();
  const auto first = read_line(Clock::now() + beyond_);
  const Json hello = first ? Json::parse(*first, nullptr, false) : Json();
  if (hello.is_object() && !hello.contains("no_gpu")) {
    device_ = hello;
    return {};
  }
  end(std::chrono::milliseconds(0));
  if (!hello.is_object()) return fail("no GPU: {} said nothing", path);
  return fail("no GPU: {}", hello["no_gpu"].get<std::string>());
}

// The end of its input ends the program. If it does not end in time it is killed. A process that the kernel holds in a
// driver's call outlives even that, and is left to the kernel.
void CudaProgram::end(std::chrono::milliseconds within) {
  if (socket_ >= 0) ::close(socket_);
  socket_ = -1;
  if (child_ <= 0) return;
  const auto gone = [this](std::chrono::milliseconds time) {
    for (const auto until = Clock::now() + time;;) {
      if (::waitpid(child_, nullptr, WNOHANG) != 0) return true;
      if (Clock::now() >= until) return false;
      std::this_thread::sleep_for(std::chrono::milliseconds(5));
    }
  };
  if (!gone(within)) {
    ::kill(child_, SIGKILL);
    static_cast<void>(gone(kEndWithin));
  }
  child_ = -1;
}

Expected<std::string> CudaProgram::read_line(Clock::time_point deadline) {
  for (;;) {
    if (const auto at = rest_.find('\n'); at != std::string::npos) {
      std::string line = rest_.substr(0, at);
      rest_.erase(0, at + 1);
      return line;
    }
    const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(deadline - Clock::now());
    pollfd ready{.fd = socket_, .events = POLLIN, .revents = 0};
    const int polled = left.count() < 0 ? 0 : ::poll(&ready, 1, static_cast<int>(left.count()));
    if (polled < 0 && errno == EINTR) continue;
    if (polled == 0) return fail("the CUDA program did not answer in time and was ended");
    char buffer[65536];
    const ssize_t n = ::recv(socket_, buffer, sizeof buffer, 0);
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) return fail("the CUDA program ended");
    rest_.append(buffer, static_cast<std::size_t>(n));
  }
}

Expected<void> CudaProgram::send_line(const std::string& text) {
  const std::string line = text + "\n";
  for (std::size_t done = 0; done < line.size();) {
    const ssize_t n = ::send(socket_, line.data() + done, line.size() - done, MSG_NOSIGNAL);
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) return fail("the CUDA program ended");
    done += static_cast<std::size_t>(n);
  }
  return {};
}

Expected<Json> CudaProgram::ask(const Scenario& scenario, const Observer& observer, bool& ended) {
  ended = true;
  Json asked = to_json(scenario);
  if (observer) asked["live"] = true;
  if (auto sent = send_line(asked.dump()); !sent) return tl::unexpected(sent.error());
  const std::chrono::duration<double> time(scenario.warm_up_seconds + scenario.seconds);
  auto deadline = Clock::now() + std::chrono::duration_cast<Clock::duration>(time) + beyond_;
  bool stopping = false;
  for (;;) {
    const auto answer = read_line(deadline);
    if (!answer) return tl::unexpected(answer.error());
    Json row = Json::parse(*answer, nullptr, false);
    if (!row.is_object()) return fail("the CUDA program answered with no JSON");
    if (row.contains("live")) {
      if (stopping || !observer || observer(live_from(row["live"]))) continue;
      stopping = true;
      deadline = Clock::now() + beyond_;
      if (auto sent = send_line(LiveLines::kStop); !sent) return tl::unexpected(sent.error());
      continue;
    }
    ended = row.value("ends", false);
    if (row.contains("error")) return fail("{}", row["error"].get<std::string>());
    return row;
  }
}

Expected<Json> CudaProgram::run(const Scenario& scenario, const Observer& observer) {
  if (child_ <= 0) {
    if (auto spawned = spawn(); !spawned) return tl::unexpected(spawned.error());
  }
  bool ended = false;
  auto row = ask(scenario, observer, ended);
  if (ended) end(std::chrono::milliseconds(0));
  return row;
}

}  // namespace splitplane::bypass
