#include "engine/guest.h"

#include <linux/futex.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <ctime>

namespace splitplane::datapath {
namespace {

// futex(2). C++20 has no wait on an atomic with an end.
long futex(std::atomic<std::uint32_t>& word, int operation, std::uint32_t value, const timespec* longest) {
  static_assert(sizeof word == sizeof(std::uint32_t) && std::atomic<std::uint32_t>::is_always_lock_free);
  return ::syscall(SYS_futex, &word, operation, value, longest, nullptr, 0);
}

}  // namespace

bool Hosting::take(Guest& guest) {
  if (guests_ == kMostGuests || own_queues() + queues() + guest.sources().size() > power::kMaxQueues) return false;
  all_[guests_++] = &guest;
  return true;
}

void Hosting::send_home(const Guest& guest) {
  for (std::size_t i = 0; i < guests_; ++i) goes_[i] = goes_[i] || all_[i] == &guest;
}

void Hosting::give_back(bool all) {
  std::size_t left = 0;
  for (std::size_t i = 0; i < guests_; ++i) {
    if (all || goes_[i]) {
      all_[i]->home().taken_back();  // the last access: its thread goes on
    } else {
      all_[left++] = all_[i];
    }
  }
  guests_ = left;
  goes_.fill(false);
}

std::size_t Hosting::queues() const {
  std::size_t sum = 0;
  for (const Guest* guest : guests()) sum += guest->sources().size();
  return sum;
}

// This object outlives its thread's stay, so that the thread may go on before it is woken.
void Hosting::taken_back() {
  offered_.store(nullptr, std::memory_order_release);
  homecomings_.fetch_add(1, std::memory_order_release);
  futex(homecomings_, FUTEX_WAKE_PRIVATE, 1, nullptr);
}

// Both sides write first and look then, so at least one of the two sees the other, and one of them ends the stay.
void Hosting::withdraw() {
  if (leaves_.exchange(false)) return;
  is_withdrawn_.store(true);
  if (offered_.load() != nullptr && is_withdrawn_.exchange(false)) taken_back();
}

void Hosting::stay(Guest& guest, const std::function<bool()>& rest) {
  constexpr timespec kAgain{.tv_sec = kAsksAgain.count(), .tv_nsec = 0};
  bool rests = rest();
  offered_.store(&guest);
  if (is_withdrawn_.exchange(false)) taken_back();
  for (;;) {
    const std::uint32_t seen = homecomings_.load(std::memory_order_acquire);
    if (offered_.load(std::memory_order_acquire) == nullptr) return;
    const bool ended =
        futex(homecomings_, FUTEX_WAIT_PRIVATE, seen, rests ? nullptr : &kAgain) != 0 && errno == ETIMEDOUT;
    if (ended) rests = rest();
  }
}

}  // namespace splitplane::datapath
