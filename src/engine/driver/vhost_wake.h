// DPDK's vhost thread waits for events a second at a time and does not see a socket that is added meanwhile. So the
// other end of a new vhost port would connect up to a second late.
#pragma once

namespace splitplane::datapath {

// Makes that thread begin a new wait with the present sockets. It takes a few milliseconds; without such a thread
// nothing happens. From then on the process handles SIGURG, unless it did so before.
void wake_vhost_thread();

}  // namespace splitplane::datapath
