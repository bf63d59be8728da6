// The importer with a stand-in for the kernel module, written from the module's header.
#include "gpu/nic/dma_buf_importer.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

namespace splitplane::gpu {
namespace {

using testing::HasSubstr;

// A file in place of a dma-buf. The test recognises it by its inode and not by its number.
class File {
 public:
  File() : descriptor_(::memfd_create("dma-buf", MFD_CLOEXEC)), inode_(inode_of(descriptor_)) {}
  ~File() { close(); }
  File(const File&) = delete;
  File& operator=(const File&) = delete;
  [[nodiscard]] int descriptor() const { return descriptor_; }
  [[nodiscard]] bool is(int descriptor) const { return inode_of(descriptor) == inode_; }
  void close() {
    if (descriptor_ >= 0) ::close(descriptor_);
    descriptor_ = -1;
  }
  // Returns 0 if the descriptor is closed.
  static ino_t inode_of(int descriptor) {
    struct stat s{};
    return ::fstat(descriptor, &s) == 0 ? s.st_ino : 0;
  }

 private:
  int descriptor_;
  ino_t inode_;
};

constexpr std::uint64_t kPage = 65536, kBus = 0x38'0000'0000;

// Requests as _IOC makes them: direction << 30 | size << 16 | 'u' << 8 | number.
constexpr unsigned long kDetach = 1UL << 30 | 4UL << 16 | 'u' << 8 | 0x48;
constexpr unsigned long kGetMap = 3UL << 30 | 8UL << 16 | 'u' << 8 | 0x49;
constexpr unsigned long kAttachBdf = 3UL << 30 | 24UL << 16 | 'u' << 8 | 0x4b;

struct Module {
  std::vector<std::pair<std::uint64_t, std::uint64_t>> segments;  // address, octets
  int refuses = 0;                                                // an errno for the first call
  const File* memory = nullptr;
  std::string device;
  int attached = 0, detached = 0;
  int descriptor = -1;  // the last one that it got

  int call(unsigned long request, void* argument) {
    auto* const octets = static_cast<unsigned char*>(argument);
    int dma_buf = 0;
    std::memcpy(&dma_buf, octets, 4);
    descriptor = dma_buf;
    if (!memory->is(dma_buf)) return errno = EBADF, -1;
    if (refuses != 0) return errno = refuses, -1;
    const auto count = static_cast<std::uint32_t>(segments.size());
    if (request == kAttachBdf) {
      ++attached;
      std::memcpy(octets + 4, &count, 4);
      device = reinterpret_cast<const char*>(octets + 8);
    } else if (request == kGetMap) {
      std::uint32_t room = 0;
      std::memcpy(&room, octets + 4, 4);
      for (std::uint32_t i = 0; i < room; ++i) {
        std::memcpy(octets + 8 + 16 * i, &segments.at(i).first, 8);
        std::memcpy(octets + 16 + 16 * i, &segments.at(i).second, 8);
      }
    } else if (request == kDetach) {
      ++detached;
    } else {
      return errno = ENOTTY, -1;
    }
    return 0;
  }
};

Expected<DeviceMemoryImporter::Imported> import(Module& module, std::size_t bytes) {
  const File memory;
  module.memory = &memory;
  DmaBufImporter importer("0000:03:00.0",
                          [&](unsigned long request, void* argument) { return module.call(request, argument); });
  return importer.import(memory.descriptor(), 0x7f00'0000'0000, bytes);
}

TEST(DmaBufImporter, gives_the_address_of_segments_that_follow_each_other) {
  Module module{.segments = {{kBus, kPage}, {kBus + kPage, 3 * kPage}}};
  const auto imported = import(module, 4 * kPage);
  ASSERT_TRUE(imported) << imported.error().message;
  EXPECT_EQ(imported->bus, kBus);
  EXPECT_EQ(module.device, "0000:03:00.0");
  EXPECT_EQ(module.attached, 1);
  EXPECT_EQ(module.detached, 1) << "it lets go when it goes";
}

TEST(DmaBufImporter, refuses_memory_that_a_nic_cannot_use) {
  struct Row {
    Module module;
    const char* words;
  };
  Row rows[] = {
      {{.segments = {{kBus, kPage}, {kBus + 2 * kPage, kPage}}}, "segment 1 begins at 0x3800020000"},
      {{.segments = {{kBus, kPage}}}, "65536 octets of 131072"},
      {{.segments = {{kBus + 4096, 4 * kPage}}}, "begins no page of the GPU"},
      {{.segments = {}}, "0 segments"},
      {{.refuses = ENOTSUP}, "cannot be attached for 0000:03:00.0: Operation not supported"},
  };
  for (Row& row : rows) {
    const auto imported = import(row.module, 2 * kPage);
    ASSERT_FALSE(imported);
    EXPECT_THAT(imported.error().message, HasSubstr(row.words));
    EXPECT_EQ(row.module.detached, row.module.attached);
    EXPECT_EQ(File::inode_of(row.module.descriptor), 0U) << "a descriptor is left behind: " << row.words;
  }
}

TEST(DmaBufImporter, lets_go_of_what_it_attached_although_its_number_is_another_file_by_then) {
  File memory;
  Module module{.segments = {{kBus, kPage}}, .memory = &memory};
  {
    DmaBufImporter importer("0000:03:00.0",
                            [&](unsigned long request, void* argument) { return module.call(request, argument); });
    ASSERT_TRUE(importer.import(memory.descriptor(), 0x7f00'0000'0000, kPage));
    const int number = memory.descriptor();
    memory.close();
    const File other;
    ASSERT_EQ(other.descriptor(), number) << "the kernel gives the lowest number that is free";
    EXPECT_EQ(module.detached, 0);
  }
  EXPECT_EQ(module.detached, 1);
  EXPECT_EQ(File::inode_of(module.descriptor), 0U) << "its own descriptor is closed";
}

TEST(DmaBufImporter, a_descriptor_that_is_none_is_a_sentence) {
  Module module;
  DmaBufImporter importer("0000:03:00.0",
                          [&](unsigned long request, void* argument) { return module.call(request, argument); });
  EXPECT_THAT(importer.import(-1, 0, kPage).error().message, HasSubstr("descriptor -1 of the GPU's memory"));
}

TEST(DmaBufImporter, names_the_device_that_is_not_there) {
  const auto made = DmaBufImporter::open("0000:03:00.0");
  if (made) GTEST_SKIP() << "the module is loaded here";
  EXPECT_THAT(made.error().message, HasSubstr("/dev/dmabuf_import: "));
}

}  // namespace
}  // namespace splitplane::gpu
