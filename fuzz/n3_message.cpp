// GTP-U messages for the control thread, from any frame. Our reader finds the same as a slow reader of GTP-U. Each
// answer is a frame with correct checksums that goes back to the sender, and that we could read. No answer would make
// the two ends answer each other for ever.
#include "n3/message.h"
#include "slow_gtpu.h"
#include "wire/n3.h"

namespace splitplane::fuzz {
namespace {

using datapath::N3Duty;
using datapath::N3Message;

constexpr MacAddress kOwn{{0x02, 0, 0, 0, 0, 0x01}};

std::uint32_t sum(Octets octets, std::uint32_t begin) {
  for (std::size_t i = 0; i < octets.size(); ++i) begin += i % 2 == 0 ? octets[i] * 256U : octets[i];
  while (begin > 0xFFFF) begin = (begin & 0xFFFF) + (begin >> 16);
  return begin;
}

// RFC 791 and RFC 768, RFC 8200 8.1: ones' complement sums over header, and pseudo header and datagram, are 0xFFFF.
void check_checksums(Octets frame, std::size_t at, bool v6) {
  const Octets ip = frame.subspan(at);
  if (!v6) same(sum(ip.first(20), 0), 0xFFFFU, "IPv4 checksum");
  const Octets datagram = ip.subspan(v6 ? 40 : 20);
  const Octets addresses = v6 ? ip.subspan(8, 32) : ip.subspan(12, 8);
  same(sum(datagram, sum(addresses, 17 + static_cast<std::uint32_t>(datagram.size()))), 0xFFFFU, "UDP checksum");
  require(datagram[6] != 0 || datagram[7] != 0, "a datagram without checksum");
}

// `port` is the answer's destination. Our own reader accepts port 2152 only, so it gets a copy with that port.
void check_answer(const N3Message& to, Bytes frame, std::uint8_t type, std::uint16_t port) {
  const std::size_t ip_at = 14 + 4 * to.ends.tags.size(), udp_at = ip_at + (to.ends.source.is_v6() ? 40 : 20);
  check_checksums(frame, ip_at, to.ends.source.is_v6());
  same(frame[udp_at + 2] * 256U + frame[udp_at + 3], std::uint32_t{port}, "port of the answer");
  wire::store_be16(frame.data() + udp_at + 2, wire::gtpu::kPort);
  const auto read = datapath::read_n3_message(frame);
  require(read && read->reason == wire::Reason::ok, "an answer cannot be read");
  same(read->header.message_type, type, "type of the answer");
  require(read->ends.source == to.ends.destination && read->ends.destination == to.ends.source, "it goes elsewhere");
  require(read->ends.source_mac == kOwn && read->ends.destination_mac == to.ends.source_mac, "to another MAC");
  require(read->ends.tags == to.ends.tags, "the tags are others");
  const auto slow = slow_gtpu(read->octets);
  require(slow && slow->teid == 0 && slow->s, "a path message without sequence number, or with a TEID");
  require(slow->length + 8U == read->octets.size(), "octets behind the message");
}

void check(Octets frame) {
  const auto message = datapath::read_n3_message(frame);
  const auto packet = wire::n3::parse(frame);
  if (!message) return require(!packet, "a packet, but no message");
  const auto slow = slow_gtpu(message->octets);
  same(message->reason == wire::Reason::ok, slow.has_value(), "message accepted");
  if (slow) same(message->header.teid.value, slow->teid, "TEID");
  const auto& o = message->ends.source.octets();
  const bool v4_host = !message->ends.source.is_v6() && o[0] != 0 && o[0] < 224;
  if (!message->ends.source.is_v6()) {
    same(message->from_one_host, v4_host && frame[6] % 2 == 0, "from one host");
  }
  const N3Duty duty = datapath::duty_of(*message);
  if (!message->from_one_host) return require(duty == N3Duty::kMalformed, "an answer to a group address");
  const auto echo = datapath::answer_echo(*message, kOwn);
  if (slow) same(echo.has_value(), slow->type == 1 && slow->s && !slow_ies(slow->payload).truncated, "Echo answered");
  if (echo) {
    check_answer(*message, *echo, wire::gtpu::kEchoResponse, message->ends.source_port);
    const auto answer = slow_gtpu(Octets(*echo).last(14));
    require(answer && answer->sn == slow->sn, "another sequence number");
  }
  if (duty == N3Duty::kAnswerEcho) require(echo.has_value(), "an Echo Request without an answer");
  if (duty == N3Duty::kIndicateError) {
    require(slow && slow->type == 255 && slow->teid != 0, "an Error Indication for no G-PDU");
    const Bytes answer = datapath::indicate_error(*message, kOwn);
    check_answer(*message, answer, wire::gtpu::kErrorIndication, wire::gtpu::kPort);
    const auto read = slow_gtpu(datapath::read_n3_message(answer)->octets);
    const SlowIes ies = slow_ies(read->payload);
    require(ies.teid && SlowBits(*ies.teid).take32(32) == slow->teid && read->udp_port == message->ends.source_port,
            "the Error Indication names another tunnel or port");
    require(ies.address && ies.address->size() == (message->ends.source.is_v6() ? 16U : 4U), "address of no family");
  }
  if (duty == N3Duty::kNotifyExtensions) {
    require(message->reason == wire::Reason::gtpu_extension_unknown_required, "a notification for known extensions");
    const std::uint8_t type = message->header.message_type;
    require(type != 26 && type != 31, "an answer to an answer");
    check_answer(*message, datapath::notify_extensions(*message, kOwn), wire::gtpu::kSupportedExtensionHeaders,
                 wire::gtpu::kPort);
  }
}

}  // namespace
}  // namespace splitplane::fuzz

extern "C" int LLVMFuzzerInitialize(int*, char***) {
  return 0;
}

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t bytes) {
  splitplane::fuzz::check({data, bytes});
  return 0;
}
