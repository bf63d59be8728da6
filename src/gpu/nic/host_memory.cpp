#include "gpu/nic/host_memory.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

namespace splitplane::gpu {

namespace {

constexpr std::size_t kPage = 4096;
constexpr std::size_t kHugepage = std::size_t{2} << 20;
constexpr int kTries = 8;  // mappings until one is contiguous

std::size_t rounded(std::size_t bytes, std::size_t unit) {
  return (bytes + unit - 1) / unit * unit;
}

// Bits 0-54 of an entry are the frame's number, bit 63: present (Documentation/admin-guide/mm/pagemap.rst). Without
// CAP_SYS_ADMIN numbers read as 0.
Expected<std::uint64_t> read_pagemap(const void* page) {
  const int file = open("/proc/self/pagemap", O_RDONLY | O_CLOEXEC);
  if (file < 0) return fail("/proc/self/pagemap: {}", std::strerror(errno));
  std::uint64_t entry = 0;
  const ssize_t got = pread(file, &entry, sizeof entry,
                            static_cast<off_t>(reinterpret_cast<std::uintptr_t>(page) / kPage * sizeof entry));
  close(file);
  if (got != sizeof entry) return fail("/proc/self/pagemap: {}", std::strerror(errno));
  constexpr std::uint64_t kFrame = (1ULL << 55) - 1;
  if ((entry >> 63) == 0 || (entry & kFrame) == 0) {
    return fail(
        "/proc/self/pagemap does not show physical addresses; allowed: with CAP_SYS_ADMIN, or VFIO without them");
  }
  return entry & kFrame;
}

}  // namespace

HostMemory::HostMemory(HostMemorySettings settings)
    : settings_(std::move(settings)),
      name_(settings_.addresses == BusAddresses::kPhysical ? "host memory, physical addresses" : "host memory") {
  if (!settings_.frame_of) settings_.frame_of = &read_pagemap;
}

HostMemory::~HostMemory() {
  if (is_kept()) return;
  for (const Mapping& mapping : mappings_) munmap(mapping.at, mapping.bytes);
}

Expected<HostMemory::Mapping> HostMemory::map_pages(std::size_t bytes) {
  constexpr int kFlags = MAP_PRIVATE | MAP_ANONYMOUS | MAP_POPULATE;
  if (settings_.hugepages || settings_.addresses == BusAddresses::kPhysical) {
    const std::size_t huge = rounded(bytes, kHugepage);
    void* const at = mmap(nullptr, huge, PROT_READ | PROT_WRITE, kFlags | MAP_HUGETLB, -1, 0);
    if (at != MAP_FAILED) return Mapping{at, huge};
    if (settings_.addresses == BusAddresses::kPhysical) {
      return fail("host memory: {} hugepages of 2 MiB: {}", huge / kHugepage, std::strerror(errno));
    }
    if (notes().empty()) note("host memory: no free hugepages, ordinary pages instead: slower address translation");
  }
  const std::size_t size = rounded(bytes, kPage);
  void* const at = mmap(nullptr, size, PROT_READ | PROT_WRITE, kFlags, -1, 0);
  if (at == MAP_FAILED) return fail("host memory: {} octets: {}", size, std::strerror(errno));
  return Mapping{at, size};
}

Expected<std::uint64_t> HostMemory::contiguous(const Mapping& mapping) const {
  auto first = settings_.frame_of(mapping.at);
  if (!first) return first;
  for (std::size_t at = kHugepage; at < mapping.bytes; at += kHugepage) {
    auto frame = settings_.frame_of(static_cast<std::uint8_t*>(mapping.at) + at);
    if (!frame) return frame;
    if (*frame != *first + at / kPage) return 0;
  }
  return *first * kPage;
}

Expected<MemoryPiece> HostMemory::allocate_physical(std::size_t bytes) {
  std::vector<Mapping> scattered;  // kept for a while, so that the next attempt gets other pages
  Expected<MemoryPiece> result = fail(
      "host memory: {} octets are on no {} hugepages that follow each other; allowed: "
      "VFIO, or fewer rings and slots",
      bytes, rounded(bytes, kHugepage) / kHugepage);
  for (int attempt = 0; attempt < kTries; ++attempt) {
    auto mapping = map_pages(bytes);
    if (!mapping) {
      if (attempt == 0) result = tl::unexpected(mapping.error());
      break;
    }
    auto bus = contiguous(*mapping);
    if (bus && *bus != 0) {
      mappings_.push_back(*mapping);
      auto* const host = static_cast<std::uint8_t*>(mapping->at);
      result = MemoryPiece{host, host, *bus, mapping->bytes};
      break;
    }
    scattered.push_back(*mapping);
    if (!bus) {
      result = tl::unexpected(bus.error());
      break;
    }
  }
  for (const Mapping& mapping : scattered) munmap(mapping.at, mapping.bytes);
  return result;
}

Expected<MemoryPiece> HostMemory::allocate(std::size_t bytes) {
  if (bytes == 0) return fail("host memory: 0 octets");
  if (settings_.addresses == BusAddresses::kPhysical) return allocate_physical(bytes);
  auto mapping = map_pages(bytes);
  if (!mapping) return tl::unexpected(mapping.error());
  mappings_.push_back(*mapping);
  if (settings_.map) {
    if (auto mapped = settings_.map(mapping->at, mapping->bytes); !mapped) return tl::unexpected(mapped.error());
  }
  auto* const host = static_cast<std::uint8_t*>(mapping->at);
  return MemoryPiece{host, host, reinterpret_cast<std::uintptr_t>(host), mapping->bytes};
}

}  // namespace splitplane::gpu
