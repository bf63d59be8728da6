// What a driver does against the datasheet, as the model counts it. The model never crashes over it. It refuses what it
// can and goes on as the hardware might. A driver without such faults has brought the NIC up in the right order.
#pragma once

#include <array>

#include "base/counter.h"
#include "base/outcome_list.h"

namespace splitplane::nicmodel {

// Sections of the 82599 datasheet.
// clang-format off
#define SPLITPLANE_DRIVER_FAULTS(X)                                                                                  \
  X(unknown_register, "a register that the model does not have was read or written")                                 \
  X(reset_with_rings_running, "reset while rings were enabled and requests not disabled (4.2.1.6.1, 5.2.5.3.2)")     \
  X(ring_base_missing, "a ring was enabled before its base address was set (4.6.7, 4.6.8)")                          \
  X(ring_base_unaligned, "a ring's base address is no multiple of 128 (8.2.3.8.1, 8.2.3.9.5)")                       \
  X(ring_length_invalid, "a ring's length is 0, no multiple of 128, or more than 128 KiB (8.2.3.8.3, 8.2.3.9.7)")    \
  X(ring_address_unknown, "a ring lies outside of the memory that is registered for DMA")                            \
  X(ring_written_while_enabled, "base, length or head of an enabled ring was written (8.2.3.8.4, 8.2.3.9.8)")        \
  X(tail_before_enable, "a tail was moved before the ring was enabled (4.6.7, 4.6.8)")                               \
  X(tail_beyond_ring, "a tail was written that is not inside of its ring")                                           \
  X(transmit_path_disabled, "a transmit ring was enabled before DMATXCTL.TE (4.6.8)")                                \
  X(receive_type_unsupported, "SRRCTL asks for a descriptor type other than advanced, one buffer")                   \
  X(receive_not_halted, "RXCTRL.RXEN was set while SECRXCTRL.RX_DIS was not (4.6.7)")                                \
  X(filter_written_while_receiving, "FCTRL was written while RXCTRL.RXEN was set (8.2.3.7.1)")                       \
  X(filter_reserved_bits, "a 5-tuple filter was enabled with bits 19:13 of L34TIMIR not 1000000b (8.2.3.7.19)")       \
  X(semaphore_not_held, "AUTOC was written, or SW_FW_SYNC, without the semaphore (10.5.4)")                          \
  X(mode_with_laser_on, "the mode of an SFP+ port was changed while its laser was on: the far end sees a link flap")    \
  X(buffer_address_unknown, "a descriptor's buffer lies outside of the memory that is registered for DMA")           \
  X(descriptor_unsupported, "a transmit descriptor is neither advanced data nor context (7.2.3.2)")                  \
  X(transmit_length_invalid, "a transmit descriptor's lengths are 0, too long, or contradict each other (7.2.3.2.4)") \
  X(transmit_without_fcs, "a frame was given without IFCS: it would leave without CRC (7.2.3.2.4)")
// clang-format on
SPLITPLANE_OUTCOMES(DriverFault, SPLITPLANE_DRIVER_FAULTS)

class DriverFaults {
 public:
  void count(DriverFault fault) { counters_[static_cast<std::size_t>(fault)].add(1); }
  [[nodiscard]] std::uint64_t of(DriverFault fault) const { return counters_[static_cast<std::size_t>(fault)].get(); }
  [[nodiscard]] std::uint64_t total() const {
    std::uint64_t sum = 0;
    for (const Counter& counter : counters_) sum += counter.get();
    return sum;
  }

 private:
  std::array<Counter, kDriverFaultCount> counters_;
};

// Faults that the model makes on purpose, to test a driver's defences.
// clang-format off
#define SPLITPLANE_INJECTED_FAULTS(X)                                                        \
  X(stops, "the NIC moves nothing any more on this ring")                                    \
  X(corrupts_descriptor, "a write-back with a length beyond the buffer")                     \
  X(reports_error, "a write-back with the error bit of the MAC")                             \
  X(early_done, "DD is written some rounds before the payload")                              \
  X(loses_receive_doorbell, "a write of RDT does not arrive")                                \
  X(loses_transmit_doorbell, "a write of TDT does not arrive")
// clang-format on
SPLITPLANE_OUTCOMES(InjectedFault, SPLITPLANE_INJECTED_FAULTS)

}  // namespace splitplane::nicmodel
