// Makes the cookies that a burst needs, eight at once, before anything is decided about its packets: a SYN's own, and
// the one that a RST should have. A burst with few of them leaves them to whoever decides.
#pragma once

#include <array>

#include "guard/guard_context.h"
#include "guard/segment.h"

namespace splitplane::guard {

class CookieStage {
 public:
  explicit CookieStage(const CookieJar& jar) : jar_(jar) {}

  // A SYN or RST to a server that acts in mode auth.
  void add(Segment& s) {
    const bool is_syn = (s.tcp.flags & wire::tcp::kSyn) != 0;
    Group& group = s.tuple.is_v6 != 0 ? v6_ : v4_;
    const std::uint32_t key = is_syn ? jar_.newest_key() : CookieJar::key_named_by(s.tcp.sequence);
    group.asks[group.size] = {&s.tuple, key, &s.cookie};
    group.of[group.size++] = &s;
    if (group.size == CookieJar::kAsksAtOnce) make(group);
  }
  // At the burst's end.
  void finish() {
    if (v4_.size != 0) make(v4_);
    if (v6_.size != 0) make(v6_);
  }

 private:
  static constexpr unsigned kFewest = 2;  // one alone is as fast where it is needed
  struct Group {
    std::array<CookieJar::RstAsk, CookieJar::kAsksAtOnce> asks;
    std::array<Segment*, CookieJar::kAsksAtOnce> of;
    unsigned size = 0;
  };

  void make(Group& group) {
    const unsigned size = group.size;
    group.size = 0;
    if (size < kFewest) return;
    if (&group == &v6_) {
      jar_.make_rst_cookies<true>(group.asks, size);
    } else {
      jar_.make_rst_cookies<false>(group.asks, size);
    }
    for (unsigned i = 0; i < size; ++i) group.of[i]->has_cookie = true;
  }

  const CookieJar& jar_;
  Group v4_, v6_;
};

}  // namespace splitplane::guard
