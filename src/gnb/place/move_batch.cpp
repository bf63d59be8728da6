#include "gnb/place/move_batch.h"

#include <random>
#include <thread>

namespace splitplane::gnb {

bool MoveBatch::await_fences(unsigned n3, unsigned copies) const {
  constexpr std::chrono::milliseconds kFencesCome{100};
  const auto until = std::chrono::steady_clock::now() + kFencesCome;
  for (;;) {
    bool came = false;
    const bool listened = execute([&] {
      const datapath::CardMoves& moves = worker->gnb->card_moves;
      came = moves.n3_fences() >= n3 && moves.copies_fences() >= copies;
    });
    if (!listened) return false;
    if (came) return true;
    if (std::chrono::steady_clock::now() > until) return false;
    std::this_thread::sleep_for(kLookForFences);
  }
}

std::uint64_t random_token() {
  std::random_device random;
  std::uint64_t token = 0;
  while (token == 0) token = std::uint64_t{random()} << 32 | random();
  return token;
}

}  // namespace splitplane::gnb
