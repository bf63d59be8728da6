#include "control/server.h"

#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <numeric>

#include "control/reply.h"

namespace splitplane::app {
namespace {

using Clock = std::chrono::steady_clock;

constexpr int kPollMs = 250;                    // how often a stuck client is looked at
constexpr std::size_t kSmallReply = 64 * 1024;  // given however much others leave unread
constexpr int kAcceptsPerTurn = 64;
constexpr std::size_t kKeptBytes = 64 * 1024;  // a buffer that was larger gives its memory back when it is empty

std::string too_long_reply(std::size_t bytes, std::size_t limit) {
  return error_reply(fmt::format("the result has {} octets; allowed are {}, ask for less", bytes, limit));
}

}  // namespace

Expected<std::unique_ptr<ControlServer>> ControlServer::start(ControlServerOptions options, Expected<Answer> answer) {
  if (!answer) return tl::unexpected(answer.error());
  auto listener = listen_at(options.path);
  if (!listener) return tl::unexpected(listener.error());
  Fd wake(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK));
  if (wake.get() < 0) {
    const int why = errno;
    ::unlink(options.path.c_str());
    return fail("control socket {}: no event descriptor: {}", options.path, std::strerror(why));
  }
  return std::unique_ptr<ControlServer>(
      new ControlServer(std::move(options), *std::move(answer), *std::move(listener), std::move(wake)));
}

ControlServer::ControlServer(ControlServerOptions options, Answer answer, Fd listener, Fd wake)
    : options_(std::move(options)), answer_(std::move(answer)), listener_(std::move(listener)), wake_(std::move(wake)) {
  thread_ = std::thread([this] { serve(); });
}

ControlServer::~ControlServer() {
  const std::uint64_t one = 1;
  while (::write(wake_.get(), &one, sizeof one) < 0 && errno == EINTR) {
  }
  thread_.join();
  ::unlink(options_.path.c_str());
}

void ControlServer::serve() {
  // Signals belong to the thread that stops the program.
  sigset_t all;
  ::sigfillset(&all);
  ::pthread_sigmask(SIG_BLOCK, &all, nullptr);
  ::pthread_setname_np(::pthread_self(), "control");
  std::vector<pollfd> polled;
  for (;;) {
    polled.assign({{wake_.get(), POLLIN, 0}, {listener_.get(), POLLIN, 0}});
    for (const auto& client : clients_) {
      // No new request of a client before it took the last reply: `out` never holds more than one.
      polled.push_back({client.fd.get(), static_cast<short>(client.out.empty() ? POLLIN : POLLOUT), 0});
    }
    const bool waiting = std::any_of(clients_.begin(), clients_.end(), [](const Client& c) { return c.waiting; });
    if (::poll(polled.data(), polled.size(), waiting ? 0 : kPollMs) < 0 && errno != EINTR) return;
    if (polled[0].revents != 0) return;
    serve_clients(polled);
    if (polled[1].revents != 0) accept_clients();
  }
}

// One turn: a request of each client that has none left over, and one of a single client that has: they take turns. So
// a newcomer waits for one of the requests that others sent ahead, however many those are.
void ControlServer::serve_clients(const std::vector<pollfd>& polled) {
  const auto first = std::find_if(clients_.begin(), clients_.end(), [](const Client& c) { return c.waiting; });
  const auto ahead = static_cast<std::size_t>(first - clients_.begin());
  for (std::size_t i = 0; i < clients_.size(); ++i) {
    if (i > ahead && clients_[i].waiting) continue;
    if (!handle(clients_[i], polled[i + 2].revents)) clients_[i].fd = Fd();
  }
  if (first != clients_.end()) std::rotate(first, first + 1, clients_.end());
  std::erase_if(clients_, [](const Client& client) { return client.fd.get() < 0; });
}

std::size_t ControlServer::unread_bytes() const {
  return std::accumulate(clients_.begin(), clients_.end(), std::size_t{0},
                         [](std::size_t sum, const Client& client) { return sum + client.out.size(); });
}

