// MAC PDUs in the UDP framing mac-nr, as our writer frames them: what tshark must read of the framing, and of one SDU
// behind it.
#include "emit.h"
#include "wire/mac.h"
#include "wire/mac_nr.h"

namespace splitplane::oracle {

void emit_mac_nr(Random& random, unsigned count) {
  using namespace wire;
  for (unsigned i = 0; i < count; ++i) {
    mac_nr::Header h{.radio_type = random.flip() ? mac_nr::RadioType::kFdd : mac_nr::RadioType::kTdd,
                     .direction = random.flip() ? Direction::kDownlink : Direction::kUplink,
                     .rnti_type = random.flip() ? mac_nr::RntiType::kCell : mac_nr::RntiType::kConfigured};
    Line line("mac_nr");
    line.add("radio", static_cast<unsigned>(h.radio_type))
        .add("direction", static_cast<unsigned>(h.direction))
        .add("rnti_type", static_cast<unsigned>(h.rnti_type));
    if (random.in(0, 3) != 0) {
      h.rnti = static_cast<std::uint16_t>(random.in(1, 0xFFEF));
      line.add("rnti", *h.rnti);
    }
    if (random.in(0, 3) != 0) {
      h.ue_id = static_cast<std::uint16_t>(random.in(1, 0xFFFF));
      line.add("ue", *h.ue_id);
    }
    if (random.in(0, 3) != 0) {
      h.harq_process = static_cast<std::uint8_t>(random.in(0, 15));
      line.add("harq", *h.harq_process);
    }
    if (random.in(0, 3) != 0) {
      h.slot = mac_nr::SlotInfo{static_cast<std::uint16_t>(random.in(0, 1023)),
                                static_cast<std::uint16_t>(random.in(0, 79))};
      line.add("sfn", h.slot->sfn).add("slot", h.slot->slot);
    }
    h.phr_type2_other_cell = random.flip();
    Buffer frame;
    append(frame, [&](MutableOctets out) { return mac_nr::write(out, h); });
    const Buffer sdu = random.data(random.in(1, 400));
    const auto lcid = static_cast<std::uint8_t>(random.in(4, 32));
    append(frame, [&](MutableOctets out) { return mac::write_subheader(out, h.direction, lcid, sdu.size()); });
    append(frame, sdu);
    line.add("sdu", to_hex(sdu));
    line.print(frame);
  }
}

}  // namespace splitplane::oracle
