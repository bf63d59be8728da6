// A MAC control element as it goes into a transport block: subheader and contents. wire/mac_ce.h has the contents.
#pragma once

#include <cassert>

#include "wire/mac.h"
#include "wire/mac_ce.h"

namespace splitplane::ran::mac {

using wire::MutableOctets;
using wire::Octets;

class ControlElement {
 public:
  static constexpr std::size_t kMostBytes = 11;  // a long BSR of eight LCGs: 2 + 1 + 8

  ControlElement() = default;

  // Downlink.
  [[nodiscard]] static ControlElement of(const wire::mac::TimingAdvance& ce) {
    return fixed(wire::mac::dl::kTimingAdvance, ce);
  }
  [[nodiscard]] static ControlElement of(const wire::mac::ContentionResolutionId& ce) {
    return fixed(wire::mac::dl::kContentionResolution, ce);
  }
  [[nodiscard]] static ControlElement of(const wire::mac::ScellActivation& ce) {
    return fixed(wire::mac::dl::kScellActivation1, ce);
  }
  [[nodiscard]] static ControlElement drx() { return bare(wire::mac::dl::kDrx); }
  [[nodiscard]] static ControlElement long_drx() { return bare(wire::mac::dl::kLongDrx); }

  // Uplink.
  [[nodiscard]] static ControlElement of(const wire::mac::Crnti& ce) { return fixed(wire::mac::ul::kCrnti, ce); }
  [[nodiscard]] static ControlElement of(const wire::mac::SinglePhr& ce) {
    return fixed(wire::mac::ul::kSinglePhr, ce);
  }
  [[nodiscard]] static ControlElement of(const wire::mac::ShortBsr& ce, bool truncated = false) {
    return fixed(truncated ? wire::mac::ul::kShortTruncatedBsr : wire::mac::ul::kShortBsr, ce);
  }
  [[nodiscard]] static ControlElement of(const wire::mac::LongBsr& ce) { return variable(wire::mac::ul::kLongBsr, ce); }
  [[nodiscard]] static ControlElement of(const wire::mac::LongTruncatedBsr& ce) {
    return variable(wire::mac::ul::kLongTruncatedBsr, ce);
  }

  // Subheader and contents.
  [[nodiscard]] Octets octets() const { return Octets(octets_).first(bytes_); }
  [[nodiscard]] std::size_t size() const { return bytes_; }
  [[nodiscard]] std::uint8_t lcid() const { return octets_[0]; }

 private:
  static ControlElement bare(std::uint8_t lcid) {
    ControlElement e;
    e.octets_[0] = lcid;
    e.bytes_ = 1;
    return e;
  }
  template <class Ce>
  static ControlElement fixed(std::uint8_t lcid, const Ce& ce) {
    ControlElement e = bare(lcid);
    e.append(ce);
    return e;
  }
  template <class Ce>
  static ControlElement variable(std::uint8_t lcid, const Ce& ce) {
    ControlElement e = bare(lcid);
    e.bytes_ = 2;
    e.append(ce);
    e.octets_[1] = static_cast<std::uint8_t>(e.bytes_ - 2);
    return e;
  }
  template <class Ce>
  void append(const Ce& ce) {
    const std::size_t bytes = wire::mac::write(MutableOctets(octets_).subspan(bytes_), ce);
    assert(bytes != 0 && "a field is beyond its range");
    bytes_ = static_cast<std::uint8_t>(bytes_ + bytes);
  }

  std::array<std::uint8_t, kMostBytes> octets_{};
  std::uint8_t bytes_ = 0;
};

}  // namespace splitplane::ran::mac
