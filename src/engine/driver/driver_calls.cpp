#include "engine/driver/driver_calls.h"

#include <dlfcn.h>
#include <linux/if_packet.h>
#include <rte_alarm.h>
#include <rte_interrupts.h>
#include <rte_vhost.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <cstring>
#include <future>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

#include "engine/driver/driver_gate.h"

namespace splitplane::datapath {
namespace {

// The function that the driver would have called without ours.
template <class Function>
Function* next(const char* name) {
  return reinterpret_cast<Function*>(::dlsym(RTLD_NEXT, name));
}

// Handlers of drivers, each with a place. DPDK gets the place's function instead, with the argument that the driver
// gave. memif has two: one for a listening socket and one for a connection. virtio has one, and two more that it sets
// alarms for.
constexpr std::size_t kHandlers = 8;
using Handler = void (*)(void* argument);
enum class Of : std::uint8_t { memif, virtio };
struct Place {
  std::atomic<Handler> handler{nullptr};
  Of driver = Of::memif;
  bool alarm = false;
};
std::array<Place, kHandlers> g_places;

template <std::size_t I>
void run_handler(void* argument) {
  const Place& place = g_places[I];
  DriverGate& gate = place.driver == Of::memif ? DriverGate::memif() : DriverGate::virtio();
  if (gate.begin_handler()) {
    if (place.driver == Of::memif) {
      const std::lock_guard guard(gate);  // no worker polls a queue of the port meanwhile
      place.handler.load()(argument);
    } else {
      place.handler.load()(argument);
    }
    gate.end_handler();
    return;
  }
  // The reason for an interrupt stays readable, so the interrupt comes again.
  if (!place.alarm) std::this_thread::sleep_for(std::chrono::milliseconds(1));
}
constexpr std::array<Handler, kHandlers> kRunHandler{run_handler<0>, run_handler<1>, run_handler<2>, run_handler<3>,
                                                     run_handler<4>, run_handler<5>, run_handler<6>, run_handler<7>};

std::optional<Of> driver_of(Handler handler) {
  Dl_info info{};
  if (::dladdr(reinterpret_cast<void*>(handler), &info) == 0 || info.dli_fname == nullptr) return std::nullopt;
  const std::string_view library(info.dli_fname);
  if (library.find("librte_net_memif") != std::string_view::npos) return Of::memif;
  if (library.find("librte_net_virtio") != std::string_view::npos) return Of::virtio;
  return std::nullopt;
}

// The function by which DPDK knows `handler`. `add`: the driver is registering it.
Handler known_as(Handler handler, bool add, bool alarm = false) {
  const auto driver = handler == nullptr ? std::nullopt : driver_of(handler);
  if (!driver) return handler;
  static std::mutex mutex;
  const std::lock_guard guard(mutex);
  for (std::size_t i = 0; i < kHandlers; ++i) {
    const Handler there = g_places[i].handler.load();
    if (there == handler) return kRunHandler[i];
    if (there != nullptr || !add) continue;
    g_places[i].driver = *driver;
    g_places[i].alarm = alarm;
    g_places[i].handler.store(handler);
    return kRunHandler[i];
  }
  return handler;
}

bool is_of_memif(Handler known) {
  for (std::size_t i = 0; i < kHandlers; ++i) {
    if (kRunHandler[i] == known) return g_places[i].driver == Of::memif;
  }
  return false;
}

// A handler that memif registered and has not removed. memif never removes a listening socket. The socket's handle is
// in memory that is gone when the EAL ends, and the interrupt thread then reads it.
struct Registration {
  int fd;
  rte_intr_callback_fn handler;  // as DPDK knows it
  void* argument;
};
class Registrations {
 public:
  void add(const Registration& made) {
    const std::lock_guard guard(mutex_);
    all_.push_back(made);
  }
  void remove(int fd, rte_intr_callback_fn handler, void* argument) {
    const std::lock_guard guard(mutex_);
    std::erase_if(all_, [&](const Registration& r) {
      return r.fd == fd && r.handler == handler && (r.argument == argument || argument == reinterpret_cast<void*>(-1));
    });
  }
  std::vector<Registration> take() {
    const std::lock_guard guard(mutex_);
    return std::exchange(all_, {});
  }

