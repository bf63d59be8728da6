// HARQ at the end that sends transport blocks: the processes of one UE and direction (TS 38.321 5.3.2, 5.4.2).
//
// Who owns what. start() moves the TB into its process, and the process owns it until it is acknowledged, given up or
// discarded; then it goes to `release`. Until then nothing may change the TB: a retransmission reads the same octets.
// The PHY borrows the TB of a slot until that slot is over. A late ACK of an earlier transmission may release it before
// that: what `release` frees must stay readable for the rest of the slot.
// - A contiguous TB (a buffer of octets) has no tie to RLC: the octets were copied or ciphered into it.
// - A scatter list (`iov`) is a TB, too: its headers lie in its own memory, and it holds a reference to the buffer of
//   each SDU that it points into. So RLC may discard an SDU or receive its acknowledgement while the process still
//   reads the octets; the buffer is freed with the last reference. None of those that share the buffer may write into
//   it. So octets are ciphered before the scatter list refers to them.
//
// It has one owner thread, allocates nothing, and gets the slot as an argument.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <concepts>
#include <utility>

#include "base/outcome_list.h"
#include "phy/slots/grant.h"

namespace splitplane::phy {

// What became of a feedback (ACK or NACK).
#define SPLITPLANE_FEEDBACKS(X)                                                                       \
  X(acked, "the TB arrived: it is released")                                                          \
  X(late, "ACK of an earlier transmission, or after its time was over: the TB is released")           \
  X(nacked, "the TB did not arrive: it waits to be sent again")                                       \
  X(given_up, "the TB did not arrive, and was sent as often or waits as long as it may: RLC repairs") \
  X(duplicate, "the feedback of this transmission came before")                                       \
  X(stale, "NACK of an earlier transmission than the last one, or feedback of another TB")            \
  X(idle, "the process has sent nothing that waits for feedback")                                     \
  X(no_process, "there is no such process, or none that sent anything in this slot")

SPLITPLANE_OUTCOMES(Feedback, SPLITPLANE_FEEDBACKS)

struct HarqSenderCounters {
  std::uint64_t blocks = 0;           // new TBs
  std::uint64_t refused = 0;          // new TBs for a process that is busy or does not exist
  std::uint64_t retransmissions = 0;  // TBs sent again
  std::uint64_t no_feedback = 0;      // transmissions whose feedback did not come in time: as if a NACK had come
  std::uint64_t discarded = 0;        // TBs that discard_all() released
  std::array<std::uint64_t, kFeedbackCount> feedback{};  // by what became of it; no_feedback counts here, too
  // Transmissions that did not arrive, as far as is known. A TB that was given up because it waited counts once more.
  [[nodiscard]] std::uint64_t missed() const { return counted(Feedback::nacked) + counted(Feedback::given_up); }
  [[nodiscard]] std::uint64_t counted(Feedback what) const { return feedback[static_cast<std::size_t>(what)]; }
};

struct HarqSettings {
  std::uint8_t processes = kHarqProcesses;  // 1..16; another number counts as the nearest one
  std::uint8_t max_retransmissions = 4;     // of one TB, after its first transmission
  std::uint16_t feedback_slots = 40;        // a transmission without feedback for this many slots counts as lost
  std::uint16_t waiting_slots = 400;        // after its last transmission a TB waits so long to be sent again
};

// The order of redundancy versions of one TB's transmissions (TS 38.214 5.1.2.1 and 6.1.2.1 leave it to the scheduler;
// this one is what table 6.1.2.1-2 begins with).
inline constexpr std::array<std::uint8_t, 4> kRvOrder{0, 2, 3, 1};

// What the scheduler must know of a TB that waits to be sent again.
struct Retransmission {
  std::uint16_t ue = 0;
  std::uint8_t process = 0, ndi = 0, rv = 0, mcs = 0;
  std::uint16_t prbs = 0;
  std::uint32_t tb_bytes = 0;
};

// A transport block, or what holds on to one. One that was moved from or made empty owns nothing.
template <class T>
concept HarqBlock = std::movable<T> && std::default_initializable<T>;

template <HarqBlock Tb>
class HarqSender {
 public:
  // `of_all`: counts the same, for all senders that share it; it outlives them.
  explicit HarqSender(const HarqSettings& settings = {}, HarqSenderCounters* of_all = nullptr)
      : all_(static_cast<std::uint16_t>((1U << processes(settings)) - 1)), settings_(settings), of_all_(of_all) {
    settings_.processes = processes(settings);
  }

