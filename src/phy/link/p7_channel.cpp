#include "phy/link/p7_channel.h"

namespace splitplane::phy {

P7Channel::P7Channel(DatagramSocket socket, std::uint16_t phy_id, const P7Settings& settings)
    : socket_(std::move(socket)),
      sender_(phy_id, settings.max_datagram_bytes, settings.checksums),
      receiver_({.phy_id = phy_id, .checksums = settings.checksums, .timeout = settings.segments_timeout}),
      room_(sender_.max_body_bytes()) {}

SendOutcome P7Channel::refuse() {
  counters_.unwritable.add(1);
  return SendOutcome::unwritable;
}

SendOutcome P7Channel::send(fapi::MessageId id, std::span<const wire::Octets> pieces, Time now) {
  if (sender_.cut(id, pieces, frame_time_.stamp(now)) != fapi::Reason::ok) return refuse();
  const bool sent = socket_.send(sender_.datagrams());
  (sent ? counters_.messages_sent : counters_.cut_short).add(1);
  return sent ? SendOutcome::sent : SendOutcome::cut_short;
}

SendOutcome P7Channel::send(const fapi::TxDataRequest& message, Time now) {
  if (writer_->write(message, fapi::PayloadTag::kInline) != fapi::Reason::ok) return refuse();
  return send(fapi::MessageId::kTxDataRequest, writer_->pieces(), now);
}

void P7Channel::count(fapi::P7Outcome outcome) {
  if (outcome == fapi::P7Outcome::message) return counters_.messages.add(1);
  if (outcome == fapi::P7Outcome::refused) return counters_.refused.add(1);
  if (outcome != fapi::P7Outcome::segment) counters_.given_up.add(1);
}

}  // namespace splitplane::phy
