// For tests of ran/mac only: heap memory of a block, the subPDUs of a block as text, and senders with RLC entities.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "ran/mac/downlink.h"
#include "ran/mac/gather.h"
#include "ran/mac/iov.h"
#include "ran/mac/uplink.h"
#include "ran/rlc/test_entities.h"

namespace splitplane::ran::mac::test {

using rlc::test::Buffer;
using rlc::test::Bytes;
using rlc::test::Home;
using rlc::test::pattern;
using wire::test::from_hex;
using wire::test::to_hex;

inline constexpr std::uint8_t kStale = 0xE5;  // what the memory of a block held before

// The subPDUs of a block: "lcid:octets" each; "!reason" at the end if the walk does not end well.
inline std::vector<std::string> walk(Octets block, Direction direction) {
  std::vector<std::string> out;
  wire::mac::Cursor cursor(block, direction);
  for (wire::mac::SubPdu s; cursor.next(s);) out.push_back(std::to_string(s.lcid) + ":" + to_hex(s.payload));
  if (cursor.reason() != wire::Reason::ok) out.push_back("!" + std::string(wire::name_of(cursor.reason())));
  return out;
}
// The same without what they hold: "lcid:number of octets".
using Shape = std::vector<std::string>;
inline Shape shape(Octets block, Direction direction) {
  Shape out;
  wire::mac::Cursor cursor(block, direction);
  for (wire::mac::SubPdu s; cursor.next(s);) {
    out.push_back(std::to_string(s.lcid) + ":" + std::to_string(s.payload.size()));
  }
  if (cursor.reason() != wire::Reason::ok) out.push_back("!" + std::string(wire::name_of(cursor.reason())));
  return out;
}

// Each scheme behind one face: make(bytes, build) calls build(scheme, block) and returns the finished block. Its memory
// is exactly as long as the block, so a sanitizer sees an octet too far, and full of stale octets before.
class GatherMaker {
 public:
  using S = Gather<Buffer>;
  static constexpr bool kKeepsSdus = false;
  template <class Build>
  Bytes make(std::size_t bytes, Build&& build) {
    wire::test::HeapOctets memory(bytes);
    std::fill(memory.all().begin(), memory.all().end(), kStale);
    MutableOctets block = memory.all();
    if (!build(scheme, block)) return {};
    scheme.flush();
    const Octets out = memory;
    return {out.begin(), out.end()};
  }
  void release() {}
  S scheme;
};
class IovMaker {
 public:
  using S = Iov<Buffer>;
  static constexpr bool kKeepsSdus = true;
  template <class Build>
  Bytes make(std::size_t bytes, Build&& build) {
    block.release();
    if (!build(scheme, block)) return {};
    scheme.flush();
    EXPECT_EQ(block.size(), bytes);
    wire::test::HeapOctets memory(block.size());
    block.linearize(memory.all());
    const Octets out = memory;
    return {out.begin(), out.end()};
  }
  void release() { block.release(); }
  S scheme;
  S::Block block{64, 1024};
};

inline constexpr Time kSecond = 1'000'000'000;

// A PDU that is a whole buffer, as a TM entity hands it out.
inline rlc::Pdu<Buffer> transparent(Buffer buffer) {
  rlc::Pdu<Buffer> pdu;
  pdu.length = static_cast<std::uint16_t>(buffer.size());
  pdu.sdu = std::move(buffer);
  return pdu;
}

inline rlc::UmConfig um12() {
  return {.sn_bits = 12, .t_reassembly = 50};
}

// The downlink of a UE, with entities that it owns: AM with 18-bit SNs and UM with 12-bit SNs.
class Sender {
 public:
  rlc::AmEntity<Buffer>& am(ChannelConfig config) {
    am_.push_back(std::make_unique<rlc::AmEntity<Buffer>>(rlc::test::am18(), home.memory));
    EXPECT_TRUE(downlink.mux().add(config, *am_.back(), 0));
    return *am_.back();
  }
  rlc::UmSend<Buffer>& um(ChannelConfig config) {
    um_.push_back(std::make_unique<rlc::UmSend<Buffer>>(um12(), home.memory));
    EXPECT_TRUE(downlink.mux().add(config, *um_.back(), 0));
    return *um_.back();
  }
  template <class Entity>
  void send(Entity& entity, const Bytes& sdu) {
    Buffer buffer = home.make(sdu);
    EXPECT_TRUE(entity.send(buffer));
  }

  Home home;
  Downlink<Buffer> downlink{kSecond};

 private:
  std::vector<std::unique_ptr<rlc::AmEntity<Buffer>>> am_;
  std::vector<std::unique_ptr<rlc::UmSend<Buffer>>> um_;
};

}  // namespace splitplane::ran::mac::test
