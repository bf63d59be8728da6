// A piece of memory as three parties see it: the host, the processor that runs the engines, and the NIC.
#pragma once

#include <cstddef>
#include <cstdint>

namespace splitplane::gpu {

// Which of the pointers are null depends on where the memory is. Octets are 0 at first.
struct MemoryPiece {
  std::uint8_t* host = nullptr;
  std::uint8_t* engine = nullptr;  // the device's address, or the host's where engines are CPU threads
  std::uint64_t bus = 0;           // what a descriptor says
  std::size_t bytes = 0;
};

}  // namespace splitplane::gpu
