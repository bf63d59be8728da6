// Machines as copies of sysfs: an 82599 and a GPU behind a switch, each with one fault.
#include "gpu/nic/start_up_check.h"

#include <gmock/gmock.h>
#include <unistd.h>

#include <fstream>

#include "gpu/nic/mapped_bar.h"
#include "gpu/nic/registers_82599.h"
#include "gpu/nic/vfio_bar.h"

namespace splitplane::gpu {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;
using testing::IsEmpty;

constexpr const char* kNic = "0000:03:00.0";
constexpr const char* kGpuAddress = "0000:04:00.0";

// A configuration space with a PCI Express capability at 0x40, and ACS at 0x100.
std::vector<std::uint8_t> config(std::uint16_t device_control, std::uint16_t acs_control) {
  std::vector<std::uint8_t> c(4096);
  c[0x34] = 0x40;
  c[0x40] = 0x01;  // power management first, so that the code must walk the list
  c[0x41] = 0x50;
  c[0x50] = kPciExpressCapability;
  c[0x58] = static_cast<std::uint8_t>(device_control);
  c[0x59] = static_cast<std::uint8_t>(device_control >> 8);
  c[0x100] = 0x01;  // advanced error reporting, next at 0x140
  c[0x102] = 0x01;
  c[0x103] = 0x14;
  c[0x140] = kAcsCapability;
  c[0x142] = 0x01;
  c[0x146] = static_cast<std::uint8_t>(acs_control);
  return c;
}

class Machine : public testing::Test {
 protected:
  void SetUp() override {
    root_ = fs::temp_directory_path() / ("splitplane-sysfs-" + std::to_string(getpid()));
    fs::remove_all(root_);
    // Root port 00:01.0 -> switch 01:00.0 -> ports 02:00.0 (NIC) and 02:01.0 (GPU).
    device("0000:00:01.0", {});
    device("0000:01:00.0", {"0000:00:01.0"});
    device("0000:02:00.0", {"0000:00:01.0", "0000:01:00.0"});
    device("0000:02:01.0", {"0000:00:01.0", "0000:01:00.0"});
    device(kNic, {"0000:00:01.0", "0000:01:00.0", "0000:02:00.0"}, "0x8086", "0x10fb");
    device(kGpuAddress, {"0000:00:01.0", "0000:01:00.0", "0000:02:01.0"}, "0x10de", "0x2331");
  }
  void TearDown() override { fs::remove_all(root_); }

