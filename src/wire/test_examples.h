// For tests only: the worked examples that tshark accepts (ids as in docs of the formats), and our own ones for the
// layers below GTP-U. Each names its parser.
#pragma once

#include <array>
#include <string_view>

namespace splitplane::wire::test {

enum class Parser {
  kN3,
  kEthernet,
  kIpv4,
  kIpv6,
  kGtpu,
  kAirhdr,
  kTcp,
  kIcmpError,
  kIcmpv6Error,
  kPdcp12,
  kPdcp18,
  kPdcpControl,
  kUm6,
  kUm12,
  kAm12,
  kAm18,
  kStatus12,
  kStatus18,
  kMacDl,
  kMacUl,
};

struct Example {
  std::string_view id;
  Parser parser;
  std::string_view hex;
};

// IPv4 10.45.0.2:40001 > 8.8.8.8:40002, UDP "hi".
#define SPLITPLANE_TEST_IP "4500001e00010000401160900a2d0002080808089c419c42000a00006869"
#define SPLITPLANE_TEST_DATA "aabbccddee"
// 8, 64 and 298 octets of aa.
#define SPLITPLANE_TEST_AA8 "aaaaaaaaaaaaaaaa"
#define SPLITPLANE_TEST_AA64                                                                          \
  SPLITPLANE_TEST_AA8 SPLITPLANE_TEST_AA8 SPLITPLANE_TEST_AA8 SPLITPLANE_TEST_AA8 SPLITPLANE_TEST_AA8 \
      SPLITPLANE_TEST_AA8 SPLITPLANE_TEST_AA8 SPLITPLANE_TEST_AA8
#define SPLITPLANE_TEST_AA298                                                                             \
  SPLITPLANE_TEST_AA64 SPLITPLANE_TEST_AA64 SPLITPLANE_TEST_AA64 SPLITPLANE_TEST_AA64 SPLITPLANE_TEST_AA8 \
      SPLITPLANE_TEST_AA8 SPLITPLANE_TEST_AA8 SPLITPLANE_TEST_AA8 SPLITPLANE_TEST_AA8 "aaaa"

inline constexpr auto kExamples = std::to_array<Example>({
    {"G1", Parser::kGtpu, "30ff001e01020304" SPLITPLANE_TEST_IP},
    {"G2", Parser::kGtpu, "34ff002601020304 00000085 01004900" SPLITPLANE_TEST_IP},
    {"G3", Parser::kGtpu, "34ff00260a0b0c0d 00000085 01100900" SPLITPLANE_TEST_IP},
    {"G4", Parser::kGtpu, "34ff002a01020304 00000085 0200896000000000" SPLITPLANE_TEST_IP},
    {"G5", Parser::kGtpu, "34ff002a01020304 000000c0 01002a85 01000500" SPLITPLANE_TEST_IP},
    {"G6", Parser::kGtpu, "320100040000000000070000"},
    {"G7", Parser::kGtpu, "3202000600000000000700000e00"},
    {"G8", Parser::kGtpu, "361a001400000000 00000040 01086800 10deadbeef 8500040a000002"},
    {"G9", Parser::kGtpu, "30fe000001020304"},
    {"G10", Parser::kGtpu, "321f000700000000000000008d0185"},
    {"S1", Parser::kPdcp18, "800005 89" SPLITPLANE_TEST_DATA},
    {"S2", Parser::kPdcp12, "8abc 85" SPLITPLANE_TEST_DATA},
    {"S3", Parser::kPdcp18, "800006 05"},
    {"P1", Parser::kPdcpControl, "0000000005"},
    {"P2", Parser::kPdcpControl, "0000000005 b0"},
    {"P3", Parser::kPdcpControl, "10 201122"},
    {"C1", Parser::kPdcp18, "800000 2f6c3102c6"},
    {"C2", Parser::kPdcp12, "8001 15aaf7b7ec 31637d0a"},
    {"C3", Parser::kPdcp18, "800007 5c5b2d981a 8975443e"},
    {"C4", Parser::kPdcp18, "800000 49 2f6c3102c6 736e1ce7"},
    {"C5", Parser::kPdcp12, "8001 2cbbdad664 53819d2c"},
    {"R1", Parser::kUm12, "00" SPLITPLANE_TEST_DATA},
    {"R2", Parser::kUm6, "61" SPLITPLANE_TEST_DATA},
    {"R3", Parser::kUm6, "e1 0014" SPLITPLANE_TEST_DATA},
    {"R4", Parser::kUm12, "4abc" SPLITPLANE_TEST_DATA},
    {"R5", Parser::kUm12, "8abc 001e" SPLITPLANE_TEST_DATA},
    {"R6", Parser::kAm12, "c005" SPLITPLANE_TEST_DATA},
    {"R7", Parser::kAm12, "9006" SPLITPLANE_TEST_DATA},
    {"R8", Parser::kAm12, "b006 0014" SPLITPLANE_TEST_DATA},
    {"R9", Parser::kAm12, "e006 0028" SPLITPLANE_TEST_DATA},
    {"R10", Parser::kAm18, "82abcd" SPLITPLANE_TEST_DATA},
    {"R11", Parser::kAm18, "e2abce 001e" SPLITPLANE_TEST_DATA},
    {"R12", Parser::kStatus12, "000a00"},
    {"R13", Parser::kStatus12, "000a80 0070"},
    {"R14", Parser::kStatus12, "000280 0014 0014 0027"},
    {"R15", Parser::kStatus12, "001480 007c 0014 0027 009a 03 00f6 0064 ffff 02"},
    {"R16", Parser::kStatus18, "0aaf3c"},
    {"R17", Parser::kStatus18, "0aaf3e aaf350 0005 ffff"},
    {"R18", Parser::kStatus18, "0aaf3e aac008 c8"},
    {"M1", Parser::kMacDl, "3c 3d5f 0407 c005" SPLITPLANE_TEST_DATA "3f000000"},
    {"M2", Parser::kMacDl, "44012c 8006" SPLITPLANE_TEST_AA298},
    {"M3", Parser::kMacUl, "0407 c005" SPLITPLANE_TEST_DATA "3a4601 391f2a 3d49 3f"},
    {"M4", Parser::kMacUl, "3e03 24 0a14 3f"},
    {"M5", Parser::kMacUl, "34 010203040506 3f00"},
    {"M6", Parser::kMacUl, "00 0102030405060708"},
    {"M7", Parser::kMacDl, "3e 010203040506 3f"},
    {"X1", Parser::kMacDl, "0424 c00000 800000" SPLITPLANE_TEST_IP "3f00"},
    // Own: the layers below GTP-U, and the air header.
    {"N1", Parser::kN3,
     "020000000002 020000000001 0800 4500004a0001000040110000 0a000001 0a000002 0868 0868 0036 0000"
     "34ff002601020304 00000085 01004900" SPLITPLANE_TEST_IP},
    {"N2", Parser::kN3,
     "020000000002 020000000001 8100 0064 86dd 60000000 0036 11 40 fd000000000000000000000000000001"
     "fd000000000000000000000000000002 0868 0868 0036 0000 34ff002601020304 00000085 01004900" SPLITPLANE_TEST_IP},
    {"E1", Parser::kEthernet, "020000000002 020000000001 88a8 0064 8100 2065 0800 00"},
    {"I1", Parser::kIpv4, "4700 001c 0001 0000 4011 0000 0a000001 0a000002 9404 0000 01010100"},
    {"I2", Parser::kIpv6,
     "60000000 0030 00 40 fd000000000000000000000000000001 fd000000000000000000000000000002"
     "2b00 010400000000 3c00 0104 00000000 2c00 0104 00000000 1100 0000 00000001 9c41 9c42 0010 0000 0102030405060708"},
    {"A1", Parser::kAirhdr, "20da 0000 01020304 0000"},
    // A SYN and an ACK of Linux between 10.0.0.1:40000 and 10.0.0.2:80, and errors about the server's segments.
    {"T1", Parser::kTcp,
     "9c40 0050 11223344 00000000 a0c2 faf0 eea9 0000 020405b4 0402 080a 12345678 00000000 01 030307"},
    {"T2", Parser::kTcp,
     "9c40 0050 11223345 55667788 d010 01f5 1a37 0000 0101 080a 12345700 9abcdef0"
     "0101 0512 55670000 55670500 55680000 55680500"},
    {"Q1", Parser::kIcmpError, "0304 56ed 0000 0578 450005dc 00014000 3f062219 0a000002 0a000001 0050 9c40 01020304"},
    {"Q2", Parser::kIcmpv6Error,
     "0200 558e 00000500 60000000 05b4 3c 40 fd000000000000000000000000000002 fd000000000000000000000000000001"
     "0600 010400000000 0050 9c40 01020304 05060708 5010 2000 e92b 0000"},
});

// A wrong id does not compile.
consteval const Example& example(std::string_view id) {
  for (const Example& e : kExamples) {
    if (e.id == id) return e;
  }
  return kExamples.at(kExamples.size());
}

}  // namespace splitplane::wire::test