  // The process that the next new TB gets: the one of the lowest number that is idle. kNoProcess if all are busy.
  [[nodiscard]] std::uint8_t free_process() const {
    const auto idle = static_cast<std::uint16_t>(all_ & ~(sent_ | waiting_));
    return idle == 0 ? kNoProcess : static_cast<std::uint8_t>(std::countr_zero(idle));
  }
  // The NDI that a new TB of this process has.
  [[nodiscard]] std::uint8_t next_ndi(std::uint8_t process) const { return processes_[process].ndi ^ 1; }
  // The last NDI of each process, a bit each. A UE that comes back from another place goes on with its own ones: else
  // it would take a new TB for a repetition. Only while no TB is here.
  [[nodiscard]] std::uint16_t ndis() const {
    std::uint16_t all = 0;
    for (std::size_t i = 0; i < processes_.size(); ++i) all |= static_cast<std::uint16_t>(processes_[i].ndi << i);
    return all;
  }
  void set_ndis(std::uint16_t all) {
    for (std::size_t i = 0; i < processes_.size(); ++i) processes_[i].ndi = static_cast<std::uint8_t>(all >> i & 1);
  }

  // Gives a new TB to the idle process that the grant names, and counts it as sent in the grant's slot. False, and
  // counted as refused: the process is busy or there is none of this number. The TB ends with this call then.
  bool start(const Grant& grant, Tb tb) {
    if (grant.process >= settings_.processes || busy(grant.process)) {
      add(&HarqSenderCounters::refused);
      return false;
    }
    Process& p = processes_[grant.process];
    p.tb = std::move(tb);
    p.first_slot = grant.slot;
    p.tb_bytes = grant.tb_bytes;
    p.prbs = grant.prbs;
    p.mcs = grant.mcs;
    p.ndi ^= 1;
    p.retransmissions = 0;
    p.used = true;
    p.transmit(grant.slot);
    sent_ |= bit(grant.process);
    add(&HarqSenderCounters::blocks);
    return true;
  }
  // Counts the waiting TB of a process as sent again in this slot.
  void retransmit(std::uint8_t process, Slot slot) {
    Process& p = processes_[process];
    ++p.retransmissions;
    p.transmit(slot);
    waiting_ &= static_cast<std::uint16_t>(~bit(process));
    sent_ |= bit(process);
    add(&HarqSenderCounters::retransmissions);
  }

