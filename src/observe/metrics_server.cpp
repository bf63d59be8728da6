#include "observe/metrics_server.h"

#include <arpa/inet.h>
#include <microhttpd.h>
#include <netinet/in.h>
#include <pthread.h>
#include <signal.h>
#include <sys/socket.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <utility>

#include "base/log.h"
#include "control/socket.h"

namespace splitplane::app {
namespace {

// The address in the kernel's form.
struct SocketAddress {
  explicit SocketAddress(const MetricsConfig& config) {
    if (config.address.is_v6()) {
      auto* v6 = reinterpret_cast<sockaddr_in6*>(&storage);
      v6->sin6_family = AF_INET6;
      v6->sin6_port = htons(config.port);
      std::memcpy(&v6->sin6_addr, config.address.octets().data(), 16);
    } else {
      auto* v4 = reinterpret_cast<sockaddr_in*>(&storage);
      v4->sin_family = AF_INET;
      v4->sin_port = htons(config.port);
      std::memcpy(&v4->sin_addr, config.address.octets().data(), 4);
    }
  }
  sockaddr_storage storage{};
};

// An answer that is being sent: it counts until the client has read it or has closed.
struct Answer {
  std::string text;
  std::atomic<std::size_t>& unread;
  Answer(std::string t, std::atomic<std::size_t>& u) : text(std::move(t)), unread(u) { unread += text.size(); }
  ~Answer() { unread -= text.size(); }
  Answer(const Answer&) = delete;
  Answer& operator=(const Answer&) = delete;
};

bool queue(MHD_Connection* connection, unsigned status, std::string_view type, std::unique_ptr<Answer> answer) {
  Answer* raw = answer.get();
  MHD_Response* response = MHD_create_response_from_buffer_with_free_callback_cls(
      raw->text.size(), raw->text.data(), [](void* a) { delete static_cast<Answer*>(a); }, raw);
  if (response == nullptr) return false;
  (void)answer.release();  // the response owns it now
  MHD_add_response_header(response, MHD_HTTP_HEADER_CONTENT_TYPE, std::string(type).c_str());
  if (status == MHD_HTTP_METHOD_NOT_ALLOWED) MHD_add_response_header(response, MHD_HTTP_HEADER_ALLOW, "GET, HEAD");
  const bool queued = MHD_queue_response(connection, status, response) == MHD_YES;
  MHD_destroy_response(response);
  return queued;
}

MHD_Result on_request(void* server, MHD_Connection* connection, const char* url, const char* method, const char*,
                      const char*, std::size_t* upload_size, void**) {
  *upload_size = 0;
  const bool good = static_cast<MetricsServer*>(server)->answer(connection, method, url);
  return good ? MHD_YES : MHD_NO;
}

void on_connection(void* server, MHD_Connection* connection, void**, MHD_ConnectionNotificationCode code) {
  if (code == MHD_CONNECTION_NOTIFY_STARTED) {
    static_cast<MetricsServer*>(server)->connected(connection);
  } else {
    static_cast<MetricsServer*>(server)->disconnected(connection);
  }
}

// The address without the port: it is the same for all connections of one machine.
std::string address_of(MHD_Connection* connection) {
  const auto* info = MHD_get_connection_info(connection, MHD_CONNECTION_INFO_CLIENT_ADDRESS);
  if (info == nullptr || info->client_addr == nullptr) return {};
  if (info->client_addr->sa_family == AF_INET6) {
    const auto* v6 = reinterpret_cast<const sockaddr_in6*>(info->client_addr);
    return {reinterpret_cast<const char*>(&v6->sin6_addr), sizeof v6->sin6_addr};
  }
  const auto* v4 = reinterpret_cast<const sockaddr_in*>(info->client_addr);
  return {reinterpret_cast<const char*>(&v4->sin_addr), sizeof v4->sin_addr};
}

}  // namespace

std::optional<std::string> refuse_listen(const MetricsConfig& config) {
  const SocketAddress address(config);
  const Fd fd(::socket(config.address.is_v6() ? AF_INET6 : AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  const int on = 1;
  (void)::setsockopt(fd.get(), SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
  const socklen_t length = config.address.is_v6() ? sizeof(sockaddr_in6) : sizeof(sockaddr_in);
  if (::bind(fd.get(), reinterpret_cast<const sockaddr*>(&address.storage), length) == 0 && ::listen(fd.get(), 1) == 0)
    return std::nullopt;
  return fmt::format("{}: {}; allowed: an address of this machine and a free TCP port", to_string(config),
                     std::strerror(errno));
}

Expected<std::unique_ptr<MetricsServer>> MetricsServer::start(const MetricsConfig& config, std::function<Scrape()> look,
                                                              MetricsServerLimits limits) {
  std::unique_ptr<MetricsServer> server(new MetricsServer(std::move(look), limits));
  const SocketAddress address(config);
  unsigned flags = MHD_USE_EPOLL;  // a thread of ours polls it, which also checks the clients' age
  if (config.address.is_v6()) flags |= MHD_USE_IPv6;
  // The thread that stops the program handles the signals. The new thread inherits this mask.
  sigset_t all, before;
  ::sigfillset(&all);
  ::pthread_sigmask(SIG_SETMASK, &all, &before);
  server->daemon_ = MHD_start_daemon(
      flags, config.port, nullptr, nullptr, &on_request, server.get(), MHD_OPTION_SOCK_ADDR, &address.storage,
      MHD_OPTION_LISTENING_ADDRESS_REUSE, 1U, MHD_OPTION_CONNECTION_LIMIT, limits.clients,
      MHD_OPTION_CONNECTION_MEMORY_LIMIT, static_cast<std::size_t>(limits.client_bytes), MHD_OPTION_CONNECTION_TIMEOUT,
      limits.silence_s, MHD_OPTION_NOTIFY_CONNECTION, &on_connection, server.get(), MHD_OPTION_END);
  const int why = errno;
  if (server->daemon_ != nullptr) server->thread_ = std::thread([s = server.get()] { s->run(); });
  ::pthread_sigmask(SIG_SETMASK, &before, nullptr);
  if (server->daemon_ == nullptr) {
    return fail("metrics: cannot listen on {}: {}", to_string(config), std::strerror(why));
  }
  return server;
}

MetricsServer::~MetricsServer() {
  end_ = true;
  if (thread_.joinable()) thread_.join();
  if (daemon_ != nullptr) MHD_stop_daemon(daemon_);
}

void MetricsServer::run() {
  ::pthread_setname_np(::pthread_self(), "metrics");
  constexpr int kLookMs = 100;
  while (!end_) {
    if (MHD_run_wait(daemon_, kLookMs) != MHD_YES) std::this_thread::sleep_for(std::chrono::milliseconds(kLookMs));
    const auto too_old = std::chrono::steady_clock::now() - std::chrono::seconds(limits_.age_s);
    for (auto& [connection, client] : clients_) {
      if (client.since < too_old) drop(client);
    }
  }
}

// The library sees the end of the connection at its next turn and closes it.
void MetricsServer::drop(Client& client) {
  if (!std::exchange(client.ending, true)) ::shutdown(client.fd, SHUT_RDWR);
}

void MetricsServer::drop_oldest(const std::string* of_address) {
  Client* oldest = nullptr;
  for (auto& [connection, client] : clients_) {
    if (client.ending || (of_address != nullptr && client.address != *of_address)) continue;
    if (oldest == nullptr || client.since < oldest->since) oldest = &client;
  }
  if (oldest != nullptr) drop(*oldest);
}

void MetricsServer::connected(MHD_Connection* connection) {
  const auto* info = MHD_get_connection_info(connection, MHD_CONNECTION_INFO_CONNECTION_FD);
  if (info == nullptr) return;
  Client& client = clients_[connection] = {info->connect_fd, address_of(connection), std::chrono::steady_clock::now()};
  const auto live = [&](const std::string* address) {
    return std::count_if(clients_.begin(), clients_.end(), [&](const auto& row) {
      return !row.second.ending && (address == nullptr || row.second.address == *address);
    });
  };
  // One place stays free, so that a new client is always accepted.
  if (live(&client.address) > static_cast<std::ptrdiff_t>(limits_.clients_of_address)) drop_oldest(&client.address);
  if (live(nullptr) >= static_cast<std::ptrdiff_t>(limits_.clients)) drop_oldest(nullptr);
}

bool MetricsServer::answer(void* handle, std::string_view method, std::string_view url) {
  auto* connection = static_cast<MHD_Connection*>(handle);
  const auto plain = [&](unsigned status, const char* text) {
    return queue(connection, status, "text/plain; charset=utf-8", std::make_unique<Answer>(text, unread_));
  };
  if (method != MHD_HTTP_METHOD_GET && method != MHD_HTTP_METHOD_HEAD)
    return plain(MHD_HTTP_METHOD_NOT_ALLOWED, "allowed: GET, HEAD\n");
  if (url != "/metrics") return plain(MHD_HTTP_NOT_FOUND, "the metrics are at /metrics\n");
  if (unread_ >= limits_.unread_bytes) return plain(MHD_HTTP_SERVICE_UNAVAILABLE, "too many answers are unread\n");
  const char* accept = MHD_lookup_connection_value(connection, MHD_HEADER_KIND, MHD_HTTP_HEADER_ACCEPT);
  const bool open = accept != nullptr && std::strstr(accept, "application/openmetrics-text") != nullptr;
  const MetricFormat format = open ? MetricFormat::kOpenMetrics : MetricFormat::kText;
  try {
    return queue(connection, MHD_HTTP_OK, content_type(format),
                 std::make_unique<Answer>(render_metrics(look_(), format), unread_));
  } catch (const std::exception&) {  // out of memory: this client gets no answer, the user plane goes on
    return false;
  }
}

Expected<std::unique_ptr<MetricsServer>> serve_metrics(const std::optional<MetricsConfig>& config,
                                                       std::function<Scrape()> look) {
  if (!config) return nullptr;
  auto server = MetricsServer::start(*config, std::move(look));
  if (server) log::info("metrics at http://{}/metrics", to_string(*config));
  return server;
}

}  // namespace splitplane::app
