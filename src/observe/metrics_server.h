// The metrics endpoint: HTTP on a thread of its own (libmicrohttpd), which reads counters beside the workers (those of
// bearers, when asked for, on their threads). Clients, their memory, their age and what they may leave unread are
// bounded. Clients that are many or slow shut nobody out: the oldest one makes room for a new one.
#pragma once

#include <atomic>
#include <chrono>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <thread>

#include "base/expected.h"
#include "config/config.h"
#include "observe/metrics.h"

struct MHD_Connection;
struct MHD_Daemon;

namespace splitplane::app {

struct MetricsServerLimits {
  unsigned clients = 256;
  unsigned clients_of_address = 32;
  unsigned client_bytes = 16 * 1024;  // for a request and its headers
  unsigned silence_s = 10;            // a client that neither reads nor writes for so long is dropped
  unsigned age_s = 20;                // so is one whose request, with its answer, takes longer
  std::size_t unread_bytes = std::size_t{32} * 1024 * 1024;  // of answers that clients have not read yet, all together
};

// Why nothing can listen there now, with what is allowed; nothing if it can.
[[nodiscard]] std::optional<std::string> refuse_listen(const MetricsConfig& config);

class MetricsServer {
 public:
  // `look` is called on the server's thread until the destructor returns.
  [[nodiscard]] static Expected<std::unique_ptr<MetricsServer>> start(const MetricsConfig& config,
                                                                      std::function<Scrape()> look,
                                                                      MetricsServerLimits limits = {});
  ~MetricsServer();
  MetricsServer(const MetricsServer&) = delete;
  MetricsServer& operator=(const MetricsServer&) = delete;

  // What libmicrohttpd calls for a request: queues an answer on the connection.
  [[nodiscard]] bool answer(void* connection, std::string_view method, std::string_view url);
  // As above, when a connection begins and when it ends.
  void connected(MHD_Connection* connection);
  void disconnected(MHD_Connection* connection) { clients_.erase(connection); }

 private:
  MetricsServer(std::function<Scrape()> look, MetricsServerLimits limits) : look_(std::move(look)), limits_(limits) {}
  struct Client {
    int fd = -1;
    std::string address;
    std::chrono::steady_clock::time_point since;
    bool ending = false;
  };
  using Clients = std::map<MHD_Connection*, Client>;  // touched by the server's thread alone
  void run();
  static void drop(Client& client);
  void drop_oldest(const std::string* of_address);

  std::function<Scrape()> look_;
  MetricsServerLimits limits_;
  std::atomic<std::size_t> unread_{0};
  Clients clients_;
  MHD_Daemon* daemon_ = nullptr;
  std::atomic<bool> end_{false};
  std::thread thread_;
};

// The endpoint that a configuration asks for, and the line that says where it is; null if it asks for none.
[[nodiscard]] Expected<std::unique_ptr<MetricsServer>> serve_metrics(const std::optional<MetricsConfig>& config,
                                                                     std::function<Scrape()> look);

}  // namespace splitplane::app
