// The receiving MAC of one UE at either end: SDUs of a transport block go to the RLC entities of their channels.
#pragma once

#include "ran/mac/demux.h"
#include "ran/rlc/am_entity.h"
#include "ran/rlc/um_entity.h"

namespace splitplane::ran::mac {

template <buf::PacketBuffer B>
class Demultiplexer {
 public:
  static constexpr unsigned kMostChannels = 32;

  // `direction` is that of the blocks received: a UE receives downlink.
  explicit Demultiplexer(Direction direction) : direction_(direction) {}

  // The entity stays with its owner. False: kMostChannels are there, the LCID has an entity, or it is none of a
  // channel.
  [[nodiscard]] bool add(std::uint32_t lcid, rlc::AmEntity<B>& am) { return add(lcid, {&am, nullptr}); }
  [[nodiscard]] bool add(std::uint32_t lcid, rlc::UmReceive<B>& um) { return add(lcid, {nullptr, &um}); }

  // Takes a block apart. `owner` has:
  //   B make(Octets)                               a buffer with these octets of the block, or a part of the block; an
  //                                                empty one, if there is none, drops the SDU (no_buffer)
  //   void deliver(lcid, std::span<rlc::Part<B>>)  an SDU of RLC is complete
  //   void max_retx(lcid, sn)                      AM: an SDU was sent again too often
  //   bool element(lcid, Octets)                   a control element; false if its contents are wrong
  template <class Owner>
  void receive(Octets block, rlc::Time now, Owner& owner) {
    Sink<Owner> sink{*this, owner, now};
    demultiplex(block, direction_, map_, counters_, sink);
  }

  [[nodiscard]] const DemuxCounters& counters() const { return counters_; }

 private:
  struct Entity {
    rlc::AmEntity<B>* am = nullptr;
    rlc::UmReceive<B>* um = nullptr;
    std::uint32_t lcid = 0;
  };
  template <class Owner>
  struct Sink {
    Demultiplexer& mac;
    Owner& owner;
    rlc::Time now;

    void sdus(std::span<const ReceivedSdu> batch) {
      for (const ReceivedSdu& sdu : batch) {
        const Entity& to = mac.entities_[sdu.place];
        B pdu = owner.make(sdu.payload());
        if (!pdu) {
          ++mac.counters_.of(MacDrop::no_buffer);
          continue;
        }
        const auto deliver = [&](auto parts) { owner.deliver(to.lcid, parts); };
        if (to.am != nullptr) {
          to.am->receive(std::move(pdu), now, deliver, [&](std::uint32_t sn) { owner.max_retx(to.lcid, sn); });
        } else {
          to.um->receive(std::move(pdu), now, deliver);
        }
      }
    }
    bool element(std::uint8_t lcid, Octets contents) { return owner.element(lcid, contents); }
  };

  bool add(std::uint32_t lcid, Entity entity) {
    if (count_ == kMostChannels || lcid > wire::mac::kFirstExtendedLcid + 0xFFFF) return false;
    if (lcid > wire::mac::kLcidLastSdu && lcid < wire::mac::kFirstExtendedLcid) return false;
    if (map_[lcid] != ChannelMap::kNone || !map_.set(lcid, static_cast<std::uint8_t>(count_))) return false;
    entity.lcid = lcid;
    entities_[count_++] = entity;
    return true;
  }

  Direction direction_;
  unsigned count_ = 0;
  ChannelMap map_;
  std::array<Entity, kMostChannels> entities_{};
  DemuxCounters counters_;
};

}  // namespace splitplane::ran::mac
