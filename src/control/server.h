// The control socket of a running user plane: JSON lines on a unix socket that only its owner may open. One thread
// beside the workers serves it. Clients take turns, one request each, and the memory that a client takes is bounded.
#pragma once

#include <poll.h>

#include <chrono>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "base/expected.h"
#include "control/socket.h"

namespace splitplane::app {

struct ControlServerOptions {
  std::string path;
  std::size_t max_clients = 128;
  std::size_t max_line_bytes = 64 * 1024;
  std::size_t max_reply_bytes = 4 * 1024 * 1024;    // a longer reply becomes an error
  std::size_t max_unread_bytes = 32 * 1024 * 1024;  // of replies that clients have not read yet, all together
  std::chrono::milliseconds write_timeout{5000};    // a client that reads nothing for so long is dropped
  std::chrono::milliseconds idle_grace{1000};       // among max_clients the one idle longest gives way, but not before
};

class ControlServer {
 public:
  // The reply to a line, both without their newline.
  using Answer = std::function<std::string(std::string_view)>;
  // Listens and starts the thread. `answer` is called on that thread until the destructor returns. Its error is that of
  // this function.
  [[nodiscard]] static Expected<std::unique_ptr<ControlServer>> start(ControlServerOptions options,
                                                                      Expected<Answer> answer);
  ControlServer(const ControlServer&) = delete;
  ControlServer& operator=(const ControlServer&) = delete;
  ~ControlServer();  // ends the thread, closes the clients, removes the socket

 private:
  struct Client {
    Fd fd;
    std::string in, out;  // what is not answered yet, what is not sent yet
    bool input_ended = false;
    bool waiting = false;                               // `in` holds a line for the next turn
    bool closing = false;                               // close once `out` is sent
    std::chrono::steady_clock::time_point stuck_since;  // when `out` last made progress
    std::chrono::steady_clock::time_point heard;        // when it connected, or asked for something last
  };

  ControlServer(ControlServerOptions options, Answer answer, Fd listener, Fd wake);
  void serve();
  void accept_clients();
  void serve_clients(const std::vector<pollfd>& polled);
  [[nodiscard]] bool make_room();
  [[nodiscard]] std::size_t unread_bytes() const;
  // False if the client is to be dropped.
  [[nodiscard]] bool handle(Client& client, short events);
  [[nodiscard]] bool receive(Client& client) const;
  [[nodiscard]] bool send(Client& client) const;
  [[nodiscard]] bool answer_one(Client& client);
  [[nodiscard]] std::string reply_to(std::string_view line) const;

  ControlServerOptions options_;
  Answer answer_;
  Fd listener_, wake_;
  std::vector<Client> clients_;
  std::thread thread_;
};

}  // namespace splitplane::app
