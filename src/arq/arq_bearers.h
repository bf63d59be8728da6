// The acknowledged bearers of a gNB worker by identity.
#pragma once

#include "arq/arq.h"
#include "ran/by_identity.h"

namespace splitplane::datapath {

using ArqBearers = ran::ByIdentity<ArqBearer>;

}  // namespace splitplane::datapath