  fs::path device(const std::string& address, const std::vector<std::string>& above,
                  const std::string& vendor = "0x1d0f", const std::string& id = "0x8725") {
    fs::path at = root_ / "devices/pci0000:00";
    for (const auto& bridge : above) at /= bridge;
    at /= address;
    fs::create_directories(at);
    fs::create_directories(root_ / "bus/pci/devices");
    write(at / "vendor", vendor);
    write(at / "device", id);
    write(at / "resource", "0x00000000f7c00000 0x00000000f7c7ffff 0x000000000014220c\n");
    set_config(at, config(0, 0));
    const fs::path link = root_ / "bus/pci/devices" / address;
    fs::remove(link);
    fs::create_directory_symlink(at, link);
    return at;
  }
  static void write(const fs::path& file, const std::string& text) { std::ofstream(file) << text; }
  static void set_config(const fs::path& at, const std::vector<std::uint8_t>& octets) {
    std::ofstream(at / "config", std::ios::binary)
        .write(reinterpret_cast<const char*>(octets.data()), static_cast<std::streamsize>(octets.size()));
  }
  [[nodiscard]] PciDevice find(const std::string& address) const {
    auto found = PciDevice::find(address, root_);
    EXPECT_TRUE(found) << found.error().message;
    return *found;
  }
  void link_to(const std::string& address, const std::string& what, const fs::path& target) const {
    fs::create_directories(root_ / target);
    fs::create_directory_symlink(root_ / target, find(address).path() / what);
  }
  [[nodiscard]] std::vector<StartUpNote> nic_notes(BusAddresses addresses = BusAddresses::kPhysical) const {
    return check_nic(find(kNic), addresses, root_);
  }
  fs::path root_;
};

bool has(const std::vector<StartUpNote>& notes, Gravity gravity, const std::string& part) {
  return std::ranges::any_of(notes, [&](const StartUpNote& note) {
    return note.gravity == gravity && note.sentence.find(part) != std::string::npos;
  });
}

TEST_F(Machine, a_device_that_is_not_there_is_named) {
  EXPECT_THAT(PciDevice::find("0000:09:00.0", root_).error().message, HasSubstr("0000:09:00.0: there is none"));
  EXPECT_THAT(PciDevice::find("eth0", root_).error().message, HasSubstr("allowed: like 0000:3b:00.0"));
}

TEST_F(Machine, a_plain_82599_is_taken) {
  EXPECT_FALSE(refuses(nic_notes()));
  EXPECT_TRUE(has(nic_notes(), Gravity::kNote, "no IOMMU"));
  EXPECT_TRUE(has(nic_notes(), Gravity::kNote, "bus mastering is off"));
}

TEST_F(Machine, another_card_is_refused) {
  EXPECT_TRUE(has(check_nic(find(kGpuAddress), BusAddresses::kVirtual, root_), Gravity::kRefusal,
                  "10de:2331 is no Intel 82599"));
}

TEST_F(Machine, a_card_that_the_kernel_drives_is_refused) {
  link_to(kNic, "driver", "bus/pci/drivers/ixgbe");
  EXPECT_TRUE(has(nic_notes(), Gravity::kRefusal, "driver ixgbe has the device"));
  EXPECT_TRUE(has(nic_notes(), Gravity::kRefusal, "echo 0000:03:00.0 > /sys/bus/pci/drivers/ixgbe/unbind"));
  EXPECT_THAT(open_resource0(find(kNic)).error().message, HasSubstr("driver ixgbe has the device"));
}

TEST_F(Machine, relaxed_ordering_is_warned_of) {
  EXPECT_FALSE(has(nic_notes(), Gravity::kWarning, "relaxed ordering"));
  set_config(find(kNic).path(), config(1U << 4, 0));
  EXPECT_TRUE(has(nic_notes(), Gravity::kWarning, "relaxed ordering is enabled"));
  set_config(find(kNic).path(), std::vector<std::uint8_t>(64));  // the part that a user without rights may read
  EXPECT_TRUE(has(nic_notes(), Gravity::kWarning, "cannot be read"));
}

TEST_F(Machine, an_iommu_that_translates_refuses_physical_addresses) {
  link_to(kNic, "iommu_group", "kernel/iommu_groups/17");
  write(root_ / "kernel/iommu_groups/17/type", "DMA-FQ\n");
  EXPECT_TRUE(has(nic_notes(), Gravity::kRefusal, "IOMMU group 17 (DMA-FQ) translates addresses"));
  EXPECT_FALSE(refuses(nic_notes(BusAddresses::kVirtual)));
  EXPECT_FALSE(has(nic_notes(BusAddresses::kVirtual), Gravity::kWarning, "GPU")) << "none takes part";
  EXPECT_TRUE(has(check_path(find(kNic), find(kGpuAddress), root_), Gravity::kWarning, "through the root complex"));
  write(root_ / "kernel/iommu_groups/17/type", "identity\n");
  EXPECT_FALSE(refuses(nic_notes()));
  EXPECT_FALSE(has(nic_notes(), Gravity::kWarning, "root complex"));
}

TEST_F(Machine, the_way_to_the_gpu_is_judged_by_its_switch) {
  auto notes = check_path(find(kNic), find(kGpuAddress));
  EXPECT_TRUE(has(notes, Gravity::kNote, "are both behind 0000:01:00.0"));
  EXPECT_FALSE(has(notes, Gravity::kWarning, ""));
  set_config(find("0000:02:01.0").path(), config(0, 0x1D));  // ACS as kernels with an IOMMU enable it
  notes = check_path(find(kNic), find(kGpuAddress));
  EXPECT_TRUE(has(notes, Gravity::kWarning, "0000:02:01.0: ACS redirects"));
  EXPECT_FALSE(has(notes, Gravity::kWarning, "0000:02:00.0"));
}

TEST_F(Machine, a_gpu_elsewhere_is_warned_of) {
  device("0000:80:00.0", {}, "0x10de", "0x2331");
  EXPECT_TRUE(has(check_path(find(kNic), find("0000:80:00.0")), Gravity::kWarning, "no bridge in common"));
}

TEST_F(Machine, registers_are_read_through_resource0) {
  const fs::path at = find(kNic).path();
  EXPECT_THAT(open_resource0(find(kNic)).error().message, HasSubstr("No such file"));
  write(at / "resource0", "");
  fs::resize_file(at / "resource0", 512 * 1024);
  auto bar = open_bar(find(kNic));
  ASSERT_TRUE(bar) << bar.error().message;
  (*bar)->write32(reg::rdt(3), 0x1234);
  EXPECT_EQ((*bar)->read32(reg::rdt(3)), 0x1234U);
  EXPECT_EQ(*(*bar)->doorbell(reg::rdt(3)), 0x1234U);
  EXPECT_THAT(check_bar(**bar), IsEmpty());
  EXPECT_EQ(*find(kNic).config16(4) & 0x06, 0x02);  // memory access, and no bus mastering before the reset
  ASSERT_TRUE((*bar)->enable_bus_master());
  EXPECT_EQ(*find(kNic).config16(4) & 0x06, 0x06);
  ASSERT_TRUE(find(kNic).disable_bus_master());
  EXPECT_EQ(*find(kNic).config16(4) & 0x06, 0x02);
  EXPECT_THAT((*bar)->map_memory(nullptr, 0).error().message, HasSubstr("by VFIO only"));
  (*bar)->write32(reg::kStatus, ~0U);
  (*bar)->write32(reg::kCtrl, ~0U);
  EXPECT_TRUE(refuses(check_bar(**bar)));
  bar->reset();
  std::uint32_t word = 0;
  std::ifstream file(at / "resource0", std::ios::binary);
  file.seekg(reg::rdt(3)).read(reinterpret_cast<char*>(&word), 4);
  EXPECT_EQ(word, 0x1234U);
}

TEST_F(Machine, a_card_that_answers_ones_is_not_said_to_be_silent) {
  set_config(find(kNic).path(), std::vector<std::uint8_t>(64, 0xFF));
  EXPECT_THAT(find(kNic).disable_bus_master().error().message, HasSubstr("reads as ones"));
  EXPECT_EQ(*find(kNic).config16(4), 0xFFFF) << "written to";
}

TEST_F(Machine, a_command_word_that_does_not_change_is_an_error) {
  const PciDevice nic = find(kNic);
  fs::remove(nic.path() / "config");
  fs::create_symlink("/dev/zero", nic.path() / "config");  // accepts every write, and reads as 0
  EXPECT_THAT(nic.enable_memory().error().message, HasSubstr("reads 0x0000 after bits 0x2 were switched on"));
}

TEST_F(Machine, a_card_is_opened_as_its_driver_would) {
  const fs::path at = find(kNic).path();
  EXPECT_TRUE(has(check_card(find(kNic), 4096), Gravity::kRefusal, "No such file"));
  write(at / "resource0", "");
  fs::resize_file(at / "resource0", 512 * 1024);
  const auto notes = check_card(find(kNic), 4096);
  EXPECT_TRUE(has(notes, Gravity::kNote, "0000:03:00.0: BAR 0 answers, STATUS 0x00000000"));
  // With hugepages and the right to read their addresses there is an address; otherwise a note says what is missing.
  // Never both.
  EXPECT_NE(has(notes, Gravity::kNote, "at bus address 0x"), refuses(notes));
  std::ofstream(at / "resource0", std::ios::binary) << std::string(512 * 1024, '\xff');
  EXPECT_TRUE(has(check_card(find(kNic), 4096), Gravity::kRefusal, "read as ones"));
  link_to(kNic, "driver", "bus/pci/drivers/ixgbe");
  EXPECT_TRUE(has(check_card(find(kNic), 4096), Gravity::kRefusal, "driver ixgbe has the device"));
}

TEST_F(Machine, a_bar_too_small_for_the_registers_is_refused) {
  write(find(kNic).path() / "resource", "0x00000000f7c00000 0x00000000f7c03fff 0x0\n");
  write(find(kNic).path() / "resource0", "");
  EXPECT_THAT(open_resource0(find(kNic)).error().message, HasSubstr("BAR 0 has 16384 octets"));
  write(find(kNic).path() / "resource", "0x0 0x0 0x0\n");
  EXPECT_THAT(open_resource0(find(kNic)).error().message, HasSubstr("BAR 0 has no memory"));
}

TEST_F(Machine, uio_maps_its_own_bar_or_resource0) {
  EXPECT_THAT(open_uio(find(kNic), root_).error().message, HasSubstr("driver none; allowed: uio_pci_generic"));
  link_to(kNic, "driver", "bus/pci/drivers/uio_pci_generic");
  fs::create_directories(find(kNic).path() / "uio/uio0");
  EXPECT_THAT(open_uio(find(kNic), root_).error().message, HasSubstr("uio0: No such file"));
  for (const fs::path& file : {root_ / "uio0", find(kNic).path() / "resource0"}) {
    write(file, "");
    fs::resize_file(file, 512 * 1024);
  }
  const auto write_through = [&](std::uint32_t value) {
    auto bar = open_uio(find(kNic), root_);
    ASSERT_TRUE(bar) << bar.error().message;
    (*bar)->write32(reg::kFctrl, value);
  };
  const auto word_in = [](const fs::path& file) {
    std::uint32_t word = 0;
    std::ifstream in(file, std::ios::binary);
    in.seekg(reg::kFctrl).read(reinterpret_cast<char*>(&word), 4);
    return word;
  };
  write_through(7);  // uio_pci_generic has no maps
  EXPECT_EQ(word_in(find(kNic).path() / "resource0"), 7U);
  EXPECT_EQ(word_in(root_ / "uio0"), 0U);
  fs::create_directories(find(kNic).path() / "uio/uio0/maps/map0");
  write_through(9);  // igb_uio
  EXPECT_EQ(word_in(root_ / "uio0"), 9U);
}

TEST_F(Machine, vfio_says_what_it_lacks) {
  EXPECT_THAT(open_vfio(find(kNic), root_).error().message, HasSubstr("in no IOMMU group"));
  link_to(kNic, "iommu_group", "kernel/iommu_groups/17");
  EXPECT_THAT(open_vfio(find(kNic), root_).error().message, HasSubstr("vfio/vfio: No such file"));
  fs::create_directories(root_ / "vfio");
  write(root_ / "vfio/vfio", "");
  EXPECT_THAT(open_vfio(find(kNic), root_).error().message, HasSubstr("no IOMMU of type 1"));
}

}  // namespace
}  // namespace splitplane::gpu
