// What every compiled program shares: its tables and registers for the control path, and the loop over a burst. The
// generated part is `Program`: one function that takes a packet from one place of waiting to the next (card/aot).
//
//   stage 0: all packets start; each stops before the first large table, whose row is prefetched
//   stage 1: it looks up; the registers of the slot that the row names are prefetched
//   stage 2: the rest, unless a packet comes to another large table; and so on
//   end:     frames and clones go to their outputs in the order of arrival
#pragma once

#include <array>
#include <bit>

#include "card/compiled/compiled_table.h"

namespace splitplane::nic {

// The memory of register arrays of one size that are indexed together: one record for each index.
struct RegisterGroup {
  std::uint64_t records = 0;  // a power of two
  unsigned record_bytes = 0;
};
// Where an array of the file stands: one of 8 octets in each record of its group.
struct RegisterPlace {
  unsigned group = 0, offset = 0;
};

class CompiledPipeline : public Pipeline {
 public:
  static constexpr unsigned kMirrorSlots = 4, kMirrorSessions = 128;  // powers of two, as in SwxPipeline

  [[nodiscard]] std::uint64_t dropped() const override { return dropped_; }
  [[nodiscard]] bool is_compiled() const override { return true; }
  [[nodiscard]] PipelineTable* table(std::string_view name) override;
  void set_mirror(std::uint32_t session, std::uint32_t port, bool copy) override;
  [[nodiscard]] std::uint64_t read_register(std::size_t array, std::uint32_t index) const override;
  void write_register(std::size_t array, std::uint32_t index, std::uint64_t value) override;

 protected:
  struct Mirror {
    std::uint32_t port = 0;
    bool copy = false;
  };

  CompiledPipeline(const SpecFile& spec, PipelineIo& io) : Pipeline(spec, io) {}
  // Takes the memory; the error says that there is none.
  Expected<void> allocate(std::span<const RegisterGroup> groups, std::span<const RegisterPlace> places, int numa_node);

  std::vector<CompiledTable> tables_;
  std::vector<Memory> registers_;  // of each group
  std::array<Mirror, kMirrorSessions> mirrors_{};
  std::uint64_t dropped_ = 0;

 private:
  [[nodiscard]] std::uint8_t* register_at(std::size_t array, std::uint32_t index) const;

  std::span<const RegisterGroup> groups_;
  std::span<const RegisterPlace> places_;
};

namespace compiled {

inline constexpr unsigned kBatch = 32;  // packets that wait at the same time; a bit of a word for each

// The part of a packet's state that is the same for all programs.
struct PacketState {
  static constexpr std::uint32_t kDropped = UINT32_MAX;

  rte_mbuf* mbuf = nullptr;
  std::uint8_t* begin = nullptr;  // first octet of the frame that is sent
  std::uint8_t* at = nullptr;     // behind the headers that were extracted
  std::uint32_t port = 0;
  std::uint8_t place = 0;         // where the program goes on
  std::uint8_t mirror_slots = 0;  // a bit for each slot that is in use
  std::array<std::uint8_t, CompiledPipeline::kMirrorSlots> sessions{};

