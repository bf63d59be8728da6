// What is above RLC: it takes the SDUs of all UEs in bursts.
#pragma once

#include <span>

#include "ue/terminal/terminal_channel.h"

namespace splitplane::ue {

class SduSink {
 public:
  virtual ~SduSink() = default;
  // At most kBurst SDUs, which are the sink's then.
  virtual void take(std::span<RlcSdu> sdus) = 0;
};

}  // namespace splitplane::ue
