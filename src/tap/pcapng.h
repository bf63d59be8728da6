// The blocks of a pcapng file that a tap writes (IETF draft-ietf-opsawg-pcapng): section header, interface description,
// enhanced packet, interface statistics. We do not use DPDK's rte_pcapng. In 22.11 its interfaces are always ethdev
// ports, so it cannot tell apart two views of one port, or two workers' ends of it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

namespace splitplane::tap::pcapng {

using Buffer = std::vector<std::uint8_t>;  // blocks are appended to its content

void put_section(Buffer& out, std::string_view application);
// Ethernet, time stamps in nanoseconds. Interfaces are numbered from 0 in the order of their blocks.
void put_interface(Buffer& out, std::string_view name, std::string_view description, std::uint32_t snap);

struct Packet {
  std::uint32_t interface = 0;
  std::uint64_t time_ns = 0;
  std::span<const std::uint8_t> octets;
  std::uint32_t original_bytes = 0;
  std::uint32_t flags = 0;  // 1 inbound, 2 outbound
};
void put_packet(Buffer& out, const Packet& packet);
// Octets of the block that put_packet() writes.
[[nodiscard]] std::size_t packet_block_bytes(std::size_t captured);

// What passed the interface, and what is missing in the file.
void put_statistics(Buffer& out, std::uint32_t interface, std::uint64_t time_ns, std::uint64_t received,
                    std::uint64_t dropped);

// How many of the first `bytes` octets of `blocks` are whole blocks.
[[nodiscard]] std::size_t whole_blocks(std::span<const std::uint8_t> blocks, std::size_t bytes);

}  // namespace splitplane::tap::pcapng
