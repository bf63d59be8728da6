#include "control/reply.h"

#include <nlohmann/json.hpp>

namespace splitplane::app {

std::string text_of(const nlohmann::json& reply) {
  return reply.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

std::string error_reply(const std::string& sentence) {
  return text_of({{"id", nullptr}, {"error", sentence}});
}

}  // namespace splitplane::app
