// What became of a packet, and which fault an engine has. One list each makes texts and counters.
#pragma once

#include "base/outcome_list.h"

namespace splitplane::gpu {

// A function returns one of the first; the receiver itself drops for the last three.
#define SPLITPLANE_GPU_VERDICTS(X)                                                             \
  X(send, "sent back out")                                                                     \
  X(not_for_us, "no G-PDU that header mode takes: another protocol, a fragment, or malformed") \
  X(no_bearer, "TEID of no bearer")                                                            \
  X(too_long, "frame longer than the air takes, or without room for its headers")              \
  X(count_used_up, "PDCP COUNT at its end: the bearer needs a new key")                        \
  X(refused, "dropped by the function")                                                        \
  X(bad_length, "descriptor with a length that no frame has, or more than a slot")             \
  X(broken_frame, "receive error, or a frame over more than one descriptor")                   \
  X(early_write_back, "descriptor marked done before its octets arrived, and they did not arrive since")

SPLITPLANE_OUTCOMES(Verdict, SPLITPLANE_GPU_VERDICTS)

// Faults that an engine, or the watchdog that reads its counters, found.
#define SPLITPLANE_GPU_FAULTS(X)                                                                          \
  X(none, "no fault")                                                                                     \
  X(sender_stalled, "the NIC does not send: descriptors given to it do not come back, doorbell repeated") \
  X(receiver_deaf, "the NIC drops frames while the receiver has free descriptors and gets nothing")       \
  X(slots_exhausted, "no free slot for longer than the watchdog allows: the sender does not return them") \
  X(engine_stalled, "the engine takes no step: its function does not return")                             \
  X(did_not_stop, "the engine did not stop in time")

SPLITPLANE_OUTCOMES(Fault, SPLITPLANE_GPU_FAULTS)

}  // namespace splitplane::gpu