  // True if the TB of the process was reported missing and waits to be sent again.
  [[nodiscard]] bool waits(std::uint8_t process) const { return (waiting_ & bit(process)) != 0; }
  [[nodiscard]] bool busy(std::uint8_t process) const { return ((sent_ | waiting_) & bit(process)) != 0; }
  // How many TBs are on the air or wait to be sent again.
  [[nodiscard]] unsigned open() const {
    return static_cast<unsigned>(std::popcount(static_cast<std::uint16_t>(sent_ | waiting_)));
  }
  // True if a TB is on the air or waits to be sent again.
  [[nodiscard]] bool active() const { return (sent_ | waiting_) != 0; }
  // The process that sent in this slot, for a feedback that names none; kNoProcess if there is none. A TB that is open
  // goes before one that is done. The UE had one TB in the slot at most.
  [[nodiscard]] std::uint8_t process_in(Slot sent_in) const {
    for (auto open = static_cast<std::uint16_t>(sent_ | waiting_); open != 0;
         open &= static_cast<std::uint16_t>(open - 1)) {
      const auto process = static_cast<std::uint8_t>(std::countr_zero(open));
      if (processes_[process].find(sent_in) != kRemembered) return process;
    }
    for (std::uint8_t process = 0; process < settings_.processes; ++process) {
      if (processes_[process].used && processes_[process].slot == sent_in) return process;
    }
    return kNoProcess;
  }
  // The TB of a busy process.
  [[nodiscard]] const Tb& block(std::uint8_t process) const { return processes_[process].tb; }
  // The size of the last TB of a process.
  [[nodiscard]] std::uint32_t tb_bytes(std::uint8_t process) const { return processes_[process].tb_bytes; }
  // The slot of the first transmission of a busy process's TB: when the UE built it, in the uplink.
  [[nodiscard]] Slot first_slot(std::uint8_t process) const { return processes_[process].first_slot; }
  // What is to be sent again of a process that waits. `ue` is passed on.
  [[nodiscard]] Retransmission waiting(std::uint8_t process, std::uint16_t ue) const {
    const Process& p = processes_[process];
    return {ue, process, p.ndi, kRvOrder[(p.retransmissions + 1U) % kRvOrder.size()], p.mcs, p.prbs, p.tb_bytes};
  }

  // Takes the feedback of what the process sent in `sent_in`. It calls release(Tb) if the TB is done. An ACK counts for
  // each of the last kRemembered transmissions of the TB whose feedback did not come before.
  template <class Release>
  Feedback feedback(std::uint8_t process, Slot sent_in, bool ack, Release&& release) {
    return count(judge(process, sent_in, ack, release));
  }

  // Once a slot: transmissions without feedback count as lost, and TBs that waited too long are given up: they may need
  // more PRBs than a slot has by now. It calls lost(process) for those that wait now to be sent again, and release(Tb)
  // for those that are given up. True: one of these waited before.
  template <class Lost, class Release>
  bool expire(Slot now, Lost&& lost, Release&& release) {
    bool waited = false;
    for (std::uint16_t open = waiting_; open != 0; open &= static_cast<std::uint16_t>(open - 1)) {
      const auto process = static_cast<std::uint8_t>(std::countr_zero(open));
      if (!is_over(processes_[process].slot, settings_.waiting_slots, now)) continue;
      count(finish(process, release, Feedback::given_up));
      waited = true;
    }
    for (std::uint16_t open = sent_; open != 0; open &= static_cast<std::uint16_t>(open - 1)) {
      const auto process = static_cast<std::uint8_t>(std::countr_zero(open));
      if (!is_over(processes_[process].slot, settings_.feedback_slots, now)) continue;
      add(&HarqSenderCounters::no_feedback);
      if (count(miss(process, release)) == Feedback::nacked) lost(process);
    }
    return waited;
  }

  // The UE is released or reset: all TBs go. What `release` frees must stay readable if a slot with one is on its way
  // to the PHY.
  template <class Release>
  void discard_all(Release&& release) {
    for (auto open = static_cast<std::uint16_t>(sent_ | waiting_); open != 0;
         open &= static_cast<std::uint16_t>(open - 1)) {
      add(&HarqSenderCounters::discarded);
      release(std::exchange(processes_[std::countr_zero(open)].tb, Tb{}));
    }
    sent_ = waiting_ = 0;
  }

  [[nodiscard]] const HarqSenderCounters& counters() const { return counters_; }

 private:
  static constexpr std::size_t kRemembered = 8;  // transmissions of a TB; with more of them, the last ones

  struct Process {
    Tb tb{};
    Slot slot;                            // of the last transmission
    Slot first_slot;                      // of the first one
    std::array<Slot, kRemembered> slots;  // of the last ones, by number modulo kRemembered
    std::uint8_t answered = 0;            // bit n: the feedback of slots[n] came
    std::uint32_t tb_bytes = 0;
    std::uint16_t prbs = 0;
    std::uint8_t mcs = 0, ndi = 0, retransmissions = 0;
    bool used = false;

