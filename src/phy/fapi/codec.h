// Message body to octets and back, for every message that describes its fields in one way for both. A body is what
// follows the nFAPI header (nfapi.h). TX_DATA.request has a writer of its own (tx_data.h), which copies no payload.
#pragma once

#include "phy/fapi/reader.h"
#include "phy/fapi/writer.h"

namespace splitplane::fapi {

struct Written {
  std::size_t bytes = 0;  // 0 after a refusal
  Reason reason = Reason::ok;
};

// Writes the body of `message`. The span is then filled partly if the message is refused.
template <class Message>
[[nodiscard]] Written write_body(MutableOctets out, const Message& message) {
  Writer writer(out);
  Message::fields(writer, message);
  return {writer.ok() ? writer.bytes() : 0, writer.reason()};
}

// Reads a body that fills the span. `message` keeps what it can of earlier uses, so it may live in static memory; after
// a refusal its values mean nothing. Its payloads point into the span.
template <class Message>
[[nodiscard]] Reason read_body(Octets body, Message& message) {
  Reader reader(body);
  Message::fields(reader, message);
  if (reader.ok() && !reader.rest().empty()) reader.refuse(Reason::trailing_octets);
  return reader.reason();
}

}  // namespace splitplane::fapi