 private:
  std::mutex mutex_;
  std::vector<Registration> all_;
};

Registrations& registrations() {
  static Registrations all;
  return all;
}

// The vhost driver's callbacks are the same for all its ports.
std::atomic<const rte_vhost_device_ops*> g_vhost_ops{nullptr};

int gated_new_device(int vid) {
  const std::lock_guard guard(DriverGate::vhost());
  return g_vhost_ops.load()->new_device(vid);
}

void gated_destroy_device(int vid) {
  const std::lock_guard guard(DriverGate::vhost());
  g_vhost_ops.load()->destroy_device(vid);
}

// The library with that function is loaded, perhaps only for its driver.
template <class Function>
Function* behind(const void* driver, const char* name) {
  Dl_info info{};
  if (::dladdr(driver, &info) == 0 || info.dli_fname == nullptr) return nullptr;
  void* const library = ::dlopen(info.dli_fname, RTLD_NOW | RTLD_NOLOAD);
  if (library == nullptr) return nullptr;
  auto* const function = reinterpret_cast<Function*>(::dlsym(library, name));
  ::dlclose(library);  // it stays loaded: its driver is
  return function;
}

// Fanout groups by the number that the driver chose: the socket that began the group, and the kernel's number.
class FanoutGroups {
 public:
  using Set = decltype(::setsockopt);

  int join(Set* set, int socket, unsigned wanted) {
    const std::lock_guard guard(mutex_);
    const auto known = groups_.find(wanted);
    // The group is ours and still exists, so this socket is the next queue of that device.
    if (known != groups_.end() && group_of(known->second.first) == known->second.second)
      return set(socket, SOL_PACKET, PACKET_FANOUT, &known->second.second, sizeof(unsigned));
    const unsigned any = (wanted & ~0xffffU) | PACKET_FANOUT_FLAG_UNIQUEID << 16;
    // A kernel before 4.12 cannot assign numbers.
    if (set(socket, SOL_PACKET, PACKET_FANOUT, &any, sizeof any) != 0)
      return set(socket, SOL_PACKET, PACKET_FANOUT, &wanted, sizeof wanted);
    groups_[wanted] = {socket, group_of(socket)};
    return 0;
  }

 private:
  static unsigned group_of(int socket) {
    unsigned group = 0;
    socklen_t size = sizeof group;
    return ::getsockopt(socket, SOL_PACKET, PACKET_FANOUT, &group, &size) == 0 ? group : 0;
  }