// Drops the client whose last request is the longest ago, so that idle connections shut no other client out.
bool ControlServer::make_room() {
  const auto idle = std::min_element(clients_.begin(), clients_.end(),
                                     [](const Client& a, const Client& b) { return a.heard < b.heard; });
  if (idle == clients_.end() || Clock::now() - idle->heard < options_.idle_grace) return false;
  clients_.erase(idle);
  return true;
}

void ControlServer::accept_clients() {
  for (int turn = 0; turn < kAcceptsPerTurn; ++turn) {
    Fd fd(::accept4(listener_.get(), nullptr, nullptr, SOCK_NONBLOCK | SOCK_CLOEXEC));
    if (fd.get() < 0) {
      // Out of descriptors: the connection stays in the queue, so do not spin on it.
      if (errno == EMFILE || errno == ENFILE) std::this_thread::sleep_for(std::chrono::milliseconds(50));
      return;
    }
    if (clients_.size() >= options_.max_clients && !make_room()) {
      const std::string reply =
          error_reply(fmt::format("too many clients; allowed are {}", options_.max_clients)) + "\n";
      (void)::send(fd.get(), reply.data(), reply.size(), MSG_NOSIGNAL | MSG_DONTWAIT);
      continue;
    }
    clients_.push_back({std::move(fd), {}, {}, false, false, false, Clock::now(), Clock::now()});
  }
}

bool ControlServer::handle(Client& client, short events) {
  if ((events & (POLLERR | POLLNVAL)) != 0) return false;
  if (!client.out.empty()) {
    if (!send(client)) return false;
  } else if (!client.waiting && (events & (POLLIN | POLLHUP)) != 0 && !receive(client)) {
    return false;
  }
  return answer_one(client);
}

bool ControlServer::receive(Client& client) const {
  char chunk[16 * 1024];
  const ssize_t n = ::recv(client.fd.get(), chunk, sizeof chunk, 0);
  if (n < 0) return errno == EAGAIN || errno == EINTR;
  if (n == 0) client.input_ended = true;
  client.in.append(chunk, static_cast<std::size_t>(n));
  return true;
}

bool ControlServer::send(Client& client) const {
  const ssize_t n = ::send(client.fd.get(), client.out.data(), client.out.size(), MSG_NOSIGNAL);
  if (n < 0 && errno != EAGAIN && errno != EINTR) return false;
  if (n > 0) {
    client.out.erase(0, static_cast<std::size_t>(n));
    if (client.out.empty() && client.out.capacity() > kKeptBytes) std::string().swap(client.out);
    client.stuck_since = Clock::now();
  }
  return client.out.empty() || Clock::now() - client.stuck_since < options_.write_timeout;
}

std::string ControlServer::reply_to(std::string_view line) const {
  std::string reply = answer_(line);
  if (reply.size() > options_.max_reply_bytes) reply = too_long_reply(reply.size(), options_.max_reply_bytes);
  if (reply.size() > kSmallReply && unread_bytes() + reply.size() > options_.max_unread_bytes)
    reply = error_reply("too many answers are unread by other clients; try again, or ask for less");
  return reply;
}

// Answers the first request of `in`, once the client has taken the last reply. Lines without a request are skipped.
bool ControlServer::answer_one(Client& client) {
  std::size_t done = 0;
  bool answered = false;
  while (client.out.empty() && !client.closing && !answered) {
    const std::size_t end = client.in.find('\n', done);
    const std::size_t length = std::min(end, client.in.size()) - done;
    const std::string_view line(client.in.data() + done, length);
    if (length > options_.max_line_bytes) {
      client.out = error_reply(fmt::format("line too long; allowed are {} octets", options_.max_line_bytes));
      client.closing = true;
    } else if (end == std::string::npos) {
      break;
    } else {
      done = end + 1;
      if (line.find_first_not_of(" \t\r") == std::string_view::npos) continue;
      client.heard = Clock::now();
      client.out = reply_to(line);
      answered = true;
    }
    client.out += '\n';
    client.stuck_since = Clock::now();
    if (!send(client)) return false;
  }
  client.in.erase(0, done);
  client.waiting = answered && client.out.empty() && !client.in.empty();
  if (client.in.empty() && client.in.capacity() > kKeptBytes) std::string().swap(client.in);
  return !client.out.empty() || client.waiting || !(client.closing || client.input_ended);
}

}  // namespace splitplane::app
