#include "n3/qos_monitor.h"

#include <time.h>

#include "wire/gtpu.h"
#include "wire/ipv4.h"
#include "wire/ipv6.h"
#include "wire/udp.h"

namespace splitplane::datapath {

std::uint64_t ntp_time() {
  constexpr std::uint64_t kFrom1900To1970 = 2'208'988'800;
  timespec now{};
  clock_gettime(CLOCK_REALTIME, &now);
  const std::uint64_t fraction = (static_cast<std::uint64_t>(now.tv_nsec) << 32) / 1'000'000'000;
  return (static_cast<std::uint64_t>(now.tv_sec) + kFrom1900To1970) << 32 | fraction;
}

void QosMonitor::note(BearerId id, Qfi qfi, const Stamp& stamp) {
  Entry& entry = entries_[place(id, qfi)];
  if (entry.id != 0) --open_of(entry.id).requests;
  entry = {id.value, qfi.value, stamp};
  Open& open = open_of(id.value);
  ++open.requests;
  open.newest = stamp.dl_receive_time;
}

std::optional<QosMonitor::Stamp> QosMonitor::take(BearerId id, Qfi qfi) {
  Entry& entry = entries_[place(id, qfi)];
  if (entry.id != id.value || entry.qfi != qfi.value) return std::nullopt;
  entry.id = 0;
  --open_of(id.value).requests;
  return entry.stamp;
}

bool QosMonitor::any(BearerId id, std::uint64_t now) {
  const Open& open = open_of(id.value);
  if (open.requests == 0) return false;
  if (now < open.newest + kPatience) return true;
  forget(id);
  return false;
}

void QosMonitor::forget(BearerId id) {
  for (std::uint8_t qfi = 0; qfi <= wire::psc::kMaxQfi; ++qfi) (void)take(id, Qfi{qfi});
}

void write_monitored_uplink(const N3Peer& peer, Teid teid, Qfi qfi, std::uint8_t tos, const QosMonitor::Stamp& stamp,
                            std::uint64_t ul_send_time, unsigned payload, std::uint8_t* out) {
  const std::size_t outer = peer.header_bytes - kGtpuPscBytes;  // Ethernet, IP, UDP
  std::memcpy(out, peer.header.data(), outer);
  wire::psc::Content content;
  content.flow.type = wire::psc::PduType::kUplink;
  content.flow.qfi = qfi;
  content.has_qos_monitoring = true;
  content.dl_send_time = stamp.dl_send_time;
  content.dl_receive_time = stamp.dl_receive_time;
  content.ul_send_time = ul_send_time;
  std::array<std::uint8_t, kMonitoredPscBytes - 2> container;
  wire::psc::write(container, content);
  const wire::gtpu::Extension extension{wire::gtpu::kExtensionPsc, container};
  const std::size_t gtpu_bytes = kGtpuPscBytes + kMonitoredMoreBytes;
  wire::gtpu::write({out + outer, gtpu_bytes}, {.message_type = wire::gtpu::kGpdu, .teid = teid}, {&extension, 1},
                    payload);

  const std::size_t datagram_bytes = wire::udp::kHeaderBytes + gtpu_bytes + payload;
  std::uint8_t* udp = out + outer - wire::udp::kHeaderBytes;
  std::uint8_t* ip = udp - (peer.ipv6 ? wire::ipv6::kHeaderBytes : wire::ipv4::kMinHeaderBytes);
  wire::store_be16(udp + 4, static_cast<std::uint32_t>(datagram_bytes));
  if (peer.ipv6) {
    wire::store_be16(ip, 0x6000U | unsigned{tos} << 4);
    wire::store_be16(ip + 4, static_cast<std::uint32_t>(datagram_bytes));
    wire::store_be16(udp + 6, wire::udp::checksum({ip + 8, 16}, {ip + 24, 16}, {udp, datagram_bytes}));
    return;
  }
  const auto total = static_cast<std::uint32_t>(20 + datagram_bytes);
  std::uint32_t sum = peer.checksum_base + total + tos;
  sum = (sum & 0xffff) + (sum >> 16);
  sum = (sum & 0xffff) + (sum >> 16);
  ip[1] = tos;
  wire::store_be16(ip + 2, total);
  wire::store_be16(ip + 10, ~sum & 0xffffU);
}

}  // namespace splitplane::datapath
