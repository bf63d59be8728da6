// FAPI messages of slots to an emulated PHY: what SlotWriter makes of any grants, what the same octets are after
// changes, and any octets. Grants that the writer takes come to the UEs as they were given; what the writer leaves out
// has a reason; the emulator's counters add up after each slot; each PUSCH ordered has its CRC.
#include "phy/emulator/emulator.h"

#include <map>

#include "fuzz.h"
#include "phy/fapi/codec.h"
#include "phy/mapping/slot_writer.h"
#include "wire/test_parse_everything.h"

namespace splitplane::fuzz {
namespace {

using namespace phy;

class Ues final : public Terminals {
 public:
  Answer receive(const Grant& grant, wire::Octets block, bool, Slot now) override {
    require(grant.slot == now && block.size() == grant.tb_bytes && is_c_rnti(grant.rnti), "a block for nobody");
    wire::test::read_all(block);
    return static_cast<Answer>(grant.rnti % 3);
  }
  void granted(const Grant& grant) override {
    require(is_c_rnti(grant.rnti) && grant.tb_bytes != 0, "a grant for nobody");
    bytes_[{grant.rnti, grant.slot.index()}] = grant.tb_bytes;
  }
  // One UE in four sends another number of octets than it was granted.
  wire::Octets transmit(Rnti rnti, Slot now) override {
    const auto granted = bytes_.extract({rnti, now.index()});
    require(!granted.empty(), "UE {} has no grant for this slot", rnti);
    return wire::Octets(octets_).first(rnti % 4 == 0 ? rnti : granted.mapped());
  }
  bool requests(Rnti rnti, Slot) override { return rnti % 2 == 0; }
  void phy_starts() override {}
  void end_slot(Slot) override {}
  void forget() { bytes_.clear(); }

 private:
  std::map<std::pair<Rnti, std::uint32_t>, std::size_t> bytes_;
  Bytes octets_ = Bytes(kMaxTbBytes, 0x55);
};

// What the emulator says can be written.
class Said final : public Indications {
 public:
  void take(const fapi::CrcIndication& message) override {
    crcs += message.crcs.size();
    write(message);
  }
  void take(const fapi::RxDataIndication& message) override {
    blocks += message.pdus.size();
    write(message);
  }
  void take(const fapi::UciIndication& message) override { write(message); }

  std::size_t crcs = 0, blocks = 0;

