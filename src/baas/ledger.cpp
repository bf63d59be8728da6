#include "baas/ledger.h"

#include <algorithm>

namespace splitplane::baas {

Ledger::Ledger(std::size_t slots) : slots_(std::min<std::size_t>(slots, kMostSlots)), available_(slots_.size()) {
  for (std::uint32_t i = 0; i < slots_.size(); ++i) slots_[i].next = i + 1 < slots_.size() ? i + 1 : kNoSlot;
  free_ = slots_.empty() ? kNoSlot : 0;
}

}  // namespace splitplane::baas
