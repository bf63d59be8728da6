#include "nicmodel/statistics.h"

namespace splitplane::nicmodel {

namespace reg = gpu::reg;

std::uint64_t* Statistics::at(std::uint32_t offset, bool& high) {
  high = false;
  // Single registers.
  switch (offset) {
    case reg::kGprc:
      return &gprc;
    case reg::kBprc:
      return &bprc;
    case reg::kMprc:
      return &mprc;
    case reg::kGptc:
      return &gptc;
    case reg::kBptc:
      return &bptc;
    case reg::kMptc:
      return &mptc;
    case reg::kTpr:
      return &tpr;
    case reg::kTpt:
      return &tpt;
    case reg::kRuc:
      return &ruc;
    case reg::kRoc:
      return &roc;
    case reg::kGorch:
      high = true;
      [[fallthrough]];
    case reg::kGorcl:
      return &gorc;
    case reg::kGotch:
      high = true;
      [[fallthrough]];
    case reg::kGotcl:
      return &gotc;
    case reg::kTorh:
      high = true;
      [[fallthrough]];
    case reg::kTorl:
      return &tor;
    default:
      break;
  }
  // Rows of registers.
  const auto row = [offset](auto& set, std::uint32_t first, std::uint32_t stride) -> std::uint64_t* {
    if (offset < first || (offset - first) % stride != 0 || (offset - first) / stride >= set.size()) return nullptr;
    return &set[(offset - first) / stride];
  };
  if (std::uint64_t* c = row(prc, reg::kPrc64, 4)) return c;
  if (std::uint64_t* c = row(ptc, reg::kPtc64, 4)) return c;
  if (std::uint64_t* c = row(rxmpc, reg::rxmpc(0), 4)) return c;
  if (std::uint64_t* c = row(qprc, reg::qprc(0), 0x40)) return c;
  if (std::uint64_t* c = row(qprdc, reg::qprdc(0), 0x40)) return c;
  if (std::uint64_t* c = row(qptc, reg::qptc(0), 0x40)) return c;
  if (std::uint64_t* c = row(qbrc, reg::qbrcl(0), 0x40)) return c;
  if (std::uint64_t* c = row(qbtc, reg::qbtcl(0), 8)) return c;
  high = true;
  if (std::uint64_t* c = row(qbrc, reg::qbrch(0), 0x40)) return c;
  if (std::uint64_t* c = row(qbtc, reg::qbtch(0), 8)) return c;
  return nullptr;
}

}  // namespace splitplane::nicmodel
