#include "gpu/nic/mapped_bar.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "gpu/nic/registers_82599.h"
#include "gpu/nic/vfio_bar.h"

namespace splitplane::gpu {

namespace fs = std::filesystem;

namespace {

bool is_uio(const std::string& driver) {
  return driver == "uio_pci_generic" || driver == "igb_uio";
}

// "uio0" of a device that a UIO driver has.
Expected<fs::path> uio_of(const PciDevice& device) {
  std::error_code none;
  for (const auto& entry : fs::directory_iterator(device.path() / "uio", none)) {
    if (entry.path().filename().string().starts_with("uio")) return entry.path();
  }
  return fail("{}: driver {}; allowed: uio_pci_generic or igb_uio, with a device uioN", device.address(),
              device.driver().empty() ? "none" : device.driver());
}

}  // namespace

MappedBar::~MappedBar() {
  if (base_ != nullptr) munmap(base_, bytes_);
  if (kept_open_ >= 0) close(kept_open_);
}

Expected<void> MappedBar::map_file(int file, std::uint64_t offset, std::size_t bytes, const std::string& what) {
  if (bytes < reg::kBarBytes) {
    return fail("{}: {}: BAR 0 has {} octets; an 82599 has at least {}", name(), what, bytes, reg::kBarBytes);
  }
  void* const at = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, file, static_cast<off_t>(offset));
  if (at == MAP_FAILED) return fail("{}: {}: {}", name(), what, std::strerror(errno));
  base_ = at;
  bytes_ = bytes;
  return {};
}

// Registers are little-endian. volatile keeps each access a single access, in program order.
std::uint32_t MappedBar::read32(std::uint32_t offset) {
  return *static_cast<volatile std::uint32_t*>(word(offset));
}
void MappedBar::write32(std::uint32_t offset, std::uint32_t value) {
  *static_cast<volatile std::uint32_t*>(word(offset)) = value;
}

Expected<void> MappedBar::enable_bus_master() {
  return device_.enable_bus_master();
}
Expected<void> MappedBar::map_memory(void* /*host*/, std::size_t /*bytes*/) {
  return fail("{}: memory is mapped for a device by VFIO only", name());
}

Expected<std::unique_ptr<MappedBar>> open_resource0(const PciDevice& device) {
  if (!device.driver().empty() && !is_uio(device.driver())) {
    return fail("{}: driver {} has the device; allowed: none, uio_pci_generic, igb_uio or vfio-pci", device.address(),
                device.driver());
  }
  auto bytes = device.bar0_bytes();
  if (!bytes) return tl::unexpected(bytes.error());
  if (auto done = device.enable_memory(); !done) return tl::unexpected(done.error());
  const fs::path path = device.path() / "resource0";
  const int file = open(path.c_str(), O_RDWR | O_SYNC | O_CLOEXEC);
  if (file < 0) return fail("{}: {}: {}", device.address(), path.string(), std::strerror(errno));
  std::unique_ptr<MappedBar> bar(new MappedBar(device));
  auto mapped = bar->map_file(file, 0, *bytes, "resource0");
  close(file);
  if (!mapped) return tl::unexpected(mapped.error());
  return bar;
}

Expected<std::unique_ptr<MappedBar>> open_uio(const PciDevice& device, const fs::path& dev) {
  auto uio = uio_of(device);
  if (!uio) return tl::unexpected(uio.error());
  const fs::path node = dev / uio->filename();
  const int file = open(node.c_str(), O_RDWR | O_CLOEXEC);
  if (file < 0) return fail("{}: {}: {}", device.address(), node.string(), std::strerror(errno));
  std::unique_ptr<MappedBar> bar;
  std::error_code none;
  if (fs::exists(*uio / "maps/map0",
                 none)) {  // igb_uio: map n begins at n pages (Documentation/driver-api/uio-howto.rst)
    bar.reset(new MappedBar(device));
    auto bytes = device.bar0_bytes();
    auto mapped = bytes ? bar->map_file(file, 0, *bytes, node.string()) : Expected<void>(tl::unexpected(bytes.error()));
    if (!mapped) {
      close(file);
      return tl::unexpected(mapped.error());
    }
    if (auto done = device.enable_memory(); !done) {
      close(file);
      return tl::unexpected(done.error());
    }
  } else {
    auto resource0 = open_resource0(device);
    if (!resource0) {
      close(file);
      return resource0;
    }
    bar = std::move(*resource0);
  }
  bar->kept_open_ = file;
  return bar;
}

Expected<std::unique_ptr<MappedBar>> open_bar(const PciDevice& device) {
  if (device.driver() == "vfio-pci") return open_vfio(device);
  if (is_uio(device.driver())) return open_uio(device);
  return open_resource0(device);
}

}  // namespace splitplane::gpu
