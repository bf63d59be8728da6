// GTP-U messages other than the forwarded G-PDU, on the control thread: the sender of a frame that a worker punted, its
// content, and frames of our answers and requests. The input and output are octets.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "base/ip_address.h"
#include "wire/gtpu_messages.h"

namespace splitplane::datapath {

// The two ends of one message.
struct N3Ends {
  MacAddress source_mac, destination_mac;
  IpAddress source, destination;
  std::uint16_t source_port = wire::gtpu::kPort, destination_port = wire::gtpu::kPort;
  std::vector<std::uint16_t> tags;  // VLANs, outermost first
};

struct N3Message {
  N3Ends ends;
  wire::Reason reason = wire::Reason::ok;  // not ok: what is wrong with the GTP-U header; the message is unchanged
  wire::gtpu::Header header;
  std::span<const std::uint8_t> octets;  // the UDP payload, inside the frame
  bool from_one_host = true;             // false: a group address or none: the sender cannot be answered or trusted
};

// The GTP-U message in `frame`; nothing if there is none.
[[nodiscard]] std::optional<N3Message> read_n3_message(std::span<const std::uint8_t> frame);

// What the control thread has to do with a message.
enum class N3Duty : std::uint8_t {
  kNone,       // a G-PDU for TEID 0, which no bearer has and which gets no answer
  kMalformed,  // unreadable, or from a source that cannot be answered or trusted
  kAnswerEcho,
  kTakeEchoResponse,
  kIndicateError,  // a G-PDU that found no bearer
  kTakeErrorIndication,
  kTakeEndMarker,
  kNotifyExtensions,
  kTakeExtensions,
};
[[nodiscard]] N3Duty duty_of(const N3Message& message);

// The ends of an answer: from the receiver of `message` to its sender, port `port`. The MAC address is that of our
// port, because the request may have come by broadcast or multicast.
[[nodiscard]] N3Ends answering(const N3Message& message, const MacAddress& own, std::uint16_t port);

// Ethernet, IP and UDP with its checksum around `message`.
[[nodiscard]] std::vector<std::uint8_t> make_n3_frame(const N3Ends& ends, std::span<const std::uint8_t> message);

// The Echo Response to a valid Echo Request. It goes to the port that the request came from, with the same sequence
// number (TS 29.281 7.2.2).
[[nodiscard]] std::optional<std::vector<std::uint8_t>> answer_echo(const N3Message& request, const MacAddress& own);

// The Error Indication for a G-PDU whose TEID no bearer has (TS 29.281 7.3.1). It goes to the sender's GTP-U port, with
// the G-PDU's UDP source port in an extension header (5.2.2.1).
[[nodiscard]] std::vector<std::uint8_t> indicate_error(const N3Message& gpdu, const MacAddress& own);

// The Supported Extension Headers Notification for a message that needs an extension header that we do not know
// (7.2.3).
[[nodiscard]] std::vector<std::uint8_t> notify_extensions(const N3Message& message, const MacAddress& own);

[[nodiscard]] std::vector<std::uint8_t> request_echo(const N3Ends& ends, std::uint16_t sequence_number);

}  // namespace splitplane::datapath
