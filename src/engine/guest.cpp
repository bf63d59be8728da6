#include "engine/guest.h"

namespace splitplane::datapath {

bool Hosting::take(Guest& guest, std::size_t queues_now) {
  if (guests_ == kMostGuests || queues_now + guest.sources().size() > power::kMaxQueues) return false;
  all_[guests_++] = &guest;
  return true;
}

void Hosting::give_back(Guest& guest) {
  const auto end = all_.begin() + static_cast<std::ptrdiff_t>(guests_);
  const auto at = std::find(all_.begin(), end, &guest);
  if (at == end) return;
  std::copy(at + 1, end, at);
  --guests_;
  guest.home().taken_back();  // the last access: its thread goes on
}

void Hosting::give_all_back() {
  while (guests_ != 0) give_back(*all_[guests_ - 1]);
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

void Hosting::stay(Guest& guest) {
  offered_.store(&guest, std::memory_order_release);
  while (offered_.load(std::memory_order_acquire) != nullptr) offered_.wait(&guest, std::memory_order_acquire);
}

}  // namespace splitplane::datapath
