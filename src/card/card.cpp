#include "card/card.h"

#include <algorithm>

#include "base/log.h"
#include "card/outer_checksum.h"
#include "card/swx/swx_pipeline.h"
#include "card/tables.h"
#include "engine/burst.h"
#include "returns/fence_frame.h"

namespace splitplane::nic {
namespace {

// What a port tells of a frame that it cannot give to a program, or whose outer checksum it found wrong.
PuntReason judge(const rte_mbuf* m, bool checksums) {
  if (m->nb_segs != 1) return PuntReason::segmented;
  return checksums && !outer_checksum_is_good(m) ? PuntReason::udp_checksum : PuntReason::none;
}

// The first octets, and the place in front of them for the card's own header, which is in another cache line.
void prefetch_frame(rte_mbuf* m) {
  datapath::prefetch_octets(m);
  rte_prefetch0(reinterpret_cast<const std::uint8_t*>(m) + sizeof(rte_mbuf) + RTE_PKTMBUF_HEADROOM - kIntrinsicBytes);
}

// Writes the card's own header in front of the frame, and nothing in the frame itself.
void push_intrinsic(rte_mbuf* m, unsigned port, PuntReason check) {
  // A program reads no further than the first segment.
  const bool is_whole = m->nb_segs == 1 || m->data_len >= kLongestParse;
  const unsigned length = is_whole ? std::min(m->pkt_len, 0xffffU) : m->data_len;
  m->data_off = static_cast<std::uint16_t>(m->data_off - kIntrinsicBytes);
  m->data_len = static_cast<std::uint16_t>(m->data_len + kIntrinsicBytes);
  m->pkt_len += kIntrinsicBytes;
  const std::uint64_t header =
      std::uint64_t{port} << 48 | static_cast<std::uint64_t>(check) << 40 | static_cast<std::uint64_t>(length) << 16;
  wire::store_be64(datapath::octets(m), header);
}

Expected<std::unique_ptr<Pipeline>> make_pipeline(const SpecFile& spec, PipelineIo& io, const CardSettings& settings) {
  if (settings.execution == Execution::kCompiled) {
    if (const CompiledProgram* const program = find_compiled(settings.programs, spec))
      return program->make(spec, io, settings.numa_node);
    log::warn("card {}: {} is not among the programs that were compiled with this one, so it is interpreted, slowly",
              settings.name, spec.path);
  }
  return SwxPipeline::build(spec, io, settings.numa_node);
}

}  // namespace

struct Card::State {
  State(CardSettings s, unsigned port_count) : settings(std::move(s)), io(port_count) {}