 private:
  template <class Message>
  void write(const Message& message) {
    const fapi::Written written = fapi::write_body(room_, message);
    require(written.reason == fapi::Reason::ok, "an indication cannot be written: {}", name_of(written.reason));
  }
  Bytes room_ = Bytes(1 << 20);
};

CellShape cell_of(Input& input) {
  CellShape cell;
  cell.numerology.mu = static_cast<std::uint8_t>(input.below(4));
  cell.prbs = static_cast<std::uint16_t>(6 + input.below(270));
  cell.k = static_cast<std::uint8_t>(1 + input.below(8));
  cell.shape.symbols = static_cast<std::uint8_t>(12 + input.below(2));
  cell.shape.table = input.below(2) == 0 ? McsTable::k64Qam : McsTable::k64QamLowSe;
  return cell;
}

class Run {
 public:
  explicit Run(Input& input)
      : input_(input),
        cell_(cell_of(input)),
        writer_(cell_),
        emulator_({.shape = cell_.shape, .most_data_bytes = 30'000}, ues_) {
    start();
  }

  void step() {
    switch (input_.below(5)) {
      case 0:
        end_slot();
        break;
      case 1:
      case 2:
        write_grants();
        break;
      case 3:
        give_octets();
        break;
      default:
        if (input_.below(4) == 0) {
          emulator_.phy_stops();
          ues_.forget();
          start();
        }
        emulator_.set({.downlink = {.loss_percent = double(input_.below(101))},
                       .uplink = {.loss_percent = double(input_.below(101))},
                       .dci_loss_percent = double(input_.below(101))});
    }
  }
  void end() {
    for (unsigned i = 0; i < 20; ++i) end_slot();
  }

 private:
  void start() {
    fapi::ConfigRequest config;
    config.scs_common = cell_.numerology.mu;
    config.dl_grid_size = fapi::PerNumerology{};
    (*config.dl_grid_size)[cell_.numerology.mu] = cell_.prbs;
    emulator_.phy_starts(config);
    slot_ = slot_at(cell_.numerology, 0);
  }

  void end_slot() {
    const EmulatorCounters& c = emulator_.counters();
    const std::uint64_t ordered = c.pusch_ordered.get(), decoded = c.ul_decoded.get();
    said_.crcs = said_.blocks = 0;
    emulator_.end_slot({.sfn = slot_.sfn, .slot = slot_.slot}, said_);
    slot_ = after(slot_, 1);
    require(c.balanced(), "the counters do not add up");
    require(said_.crcs == c.pusch_ordered.get() - ordered, "{} CRCs", said_.crcs);
    require(said_.blocks == c.ul_decoded.get() - decoded, "{} blocks", said_.blocks);
  }

  Grant grant(Slot slot, Direction direction) {
    Grant grant{.slot = after(slot, input_.below(50) == 49 ? 1 : 0),
                .rnti = static_cast<Rnti>(input_.below(40)),
                .direction = direction,
                .process = static_cast<std::uint8_t>(input_.below(17)),
                .ndi = static_cast<std::uint8_t>(input_.below(2)),
                .rv = static_cast<std::uint8_t>(input_.below(4)),
                .mcs = static_cast<std::uint8_t>(input_.below(30)),
                .first_prb = static_cast<std::uint16_t>(input_.below(cell_.prbs)),
                .prbs = static_cast<std::uint16_t>(input_.below(20))};
    grant.tb_bytes = tb_bytes(cell_.shape, grant.mcs, grant.prbs);
    return grant;
  }

  void write_grants() {
    const Slot slot = after(slot_, input_.below(6));
    std::vector<DownlinkBlock> downlink;
    std::vector<Grant> uplink;
    std::vector<Rnti> chances;
    for (unsigned n = input_.below(12); n > 0; --n) {
      const Grant one = grant(slot, Direction::kDownlink);
      downlink.push_back({one, wire::Octets(octets_).first(one.tb_bytes)});
    }
    for (unsigned n = input_.below(12); n > 0; --n) uplink.push_back(grant(after(slot, cell_.k), Direction::kUplink));
    for (unsigned n = input_.below(12); n > 0; --n) chances.push_back(static_cast<Rnti>(input_.below(40)));
    writer_.write({slot, downlink, uplink, chances});
    const std::size_t left_out = writer_.left_out().size();
    require(
        count_of<fapi::PdschPdu>(writer_.dl_tti().pdus) + count_of<fapi::PuschPdu>(writer_.ul_tti().pdus) + left_out ==
            downlink.size() + uplink.size(),
        "{} grants are left out", left_out);
    const std::uint64_t refused = refusals();
    const bool change = input_.below(3) == 0;
    writer_.send([&](const auto& message) {
      give(message, change);
      return true;
    });
    require(change || refusals() == refused, "the emulator refuses what the writer makes");
  }

  [[nodiscard]] std::uint64_t refusals() const {
    std::uint64_t sum = 0;
    emulator_.refused().for_each([&sum](auto, auto, std::uint64_t n) { sum += n; });
    return sum;
  }

  void give(const fapi::TxDataRequest& message, bool) { emulator_.receive(message); }
  template <class Message>
  void give(const Message& message, bool change) {
    const fapi::Written written = fapi::write_body(room_, message);
    require(written.reason == fapi::Reason::ok, "a message cannot be written: {}", name_of(written.reason));
    Bytes body(room_.begin(), room_.begin() + static_cast<std::ptrdiff_t>(written.bytes));
    if (change) {
      for (unsigned n = input_.below(4); n > 0; --n) body[input_.word() % body.size()] ^= input_.octet();
    }
    receive<Message>(body);
  }
  template <class Message>
  void receive(const Bytes& body) {
    static auto message = std::make_unique<Message>();
    if (fapi::read_body(body, *message) != fapi::Reason::ok) return;
    if (message->slot < cell_.numerology.slots_per_frame()) emulator_.receive(*message);  // as PhyPeer does
  }

  void give_octets() {
    const unsigned kind = input_.below(4);
    const Bytes body = input_.bytes(input_.word() & 0x7FF);
    wire::test::parse_dci_all(body);
    switch (kind) {
      case 0:
        return receive<fapi::DlTtiRequest>(body);
      case 1:
        return receive<fapi::UlTtiRequest>(body);
      case 2:
        return receive<fapi::UlDciRequest>(body);
      default:
        static auto message = std::make_unique<fapi::TxDataRequest>();
        if (fapi::read_tx_data(body, *message) == fapi::Reason::ok) emulator_.receive(*message);
    }
  }

  Input& input_;
  CellShape cell_;
  Ues ues_;
  Said said_;
  SlotWriter writer_;
  Emulator emulator_;
  Slot slot_;
  Bytes octets_ = Bytes(100'000, 0x33), room_ = Bytes(1 << 20);
};

void check(Octets data) {
  Input input(data.data(), data.size());
  Run run(input);
  while (!input.empty()) run.step();
  run.end();
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
