// The methods that a program serves on its control socket, by name. Each machine adds its methods; the registry knows
// none of them. One request line goes in, one reply line comes out; the registry knows nothing of sockets.
#pragma once

#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "base/expected.h"
#include "control/params.h"

namespace splitplane::app {

class MethodRegistry {
 public:
  // Reads its params and returns their fault, if there is one, before it changes anything.
  using Handler = std::function<Expected<Json>(Params&)>;

  // Every program serves `ping` and `stop`. The method stop calls `stop`.
  explicit MethodRegistry(std::function<void()> stop);

  // Before the first answer. A name that is added twice is a mistake of this program: answers_of() refuses to start.
  void add(std::string name, Handler handler);
  // Where a client finds the methods of a family (`air` of air.set) that this program does not serve: "with `...`".
  void serve_elsewhere(std::string family, std::string where);
  // As they are listed to a client: in the order of their registration, with ping first and stop last.
  [[nodiscard]] std::vector<std::string_view> names() const;

  // The reply to a line, without its newline: {"id":..., "result":...} or {"id":..., "error":"one sentence"}. Every
  // line gets a reply. `failed` stands beside an error that says nothing about the request, but about this program.
  [[nodiscard]] std::string answer(std::string_view line) const;

 private:
  struct Method {
    std::string name;
    Handler run;
  };
  [[nodiscard]] Expected<Json> call(const Json& request) const;
  [[nodiscard]] std::string unknown(const std::string& method) const;
  friend Expected<std::function<std::string(std::string_view)>> answers_of(MethodRegistry methods);

  std::vector<Method> methods_;
  Expected<void> names_;                                       // error: a name was added twice
  std::map<std::string, std::string, std::less<>> elsewhere_;  // by family
};

// Handlers of methods without params.
[[nodiscard]] MethodRegistry::Handler without_params(std::function<Expected<Json>()> get);

// What ControlServer asks for each line. It owns the registry; what the handlers refer to must outlive the server.
// Error: a method was added twice.
[[nodiscard]] Expected<std::function<std::string(std::string_view)>> answers_of(MethodRegistry methods);

}  // namespace splitplane::app
