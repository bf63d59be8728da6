// The metrics endpoint: HTTP on a separate thread (libmicrohttpd). The thread reads counters beside the workers; it
// asks the workers' threads for those of bearers. The number of clients, their memory, their age and their unread
// answers are bounded. Many or slow clients cannot keep others out: the oldest one makes room for a new one.
#pragma once

#include <atomic>
#include <chrono>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <thread>

#include "base/expected.h"
#include "observe/metrics.h"
#include "runtime/config/config.h"

struct MHD_Connection;
struct MHD_Daemon;

namespace splitplane::app {

struct MetricsServerLimits {
  unsigned clients = 256;
  unsigned clients_of_address = 32;
  unsigned client_bytes = 16 * 1024;  // for a request and its headers
  unsigned silence_s = 10;            // a client that neither reads nor writes for this time is dropped
  unsigned age_s = 20;                // a client whose request and answer take longer is dropped
  std::size_t unread_bytes = std::size_t{32} * 1024 * 1024;  // answers that clients have not read yet, all together
};

// Why the endpoint cannot listen there now, with what is allowed; nothing if it can.
[[nodiscard]] std::optional<std::string> refuse_listen(const MetricsConfig& config);

class MetricsServer {
 public:
  // The server's thread calls `look` until the destructor returns.
  [[nodiscard]] static Expected<std::unique_ptr<MetricsServer>> start(const MetricsConfig& config,
                                                                      std::function<Scrape()> look,
                                                                      MetricsServerLimits limits = {});
  ~MetricsServer();
  MetricsServer(const MetricsServer&) = delete;
  MetricsServer& operator=(const MetricsServer&) = delete;

  // libmicrohttpd calls it for a request: queues an answer on the connection.
  [[nodiscard]] bool answer(void* connection, std::string_view method, std::string_view url);
  // libmicrohttpd calls these when a connection begins and when it ends.
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
  using Clients = std::map<MHD_Connection*, Client>;  // only the server's thread uses it
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

// The endpoint that a configuration names, after a log line with its address; nullptr if it names none.
[[nodiscard]] Expected<std::unique_ptr<MetricsServer>> serve_metrics(const std::optional<MetricsConfig>& config,
                                                                     std::function<Scrape()> look);

}  // namespace splitplane::app
