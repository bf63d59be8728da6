#include "power/sensor/run_command.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <cstring>

#include "base/text.h"
#include "power/governor/sysfs.h"

namespace splitplane::sensor {
namespace {

using Clock = std::chrono::steady_clock;
constexpr std::size_t kMostOutput = std::size_t{64} * 1024;

struct Pipe {
  governor::Descriptor out, in;
};

Expected<Pipe> make_pipe() {
  std::array<int, 2> ends{};
  if (::pipe2(ends.data(), O_CLOEXEC) != 0) return fail("no pipe: {}", std::strerror(errno));
  return Pipe{.out = governor::Descriptor(ends[0]), .in = governor::Descriptor(ends[1])};
}

// In a process group of its own, so that its children can be killed with it.
Expected<pid_t> start(const std::vector<std::string>& words, int output) {
  std::vector<char*> arguments;
  for (const std::string& word : words) arguments.push_back(const_cast<char*>(word.c_str()));
  arguments.push_back(nullptr);
  posix_spawn_file_actions_t files{};
  posix_spawnattr_t attributes{};
  ::posix_spawn_file_actions_init(&files);
  ::posix_spawn_file_actions_addopen(&files, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
  ::posix_spawn_file_actions_adddup2(&files, output, STDOUT_FILENO);
  ::posix_spawn_file_actions_adddup2(&files, output, STDERR_FILENO);
  ::posix_spawnattr_init(&attributes);
  sigset_t none;
  ::sigemptyset(&none);
  ::posix_spawnattr_setsigmask(&attributes, &none);
  ::posix_spawnattr_setpgroup(&attributes, 0);
  ::posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETPGROUP | POSIX_SPAWN_SETSIGMASK);
  pid_t child = -1;
  const int error = ::posix_spawnp(&child, words[0].c_str(), &files, &attributes, arguments.data(), environ);
  ::posix_spawn_file_actions_destroy(&files);
  ::posix_spawnattr_destroy(&attributes);
  if (error != 0) return fail("{} cannot be started: {}", words[0], std::strerror(error));
  return child;
}

// Reads until all writers have closed. False: the time is over.
bool read_until(int descriptor, Clock::time_point end, std::string& text) {
  std::array<char, 4096> part{};
  for (;;) {
    const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(end - Clock::now()).count();
    if (left <= 0) return false;
    pollfd waiting{.fd = descriptor, .events = POLLIN, .revents = 0};
    if (::poll(&waiting, 1, static_cast<int>(left)) < 0 && errno != EINTR) return true;
    if (waiting.revents == 0) continue;
    const ssize_t n = ::read(descriptor, part.data(), part.size());
    if (n <= 0) return true;
    text.append(part.data(), std::min(static_cast<std::size_t>(n), kMostOutput - std::min(kMostOutput, text.size())));
  }
}

// A program may close its output and live on.
bool ended_by(pid_t child, Clock::time_point end, int& status) {
  while (::waitpid(child, &status, WNOHANG) == 0) {
    if (Clock::now() >= end) return false;
    ::usleep(1000);
  }
  return true;
}

std::string last_line(std::string text) {
  while (!text.empty() && text.back() == '\n') text.pop_back();
  return app::printable(text.substr(text.rfind('\n') + 1), 120);
}

}  // namespace

Expected<std::string> run_command(const std::vector<std::string>& words, unsigned limit_ms) {
  auto pipe = make_pipe();
  if (!pipe) return tl::unexpected(pipe.error());
  const auto child = start(words, pipe->in.get());
  if (!child) return tl::unexpected(child.error());
  pipe->in.close();
  const auto end = Clock::now() + std::chrono::milliseconds(limit_ms);
  std::string text;
  int status = 0;
  if (!read_until(pipe->out.get(), end, text) || !ended_by(*child, end, status)) {
    ::kill(-*child, SIGKILL);
    ::waitpid(*child, &status, 0);
    return fail("{} gives no answer within {} ms", words[0], limit_ms);
  }
  if (WIFSIGNALED(status)) return fail("{} was ended by signal {}", words[0], WTERMSIG(status));
  if (WEXITSTATUS(status) != 0)
    return fail("{} ended with status {}: {}", words[0], WEXITSTATUS(status), last_line(std::move(text)));
  return text;
}

}  // namespace splitplane::sensor
