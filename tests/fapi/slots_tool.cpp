// What the judge of phy/mapping talks to.
//   slots_tool SEED COUNT OCTETS VALUES   the messages of COUNT slots of random cells and grants: the file OCTETS has
//                                         their datagrams, each as [length, 32 bits big-endian][octets]; VALUES is a
//                                         JSON list with cell, slot and grants of each, and how many datagrams it has
#include <fstream>
#include <iostream>
#include <nlohmann/json.hpp>

#include "phy/fapi/codec.h"
#include "phy/fapi/p7_sender.h"
#include "phy/mapping/test_grants.h"

namespace splitplane::phy {
namespace {

using Json = nlohmann::ordered_json;

class Emitter {
 public:
  Emitter(std::uint64_t seed, const char* octets) : random_(seed), out_(octets, std::ios::binary) {}

  void emit() {
    const CellShape cell = random_cell();
    const Slot slot = slot_at(cell.numerology, random_.next());
    const std::size_t most = std::min(30U, cell.most_dcis() / 2);
    const auto downlink = grants(cell, slot, Direction::kDownlink, random_.below(static_cast<std::uint32_t>(most + 1)));
    const auto uplink =
        grants(cell, after(slot, cell.k), Direction::kUplink, random_.below(static_cast<std::uint32_t>(most + 1)));
    std::vector<Rnti> chances;
    for (Rnti rnti = 1; rnti < 60; rnti = static_cast<Rnti>(rnti + 1 + random_.below(9))) chances.push_back(rnti);
    const test::Blocks blocks(random_, downlink);
    SlotWriter writer(cell);
    writer.write({slot, blocks.blocks, uplink, chances});
    ok_ = ok_ && writer.left_out().empty();
    const std::size_t before = datagrams_;
    writer.send([this](const auto& message) { return send(message); });
    Json entry{{"mu", cell.numerology.mu},
               {"prbs", cell.prbs},
               {"k", cell.k},
               {"cell_id", cell.cell_id},
               {"symbols", cell.shape.symbols},
               {"dmrs_res", cell.shape.dmrs_res},
               {"mcs_table", static_cast<int>(cell.shape.table)},
               {"sfn", slot.sfn},
               {"slot", slot.slot},
               {"downlink", Json::array()},
               {"uplink", Json::array()},
               {"chances", chances},
               {"datagrams", datagrams_ - before}};
    for (std::size_t i = 0; i < downlink.size(); ++i) {
      entry["downlink"].push_back(values(downlink[i]));
      entry["downlink"].back()["block"] = blocks.octets[i];
    }
    for (const Grant& grant : uplink) entry["uplink"].push_back(values(grant));
    values_.push_back(std::move(entry));
  }
  [[nodiscard]] const Json& values() const { return values_; }
  [[nodiscard]] bool ok() { return out_.flush() && ok_; }

 private:
  CellShape random_cell() {
    CellShape cell;
    cell.numerology.mu = static_cast<std::uint8_t>(random_.below(4));
    cell.prbs = static_cast<std::uint16_t>(24 + random_.below(252));
    cell.k = static_cast<std::uint8_t>(1 + random_.below(8));
    cell.cell_id = static_cast<std::uint16_t>(random_.below(1008));
    cell.shape.symbols = static_cast<std::uint8_t>(12 + random_.below(2));
    cell.shape.dmrs_res = static_cast<std::uint8_t>(12 * (1 + random_.below(4)));
    cell.shape.table = random_.below(2) == 0 ? McsTable::k64Qam : McsTable::k64QamLowSe;
    ok_ = ok_ && cell.wrong().empty();
    return cell;
  }
  std::vector<Grant> grants(const CellShape& cell, Slot slot, Direction direction, std::size_t count) {
    const auto first = static_cast<Rnti>(1 + random_.below(20));
    return test::random_grants(random_, cell, slot, direction, count, first);
  }
  static Json values(const Grant& grant) {
    return {{"rnti", grant.rnti}, {"process", grant.process},   {"ndi", grant.ndi},
            {"rv", grant.rv},     {"mcs", grant.mcs},           {"first_prb", grant.first_prb},
            {"prbs", grant.prbs}, {"tb_bytes", grant.tb_bytes}, {"new", !grant.retransmission}};
  }

  bool send(const fapi::TxDataRequest& message) {
    ok_ = ok_ && writer_->write(message, fapi::PayloadTag::kInline) == fapi::Reason::ok;
    return put(fapi::TxDataRequest::kId, writer_->pieces());
  }
  template <class Message>
  bool send(const Message& message) {
    const fapi::Written written = fapi::write_body(room_, message);
    ok_ = ok_ && written.reason == fapi::Reason::ok;
    const wire::Octets body = wire::Octets(room_).first(written.bytes);
    return put(Message::kId, {&body, 1});
  }
  bool put(fapi::MessageId id, std::span<const wire::Octets> pieces) {
    ok_ = ok_ && sender_.cut(id, pieces, 0) == fapi::Reason::ok;
    for (const auto datagram : sender_.datagrams()) {
      std::size_t bytes = 0;
      for (const wire::Octets piece : datagram) bytes += piece.size();
      std::array<std::uint8_t, 4> length{};
      wire::store_be32(length.data(), static_cast<std::uint32_t>(bytes));
      write(length);
      for (const wire::Octets piece : datagram) write(piece);
      ++datagrams_;
    }
    return ok_;
  }
  void write(wire::Octets octets) {
    out_.write(reinterpret_cast<const char*>(octets.data()), static_cast<std::streamsize>(octets.size()));
  }

  Random random_;
  std::ofstream out_;
  std::unique_ptr<fapi::TxDataWriter> writer_ = std::make_unique<fapi::TxDataWriter>();
  fapi::P7Sender sender_{1, 1472, fapi::ChecksumMode::kIfThere};
  std::vector<std::uint8_t> room_ = std::vector<std::uint8_t>(1 << 20);
  Json values_ = Json::array();
  std::size_t datagrams_ = 0;
  bool ok_ = true;
};

}  // namespace
}  // namespace splitplane::phy

int main(int argc, char** argv) {
  if (argc != 5) {
    std::cerr << "usage: slots_tool SEED COUNT OCTETS VALUES\n";
    return 2;
  }
  splitplane::phy::Emitter emitter(std::strtoull(argv[1], nullptr, 10), argv[3]);
  for (unsigned long i = std::strtoul(argv[2], nullptr, 10); i > 0; --i) emitter.emit();
  std::ofstream out(argv[4]);
  out << emitter.values().dump() << '\n';
  return emitter.ok() && out.flush() ? 0 : 1;
}
