#include "gpu/nic/dma_buf_importer.h"

#include <fcntl.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "gpu/nic/card_for_gpu.h"

namespace splitplane::gpu {
namespace {

constexpr const char* kDevice = "/dev/dmabuf_import";

// The module's interface: requests 'u', 0x48 to 0x4b.
struct AttachForDevice {
  std::int32_t dma_buf;
  std::uint32_t segments;  // out
  char address[16];        // of the PCI device that will use the memory
};
struct Segment {
  std::uint64_t bus, bytes;
};
struct SegmentsHead {  // as many Segments follow
  std::int32_t dma_buf;
  std::uint32_t segments;
};
constexpr unsigned long kDetach = _IOW('u', 0x48, int);
constexpr unsigned long kGetSegments = _IOWR('u', 0x49, SegmentsHead);
constexpr unsigned long kAttachForDevice = _IOWR('u', 0x4b, AttachForDevice);
constexpr std::uint32_t kMostSegments = 1U << 20;

}  // namespace

Expected<std::unique_ptr<DmaBufImporter>> DmaBufImporter::open(const std::string& nic) {
  const int device = ::open(kDevice, O_RDWR | O_CLOEXEC);
  if (device < 0) return fail("{}: {}", kDevice, std::strerror(errno));
  auto made = std::make_unique<DmaBufImporter>(
      nic, [device](unsigned long request, void* argument) { return ::ioctl(device, request, argument); });
  made->device_ = device;
  return made;
}

DmaBufImporter::~DmaBufImporter() {
  for (int dma_buf : attached_) {
    call_(kDetach, &dma_buf);  // if it fails, nothing more can be done
    ::close(dma_buf);
  }
  if (device_ >= 0) ::close(device_);
}

Expected<DeviceMemoryImporter::Imported> DmaBufImporter::import(int dma_buf, std::uint64_t device_address,
                                                                std::size_t bytes) {
  AttachForDevice attach{.dma_buf = -1, .segments = 0, .address = {}};
  if (nic_.size() >= sizeof attach.address) return fail("{}: {} is no PCI address", name_, nic_);
  std::memcpy(attach.address, nic_.c_str(), nic_.size());
  // The module knows a dma-buf by its descriptor. At the detach the caller's number may belong to another file.
  const int own = ::fcntl(dma_buf, F_DUPFD_CLOEXEC, 0);
  if (own < 0) return fail("{}: descriptor {} of the GPU's memory: {}", name_, dma_buf, std::strerror(errno));
  attach.dma_buf = own;
  if (call_(kAttachForDevice, &attach) != 0) {
    const int why = errno;
    ::close(own);
    return fail("{}: the GPU's memory at {:#x} cannot be attached for {}: {}", name_, device_address, nic_,
                std::strerror(why));
  }
  attached_.push_back(own);
  if (attach.segments == 0 || attach.segments > kMostSegments) {
    return fail("{}: {} segments; allowed: 1 to {}", name_, attach.segments, kMostSegments);
  }
  std::vector<std::uint64_t> words(sizeof(SegmentsHead) / 8 + std::size_t{attach.segments} * sizeof(Segment) / 8);
  const SegmentsHead head{own, attach.segments};
  std::memcpy(words.data(), &head, sizeof head);
  if (call_(kGetSegments, words.data()) != 0) {
    return fail("{}: bus addresses of the GPU's memory at {:#x}: {}", name_, device_address, std::strerror(errno));
  }
  Imported imported;
  std::uint64_t end = 0;
  for (std::uint32_t i = 0; i < attach.segments; ++i) {
    Segment s{};
    std::memcpy(&s, &words[1 + 2 * std::size_t{i}], sizeof s);
    if (i == 0) imported.bus = end = s.bus;
    if (s.bus != end) {
      return fail("{}: segment {} begins at {:#x} and not at {:#x}: the NIC wants them to follow each other", name_, i,
                  s.bus, end);
    }
    end += s.bytes;
  }
  if (imported.bus % kGpuPage != 0) return fail("{}: bus address {:#x} begins no page of the GPU", name_, imported.bus);
  if (end - imported.bus < bytes) {
    return fail("{}: {} octets of {} have a bus address", name_, end - imported.bus, bytes);
  }
  return imported;
}

}  // namespace splitplane::gpu
