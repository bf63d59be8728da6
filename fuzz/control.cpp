// Control methods by structure. Each input is a sequence of requests of known methods, keys and values of every kind,
// or a raw line. Every line gets one line of JSON with its id and either a result or a printable sentence. Requests
// that reach a machine keep the limits of docs. The listed bearers are those that were added and not released, and
// each of them can be read back.
#include "judging_machine.h"
#include "ran/control/bearer_json.h"

namespace splitplane::fuzz {
namespace {

constexpr std::array kMethods{"ping",        "bearer.add",   "bearer.modify", "bearer.release", "bearer.reestablish",
                              "bearer.list", "bearer.show",  "peer.list",     "stats",          "tap.on",
                              "tap.off",     "tap.list",     "air.set",       "power.show",     "power.set",
                              "card.show",   "card.install", "card.remove",   "card.peer",      "card.peer_gone",
                              "card.lease",  "card.numbers", "stop",          "bearer.ad",      ""};
constexpr std::array kKeys{
    "id",        "count",       "shard",       "upf",        "ul_teid",  "qfi",          "rlc",          "pdcp_sn",
    "sdap",      "poll_pdu",    "require_psc", "n3_reorder", "security", "ecn",          "dl_teid",      "on",
    "ue_ipv4",   "ue_ipv6",     "dl",          "ul",         "after",    "limit",        "name",         "port",
    "file",      "view",        "snap",        "buffers",    "bearer",   "direction",    "max_mb",       "files",
    "downlink",  "uplink",      "loss",        "worker",     "kind",     "empty_rounds", "sleep_us",     "bearers",
    "common",    "restart",     "place",       "teid",       "number",   "dst",          "src",          "from",
    "to",        "max_payload", "leases",      "ids",        "arq",      "max_retx",     "acknowledged", "card",
    "window_ms", "timeout_ms",  "delay_ms",    "duplicate",  "sdap_dl",  "peer",         "vf_n3"};
constexpr std::array kWords{"10.100.0.2",
                            "fd00::2",
                            "am18",
                            "am12",
                            "um12",
                            "um6",
                            "tm",
                            "card",
                            "host",
                            "split",
                            "w0",
                            "yield",
                            "busy",
                            "budget",
                            "paper",
                            "ethernet",
                            "rlc-nr",
                            "pdcp-nr",
                            "02:00:00:00:00:01",
                            "n3",
                            "/nowhere/x.pcapng",
                            "",
                            "\n\t\x7f",
                            "255.255.255.255",
                            "ff02::1"};
constexpr std::array<std::int64_t, 14> kNumbers{0,   1,   2,     12,    18,         63,         64,
                                                255, 256, 65535, 65536, 4294967295, 4294967296, INT64_MAX};

Json value(Input& in, unsigned depth);

Json object(Input& in, unsigned depth) {
  Json made = Json::object();
  for (unsigned n = in.octet() % 16; n != 0 && !in.empty(); --n) {
    const char* const key = kKeys[in.below(kKeys.size())];
    made[key] = value(in, depth + 1);
  }
  return made;
}

Json value(Input& in, unsigned depth) {
  switch (in.octet() % 12) {
    case 0:
      return nullptr;
    case 1:
      return in.octet() % 2 == 0;
    case 2:
    case 3:
      return in.octet();
    case 4:
      return kNumbers[in.below(kNumbers.size())];
    case 5:
      return -static_cast<int>(in.octet()) - 1;
    case 6:
      return in.octet() / 8.0;
    case 7:
      return in.word() * 65537U;
    case 8:
    case 9:
      return kWords[in.below(kWords.size())];
    case 10: {
      if (depth > 4) return Json::array();
      Json list = Json::array();
      for (unsigned n = in.octet() % 5; n != 0 && !in.empty(); --n) list.push_back(value(in, depth + 1));
      return list;
    }
    default:
      return depth > 4 ? Json::object() : object(in, depth);
  }
}

Json check_reply(const std::string& line, const Machine& machine) {
  const std::string text = machine.methods.answer(line);
  require(text.find('\n') == std::string::npos, "a reply of several lines");
  Json reply = Json::parse(text, nullptr, false);
  require(reply.is_object() && reply.contains("id"), "no reply: {}", text);
  require(reply.contains("result") != reply.contains("error"), "neither or both: {}", text);
  if (!reply.contains("error")) return reply;
  const std::string sentence = reply["error"];
  require(!sentence.empty() && sentence.size() < 4000, "a sentence of {} octets", sentence.size());
  for (const char c : sentence) require(c >= 0x20 || c < 0, "a control character in: {}", text);
  return reply;
}

void check_list(const Machine& machine) {
  std::vector<std::uint32_t> listed;
  for (Json after = 0; !after.is_null();) {
    const Json request{{"method", "bearer.list"}, {"params", {{"after", after}, {"limit", 64}}}};
    const Json page = check_reply(request.dump(), machine);
    for (const Json& bearer : page["result"]["bearers"]) {
      listed.push_back(bearer["id"]);
      const auto back = app::bearer_from_json(bearer);
      require(back.has_value(), "a listed bearer cannot be read back: {}", back ? "" : back.error().message);
      const Json again = app::to_json(*back);
      for (const auto& [key, member] : again.items()) require(bearer[key] == member, "{} changed", key);
    }
    after = page["result"]["next"];
  }
  require(std::ranges::equal(listed, machine.there), "{} bearers listed of {}", listed.size(), machine.there.size());
}

}  // namespace
}  // namespace splitplane::fuzz

extern "C" int LLVMFuzzerInitialize(int*, char***) {
  return 0;
}

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t bytes) {
  using namespace splitplane::fuzz;
  Input in(data, bytes);
  const Machine machine;
  if (in.octet() % 4 == 3) {
    const Octets rest = in.rest();
    (void)check_reply({reinterpret_cast<const char*>(rest.data()), rest.size()}, machine);
  }
  for (int id = 0; id < 20 && !in.empty(); ++id) {
    const Json request{{"id", id}, {"method", kMethods[in.below(kMethods.size())]}, {"params", object(in, 0)}};
    require(check_reply(request.dump(), machine)["id"] == id, "another id");
  }
  check_list(machine);
  return 0;
}
