// A piece of memory with its address for each of three parties: the host, the processor that runs the engines, and the
// NIC.
#pragma once

#include <cstddef>
#include <cstdint>

namespace splitplane::gpu {

// The place of the memory decides which pointers are null. Octets are 0 at first.
struct MemoryPiece {
  std::uint8_t* host = nullptr;
  std::uint8_t* engine = nullptr;  // the device's address, or the host's if engines are CPU threads
  std::uint64_t bus = 0;           // the address in a descriptor
  std::size_t bytes = 0;
};

}  // namespace splitplane::gpu
