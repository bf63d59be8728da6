// For tests only: frames as a UPF sends them.
#pragma once

#include <algorithm>
#include <array>
#include <optional>
#include <vector>

#include "wire/ethernet.h"
#include "wire/gtpu.h"
#include "wire/ipv4.h"
#include "wire/udp.h"

namespace splitplane::gpu::test {

struct N3Flow {
  std::uint32_t teid = 0;
  std::optional<std::uint8_t> qfi = 9;  // none: no PDU Session Container
  bool rqi = false;
};

inline std::vector<std::uint8_t> n3_frame(const N3Flow& flow, const std::vector<std::uint8_t>& sdu) {
  using namespace wire;
  const std::array<std::uint8_t, 6> to{2, 0, 0, 0, 0, 1}, from{2, 0, 0, 0, 0, 2};
  std::vector<std::uint8_t> frame(14 + 20 + 8 + 16 + sdu.size());
  const std::size_t gtpu_bytes = (flow.qfi ? gtpu::kHeaderWithPscBytes : gtpu::kHeaderBytes) + sdu.size();
  MutableOctets out(frame);
  out = out.subspan(ethernet::write(out, to, from, ethernet::kTypeIpv4));
  ipv4::Header ip;
  ip.protocol = ipv4::kProtocolUdp;
  ip.ttl = 64;
  out = out.subspan(ipv4::write(out, ip, 8 + gtpu_bytes));
  out = out.subspan(udp::write(out, 2152, gtpu::kPort, gtpu_bytes));
  out = out.subspan(flow.qfi ? gtpu::write_gpdu_psc_dl(out, Teid{flow.teid}, sdu.size(), Qfi{*flow.qfi}, flow.rqi)
                             : gtpu::write_gpdu(out, Teid{flow.teid}, sdu.size()));
  std::copy(sdu.begin(), sdu.end(), out.begin());
  frame.resize(frame.size() - (flow.qfi ? 0 : 8));
  return frame;
}

}  // namespace splitplane::gpu::test
