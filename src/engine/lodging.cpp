#include "engine/lodging.h"

#include <chrono>
#include <thread>

namespace splitplane::datapath {
namespace {

using namespace std::chrono_literals;

constexpr auto kLook = 10us;
constexpr auto kPatience = 1s;  // of a loop that has heard of it, until its round is over

// Nothing: it did not leave.
Guest* wait_for(Hosting& guest) {
  const auto end = std::chrono::steady_clock::now() + kPatience;
  while (guest.offered() == nullptr) {
    // One that has left already offers itself in a moment, and would wait for ever if it were not taken.
    if (std::chrono::steady_clock::now() > end && guest.stays_after_all()) return nullptr;
    std::this_thread::sleep_for(kLook);
  }
  return guest.offered();
}

}  // namespace

Lodged lodge(const LodgingLoop& guest, const LodgingLoop& host) {
  Hosting& leaving = guest.power.hosting();
  if (leaving.offered() != nullptr) return Lodged::kGuestSilent;  // it is on its way home
  if (!host.execute([] {}, kPatience)) return Lodged::kHostSilent;
  const bool heard = guest.execute(
      [&guest, &leaving] {
        leaving.leave();
        guest.power.begin_anew();
      },
      kPatience);
  if (!heard) return Lodged::kGuestSilent;
  Guest* const offered = wait_for(leaving);
  if (offered == nullptr) return Lodged::kGuestSilent;
  bool is_taken = false;
  const bool listened = host.execute(
      [&host, offered, &is_taken] {
        is_taken = host.power.hosting().take(*offered, host.power.machine().queues);
        if (is_taken) host.power.begin_anew();
      },
      kTakes);
  if (is_taken) return Lodged::kDone;
  leaving.taken_back();
  return listened ? Lodged::kNoRoom : Lodged::kHostSilent;
}

bool bring_home(const LodgingLoop& guest, const LodgingLoop& host) {
  Hosting& home = guest.power.hosting();
  const bool listened = host.execute(
      [&home, &host] {
        const Guest* const offered = home.offered();
        if (offered == nullptr) return;  // it had to stop, or its host
        host.power.hosting().send_home(*offered);
        host.power.begin_anew();
      },
      kPatience);
  while (listened && home.offered() != nullptr) std::this_thread::sleep_for(kLook);  // the host's round ends
  return listened;
}

}  // namespace splitplane::datapath
