// BAR 0 through VFIO (Documentation/driver-api/vfio.rst): a container with an IOMMU of type 1, the device's group in
// it, and memory mapped for the device at its virtual addresses.
#pragma once

#include <filesystem>
#include <memory>

#include "gpu/nic/mapped_bar.h"

namespace splitplane::gpu {

// vfio-pci with an IOMMU of type 1. `dev` is the directory of vfio/.
[[nodiscard]] Expected<std::unique_ptr<MappedBar>> open_vfio(const PciDevice& device,
                                                             const std::filesystem::path& dev = "/dev");

}  // namespace splitplane::gpu
