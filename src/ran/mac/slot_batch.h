// All transport blocks of a slot in one pass. While the block of one UE is built, the state of the next ones is
// fetched, since with many UEs it is in no cache: first the UE's own, then its RLC entities, their queues, and the
// first SDUs.
#pragma once

#include "ran/mac/downlink.h"

namespace splitplane::ran::mac {

// One grant of the slot for new data, and where its block goes. A grant that repeats a block (HARQ) needs no build.
template <class S, buf::PacketBuffer B>
struct BlockOrder {
  std::size_t tb_bytes = 0;
  Downlink<B>* ue = nullptr;
  typename S::Block* block = nullptr;
  bool built = false;  // the result of Downlink::build
};

// All blocks are complete on return.
template <class S, buf::PacketBuffer B>
void build_slot(S& scheme, std::span<BlockOrder<S, B>> orders, Time now) {
  const std::size_t count = orders.size();
  const auto ahead = [&](std::size_t i, auto&& fetch) {
    if (i < count) fetch(*orders[i].ue);
  };
  const auto own = [](const Downlink<B>& ue) { ue.prefetch(); };
  const auto entities = [](const Downlink<B>& ue) { ue.mux().prefetch_entities(); };
  const auto queues = [](const Downlink<B>& ue) { ue.mux().prefetch_queues(); };
  const auto sdus = [](const Downlink<B>& ue) { ue.mux().prefetch_sdus(); };
  for (std::size_t i = 0; i < 4; ++i) ahead(i, own);
  for (std::size_t i = 0; i < 3; ++i) ahead(i, entities);
  for (std::size_t i = 0; i < 2; ++i) ahead(i, queues);
  ahead(0, sdus);
  for (std::size_t i = 0; i < count; ++i) {
    ahead(i + 4, own);
    ahead(i + 3, entities);
    ahead(i + 2, queues);
    ahead(i + 1, sdus);
    BlockOrder<S, B>& order = orders[i];
    order.built = order.ue->build(scheme, *order.block, order.tb_bytes, now);
  }
  scheme.flush();
}

}  // namespace splitplane::ran::mac