  CardSettings settings;
  PipelineIo io;
  std::unique_ptr<Pipeline> pipeline;
  std::unique_ptr<CardTables> tables;
  std::array<std::uint64_t, kMaxPorts> in{}, tx_full{};
  std::uint64_t no_headroom = 0, core_full = 0, fences = 0;
};

Card::Card(std::unique_ptr<State> state) : state_(std::move(state)) {}
Card::~Card() = default;

Expected<std::unique_ptr<Card>> Card::make(const SpecFile& spec, const CardSettings& settings) {
  if (settings.vfs == 0 || settings.vfs > kMaxVfs) {
    return fail("card {}: {} VFs; allowed: 1 to {}", settings.name, settings.vfs, kMaxVfs);
  }
  if (std::max(settings.punt_n3, settings.punt_air) >= settings.vfs) {
    return fail("card {}: VF {} is to get what the card does not serve; allowed: 0 to {}", settings.name,
                std::max(settings.punt_n3, settings.punt_air), settings.vfs - 1);
  }
  if (spec.program != "gnb" && spec.program != "l2fwd" && spec.program != "p4wire") {
    return fail("{}:1: is of program '{}'; allowed: gnb, l2fwd, p4wire", spec.path, spec.program);
  }
  const unsigned ports = kFirstVf + settings.vfs;
  auto state = std::make_unique<State>(settings, ports);
  auto pipeline = make_pipeline(spec, state->io, settings);
  if (!pipeline) return tl::unexpected(pipeline.error());
  state->pipeline = std::move(*pipeline);
  auto program = GnbProgram::of(*state->pipeline, settings);
  if (!program) return tl::unexpected(program.error());
  state->tables = std::make_unique<CardTables>(std::move(*program), settings);

  // The number of a mirror session is the port that it leads to. Session 0 is unused, because p4c-dpdk reserves it.
  for (unsigned port = 1; port <= state->io.sink(); ++port)
    state->pipeline->set_mirror(port, port, settings.copy_clones);
  state->pipeline->registers("n_vf").write(0, settings.vfs);
  return std::unique_ptr<Card>(new Card(std::move(state)));
}

unsigned Card::prepare(rte_mbuf** mbufs, unsigned n, unsigned port, std::span<rte_mbuf* const> ahead) {
  State& s = *state_;
  const bool from_vf = port >= kFirstVf, checksums = port == kN3Port && s.settings.verify_checksum;
  s.in[port] += n;
  for (unsigned i = 0; i < n; ++i) prefetch_frame(mbufs[i]);
  unsigned kept = 0;
  for (unsigned i = 0; i < n; ++i) {
    rte_mbuf* const m = mbufs[i];
    if (i < ahead.size()) {
      rte_prefetch0(ahead[i]);
      prefetch_frame(ahead[i]);
    }
    // A program may read a little beyond the end of a short frame before it sees that.
    const bool has_room = rte_pktmbuf_headroom(m) >= kNeededHeadroom && m->data_off + kLongestParse <= m->buf_len;
    if (!has_room) [[unlikely]] {
      rte_pktmbuf_free(m);
      ++s.no_headroom;
      continue;
    }
    push_intrinsic(m, port, from_vf ? PuntReason::none : judge(m, checksums));
    mbufs[kept++] = m;
  }
  return kept;
}

void Card::run(rte_mbuf** mbufs, unsigned n) {
  state_->io.hand(mbufs, n);
  state_->pipeline->drain();
}

void Card::take_over(rte_mbuf* m, unsigned port) {
  state_->io.outputs[port].append(m);
}

CardOutput& Card::out(unsigned port) {
  return state_->io.outputs[port];
}
std::vector<std::uint16_t>& Card::pending() {
  return state_->io.pending;
}
void Card::count_tx_full(unsigned port, unsigned frames) {
  state_->tx_full[port] += frames;
}
void Card::count_core_full(unsigned frames) {
  state_->core_full += frames;
}

CardCounters Card::counters() const {
  const State& s = *state_;
  CardCounters all;
  for (unsigned port = 0; port < ports(); ++port) {
    const PipelineOutput& out = s.io.outputs[port];
    all.ports.push_back({.in = s.in[port], .out = out.frames, .clones = out.clones, .tx_full = s.tx_full[port]});
    all.clones += out.clones;
    all.tx_full += s.tx_full[port];
  }
  all.clones += s.io.clones_sunk;
  all.clones_sunk = s.io.clones_sunk;
  all.clones_failed = s.io.clones_failed;
  all.fences = s.fences;
  all.drops[static_cast<std::size_t>(CardDrop::no_headroom)] = s.no_headroom;
  all.drops[static_cast<std::size_t>(CardDrop::core_full)] = s.core_full;
  s.tables->program().add_reasons(all);
  all.held = s.io.handed - s.io.sent - s.pipeline->dropped();
  all.dropped = s.no_headroom + s.core_full + s.io.sunk + s.pipeline->dropped();
  std::uint64_t reasons = 0;
  for (const std::uint64_t frames : all.drops) reasons += frames;
  all.reasons_add_up = program() != "gnb" || reasons + s.io.sunk == all.dropped;
  return all;
}

Expected<void> Card::install(std::span<const CardBearer> bearers, bool restart) {
  if (program() != "gnb") {
    return fail("card {}: program {} has no bearers; allowed: program gnb", state_->settings.name, program());
  }
  return state_->tables->install(bearers, restart);
}
Expected<void> Card::remove(std::span<const BearerId> ids) {
  return state_->tables->remove(ids);
}
Expected<std::size_t> Card::would_install(std::span<const CardBearer> bearers) {
  if (program() != "gnb") {
    return fail("card {}: program {} has no bearers; allowed: program gnb", state_->settings.name, program());
  }
  return state_->tables->would_install(bearers);
}
Expected<void> Card::can_remove(std::span<const BearerId> ids) {
  return state_->tables->can_remove(ids);
}
Expected<void> Card::can_lease(std::span<const CardLease> leases) const {
  return state_->tables->can_lease(leases);
}
Expected<void> Card::set_peer(const CardPeer& peer) {
  if (program() != "gnb") {
    return fail("card {}: program {} has no peers; allowed: program gnb", state_->settings.name, program());
  }
  return state_->tables->program().set_peer(peer);
}
Expected<void> Card::set_markers(std::uint64_t to_host, unsigned vf) {
  return state_->tables->program().set_markers(to_host, vf);
}
Expected<void> Card::set_spread(unsigned first, unsigned count, VfSpread how) {
  return state_->tables->program().set_spread(first, count, how);
}
void Card::unset_peer(unsigned number) {
  state_->tables->program().unset_peer(number);
}
Expected<void> Card::set_marks(const CardMarks& tos) {
  if (program() != "gnb") {
    return fail("card {}: program {} marks nothing; allowed: program gnb", state_->settings.name, program());
  }
  return state_->tables->program().set_marks(tos);
}
Expected<void> Card::set_leases(std::span<const CardLease> leases) {
  return state_->tables->set_leases(leases);
}
Expected<void> Card::begin(std::span<const CardBeginning> bearers) {
  return state_->tables->begin(bearers);
}

Expected<CardFences> Card::fence(std::span<const BearerId> ids, std::uint64_t token, rte_mempool* pool) {
  State& s = *state_;
  constexpr std::uint8_t kN3 = 1, kCopies = 2;
  std::array<std::uint8_t, kMaxVfs> gets{};
  for (const BearerId id : ids) {
    const CardBearer* const bearer = find(id);
    if (bearer == nullptr)
      return fail("bearer {} is not on card {}; allowed: one of its bearers", id.value, s.settings.name);
    gets[bearer->vf_n3] |= kN3;
    gets[bearer->copies_vf] |= kCopies;
  }
  const auto bytes = static_cast<std::uint16_t>(datapath::fence_bytes(ids.size()));
  std::array<rte_mbuf*, kMaxVfs> fences{};
  for (unsigned vf = 0; vf < gets.size(); ++vf) {
    if (gets[vf] == 0) continue;
    rte_mbuf* const m = rte_pktmbuf_alloc(pool);
    auto* const frame = m == nullptr ? nullptr : rte_pktmbuf_append(m, bytes);
    if (frame == nullptr) {
      rte_pktmbuf_free(m);
      for (rte_mbuf* made : fences) rte_pktmbuf_free(made);
      return fail("card {}: no buffer for a fence; allowed: a larger memory.mbufs", s.settings.name);
    }
    datapath::write_fence(token, ids, reinterpret_cast<std::uint8_t*>(frame));
    fences[vf] = m;
  }
  CardFences sent;
  for (unsigned vf = 0; vf < gets.size(); ++vf) {
    if (fences[vf] == nullptr) continue;
    PipelineOutput& out = s.io.outputs[kFirstVf + vf];
    out.append(fences[vf]);
    ++out.clones;
    ++s.fences;
    sent.n3 += (gets[vf] & kN3) != 0 ? 1 : 0;
    sent.copies += (gets[vf] & kCopies) != 0 ? 1 : 0;
  }
  return sent;
}

Expected<CardNumbers> Card::numbers(BearerId id) const {
  return state_->tables->numbers(id);
}
std::vector<BearerNumbers> Card::numbers_after(std::uint32_t after, std::size_t limit) const {
  return state_->tables->numbers_after(after, limit);
}
const CardBearer* Card::find(BearerId id) const {
  return state_->tables->find(id);
}
std::size_t Card::bearer_count() const {
  return state_->tables->count();
}
std::size_t Card::served_count() const {
  return state_->tables->served();
}
std::vector<BearerId> Card::bearers() const {
  return state_->tables->bearers();
}
const CardSettings& Card::settings() const {
  return state_->settings;
}
const std::string& Card::program() const {
  return state_->pipeline->spec().program;
}
bool Card::is_compiled() const {
  return state_->pipeline->is_compiled();
}
bool Card::by_ue_address() const {
  return state_->tables->program().by_ue_address();
}
unsigned Card::ports() const {
  return kFirstVf + state_->settings.vfs;
}

Expected<void> Card::wire(unsigned from, unsigned to) {
  PipelineTable* const table = state_->pipeline->table("wire");
  if (table == nullptr)
    return fail("card {}: the program has no wires; allowed: program p4wire", state_->settings.name);
  if (std::max(from, to) >= ports()) {
    return fail("card {}: port {} is none of its own; allowed: 0 to {}", state_->settings.name, std::max(from, to),
                ports() - 1);
  }
  const auto action = table->action("to_port", std::array<std::string_view, 1>{"port"});
  if (!action) return tl::unexpected(action.error());
  if (!table->set(std::array<std::uint64_t, 1>{from}, *action, std::array<std::uint64_t, 1>{to})) {
    return fail("card {}: the table of wires is full; allowed: {}", state_->settings.name, table->size());
  }
  return {};
}

Expected<void> Card::spread(unsigned from) {
  PipelineTable* const table = state_->pipeline->table("wire");
  if (table == nullptr)
    return fail("card {}: the program has no wires; allowed: program p4wire", state_->settings.name);
  if (from >= ports()) {
    return fail("card {}: port {} is none of its own; allowed: 0 to {}", state_->settings.name, from, ports() - 1);
  }
  const auto action = table->action("spread", {});
  if (!action) return tl::unexpected(action.error());
  if (!table->set(std::array<std::uint64_t, 1>{from}, *action, {})) {
    return fail("card {}: the table of wires is full; allowed: {}", state_->settings.name, table->size());
  }
  return {};
}

}  // namespace splitplane::nic