    void transmit(Slot in) {
      slot = in;
      slots[retransmissions % kRemembered] = in;
      if (retransmissions == 0) answered = 0;
      answered &= static_cast<std::uint8_t>(~place_bit(retransmissions % kRemembered));
    }
    // The place in `slots` of this transmission of the present TB; kRemembered if there is none.
    [[nodiscard]] std::size_t find(Slot sent_in) const {
      const std::size_t count = std::min<std::size_t>(retransmissions + std::size_t{1}, kRemembered);
      for (std::size_t at = 0; at < count; ++at) {
        if (slots[at] == sent_in) return at;
      }
      return kRemembered;
    }
    static constexpr std::uint8_t place_bit(std::size_t at) { return static_cast<std::uint8_t>(1U << at); }
  };
  static constexpr std::uint16_t bit(std::uint8_t process) { return static_cast<std::uint16_t>(1U << process); }

  static constexpr std::uint8_t processes(const HarqSettings& settings) {
    return std::clamp<std::uint8_t>(settings.processes, 1, kHarqProcesses);
  }
  // A grant may be for a slot to come, but not for one in more than a second. So what seems to be that far ahead is
  // half a cycle or more behind: the loop stood still.
  static bool is_over(Slot slot, std::uint16_t slots, Slot now) {
    constexpr std::uint32_t kFramesAhead = 100;
    const std::int32_t age = distance(slot, now);
    return age >= slots || age < -static_cast<std::int32_t>(kFramesAhead * now.numerology.slots_per_frame());
  }

  void add(std::uint64_t HarqSenderCounters::* what) {
    ++(counters_.*what);
    if (of_all_ != nullptr) ++(of_all_->*what);
  }
  Feedback count(Feedback what) {
    ++counters_.feedback[static_cast<std::size_t>(what)];
    if (of_all_ != nullptr) ++of_all_->feedback[static_cast<std::size_t>(what)];
    return what;
  }

  template <class Release>
  Feedback judge(std::uint8_t process, Slot sent_in, bool ack, Release&& release) {
    if (process >= settings_.processes) return Feedback::no_process;
    Process& p = processes_[process];
    const bool of_the_last = p.used && p.slot == sent_in;
    if (!busy(process)) return of_the_last ? Feedback::duplicate : Feedback::idle;
    const std::size_t at = p.find(sent_in);
    if (at == kRemembered) return Feedback::stale;
    if ((p.answered & Process::place_bit(at)) != 0) return of_the_last ? Feedback::duplicate : Feedback::stale;
    const bool in_time = of_the_last && !waits(process);
    if (!ack && !in_time) return of_the_last ? Feedback::duplicate : Feedback::stale;
    p.answered |= Process::place_bit(at);
    if (!ack) return miss(process, release);
    return finish(process, release, in_time ? Feedback::acked : Feedback::late);
  }

  template <class Release>
  Feedback miss(std::uint8_t process, Release&& release) {
    if (processes_[process].retransmissions == settings_.max_retransmissions)
      return finish(process, release, Feedback::given_up);
    sent_ &= static_cast<std::uint16_t>(~bit(process));
    waiting_ |= bit(process);
    return Feedback::nacked;
  }

  template <class Release>
  Feedback finish(std::uint8_t process, Release&& release, Feedback what) {
    sent_ &= static_cast<std::uint16_t>(~bit(process));
    waiting_ &= static_cast<std::uint16_t>(~bit(process));
    release(std::exchange(processes_[process].tb, Tb{}));
    return what;
  }

  std::uint16_t all_;
  std::uint16_t sent_ = 0, waiting_ = 0;  // processes whose TB waits for feedback; to be sent again. The rest is idle
  HarqSettings settings_;
  HarqSenderCounters* of_all_;
  std::array<Process, kHarqProcesses> processes_{};
  HarqSenderCounters counters_;
};

}  // namespace splitplane::phy
