#include "engine/driver/other_end.h"

#include <gmock/gmock.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <string>

namespace splitplane::datapath {
namespace {

using ::testing::HasSubstr;

class OtherEnd : public ::testing::Test {
 protected:
  void SetUp() override {
    std::string name = (std::filesystem::temp_directory_path() / "splitplane-test-XXXXXX").string();
    ASSERT_NE(::mkdtemp(name.data()), nullptr);
    directory_ = name;
    path_ = directory_ + "/s.sock";
  }
  void TearDown() override {
    if (fd_ >= 0) ::close(fd_);
    std::filesystem::remove_all(directory_);
  }
  void listen(int type) {
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    std::memcpy(address.sun_path, path_.c_str(), path_.size());
    fd_ = ::socket(AF_UNIX, type, 0);
    ASSERT_EQ(::bind(fd_, reinterpret_cast<const sockaddr*>(&address), sizeof address), 0);
    ASSERT_EQ(::listen(fd_, 4), 0);
  }
  [[nodiscard]] std::string memif(const std::string& role) const {
    return "net_memif0,id=0,role=" + role + ",socket=" + path_ + ",socket-abstract=no";
  }
  std::string directory_, path_;
  int fd_ = -1;
};

TEST_F(OtherEnd, a_memif_client_without_its_server_names_the_socket_and_what_to_start) {
  const auto why = missing_other_end(memif("client"));
  ASSERT_TRUE(why);
  EXPECT_THAT(*why, HasSubstr("nobody listens at " + path_));
  EXPECT_THAT(*why, HasSubstr("start the program whose port has role=server"));
  EXPECT_TRUE(missing_other_end("net_memif0,socket=splitplane-nobody-here")) << "an abstract name";
}

TEST_F(OtherEnd, a_server_waits_for_its_client_and_lacks_nothing) {
  EXPECT_FALSE(missing_other_end(memif("server")));
  EXPECT_FALSE(missing_other_end("net_virtio_user0,path=" + path_ + ",server=1"));
}

TEST_F(OtherEnd, one_that_listens_is_there) {
  listen(SOCK_SEQPACKET);
  EXPECT_FALSE(missing_other_end(memif("client")));
}

TEST_F(OtherEnd, a_virtio_user_port_needs_its_vhost) {
  const std::string device = "net_virtio_user0,path=" + path_ + ",queue_size=1024";
  EXPECT_THAT(missing_other_end(device).value_or(""), HasSubstr("eth_vhost"));
  listen(SOCK_STREAM);
  EXPECT_FALSE(missing_other_end(device));
}

TEST_F(OtherEnd, other_devices_have_none) {
  for (const char* device : {"net_af_packet0,iface=lo", "0000:3b:00.0", "net_ring0", "", "net_memif0,role=server",
                             "net_virtio_user0", "net_virtio_user0,path=/dev/null"})
    EXPECT_FALSE(missing_other_end(device)) << device;
}

}  // namespace
}  // namespace splitplane::datapath
