// What both ends of a link count. One thread counts; any thread may read. Each list is member and meaning, and for_each
// gives the name, the meaning and the value of all members.
#pragma once

#include <string_view>

#include "base/counter.h"

namespace splitplane::phy {

// clang-format off
#define SPLITPLANE_DATAGRAM_COUNTERS(X)                                             \
  X(sent, "datagrams that the kernel took")                                         \
  X(received, "datagrams that came whole")                                          \
  X(no_room, "datagrams not sent because the kernel had no room (EAGAIN, ENOBUFS)") \
  X(unreachable, "reports of the kernel that no socket is open at the peer")        \
  X(send_errors, "datagrams not sent for another reason")                           \
  X(given_up, "datagrams not sent because one of their message was not")            \
  X(receive_errors, "failures of the kernel to give a datagram")                    \
  X(truncated, "datagrams dropped because they are longer than the buffer")         \
  X(kernel_dropped, "datagrams that the kernel dropped because none was fetched in time")

#define SPLITPLANE_P7_COUNTERS(X)                                                   \
  X(messages_sent, "messages whose datagrams the kernel took")                      \
  X(cut_short, "messages not sent as a whole, for the reasons of their datagrams")  \
  X(unwritable, "messages not sent because a field or the length is out of range")  \
  X(messages, "messages received whole")                                            \
  X(given_up, "datagrams of messages that were not received whole, or came twice")  \
  X(refused, "datagrams with a bad header, checksum or PHY")                        \
  X(unreadable, "messages whose body is not as its ID says")                        \
  X(unexpected, "messages that this end does not take in its state")

#define SPLITPLANE_P5_COUNTERS(X)                                                   \
  X(sent, "messages that the kernel took")                                          \
  X(not_sent, "messages that the kernel did not take")                              \
  X(messages, "messages received")                                                  \
  X(refused, "datagrams with a bad header, or of another PHY")                      \
  X(unreadable, "messages whose body is not as its ID says")                        \
  X(unexpected, "messages that this end does not take in its state")
// clang-format on

#define SPLITPLANE_LINK_MEMBER(field, text) Counter field;
#define SPLITPLANE_LINK_VISIT(field, text) f(std::string_view{#field}, std::string_view{text}, field.get());

struct DatagramCounters {
  SPLITPLANE_DATAGRAM_COUNTERS(SPLITPLANE_LINK_MEMBER)
  template <class F>
  void for_each(F f) const {
    SPLITPLANE_DATAGRAM_COUNTERS(SPLITPLANE_LINK_VISIT)
  }
};

struct P7Counters {
  SPLITPLANE_P7_COUNTERS(SPLITPLANE_LINK_MEMBER)
  template <class F>
  void for_each(F f) const {
    SPLITPLANE_P7_COUNTERS(SPLITPLANE_LINK_VISIT)
  }
};

struct P5Counters {
  SPLITPLANE_P5_COUNTERS(SPLITPLANE_LINK_MEMBER)
  template <class F>
  void for_each(F f) const {
    SPLITPLANE_P5_COUNTERS(SPLITPLANE_LINK_VISIT)
  }
};

}  // namespace splitplane::phy