  void mirror(std::uint64_t slot, std::uint64_t session) {
    slot &= CompiledPipeline::kMirrorSlots - 1;
    sessions[slot] = static_cast<std::uint8_t>(session & (CompiledPipeline::kMirrorSessions - 1));
    mirror_slots = static_cast<std::uint8_t>(mirror_slots | 1U << slot);
  }
};

template <unsigned kTables, unsigned kGroups>
struct ProgramMemory {
  std::array<Rows, kTables> tables;
  std::array<std::uint8_t*, kGroups> registers;
};

// Record `index` of a group of register arrays.
template <unsigned kRecordBytes>
[[nodiscard]] inline std::uint8_t* record_at(std::uint8_t* group, std::uint64_t index) {
  return group + index * kRecordBytes;
}
[[nodiscard]] inline std::uint64_t read_number(const std::uint8_t* at) {
  std::uint64_t v;
  std::memcpy(&v, at, sizeof v);
  return v;
}
inline void write_number(std::uint8_t* at, std::uint64_t value) {
  std::memcpy(at, &value, sizeof value);
}

template <class Program>
class Run final : public CompiledPipeline {
 public:
  static Expected<std::unique_ptr<Pipeline>> make(const SpecFile& spec, PipelineIo& io, int numa_node) {
    std::unique_ptr<Run> run(new Run(spec, io));
    if (auto done = run->allocate(Program::kGroups, Program::kRegisters, numa_node); !done)
      return tl::unexpected(done.error());
    for (std::size_t i = 0; i < run->tables_.size(); ++i) run->program_.tables[i] = run->tables_[i].rows();
    for (std::size_t i = 0; i < run->registers_.size(); ++i) run->program_.registers[i] = run->registers_[i].get();
    return run;
  }

  void drain() override {
    while (io_.left != 0) {
      const unsigned n = std::min(io_.left, kBatch);
      rte_mbuf** const mbufs = io_.next;
      io_.next += n;
      io_.left -= n;
      run(mbufs, n);
    }
  }

 private:
  using Packet = typename Program::Packet;

  Run(const SpecFile& spec, PipelineIo& io) : CompiledPipeline(spec, io) {}

  void run(rte_mbuf** mbufs, unsigned n) {
    std::array<std::uint32_t, Program::kStages> waiting{};  // bit i: packet i goes on in this stage
    for (unsigned i = 0; i < n; ++i) {
      Packet& packet = packets_[i];
      packet.mbuf = mbufs[i];
      packet.at = rte_pktmbuf_mtod(mbufs[i], std::uint8_t*);
      packet.mirror_slots = 0;
      packet.place = 0;
      go_on(waiting, i, 0);
    }
    for (unsigned stage = 1; stage < Program::kStages; ++stage) {
      for (std::uint32_t left = waiting[stage]; left != 0; left &= left - 1)
        go_on(waiting, static_cast<unsigned>(std::countr_zero(left)), stage);
    }
    for (unsigned i = 0; i < n; ++i) leave(packets_[i]);
  }

  void go_on(std::array<std::uint32_t, Program::kStages>& waiting, unsigned i, unsigned stage) {
    const unsigned next = Program::step(program_, packets_[i], stage);
    if (next != 0) waiting[next] |= 1U << i;
  }

  void leave(Packet& packet) {
    rte_mbuf* const m = packet.mbuf;
    const bool is_dropped = packet.port >= io_.outputs.size();
    if (!is_dropped || (Program::kMirrors && packet.mirror_slots != 0)) {
      const auto offset = static_cast<std::uint16_t>(packet.begin - static_cast<std::uint8_t*>(m->buf_addr));
      const auto longer = static_cast<std::uint16_t>(m->data_off - offset);  // modulo 2^16
      const auto length = static_cast<std::uint16_t>(m->data_len + longer);
      m->pkt_len = m->pkt_len - m->data_len + length;
      m->data_len = length;
      m->data_off = offset;
    }
    if constexpr (Program::kMirrors) {
      for (std::uint32_t slots = packet.mirror_slots; slots != 0; slots &= slots - 1) {
        const Mirror& to = mirrors_[packet.sessions[static_cast<unsigned>(std::countr_zero(slots))]];
        PipelineOutput& out = io_.outputs[to.port];
        if (to.copy) {
          out.send_copy(m);
        } else {
          out.send_reference(m);
        }
      }
    }
    if (is_dropped) [[unlikely]] {
      rte_pktmbuf_free(m);
      ++dropped_;
    } else {
      io_.outputs[packet.port].send(m);
    }
  }

  ProgramMemory<Program::kTableCount, Program::kGroupCount> program_{};
  std::array<Packet, kBatch> packets_{};
};

}  // namespace compiled
}  // namespace splitplane::nic
