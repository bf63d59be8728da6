#include "guard/segment/translate.h"

#include "wire/tcp_options.h"

namespace splitplane::guard {

namespace tcp = wire::tcp;

namespace {

// One header that is changed field by field, and its checksum at the end.
class HeaderEdit {
 public:
  explicit HeaderEdit(std::uint8_t* header) : header_(header) {}

  void add(std::size_t at, std::uint32_t delta) {
    const std::uint32_t before = wire::load_be32(header_ + at), after = before + delta;
    wire::store_be32(header_ + at, after);
    change_.replace32_at(at, before, after);
  }
  void set_window(std::uint16_t before, std::uint16_t after) {
    wire::store_be16(header_ + tcp::kWindowAt, after);
    change_.replace16(before, after);
  }
  void finish() {
    std::uint8_t* const at = header_ + tcp::kChecksumAt;
    wire::store_be16(at, change_.applied_to(wire::load_be16(at)));
  }

 private:
  std::uint8_t* header_;
  wire::ChecksumChange change_;
};

}  // namespace

bool translate_to_server(std::uint8_t* header, const tcp::Header& h, const Flow& flow) {
  // Acknowledgment, SACK and TSecr mean something only with ACK (RFC 9293 3.1, RFC 7323 3.2).
  if (!h.has(tcp::kAck)) return true;
  const auto places = tcp::find_options({header, h.header_bytes}, h);
  if (!places) return false;
  HeaderEdit edit(header);
  edit.add(tcp::kAcknowledgmentAt, 0 - flow.sequence_delta);
  if (places->timestamps != 0 && (flow.flags & Flow::kHasTimestamps) != 0)
    edit.add(places->timestamps + 4U, 0 - flow.ts_delta);
  for (unsigned i = 0; i < places->sack_blocks; ++i) {
    edit.add(places->sack + 8U * i, 0 - flow.sequence_delta);
    edit.add(places->sack + 8U * i + 4, 0 - flow.sequence_delta);
  }
  if ((flow.flags & Flow::kServerUnscaled) != 0 && !h.has(tcp::kSyn)) [[unlikely]]
    edit.set_window(h.window, rescaled_window(h.window, flow.client_scale, 0));
  edit.finish();
  return true;
}

bool translate_to_client(std::uint8_t* header, const tcp::Header& h, const Flow& flow) {
  const auto places = tcp::find_options({header, h.header_bytes}, h);
  if (!places) return false;
  HeaderEdit edit(header);
  edit.add(tcp::kSequenceAt, flow.sequence_delta);
  if (places->timestamps != 0 && (flow.flags & Flow::kHasTimestamps) != 0) edit.add(places->timestamps, flow.ts_delta);
  // The window of a SYN-ACK is never scaled (RFC 7323 2.2).
  if (flow.server_scale != flow.told_scale && !h.has(tcp::kSyn)) [[unlikely]]
    edit.set_window(h.window, rescaled_window(h.window, flow.server_scale, flow.told_scale));
  edit.finish();
  return true;
}

}  // namespace splitplane::guard
