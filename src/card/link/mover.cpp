#include "card/link/mover.h"

namespace splitplane::app {
namespace {

Json ids_of(std::span<const BearerId> ids) {
  Json list = Json::array();
  for (const BearerId id : ids) list.push_back(id.value);
  return list;
}

}  // namespace

Expected<Json> CardMover::call(const std::string& method, const Json& params) {
  if (!client_) {
    auto client = ControlClient::connect(control_, patience_);
    if (!client) return tl::unexpected(client.error());
    client_.emplace(*std::move(client));
  }
  client_->wait_no_longer_than(patience_);
  auto answer = client_->call(method, params);
  if (!answer) client_.reset();  // a late answer must not be taken for that of the next request
  return answer;
}

Expected<void> CardMover::install(std::span<const nic::CardBearer> bearers) {
  Json list = Json::array();
  for (const nic::CardBearer& bearer : bearers) list.push_back(to_json(bearer, bearers.front()));
  return call("card.install", {{"common", common_to_json(bearers.front())}, {"bearers", list}}).map([](const Json&) {});
}

Expected<void> CardMover::begin(std::span<const nic::CardBeginning> bearers) {
  Json list = Json::array();
  for (const nic::CardBeginning& one : bearers) list.push_back(to_json(one));
  return call("card.begin", {{"bearers", list}}).map([](const Json&) {});
}

Expected<void> CardMover::set_leases(std::span<const nic::CardLease> leases) {
  Json list = Json::array();
  for (const auto& [id, end] : leases) list.push_back({id.value, end});
  return call("card.lease", {{"leases", list}}).map([](const Json&) {});
}

Expected<std::vector<CardNumbersRow>> CardMover::numbers(std::span<const BearerId> ids) {
  return call("card.numbers", {{"ids", ids_of(ids)}}).and_then(numbers_from_json);
}

Expected<CardMover::Fenced> CardMover::fence(std::span<const BearerId> ids, std::uint64_t token) {
  const auto answer = call("card.fence", {{"ids", ids_of(ids)}, {"token", token}});
  if (!answer) return tl::unexpected(answer.error());
  const bool whole = answer->is_object() && answer->contains("numbers") && (*answer)["n3"].is_number_unsigned() &&
                     (*answer)["copies"].is_number_unsigned();
  if (!whole) return fail("the card's answer to card.fence is none");
  auto rows = numbers_from_json((*answer)["numbers"]);
  if (!rows) return tl::unexpected(rows.error());
  if (rows->size() != ids.size()) return fail("the card's answer to card.fence lacks bearers");
  return Fenced{(*answer)["n3"].get<unsigned>(), (*answer)["copies"].get<unsigned>(), *std::move(rows)};
}

}  // namespace splitplane::app
