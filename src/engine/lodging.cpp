#include "engine/lodging.h"

#include <chrono>
#include <thread>

namespace splitplane::datapath {
namespace {

using namespace std::chrono_literals;

constexpr auto kLook = 10us;
constexpr auto kPatience = 1s;  // of a loop that has heard of it, until its round is over

// False: not within kPatience.
bool wait_until_offered(const Hosting& loop, bool offered) {
  const auto end = std::chrono::steady_clock::now() + kPatience;
  while ((loop.offered() != nullptr) != offered) {
    if (std::chrono::steady_clock::now() > end) return false;
    std::this_thread::sleep_for(kLook);
  }
  return true;
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
  if (!wait_until_offered(leaving, true)) {
    leaving.withdraw();
    return Lodged::kGuestSilent;
  }
  Guest* const offered = leaving.offered();
  bool is_taken = false;
  const bool listened = host.execute(
      [&host, offered, &is_taken] {
        is_taken = host.power.hosting().take(*offered);
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
  return listened && wait_until_offered(home, false);  // the host's round ends
}

}  // namespace splitplane::datapath
