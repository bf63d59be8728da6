// Calls of DPDK's drivers that this process intercepts, because the driver has a fault that no setting repairs (DPDK
// 22.11). The dynamic linker resolves these calls to our functions, because it looks into the executable before the
// libraries.
// - memif and vhost remove a port's memory on a thread of DPDK while a worker polls the port. Our functions run their
//   handlers with a DriverGate locked.
// - virtio_user may set an alarm for a port that is being closed, which runs when the port's memory is gone. Our
//   functions skip its handlers while a port is closed.
// - af_packet derives the number of its fanout group from the process and the interface. Two processes in one network
//   namespace may get the same number. Our functions let the kernel assign the numbers instead.
#pragma once

namespace splitplane::datapath {

// True if the driver's handlers have been intercepted, which must happen before a worker polls a port of it. False if
// DPDK is not linked dynamically.
[[nodiscard]] bool memif_handlers_are_gated();
[[nodiscard]] bool vhost_handlers_are_gated();

// Removes memif's listening sockets once the last memif port of the process is closed. The driver would leave them with
// the interrupt thread for ever.
void take_back_memif_handlers();

// Returns once the interrupt thread has finished its current work. Do not call it on that thread.
void wait_for_interrupt_thread();

}  // namespace splitplane::datapath
