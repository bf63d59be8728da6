#include "control/client.h"

#include <sys/socket.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "control/shallow_json.h"

namespace splitplane::app {
namespace {

constexpr std::size_t kMaxReplyBytes = std::size_t{16} << 20;

Error broken(int error) {
  if (error == EAGAIN) return {"no answer on the control socket in time"};
  return {fmt::format("connection on the control socket broke: {}",
                      error == 0 ? "closed by the other end" : std::strerror(error))};
}

}  // namespace

Expected<ControlClient> ControlClient::connect(const std::string& path, std::chrono::milliseconds timeout) {
  auto fd = connect_to(path, timeout);
  if (!fd) return tl::unexpected(fd.error());
  return ControlClient(*std::move(fd));
}

Expected<std::string> ControlClient::read_line() {
  for (;;) {
    if (const std::size_t end = in_.find('\n'); end != std::string::npos) {
      std::string line = in_.substr(0, end);
      in_.erase(0, end + 1);
      return line;
    }
    if (in_.size() > kMaxReplyBytes)
      return fail("the answer on the control socket is longer than {} octets", kMaxReplyBytes);
    char chunk[64 * 1024];
    const ssize_t n = ::recv(fd_.get(), chunk, sizeof chunk, 0);
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) return tl::unexpected(broken(n == 0 ? 0 : errno));
    in_.append(chunk, static_cast<std::size_t>(n));
  }
}

Expected<Json> ControlClient::call(const std::string& method, const Json& params) {
  const std::uint64_t id = next_id_++;
  refused_ = false;
  const std::string line =
      Json{{"id", id}, {"method", method}, {"params", params}}.dump(-1, ' ', false, Json::error_handler_t::replace) +
      "\n";
  for (std::size_t sent = 0; sent < line.size();) {
    const ssize_t n = ::send(fd_.get(), line.data() + sent, line.size() - sent, MSG_NOSIGNAL);
    if (n < 0 && errno == EINTR) continue;
    if (n < 0 && errno == EPIPE) break;  // a server that refuses us has said why before it closed
    if (n < 0) return tl::unexpected(broken(errno));
    sent += static_cast<std::size_t>(n);
  }
  const auto reply_line = read_line();
  if (!reply_line) return tl::unexpected(reply_line.error());
  Json reply = parse_shallow_json(*reply_line);
  if (!reply.is_object()) return fail("the other end of the control socket does not speak this protocol");
  if (const auto error = reply.find("error"); error != reply.end()) {
    refused_ = reply.value("failed", Json(false)) != Json(true);
    return fail("{}", error->is_string() ? error->get<std::string>() : error->dump());
  }
  if (!reply.contains("result") || !reply.contains("id") || reply["id"] != id) {
    return fail("the other end of the control socket answered something else");
  }
  return std::move(reply["result"]);
}

Expected<std::uint32_t> ControlClient::for_each_bearer(std::uint32_t after, std::size_t limit,
                                                       const std::function<void(const Json&)>& visit) {
  constexpr std::size_t kPage = 500;
  while (limit > 0) {
    const auto page = call("bearer.list", {{"after", after}, {"limit", std::min(limit, kPage)}});
    if (!page) return tl::unexpected(page.error());
    const auto bearers = page->find("bearers");
    if (bearers == page->end() || !bearers->is_array()) return fail("the answer to bearer.list holds no bearers");
    for (const auto& bearer : *bearers) visit(bearer);
    const auto next = page->find("next");
    if (bearers->empty() || next == page->end() || !next->is_number_unsigned()) return 0;
    after = next->get<std::uint32_t>();
    limit -= std::min(limit, bearers->size());
  }
  return after;
}

}  // namespace splitplane::app
