// nFAPI datagrams, in sequences: P5 messages, P7 messages whole and in segments, late and twice. What is read is
// written and read again as the same message, what was put together has the octets of its segments by a slow model, and
// the receiver's counters add up after each datagram.
#include "fuzz.h"
#include "phy/fapi/test_judge.h"

namespace splitplane::fuzz {
namespace {

// An input is a row of [P5 or P7, with checksum or without, time][length][octets].
void check(Octets data) {
  static fapi::test::Judge::Room room;
  fapi::test::Judge judge(room);
  for (Input input(data.data(), data.size()); !input.empty();) {
    const unsigned how = input.octet();
    Bytes datagram = input.bytes(input.word() & 0x1FFF);
    const bool p5 = (how & 1) != 0;
    // No fuzzer guesses a length or checksum, so most are put right.
    if ((how & 2) == 0 && datagram.size() >= fapi::kP7HeaderBytes) {
      wire::store_be32(datagram.data() + 4,
                       static_cast<std::uint32_t>(datagram.size() - (p5 ? fapi::kP5HeaderBytes : 0)));
      if (!p5) wire::store_be32(datagram.data() + fapi::kChecksumAt, 0);
    }
    const std::string wrong = judge.take(datagram, p5, static_cast<std::uint8_t>(how >> 2));
    require(wrong.empty(), "{}", wrong);
  }
}

}  // namespace
}  // namespace splitplane::fuzz

extern "C" int LLVMFuzzerInitialize(int*, char***) {
  return 0;
}

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t bytes) {
  splitplane::fuzz::check({data, bytes});
  return 0;
}
