// Calls that DPDK's drivers make and that go through this process first, because the driver's own way has a fault that
// no setting mends (DPDK 22.11). The dynamic linker gives them to us: it looks into the executable before the
// libraries.
// - memif and vhost take a port's memory away on a thread of DPDK's, beside a worker that polls it: their handlers run
//   with a DriverGate locked.
// - virtio_user may set an alarm about a port that is being closed, and runs it when the port's memory is gone: its
//   handlers are passed over while a port is closed.
// - af_packet makes the number of its fanout group from the process and the interface, so that two processes in one
//   network namespace may come to the same: the kernel gives the numbers out instead.
#pragma once

namespace splitplane::datapath {

// Whether the driver's handlers have been seen, which they must be before a port of it is polled. False if DPDK is
// linked in another way than the dynamic one.
[[nodiscard]] bool memif_handlers_are_gated();
[[nodiscard]] bool vhost_handlers_are_gated();

// Once the last memif port of the process is closed: its listening sockets, which the driver leaves with the interrupt
// thread for good.
void take_back_memif_handlers();

// Returns once the interrupt thread has ended what it was doing. Not on that thread.
void wait_for_interrupt_thread();

}  // namespace splitplane::datapath
