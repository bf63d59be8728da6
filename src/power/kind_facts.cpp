#include "power/kind_facts.h"

namespace splitplane::power {

bool sets_frequencies(Kind kind) {
  return kind == Kind::paper || kind == Kind::paper_printed || kind == Kind::l3fwd || kind == Kind::budget;
}

const char* without_interrupts(Kind kind) {
  if (kind == Kind::paper || kind == Kind::paper_printed) return "it never sleeps";
  return kind == Kind::l3fwd ? "it polls at full speed" : "it sleeps for short times only";
}

}  // namespace splitplane::power
