// The methods session.* of the control protocol: PDU sessions with several bearers.
#pragma once

#include <functional>
#include <vector>

#include "ran/control/bearer_methods.h"

namespace splitplane::app {

// Adds a session with all its bearers, or nothing. A session that is there already with the same keys is returned.
using AddSession = std::function<Expected<AddedSession>(const ran::WantedSession& wanted)>;
[[nodiscard]] MethodRegistry::Handler session_add(AddSession add, WaitForDisk wait_for_disk);

// True if the session existed.
using ReleaseSession = std::function<Expected<bool>(Teid teid)>;
[[nodiscard]] MethodRegistry::Handler session_release(ReleaseSession release, WaitForDisk wait_for_disk);

// Gives a QoS flow of a session to another of its bearers. Returns the session as it is then.
using MoveFlow = std::function<Expected<ran::SessionConfig>(Teid teid, Qfi qfi, ran::sdap::DrbId drb)>;
[[nodiscard]] MethodRegistry::Handler session_flow(MoveFlow move, WaitForDisk wait_for_disk);

// Other keys for all secured bearers of a session, of which the result has a row each.
using RekeySession = std::function<Expected<std::vector<RekeyedBearer>>(Teid teid, std::uint32_t key)>;
[[nodiscard]] MethodRegistry::Handler session_rekey(RekeySession rekey);

using ShowSession = std::function<Expected<SessionView>(Teid teid)>;
[[nodiscard]] MethodRegistry::Handler session_show(ShowSession show);

// Up to `limit` sessions with a TEID greater than `after`, in ascending order (0: from the start).
using ListSessions = std::function<Expected<std::vector<SessionView>>(std::uint32_t after, std::size_t limit)>;
[[nodiscard]] MethodRegistry::Handler session_list(ListSessions list);

}  // namespace splitplane::app
