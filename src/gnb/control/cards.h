// Cards in front of an instance's ports: which bearers they get, which UPFs they send to, and what they counted.
// CardLink does the asking. Nothing here waits for a card that is away.
#pragma once

#include <functional>
#include <nlohmann/json.hpp>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "card/link/link.h"
#include "card/link/requests.h"
#include "card/link/vf_links.h"
#include "gnb/control/bearer_lines.h"
#include "gnb/control/control_lock.h"
#include "gnb/control/peer_table.h"
#include "gnb/control/workers.h"

namespace splitplane::gnb {

class Cards {
 public:
  // What a card was asked for: with the mutex, in the order of the changes, and waited for without it.
  struct Request {
    CardLink* card;
    CardLink::Asked asked;
  };
  using Requests = std::vector<Request>;

  Cards(const GnbConfig& config, Workers& workers, PeerTable& peers)
      : config_(config), workers_(workers), peers_(peers) {}

  // One link for each card of the configuration, and the way to it for the workers behind the card. `port_id`: DPDK's
  // number of a port. `journal`: where leases survive.
  Expected<void> connect(const std::function<std::uint16_t(const std::string&)>& port_id,
                         const CardLinkSettings::Journal& journal);
  // The links' threads. After the configured bearers were put: on a card that outlived an earlier run of this host they
  // keep their numbers, and the card removes what is not known by then.
  void begin(const Locked& locked);
  // No bearer and no lease reaches a card from here on. Before the journal ends, since a link puts each lease into the
  // journal before the card may use it. Without the mutex.
  void end();

  // Whether packets pass between cards and this host. True: a card's do again, so UPFs have to be asked anew.
  [[nodiscard]] bool look(const Locked& locked, Time now);

  // That the card that shall serve this bearer is there, and can.
  [[nodiscard]] Expected<void> check(const ran::BearerConfig& config, const WorkerRuntime& worker) const;
  // One bearer more from a worker to this UPF, and one less. The UPF's number on the card before that worker; nothing
  // where there is no card, or its UPFs are not the card's.
  Expected<std::optional<unsigned>> join(const Locked& locked, const WorkerRuntime& worker, const IpAddress& upf);
  void leave(const Locked& locked, const WorkerRuntime& worker, const IpAddress& upf);
  // The MAC address of a next hop, or that it has none any more.
  void tell(const Locked& locked, const N3Interface& n3, const IpAddress& hop, const std::optional<MacAddress>& mac);

  // Every bearer of a worker behind a card has an entry there: its own, or the way to its worker.
  [[nodiscard]] Requests put(const Locked& locked, std::span<const Installation> all);
  Requests take_off(const Locked& locked, const WorkerRuntime& worker, BearerId id);
  // True if the workers behind this card get the clones of what it sends for their bearers.
  [[nodiscard]] bool keep_copies(const std::string& card) const;
  // RLC re-establishment of a bearer that the card numbers and whose worker keeps copies.
  Requests restart(const Locked& locked, const WorkerRuntime& worker, BearerId id);
  // Lets the mutex go while it waits: the other threads serve neighbors, metrics and statistics meanwhile. Error: a
  // card refuses a bearer.
  [[nodiscard]] static std::pair<Change, Expected<void>> wait_for(Change&& change, const Requests& requests);
  // As the host has it; a refusal is not reported, since no caller has a better answer to it. `stopped`: its uplink.
  void put_soon(const Locked& locked, const WorkerRuntime& worker, const ran::BearerConfig& config, bool stopped);

  // Whether the uplink of a bearer on that card goes by its worker: after a move, or while it is stopped.
  [[nodiscard]] bool has_uplink_by_host(const Locked& locked, const WorkerRuntime& worker, BearerId id);
  // The link of the card before a worker; nullptr: there is none. `card`: only if it has this name.
  [[nodiscard]] CardLink* link_before(const WorkerRuntime& worker, const std::string& card);
  // A bearer's entry on that card. `stopped`: its uplink goes by the host.
  [[nodiscard]] nic::CardBearer entry_of(const Locked& locked, const WorkerRuntime& worker,
                                         const ran::BearerConfig& config, bool stopped);

  // Of a bearer on a card the host sees what the card passed up; here the card's own packets are added. Asks the cards,
  // so it is called without the mutex.
  void add_numbers(std::vector<BearerView>& views) const;
  [[nodiscard]] std::vector<CardLinkView> views() const;
  [[nodiscard]] nlohmann::json rows() const;
  [[nodiscard]] Expected<nlohmann::json> show() const;

 private:
  struct Card {
    CardLinkConfig config;
    UpfNumbers upfs;  // by the number that the card knows
    std::unique_ptr<CardLink> link;
    std::unique_ptr<CardRequestReader> requests;  // of the workers behind it; ends before the link
    VfLinks vfs;
    bool cut_off = false;  // by the last look
  };
  [[nodiscard]] Card* before(const WorkerRuntime& worker);
  [[nodiscard]] bool punts_to_owner(const CardLinkConfig& card) const;
  Expected<void> connect_workers(Card& card);
  [[nodiscard]] Expected<CardLinkSettings::KeptWindow> begin_kept(BearerId id, std::uint8_t epoch) const;
  [[nodiscard]] std::vector<std::optional<CardLinkSettings::KeptWindow>> windows_of(
      std::span<const BearerId> ids) const;
  // On the link's thread.
  void notify(std::span<const CardNotice> notices);

  const GnbConfig& config_;
  Workers& workers_;
  PeerTable& peers_;
  std::vector<NumberRing> request_rings_;  // of workers behind cards
  std::vector<Card> cards_;
};

}  // namespace splitplane::gnb
