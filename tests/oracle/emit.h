// Shared by the parts of wire_emit: PDUs written by wire/'s own writers, one per line as `kind key=value ... pdu=hex`,
// for foreign dissectors to judge.
#pragma once

#include <cstdio>
#include <cstdlib>
#include <random>
#include <string>
#include <vector>

#include "wire/bytes.h"

namespace splitplane::oracle {

using Buffer = std::vector<std::uint8_t>;

inline Buffer from_hex(const std::string& text) {
  Buffer out;
  for (std::size_t i = 0; i + 1 < text.size(); i += 2) {
    out.push_back(static_cast<std::uint8_t>(std::strtoul(text.substr(i, 2).c_str(), nullptr, 16)));
  }
  return out;
}

inline std::string to_hex(wire::Octets octets) {
  std::string out;
  char digits[3];
  for (const std::uint8_t o : octets) {
    std::snprintf(digits, sizeof(digits), "%02x", o);
    out += digits;
  }
  return out;
}

// What goes into one line.
class Line {
 public:
  explicit Line(std::string kind) : text_(std::move(kind)) {}
  Line& add(const char* key, std::uint64_t value) { return add(key, std::to_string(value)); }
  Line& add(const char* key, const std::string& value) {
    text_.append(" ").append(key).append("=").append(value);
    return *this;
  }
  // Several values, in the order of the wire: "7,9,15".
  template <class Values>
  Line& list(const char* key, const Values& values) {
    std::string text;
    for (const auto v : values) text.append(text.empty() ? "" : ",").append(std::to_string(v));
    return text.empty() ? *this : add(key, text);
  }
  void print(wire::Octets pdu) { std::printf("%s pdu=%s\n", text_.c_str(), to_hex(pdu).c_str()); }

 private:
  std::string text_;
};

class Random {
 public:
  explicit Random(std::uint64_t seed) : engine_(seed) {}
  // Uniform in [low, high].
  std::uint32_t in(std::uint32_t low, std::uint32_t high) {
    return low + static_cast<std::uint32_t>(engine_() % (std::uint64_t{high} - low + 1));
  }
  bool flip() { return engine_() % 2 == 0; }
  std::uint64_t word() { return engine_(); }
  // User data whose first octet is neither 4x nor 6x, so that no dissector takes it for IP.
  Buffer data(std::size_t octets) {
    Buffer out(octets);
    for (auto& o : out) o = static_cast<std::uint8_t>(engine_());
    if (!out.empty()) out[0] = 0xAA;
    return out;
  }

 private:
  std::mt19937_64 engine_;
};

// Appends what `write(span)` writes; a writer that refuses ends the program, as the caller only asks for what is legal.
template <class Write>
void append(Buffer& out, Write write) {
  std::uint8_t scratch[10000];
  const std::size_t bytes = write(wire::MutableOctets(scratch));
  if (bytes == 0) {
    std::fprintf(stderr, "wire_emit: a writer refused, after %s\n", to_hex(out).c_str());
    std::exit(1);
  }
  out.insert(out.end(), scratch, scratch + bytes);
}
// Not inlined: GCC 12 else warns of sizes that these buffers cannot have.
[[gnu::noinline]] inline void append(Buffer& out, const Buffer& more) {
  out.insert(out.end(), more.begin(), more.end());
}

void emit_examples();
void emit_frames(Random& random, unsigned count);
void emit_gtpu(Random& random, unsigned count);
void emit_psc(Random& random, unsigned count);
void emit_pdcp(Random& random, unsigned count);
void emit_rlc(Random& random, unsigned count);
void emit_status(Random& random, unsigned count);
void emit_mac(Random& random, unsigned count);
void emit_mac_nr(Random& random, unsigned count);

// One line of `wire_emit parse`: what the parser of that name reads in the octets, or `reason=...`.
std::string read_back(const std::string& parser, const Buffer& octets);

}  // namespace splitplane::oracle
