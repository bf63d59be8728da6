// The methods bearer.* of the control protocol, made of what a machine does with its bearers. A machine registers those
// that it serves.
#pragma once

#include <functional>
#include <optional>
#include <span>
#include <vector>

#include "control/registry.h"
#include "ran/bearer_view.h"
#include "ran/control/bearer_requests.h"

namespace splitplane::app {

inline constexpr std::size_t kMaxBearersPerRequest = 65536;
inline constexpr std::size_t kMaxListLimit = 1000;

// Returns when the journal, if there is one, has the changes on the disk. Error: they are in force, but a restart would
// lose them.
using WaitForDisk = std::function<Expected<void>()>;

// Adds bearers, all or none, and returns them with their identities; at most kBearersPerBatch in a call. With config.id
// 0 the machine chooses the identity (in `shard` if given). Idempotent: the same (upf, uplink_teid) with the same
// configuration returns the bearer that is there already, and counts it as `existed`.
using AddBearers =
    std::function<Expected<AddedBearers>(std::span<const ran::BearerConfig> wanted, std::optional<unsigned> shard)>;
[[nodiscard]] MethodRegistry::Handler bearer_add(AddBearers add, WaitForDisk wait_for_disk);

using ModifyBearer = std::function<Expected<ran::BearerConfig>(BearerId id, const BearerPatch& patch)>;
[[nodiscard]] MethodRegistry::Handler bearer_modify(ModifyBearer modify, WaitForDisk wait_for_disk);

// True if the bearer existed, false if there was none (releasing twice is no error).
using ReleaseBearer = std::function<Expected<bool>(BearerId id)>;
[[nodiscard]] MethodRegistry::Handler bearer_release(ReleaseBearer release, WaitForDisk wait_for_disk);

// RLC re-establishment with PDCP data recovery of an acknowledged bearer (the part of RRC). Returns its new epoch.
using ReestablishBearer = std::function<Expected<std::uint8_t>(BearerId id)>;
[[nodiscard]] MethodRegistry::Handler bearer_reestablish(ReestablishBearer reestablish);

// Other keys for a secured bearer (the part of RRC), in both directions, while packets flow.
using RekeyBearer = std::function<Expected<Rekeyed>(BearerId id, std::uint32_t key)>;
[[nodiscard]] MethodRegistry::Handler bearer_rekey(RekeyBearer rekey);
// The member `security` of such a request: an object with the number of the new keys.
[[nodiscard]] std::uint32_t read_new_key(Params& params);

using ShowBearer = std::function<Expected<BearerView>(BearerId id)>;
[[nodiscard]] MethodRegistry::Handler bearer_show(ShowBearer show);

// Up to `limit` bearers with an identity greater than `after`, in ascending order (0: from the start).
using ListBearers = std::function<Expected<std::vector<BearerView>>(std::uint32_t after, std::size_t limit)>;
[[nodiscard]] MethodRegistry::Handler bearer_list(ListBearers list);

}  // namespace splitplane::app
