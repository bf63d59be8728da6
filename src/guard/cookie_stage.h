// Makes the cookies that a burst needs, eight at once, before anything is decided about its packets: a SYN's own, and
// the one that a RST should have. One that is alone is left to the step that decides.
#pragma once

#include <array>

#include "guard/guard_context.h"
#include "guard/segment/segment.h"
#include "guard/syn_plan.h"

namespace splitplane::guard {

class CookieStage {
 public:
  explicit CookieStage(const CookieJar& jar) : jar_(jar) {}

  // A SYN or RST to a server that acts in mode auth.
  void add_for_auth(Segment& s) {
    const bool is_syn = (s.tcp.flags & wire::tcp::kSyn) != 0;
    const std::uint32_t key = is_syn ? jar_.newest_key() : CookieJar::key_named_by(s.tcp.sequence);
    add(rst_[s.tuple.is_v6], s, {&s.tuple, key, &s.cookie});
  }
  // A SYN to a server that acts in mode proxy.
  void add_for_proxy(Segment& s, const ProtectedServer& server) {
    if (plan_syn_cookie(s, server)) add(syn_[s.tuple.is_v6], s, {&s.tuple, s.tcp.sequence, &s.kept, &s.cookie});
  }
  // At the burst's end.
  void finish() {
    for (auto& group : rst_) {
      if (group.size != 0) make(group);
    }
    for (auto& group : syn_) {
      if (group.size != 0) make(group);
    }
  }

 private:
  static constexpr unsigned kFewest = 2;  // one alone is as fast where it is needed
  template <class Ask>
  struct Group {
    std::array<Ask, CookieJar::kAsksAtOnce> asks;
    std::array<Segment*, CookieJar::kAsksAtOnce> of;
    unsigned size = 0;
  };
  using RstGroup = Group<CookieJar::RstAsk>;
  using SynGroup = Group<CookieJar::SynAsk>;

  template <class Ask>
  void add(Group<Ask>& group, Segment& s, const Ask& ask) {
    group.asks[group.size] = ask;
    group.of[group.size++] = &s;
    if (group.size == CookieJar::kAsksAtOnce) make(group);
  }
  template <class Ask>
  void make(Group<Ask>& group) {
    const unsigned size = group.size;
    group.size = 0;
    if (size < kFewest) return;
    make_cookies(group, size);
    for (unsigned i = 0; i < size; ++i) group.of[i]->has_cookie = true;
  }
  void make_cookies(const RstGroup& group, unsigned size) const {
    &group == &rst_[1] ? jar_.make_rst_cookies<true>(group.asks, size) : jar_.make_rst_cookies<false>(group.asks, size);
  }
  void make_cookies(const SynGroup& group, unsigned size) const {
    &group == &syn_[1] ? jar_.make_syn_cookies<true>(group.asks, size) : jar_.make_syn_cookies<false>(group.asks, size);
  }

  const CookieJar& jar_;
  std::array<RstGroup, 2> rst_;  // of IPv4 and IPv6
  std::array<SynGroup, 2> syn_;
};

}  // namespace splitplane::guard
