#include "gpu/nic/vfio_bar.h"

#include <fcntl.h>
#include <linux/vfio.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <utility>

namespace splitplane::gpu {

namespace {

// A file descriptor that is closed.
class File {
 public:
  explicit File(int descriptor = -1) : descriptor_(descriptor) {}
  ~File() {
    if (descriptor_ >= 0) close(descriptor_);
  }
  File(File&& other) noexcept : descriptor_(std::exchange(other.descriptor_, -1)) {}
  File& operator=(File&& other) noexcept {
    std::swap(descriptor_, other.descriptor_);
    return *this;
  }
  [[nodiscard]] int get() const { return descriptor_; }

 private:
  int descriptor_;
};

class VfioBar final : public MappedBar {
 public:
  explicit VfioBar(const PciDevice& device) : MappedBar(device) {}
  Expected<void> open_device(const PciDevice& device, const std::filesystem::path& dev);

  // VFIO has a separate command register for the process that has the device open.
  Expected<void> enable_bus_master() override { return set_command(0x06); }
  Expected<void> map_memory(void* host, std::size_t bytes) override {
    vfio_iommu_type1_dma_map map{};
    map.argsz = sizeof map;
    map.flags = VFIO_DMA_MAP_FLAG_READ | VFIO_DMA_MAP_FLAG_WRITE;
    map.vaddr = map.iova = reinterpret_cast<std::uintptr_t>(host);
    map.size = bytes;
    if (ioctl(container_.get(), VFIO_IOMMU_MAP_DMA, &map) != 0) {
      return fail("{}: VFIO cannot map {} octets for the device: {}", name(), bytes, std::strerror(errno));
    }
    return {};
  }

 private:
  Expected<void> set_command(std::uint16_t bits);
  File container_, group_, device_;
  std::uint64_t config_at_ = 0;
};

Expected<void> VfioBar::open_device(const PciDevice& device, const std::filesystem::path& dev) {
  if (!device.iommu_group()) {
    return fail(
        "{}: VFIO: the device is in no IOMMU group: the IOMMU is off (intel_iommu=on or the firmware's setting)",
        name());
  }
  container_ = File(open((dev / "vfio/vfio").c_str(), O_RDWR | O_CLOEXEC));
  if (container_.get() < 0) return fail("{}: {}: {}", name(), (dev / "vfio/vfio").string(), std::strerror(errno));
  if (ioctl(container_.get(), VFIO_GET_API_VERSION) != VFIO_API_VERSION ||
      ioctl(container_.get(), VFIO_CHECK_EXTENSION, VFIO_TYPE1_IOMMU) != 1) {
    return fail("{}: VFIO has no IOMMU of type 1", name());
  }
  const auto path = dev / "vfio" / std::to_string(*device.iommu_group());
  group_ = File(open(path.c_str(), O_RDWR | O_CLOEXEC));
  if (group_.get() < 0) return fail("{}: {}: {}", name(), path.string(), std::strerror(errno));
  vfio_group_status status{};
  status.argsz = sizeof status;
  if (ioctl(group_.get(), VFIO_GROUP_GET_STATUS, &status) != 0 || (status.flags & VFIO_GROUP_FLAGS_VIABLE) == 0) {
    return fail("{}: IOMMU group {} has devices that other drivers have; all must be vfio-pci's", name(),
                *device.iommu_group());
  }
  int container = container_.get();
  if (ioctl(group_.get(), VFIO_GROUP_SET_CONTAINER, &container) != 0 ||
      ioctl(container_.get(), VFIO_SET_IOMMU, VFIO_TYPE1_IOMMU) != 0) {
    return fail("{}: VFIO: group {} cannot be used: {}", name(), *device.iommu_group(), std::strerror(errno));
  }
  device_ = File(ioctl(group_.get(), VFIO_GROUP_GET_DEVICE_FD, device.address().c_str()));
  if (device_.get() < 0) return fail("{}: VFIO: {}", name(), std::strerror(errno));
  vfio_region_info region{};
  region.argsz = sizeof region;
  region.index = VFIO_PCI_CONFIG_REGION_INDEX;
  if (ioctl(device_.get(), VFIO_DEVICE_GET_REGION_INFO, &region) != 0) {
    return fail("{}: VFIO: configuration space: {}", name(), std::strerror(errno));
  }
  config_at_ = region.offset;
  if (auto done = set_command(0x02); !done) return done;  // memory
  region.index = VFIO_PCI_BAR0_REGION_INDEX;
  if (ioctl(device_.get(), VFIO_DEVICE_GET_REGION_INFO, &region) != 0 ||
      (region.flags & VFIO_REGION_INFO_FLAG_MMAP) == 0) {
    return fail("{}: VFIO: BAR 0 cannot be mapped", name());
  }
  return map_file(device_.get(), region.offset, region.size, "VFIO");
}

Expected<void> VfioBar::set_command(std::uint16_t bits) {
  std::uint16_t command = 0;
  const auto at = static_cast<off_t>(config_at_ + 4);
  const auto read = [&] { return pread(device_.get(), &command, sizeof command, at) == sizeof command; };
  if (!read()) return fail("{}: VFIO: configuration space: {}", name(), std::strerror(errno));
  command |= bits;
  if (pwrite(device_.get(), &command, sizeof command, at) != sizeof command) {
    return fail("{}: VFIO: bits {:#x} of the command register cannot be set: {}", name(), bits, std::strerror(errno));
  }
  if (!read() || command == 0xFFFF || (command & bits) != bits) {
    return fail("{}: VFIO: the command register reads {:#06x} after bits {:#x} were set", name(), command, bits);
  }
  return {};
}

}  // namespace

Expected<std::unique_ptr<MappedBar>> open_vfio(const PciDevice& device, const std::filesystem::path& dev) {
  auto bar = std::make_unique<VfioBar>(device);
  if (auto done = bar->open_device(device, dev); !done) return tl::unexpected(done.error());
  return bar;
}

}  // namespace splitplane::gpu
