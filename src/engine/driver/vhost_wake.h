// DPDK's vhost thread waits for events a second at a time and does not see a socket that is added meanwhile. So the
// other end of a new vhost port would be let in up to a second late.
#pragma once

namespace splitplane::datapath {

// Makes that thread begin a new wait, with the sockets that there are now. Takes a few milliseconds; without such a
// thread nothing happens. The process handles SIGURG from then on, unless it did before.
void wake_vhost_thread();

}  // namespace splitplane::datapath