  std::mutex mutex_;
  std::map<unsigned, std::pair<int, unsigned>> groups_;
};

}  // namespace

bool memif_handlers_are_gated() {
  return std::any_of(g_places.begin(), g_places.end(),
                     [](const Place& place) { return place.handler.load() != nullptr && place.driver == Of::memif; });
}

bool vhost_handlers_are_gated() {
  return g_vhost_ops.load() != nullptr;
}

void wait_for_interrupt_thread() {
  // That thread also runs the alarms, one handler after the other.
  auto done = std::make_unique<std::promise<void>>();
  auto ended = done->get_future();
  if (rte_eal_alarm_set(
          1, [](void* promise) { static_cast<std::promise<void>*>(promise)->set_value(); }, done.get()) != 0)
    return;
  if (ended.wait_for(std::chrono::seconds(5)) != std::future_status::ready) (void)done.release();
}

void take_back_memif_handlers() {
  for (const Registration& left : registrations().take()) {
    rte_intr_handle* const handle = rte_intr_instance_alloc(RTE_INTR_INSTANCE_F_PRIVATE);
    if (handle == nullptr) return;
    rte_intr_fd_set(handle, left.fd);
    rte_intr_type_set(handle, RTE_INTR_HANDLE_EXT);
    // -EAGAIN means that the handler runs; it is then skipped.
    int done = -EAGAIN;
    for (int tries = 0; tries < 1000 && done == -EAGAIN; ++tries) {
      done = rte_intr_callback_unregister(handle, left.handler, left.argument);
      if (done == -EAGAIN) std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
    if (done > 0) ::close(left.fd);
    rte_intr_instance_free(handle);
  }
}

}  // namespace splitplane::datapath

using namespace splitplane::datapath;  // the functions below replace DPDK's and the C library's

extern "C" {

int rte_intr_callback_register(const rte_intr_handle* handle, rte_intr_callback_fn handler, void* argument) {
  static auto* const real = next<decltype(rte_intr_callback_register)>("rte_intr_callback_register");
  const rte_intr_callback_fn known = known_as(handler, true);
  const int status = real(handle, known, argument);
  if (status == 0 && is_of_memif(known)) registrations().add({rte_intr_fd_get(handle), known, argument});
  return status;
}

int rte_intr_callback_unregister(const rte_intr_handle* handle, rte_intr_callback_fn handler, void* argument) {
  static auto* const real = next<decltype(rte_intr_callback_unregister)>("rte_intr_callback_unregister");
  const rte_intr_callback_fn known = known_as(handler, false);
  const int fd = rte_intr_fd_get(handle);
  const int status = real(handle, known, argument);
  if (status > 0) registrations().remove(fd, known, argument);
  return status;
}

int rte_intr_callback_unregister_pending(const rte_intr_handle* handle, rte_intr_callback_fn handler, void* argument,
                                         rte_intr_unregister_callback_fn ended) {
  static auto* const real =
      next<decltype(rte_intr_callback_unregister_pending)>("rte_intr_callback_unregister_pending");
  const rte_intr_callback_fn known = known_as(handler, false);
  const int fd = rte_intr_fd_get(handle);
  const int status = real(handle, known, argument, ended);
  if (status > 0) registrations().remove(fd, known, argument);
  return status;
}

int rte_eal_alarm_set(std::uint64_t us, rte_eal_alarm_callback handler, void* argument) {
  static auto* const real = next<decltype(rte_eal_alarm_set)>("rte_eal_alarm_set");
  return real(us, known_as(handler, true, true), argument);
}

int rte_eal_alarm_cancel(rte_eal_alarm_callback handler, void* argument) {
  static auto* const real = next<decltype(rte_eal_alarm_cancel)>("rte_eal_alarm_cancel");
  return real(known_as(handler, false), argument);
}

int rte_vhost_driver_callback_register(const char* path, const rte_vhost_device_ops* const ops) {
  static auto* const real = behind<decltype(rte_vhost_driver_callback_register)>(
      reinterpret_cast<const void*>(ops->destroy_device), "rte_vhost_driver_callback_register");
  if (real == nullptr) return -1;
  static rte_vhost_device_ops gated{};
  if (g_vhost_ops.load() == nullptr) {
    gated = *ops;
    gated.new_device = gated_new_device;
    gated.destroy_device = gated_destroy_device;
    g_vhost_ops.store(ops);
  }
  return real(path, g_vhost_ops.load() == ops ? &gated : ops);
}

int setsockopt(int socket, int level, int name, const void* value, socklen_t size) noexcept {
  using Set = decltype(::setsockopt);
  static auto* const real = next<Set>("setsockopt");
  if (level == SOL_PACKET && name == PACKET_FANOUT && size == sizeof(unsigned)) {
    static FanoutGroups groups;
    unsigned wanted = 0;
    std::memcpy(&wanted, value, sizeof wanted);
    return groups.join(real, socket, wanted);
  }
  return real(socket, level, name, value, size);
}

}  // extern "C"
