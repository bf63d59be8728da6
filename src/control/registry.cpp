#include "control/registry.h"

#include <unistd.h>

#include <algorithm>
#include <exception>
#include <utility>

#include "base/text.h"
#include "base/version.h"
#include "control/reply.h"
#include "control/shallow_json.h"

namespace splitplane::app {
namespace {

// A sentence about this program, not about the request: its client need not look for a mistake in the request.
bool is_failure(const std::string& sentence) {
  return sentence.find("does not answer") != std::string::npos;
}

}  // namespace

MethodRegistry::MethodRegistry(std::function<void()> stop) {
  const auto ping = []() -> Expected<Json> { return Json{{"process", ::getpid()}, {"version", kVersion}}; };
  const auto stopping = [stop = std::move(stop)]() -> Expected<Json> {
    stop();
    return Json{{"stopping", true}};
  };
  methods_.push_back({"ping", without_params(ping)});
  methods_.push_back({"stop", without_params(stopping)});
}

void MethodRegistry::add(std::string name, Handler handler) {
  if (std::ranges::find(methods_, name, &Method::name) != methods_.end())
    names_ = fail("control method {} is registered twice, which is a mistake of this program", name);
  methods_.insert(methods_.end() - 1, {std::move(name), std::move(handler)});
}

std::vector<std::string_view> MethodRegistry::names() const {
  std::vector<std::string_view> names;
  for (const Method& method : methods_) names.push_back(method.name);
  return names;
}

void MethodRegistry::serve_elsewhere(std::string family, std::string where) {
  elsewhere_.insert_or_assign(std::move(family), std::move(where));
}

std::string MethodRegistry::unknown(const std::string& method) const {
  const auto known = names();
  const auto near = closest(method, known);
  const auto other = elsewhere_.find(std::string_view(method).substr(0, method.find('.')));
  if (!near && other != elsewhere_.end())
    return fmt::format("this program does not serve '{}'; allowed: {}", printable(method), other->second);
  return fmt::format("method '{}' is unknown{}; allowed: {}", printable(method),
                     near ? fmt::format(", did you mean '{}'?", *near) : "", comma_list(known));
}

Expected<Json> MethodRegistry::call(const Json& request) const {
  Params members(request);
  const auto method = members.text("method");
  members.require("method");
  const auto id = request.find("id");
  if (id != request.end() && !id->is_number_integer() && !id->is_string() && !id->is_null()) {
    return fail("id: allowed is an integer or a text");
  }
  for (const auto& [key, value] : request.items()) {
    if (key != "id" && key != "method" && key != "params")
      return fail("{}: unknown; allowed: id, method, params", printable(key));
  }
  if (!method) return fail("{}", members.fault().value_or("method: is missing"));
  const auto at = std::ranges::find(methods_, *method, &Method::name);
  if (at == methods_.end()) return fail("{}", unknown(*method));
  static const Json kNone;
  Params params(request.contains("params") ? request["params"] : kNone);
  return at->run(params);
}

std::string MethodRegistry::answer(std::string_view line) const {
  const Json request = parse_shallow_json(line);
  if (!request.is_object())
    return error_reply("no request; allowed is one JSON object a line, such as {\"id\":1,\"method\":\"ping\"}");
  Expected<Json> result = Json{};
  bool thrown = false;
  try {
    result = call(request);
  } catch (const std::exception& error) {  // a handler out of memory must not end the packet path
    result = fail("failed: {}", error.what());
    thrown = true;
  }
  const auto id = request.find("id");
  Json reply{{"id", id != request.end() && (id->is_number_integer() || id->is_string()) ? *id : Json(nullptr)}};
  if (result) {
    reply["result"] = *std::move(result);
  } else {
    reply["error"] = result.error().message;
    if (thrown || is_failure(result.error().message)) reply["failed"] = true;
  }
  return text_of(reply);
}

MethodRegistry::Handler without_params(std::function<Expected<Json>()> get) {
  return [get = std::move(get)](Params& params) -> Expected<Json> {
    if (const auto fault = params.fault()) return fail("{}", *fault);
    return get();
  };
}

Expected<std::function<std::string(std::string_view)>> answers_of(MethodRegistry methods) {
  if (!methods.names_) return tl::unexpected(methods.names_.error());
  return [methods = std::move(methods)](std::string_view line) { return methods.answer(line); };
}

}  // namespace splitplane::app
