#include "engine/guest.h"

namespace splitplane::datapath {

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

// This object outlives its thread's stay, so that the thread may go on before it is notified.
void Hosting::taken_back() {
  offered_.store(nullptr, std::memory_order_release);
  offered_.notify_one();
}

// Both sides write first and look then, so at least one of the two sees the other, and one of them ends the stay.
void Hosting::withdraw() {
  if (leaves_.exchange(false)) return;
  is_withdrawn_.store(true);
  if (offered_.load() != nullptr && is_withdrawn_.exchange(false)) taken_back();
}

void Hosting::stay(Guest& guest) {
  offered_.store(&guest);
  if (is_withdrawn_.exchange(false)) taken_back();
  while (offered_.load(std::memory_order_acquire) != nullptr) offered_.wait(&guest, std::memory_order_acquire);
}

}  // namespace splitplane::datapath
