#include "card/protocol/methods.h"

#include <algorithm>
#include <array>
#include <utility>

#include "base/text.h"
#include "card/protocol/fields.h"
#include "card/protocol/request.h"
#include "control/field_params.h"

namespace splitplane::app {
namespace {

using Handler = MethodRegistry::Handler;

constexpr std::size_t kIdsPerRequest = 4096;

template <class T>
void read(Params& params, std::string_view key, T& into, std::uint64_t min, std::uint64_t max) {
  if (const auto v = params.integer(key, min, max)) into = static_cast<T>(*v);
}

void read(Params& params, std::string_view key, MacAddress& into) {
  if (const auto v = params.mac(key)) into = *v;
}

std::optional<IpAddress> address(Params& params, std::string_view key, bool v6) {
  const auto v = params.address(key);
  if (v && v->is_v6() != v6) params.refuse(key, fmt::format("allowed is an IPv{} address", v6 ? 6 : 4));
  return v;
}

nic::CardBearer read_bearer_of_card(Params& params, const nic::CardBearer& common) {
  nic::CardBearer bearer = common;
  read_fields(params, nic::own_fields(), bearer);
  read_fields(params, nic::common_fields(nic::kTaken), bearer);
  return bearer;
}

bool is_number(const Json& value, std::uint64_t max) {
  return value.is_number_unsigned() && value.get<std::uint64_t>() <= max;
}

std::vector<BearerId> read_ids(Params& params, std::string_view key) {
  std::vector<BearerId> ids;
  const Json* list = params.list(key, kIdsPerRequest);
  for (std::size_t i = 0; list != nullptr && i < list->size(); ++i) {
    const Json& id = (*list)[i];
    if (!is_number(id, 0xffffffff)) {
      params.refuse(key, fmt::format("item {}: allowed is an identity, an integer from 0 to 4294967295", i));
      break;
    }
    ids.push_back(BearerId{id.get<std::uint32_t>()});
  }
  return ids;
}

struct Installation {
  std::vector<nic::CardBearer> bearers;
  bool restart = false;
};

Installation read_installation(Params& params) {
  Installation wanted;
  params.require("bearers");
  const Json* list = params.list("bearers", kCardBearersPerRequest);
  wanted.restart = params.boolean("restart").value_or(false);
  nic::CardBearer common;
  if (auto members = params.object("common")) {
    read_fields(*members, nic::common_fields(nic::kTaken), common);
    if (const auto fault = members->fault()) params.refuse("common", *fault);
  }
  for (std::size_t i = 0; list != nullptr && i < list->size(); ++i) {
    Params entry((*list)[i]);
    wanted.bearers.push_back(read_bearer_of_card(entry, common));
    if (const auto fault = entry.fault()) {
      params.refuse("bearers", fmt::format("item {}: {}", i, *fault));
      break;
    }
  }
  return wanted;
}

std::vector<nic::CardLease> read_leases(Params& params) {
  params.require("leases");
  std::vector<nic::CardLease> leases;
  const Json* list = params.list("leases", kIdsPerRequest);
  for (std::size_t i = 0; list != nullptr && i < list->size(); ++i) {
    const Json& pair = (*list)[i];
    if (!pair.is_array() || pair.size() != 2 || !is_number(pair[0], 0xffffffff) || !is_number(pair[1], 0xffffffff)) {
      params.refuse("leases", fmt::format("item {}: allowed is [identity, first COUNT not allowed]", i));
      break;
    }
    leases.emplace_back(BearerId{pair[0].get<std::uint32_t>()}, pair[1].get<std::uint32_t>());
  }
  return leases;
}

// [identity, next COUNT, next RLC number, epoch, first COUNT not allowed, settled]
std::vector<nic::CardBeginning> read_beginnings(Params& params) {
  constexpr std::size_t kFields = 6;
  params.require("bearers");
  std::vector<nic::CardBeginning> bearers;
  const Json* list = params.list("bearers", kCardBearersPerRequest);
  for (std::size_t i = 0; list != nullptr && i < list->size(); ++i) {
    const Json& row = (*list)[i];
    const bool whole = row.is_array() && row.size() == kFields &&
                       std::ranges::all_of(row, [](const Json& v) { return is_number(v, 0xffffffff); }) &&
                       is_number(row[3], 0xff);
    if (!whole) {
      params.refuse("bearers", fmt::format("item {}: allowed is [identity, COUNT, RLC number, epoch, first COUNT not "
                                           "allowed, settled packets]",
                                           i));
      break;
    }
    bearers.push_back({.id = BearerId{row[0].get<std::uint32_t>()},
                       .next_count = row[1].get<std::uint32_t>(),
                       .next_rlc = row[2].get<std::uint32_t>(),
                       .lease_end = row[4].get<std::uint32_t>(),
                       .settled = row[5].get<std::uint32_t>(),
                       .epoch = row[3].get<std::uint8_t>()});
  }
  return bearers;
}

// The rows of card.numbers, and of a fence.
Json rows_of(std::span<const nic::BearerNumbers> rows) {
  Json list = Json::array();
  for (const auto& [id, n] : rows) {
    list.push_back({id.value, n.pdcp_next, n.rlc_next, n.in_flight, n.dl_packets, n.ul_packets, n.epoch, n.ahead,
                    n.lease_end, n.dl_octets, n.ul_octets, n.place == nic::Place::kHost ? 1U : 0U});
  }
  return list;
}

nic::CardPeer read_peer(Params& params) {
  nic::CardPeer peer;
  for (const char* key : {"number", "dst", "src", "from", "to", "max_payload"}) params.require(key);
  read(params, "number", peer.number, 0, 255);
  read(params, "dst", peer.dst);
  read(params, "src", peer.src);
  if (const auto v = address(params, "from", false)) peer.from = *v;
  if (const auto v = address(params, "to", false)) peer.to = *v;
  read(params, "max_payload", peer.max_payload, 1, 0xffff);
  read(params, "vlan", peer.vlan, 0, 4094);
  return peer;
}

}  // namespace

Handler card_install(InstallOnCard install) {
  return [install = std::move(install)](Params& params) -> Expected<Json> {
    const Installation wanted = read_installation(params);
    if (const auto fault = params.fault()) return fail("{}", *fault);
    return install(wanted.bearers, wanted.restart).map([&] { return Json{{"installed", wanted.bearers.size()}}; });
  };
}

Handler card_remove(std::function<Expected<void>(std::span<const BearerId> ids)> remove) {
  return [remove = std::move(remove)](Params& params) -> Expected<Json> {
    params.require("ids");
    const auto ids = read_ids(params, "ids");
    if (const auto fault = params.fault()) return fail("{}", *fault);
    return remove(ids).map([&] { return Json{{"removed", ids.size()}}; });
  };
}

Handler card_peer(std::function<Expected<void>(const nic::CardPeer& peer)> set) {
  return [set = std::move(set)](Params& params) -> Expected<Json> {
    const nic::CardPeer peer = read_peer(params);
    if (const auto fault = params.fault()) return fail("{}", *fault);
    return set(peer).map([&] { return Json{{"number", peer.number}}; });
  };
}

Handler card_peer_gone(std::function<Expected<void>(unsigned number)> unset) {
  return [unset = std::move(unset)](Params& params) -> Expected<Json> {
    params.require("number");
    unsigned number = 0;
    read(params, "number", number, 0, 255);
    if (const auto fault = params.fault()) return fail("{}", *fault);
    return unset(number).map([&] { return Json{{"number", number}}; });
  };
}

Handler card_marks(std::function<Expected<void>(const nic::CardMarks& tos)> set) {
  return [set = std::move(set)](Params& params) -> Expected<Json> {
    params.require("tos");
    nic::CardMarks tos{};
    const Json* list = params.list("tos", tos.size());
    if (list != nullptr && list->size() != tos.size()) params.refuse("tos", "allowed are 64 numbers, one for each QFI");
    for (std::size_t qfi = 0; list != nullptr && list->size() == tos.size() && qfi < tos.size(); ++qfi) {
      if (!is_number((*list)[qfi], 0xff)) {
        params.refuse("tos", fmt::format("item {}: allowed is 0 to 255", qfi));
        break;
      }
      tos[qfi] = (*list)[qfi].get<std::uint8_t>();
    }
    if (const auto fault = params.fault()) return fail("{}", *fault);
    return set(tos).map([&] { return Json{{"marks", std::ranges::count_if(tos, [](unsigned v) { return v != 0; })}}; });
  };
}

Handler card_lease(SetLeases set) {
  return [set = std::move(set)](Params& params) -> Expected<Json> {
    const auto leases = read_leases(params);
    if (const auto fault = params.fault()) return fail("{}", *fault);
    return set(leases).map([&] { return Json{{"leases", leases.size()}}; });
  };
}

Handler card_begin(std::function<Expected<void>(std::span<const nic::CardBeginning> bearers)> begin) {
  return [begin = std::move(begin)](Params& params) -> Expected<Json> {
    const auto bearers = read_beginnings(params);
    if (const auto fault = params.fault()) return fail("{}", *fault);
    return begin(bearers).map([&] { return Json{{"begun", bearers.size()}}; });
  };
}

Handler card_fence(FenceCard fence) {
  return [fence = std::move(fence)](Params& params) -> Expected<Json> {
    params.require("ids");
    params.require("token");
    const auto ids = read_ids(params, "ids");
    const auto token = params.integer("token", 0, UINT64_MAX);
    if (ids.size() > kCardBearersPerRequest) {
      params.refuse("ids", fmt::format("allowed are at most {} identities", kCardBearersPerRequest));
    }
    if (const auto fault = params.fault()) return fail("{}", *fault);
    return fence(ids, *token).map([](const FencedByCard& done) {
      return Json{{"n3", done.n3}, {"copies", done.copies}, {"numbers", rows_of(done.numbers)}};
    });
  };
}

Handler card_numbers(CardNumbersOf of, CardNumbersAfter after_id) {
  return [of = std::move(of), after_id = std::move(after_id)](Params& params) -> Expected<Json> {
    const auto ids = read_ids(params, "ids");
    const auto after = params.integer("after", 0, 0xffffffff);
    const std::size_t limit = params.integer("limit", 1, kIdsPerRequest).value_or(1000);
    if (const auto fault = params.fault()) return fail("{}", *fault);
    if (!ids.empty() && after) return fail("ids: allowed without after");
    const auto rows = ids.empty() ? after_id(static_cast<std::uint32_t>(after.value_or(0)), limit) : of(ids);
    if (!rows) return tl::unexpected(rows.error());
    return rows_of(*rows);
  };
}

}  // namespace splitplane::app
