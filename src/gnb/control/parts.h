// The parts of a gNB's control side: what each refers to, and how they are built. A running instance has them, and so
// has `splitplane explain`, whose workers have no port and no thread.
#pragma once

#include <utility>

#include "gnb/config/config.h"
#include "gnb/control/bearer_lines.h"
#include "gnb/control/bearers.h"
#include "gnb/control/cards.h"
#include "gnb/control/control_lock.h"
#include "gnb/control/n3_control.h"
#include "gnb/control/numbers.h"
#include "gnb/control/observer.h"
#include "gnb/control/peer_table.h"
#include "gnb/control/service_link.h"
#include "gnb/control/taps.h"
#include "gnb/control/uplinks.h"
#include "gnb/control/wiring.h"
#include "gnb/control/workers.h"
#include "gnb/phy/phys.h"
#include "gnb/power/power_meter.h"
#include "placement/decision/pins.h"
#include "ran/bearer_store.h"
#include "runtime/port_watch.h"

namespace splitplane::gnb {

struct Parts {
  explicit Parts(GnbConfig c)
      : config(std::move(c)),
        store(config.instance, owned_shards(config), bearers_per_shard(config),
              config.lookup == GnbConfig::Lookup::kUeAddress) {}

  // Parts end in the order opposite to this one. Each refers to parts above it only.
  GnbConfig config;
  ControlLock control;
  Wiring wiring{config};
  PortWatch watch;
  BearerStore store;
  Workers workers{config};
  PeerTable peers;
  BearerLines lines{config, workers};
  Numbers numbers{config, store, workers};  // above cards, whose threads write to its journal
  Cards cards{config, workers, peers};
  Uplinks uplinks{store, workers, peers, cards};
  N3Control n3{store, workers, peers, cards, uplinks};
  placement::Pins pins{config.pins};
  Bearers bearers{{control, store, workers, peers, lines, numbers, cards, n3, uplinks, pins}};
  Taps taps{config, control, workers, lines.secured_drbs()};
  ServiceLink service{config, workers, wiring};
  Phys phys;
  PowerMeter power{config};
  Observer observer{{config, wiring.ports(), watch, store, workers, n3, cards, numbers, service, phys, power}};
};

}  // namespace splitplane::gnb
