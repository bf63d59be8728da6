// Machines as folders, each without one thing that a GPU needs to drive a NIC.
#include "gpu/nic/card_for_gpu.h"

#include <gmock/gmock.h>
#include <unistd.h>

#include <fstream>
#include <functional>

namespace splitplane::gpu {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;

constexpr const char* kGpu = "0000:04:00.0";

class CardForGpu : public testing::Test {
 protected:
  void SetUp() override {
    fs::remove_all(root_);
    const fs::path device = root_ / "sys/devices/pci0000:00" / kGpu;
    fs::create_directories(device);
    fs::create_directories(root_ / "sys/bus/pci/devices");
    fs::create_directory_symlink(device, root_ / "sys/bus/pci/devices" / kGpu);
    write("sys/devices/pci0000:00/" + std::string(kGpu) + "/vendor", "0x10de\n");
    set_bar1(0x3fff'ffff);
    write("proc/driver/nvidia/version", "NVRM version: NVIDIA UNIX Open Kernel Module for x86_64  580.1\n");
    write("proc/driver/nvidia/params", "EnableMSI: 1\nRegistryDwords: \"PeerMappingOverride=1;\"\nRmMsg: \"\"\n");
    write("dev/dmabuf_import", "");
  }
  void TearDown() override { fs::remove_all(root_); }
  void write(const std::string& path, const std::string& text) const {
    fs::create_directories((root_ / path).parent_path());
    std::ofstream(root_ / path) << text;
  }
  void set_bar1(std::uint64_t last) const {
    write("sys/devices/pci0000:00/" + std::string(kGpu) + "/resource",
          fmt::format("0x00000000f6000000 0x00000000f6ffffff 0x0000000000040200\n"
                      "0x0000000000000000 {:#018x} 0x000000000014220c\n",
                      last));
  }
  // As lspci shows an H100: region 0 of 16 MiB, 2 of the GPU's memory, 4 of 32 MiB, each with 64 bits.
  void set_hopper_bars(std::uint64_t memory_bytes) const {
    write("sys/devices/pci0000:00/" + std::string(kGpu) + "/resource",
          fmt::format("0x0000020042000000 0x0000020042ffffff 0x000000000014220c\n"
                      "0x0000000000000000 0x0000000000000000 0x0000000000000000\n"
                      "0x0000020000000000 {:#018x} 0x000000000014220c\n"
                      "0x0000000000000000 0x0000000000000000 0x0000000000000000\n"
                      "0x0000020040000000 0x0000020041ffffff 0x000000000014220c\n",
                      0x20000000000 + memory_bytes - 1));
  }
  [[nodiscard]] std::vector<StartUpNote> check() const {
    const auto gpu = PciDevice::find(kGpu, root_ / "sys");
    EXPECT_TRUE(gpu);
    return check_card_for_gpu(*gpu, facts, bytes, {root, root_ / "sys", root_ / "proc", root_ / "dev"});
  }
  // The only refusal.
  [[nodiscard]] std::string refusal() const {
    std::string found;
    for (const StartUpNote& note : check()) {
      if (note.gravity != Gravity::kRefusal) continue;
      EXPECT_EQ(found, "") << "one thing is missing, and two are said: " << note.sentence;
      found = note.sentence;
    }
    return found;
  }

  fs::path root_ = fs::temp_directory_path() / ("splitplane-card-for-gpu-" + std::to_string(getpid()));
  Expected<GpuFacts> facts = GpuFacts{.rdma_writes_ordering = 100, .dma_buf = true};
  std::size_t bytes = std::size_t{8} << 20;
  bool root = true;
};

TEST_F(CardForGpu, nothing_is_missing_on_a_machine_that_has_all) {
  EXPECT_FALSE(refuses(check()));
  EXPECT_EQ(check().size(), 9U) << "each condition is named";
}

TEST_F(CardForGpu, the_bar_of_a_hoppers_memory_is_behind_one_of_64_bits) {
  set_hopper_bars(std::uint64_t{1} << 37);
  bytes = std::size_t{1} << 30;
  EXPECT_EQ(refusal(), "");
  EXPECT_THAT(check(), testing::Contains(testing::Field(&StartUpNote::sentence,
                                                        HasSubstr("0000:04:00.0: BAR 2 has 137438953472 octets"))));
  set_hopper_bars(std::uint64_t{1} << 28);
  EXPECT_THAT(refusal(), HasSubstr("BAR 2 has 268435456 octets, and rings and slots need 1073741824"));
}

TEST_F(CardForGpu, each_condition_that_is_missing_is_named_and_no_other) {
  const fs::path group = root_ / "sys/kernel/iommu_groups/7";
  const std::vector<std::pair<std::function<void()>, const char*>> rows{
      {[&] { root = false; }, "not root"},
      {[&] { write("proc/driver/nvidia/version", "NVRM version: NVIDIA UNIX x86_64 Kernel Module 580.1\n"); },
       "closed kernel modules"},
      {[&] { fs::remove(root_ / "proc/driver/nvidia/version"); }, "no NVIDIA driver is loaded"},
      {[&] { write("proc/driver/nvidia/params", "RegistryDwords: \"\"\nNote: PeerMappingOverride=1\n"); },
       "NVreg_RegistryDwords"},
      {[&] { fs::remove(root_ / "dev/dmabuf_import"); }, "/dev/dmabuf_import is not there"},
      {[&] {
         set_bar1(0xff'ffff);
         bytes = (std::size_t{16} << 20) + 1;
       },
       "BAR 1 has 16777216 octets, and rings and slots need 16842752"},
      {[&] { facts->dma_buf = false; }, "exports no dma-buf"},
      {[&] { facts->rdma_writes_ordering = 0; }, "does not take writes of other devices in order"},
      {[&] { facts->kernel_time_limit = true; }, "kernels have a time limit"},
      {[&] { facts = fail("no GPU: the CUDA programs are not built (make gpu)"); }, "not built (make gpu)"},
      {[&] {
         fs::create_directories(group);
         fs::create_directory_symlink(group, root_ / "sys/devices/pci0000:00" / kGpu / "iommu_group");
         write("sys/kernel/iommu_groups/7/type", "DMA-FQ\n");
       },
       "IOMMU group 7 (DMA-FQ) translates"},
  };
  for (const auto& [take_away, words] : rows) {
    TearDown();
    SetUp();
    facts = GpuFacts{.rdma_writes_ordering = 100, .dma_buf = true};
    bytes = std::size_t{8} << 20;
    root = true;
    take_away();
    EXPECT_THAT(refusal(), HasSubstr(words));
  }
}

TEST_F(CardForGpu, a_card_that_is_none_is_refused_first_and_a_program_that_does_not_start_last) {
  const auto add_card = [&](const std::string& id) {
    const fs::path device = root_ / "sys/devices/pci0000:00/0000:05:00.0";
    write("sys/devices/pci0000:00/0000:05:00.0/vendor", id.substr(0, 6) + "\n");
    write("sys/devices/pci0000:00/0000:05:00.0/device", id.substr(7) + "\n");
    fs::remove(root_ / "sys/bus/pci/devices/0000:05:00.0");
    fs::create_directory_symlink(device, root_ / "sys/bus/pci/devices/0000:05:00.0");
  };
  const auto refusals = [&] {
    const auto gpu = PciDevice::find(kGpu, root_ / "sys"), card = PciDevice::find("0000:05:00.0", root_ / "sys");
    EXPECT_TRUE(gpu && card);
    std::vector<std::string> all;
    for (const StartUpNote& note :
         check_gpu_and_card(*gpu, *card, facts, bytes, {root, root_ / "sys", root_ / "proc", root_ / "dev"})) {
      if (note.gravity == Gravity::kRefusal) all.push_back(note.sentence);
    }
    return all;
  };
  add_card("0x8086:0x10fb");
  EXPECT_THAT(refusals(), testing::IsEmpty()) << "all is here";
  add_card("0x8086:0xa170");
  EXPECT_THAT(refusals(), testing::ElementsAre(HasSubstr("8086:a170 is no Intel 82599 or X520")));
  facts = fail("no GPU: the CUDA programs are not built (make gpu)");
  root = false;
  EXPECT_THAT(refusals(), testing::ElementsAre(HasSubstr("is no Intel 82599"), HasSubstr("not root"),
                                               HasSubstr("not built (make gpu)")));
}

TEST(GpuPages, are_64_kib) {
  EXPECT_EQ(in_gpu_pages(1), 65536U);
  EXPECT_EQ(in_gpu_pages(65536), 65536U);
  EXPECT_EQ(in_gpu_pages(65537), 131072U);
}

}  // namespace
}  // namespace splitplane::gpu
