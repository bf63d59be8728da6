#include "phy/fapi/tx_data.h"

#include "phy/fapi/reader.h"
#include "phy/fapi/slot_time.h"
#include "phy/fapi/writer.h"

namespace splitplane::fapi {

std::uint32_t pdu_length_of(const TxDataRequest::Pdu& pdu, PayloadTag tag) {
  const std::size_t tlv_octets = tag == PayloadTag::kOffset ? 10 : 6;
  return static_cast<std::uint32_t>(10 + pdu.parts.size() * tlv_octets + pdu.bytes());
}

namespace {

// Reads the control portion. Where the payloads of tag 2 begin is known only at its end, so a message that has such
// ones is read again, with what follows the control portion.
class ControlReader {
 public:
  explicit ControlReader(Octets body) : reader_(body) {}
  ControlReader(Octets body, Octets behind) : reader_(body), behind_(behind), behind_is_known_(true) {}

  void read(TxDataRequest& message) {
    slot_fields(reader_, message);
    reader_.list<std::uint16_t>("number_of_pdus", "pdus", message.pdus, [this](Reader& each, auto& pdu) {
      std::uint32_t pdu_length = 0;
      each("pdu_length", pdu_length);
      each("pdu_index", pdu.pdu_index);
      each.list<std::uint32_t>("num_tlv", "tlvs", pdu.parts, [this](Reader&, Payload& part) { read_tlv(part); });
    });
  }

  [[nodiscard]] Reason reason() const { return reader_.reason(); }
  [[nodiscard]] Octets rest() const { return reader_.rest(); }
  [[nodiscard]] bool has_offsets() const { return has_offsets_; }
  // Octets behind the control portion, up to the end of the last payload there.
  [[nodiscard]] std::size_t payload_end() const { return payload_end_; }

 private:
  void read_tlv(Payload& part) {
    std::uint16_t tag = 0;
    std::uint32_t length = 0;
    reader_("tag", tag);
    reader_("length", length);
    if (!reader_.ok()) return;
    switch (static_cast<PayloadTag>(tag)) {
      case PayloadTag::kInline: {
        const std::size_t begin = reader_.bytes();
        reader_.payload("value", part, length);
        return reader_.pad(begin);
      }
      case PayloadTag::kPointer:
        return reader_.refuse(Reason::payload_pointer);
      case PayloadTag::kOffset: {
        std::uint32_t offset = 0;
        reader_("value", offset);
        part = {};
        has_offsets_ = true;
        if (!behind_is_known_) return;
        if (offset < payload_end_ || length > behind_.size() || offset > behind_.size() - length) {
          return reader_.refuse(Reason::bad_payload_offset);
        }
        part.octets = behind_.subspan(offset, length);
        payload_end_ = offset + std::size_t{length};
        return;
      }
    }
    reader_.refuse(Reason::bad_payload_tag);
  }

  Reader reader_;
  Octets behind_;
  bool behind_is_known_ = false;
  bool has_offsets_ = false;
  std::size_t payload_end_ = 0;
};

}  // namespace

Reason read_tx_data(Octets body, TxDataRequest& message) {
  ControlReader control(body);
  control.read(message);
  if (control.reason() != Reason::ok) return control.reason();
  const Octets behind = control.rest();
  if (!control.has_offsets()) return behind.empty() ? Reason::ok : Reason::trailing_octets;
  ControlReader again(body, behind);
  again.read(message);
  if (again.reason() == Reason::ok && again.payload_end() != behind.size()) return Reason::bad_payload_offset;
  return again.reason();
}

void TxDataWriter::piece(Octets octets) {
  if (octets.empty()) return;
  pieces_.add(octets);  // never full: at most two for each TLV, and one
  bytes_ += octets.size();
}

Reason TxDataWriter::write(const TxDataRequest& message, PayloadTag tag) {
  pieces_.clear();
  bytes_ = 0;
  if (tag == PayloadTag::kPointer) return Reason::payload_pointer;
  const bool is_inline = tag == PayloadTag::kInline;
  Writer control(control_);
  std::size_t begin = 0;     // of the control octets that are in no piece yet
  std::uint32_t offset = 0;  // of the next payload behind the last TLV
  slot_fields(control, message);
  control("number_of_pdus", static_cast<std::uint16_t>(message.pdus.size()));
  for (const auto& pdu : message.pdus) {
    control("pdu_length", pdu_length_of(pdu, tag));
    control("pdu_index", pdu.pdu_index);
    control("num_tlv", static_cast<std::uint32_t>(pdu.parts.size()));
    for (const Payload& part : pdu.parts) {
      const auto length = static_cast<std::uint32_t>(part.size());
      control("tag", tag);
      control("length", length);
      if (!is_inline) {
        control("value", offset);
        offset += length;
        continue;
      }
      piece(Octets(control_).subspan(begin, control.bytes() - begin));
      begin = control.bytes();
      piece(part.octets);
      const std::size_t padding = (4 - part.size() % 4) % 4;
      if (std::uint8_t* const to = control.place(padding)) wire::fill_zero(to, padding);
    }
  }
  if (!control.ok()) {
    pieces_.clear();
    bytes_ = 0;
    return control.reason();
  }
  piece(Octets(control_).subspan(begin, control.bytes() - begin));
  if (!is_inline) {
    for (const auto& pdu : message.pdus) {
      for (const Payload& part : pdu.parts) piece(part.octets);
    }
  }
  return Reason::ok;
}

}  // namespace splitplane::fapi
