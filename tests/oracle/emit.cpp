// wire_emit: `wire_emit emit SEED COUNT` prints PDUs of every kind with what the writers were told; `wire_emit parse`
// reads lines `parser hex` and prints what the parsers read. The Python tests beside it hold both against other
// implementations.
#include "emit.h"

#include <cstring>
#include <iostream>

#include "wire/test_examples.h"

// The worked examples, which the unit tests of wire/ hold the writers to, octet by octet.
void splitplane::oracle::emit_examples() {
  for (const auto& e : wire::test::kExamples) {
    std::string hex;
    for (const char c : e.hex) {
      if (c != ' ') hex += c;
    }
    Line("example").add("id", std::string(e.id)).print(from_hex(hex));
  }
}

int main(int argc, char** argv) {
  using namespace splitplane::oracle;
  if (argc == 4 && std::strcmp(argv[1], "emit") == 0) {
    Random random(std::strtoull(argv[2], nullptr, 10));
    emit_examples();
    const auto count = static_cast<unsigned>(std::strtoul(argv[3], nullptr, 10));
    for (const auto emit :
         {emit_frames, emit_gtpu, emit_psc, emit_pdcp, emit_rlc, emit_status, emit_mac, emit_mac_nr}) {
      emit(random, count);
    }
    return 0;
  }
  if (argc == 2 && std::strcmp(argv[1], "parse") == 0) {
    std::string parser;
    std::string hex;
    while (std::cin >> parser >> hex) std::printf("%s\n", read_back(parser, from_hex(hex == "-" ? "" : hex)).c_str());
    return 0;
  }
  std::fprintf(stderr, "usage: wire_emit emit SEED COUNT | wire_emit parse < LINES\n");
  return 2;
}
