// Reads a .spec file, the text that p4c-dpdk makes of a P4 program, into plain data. It does not use DPDK.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/expected.h"

namespace splitplane::nic {

struct SpecField {
  std::string name;
  unsigned bits = 0;
};
struct SpecStruct {
  std::string name;
  std::vector<SpecField> fields;
  bool last_varies = false;  // varbit
};
struct SpecHeader {
  std::string name, type;
};
struct SpecAction {
  std::string name;
  std::string arguments;  // a struct's name; empty: none
  std::vector<std::string> instructions;
  std::vector<unsigned> lines;  // of each instruction
  unsigned line = 0;
};
enum class SpecMatch : std::uint8_t { kExact, kLpm, kWildcard };
struct SpecKey {
  std::string field;
  SpecMatch match = SpecMatch::kExact;
};
struct SpecTableAction {
  std::string name;
  bool entries = true, by_default = true;  // may stand in entries, may be the default action
};
struct SpecTable {
  std::string name;
  std::vector<SpecKey> keys;
  std::vector<SpecTableAction> actions;
  std::string default_action;
  std::string default_arguments;  // "name value ..."; empty: none
  bool default_is_const = false;
  std::string hash;
  std::uint32_t size = 65536;
  unsigned line = 0;
};
struct SpecRegisters {
  std::string name;
  std::uint32_t size = 0;
  std::uint64_t initial = 0;
};

struct SpecFile {
  std::string path;
  std::string program;               // "gnb"
  std::vector<std::string> defines;  // "CLONE", "BY_UE_ADDRESS"
  std::string source_hash;           // SHA-256 of the P4 sources, 64 hexadecimal digits
  std::string body_hash;             // CRC-32 of all lines but the first, 8 hexadecimal digits; empty: none
  std::vector<SpecStruct> structs;
  std::vector<SpecHeader> headers;
  std::string metadata;  // a struct's name
  std::vector<SpecAction> actions;
  std::vector<SpecTable> tables;
  std::vector<SpecRegisters> registers;
  std::vector<std::string> apply;
  std::vector<unsigned> apply_lines;  // of each instruction
  unsigned apply_line = 0;
  std::string found_hash;  // CRC-32 of all lines but the first, as they are

  [[nodiscard]] bool defines_has(std::string_view name) const;
  [[nodiscard]] const SpecStruct* find_struct(std::string_view name) const;
  [[nodiscard]] const SpecAction* find_action(std::string_view name) const;
  [[nodiscard]] const SpecTable* find_table(std::string_view name) const;
};

// True if an object of the file has this name. p4c-dpdk appends a number to objects inside a control and to actions of
// several tables: "peer_1" is called "peer".
[[nodiscard]] bool is_called(std::string_view in_file, std::string_view name);

// The first line must be "; sha256=<64 hex digits> program=<name> defines=<comma separated, may be empty>". It may end
// with "body=<8 hex digits>", which must then be the CRC of the rest. The error is "<file>:<line>: what is wrong; what
// is allowed".
Expected<SpecFile> read_spec(const std::string& path);
// The same from text; `path` is for messages.
Expected<SpecFile> parse_spec(std::string_view text, const std::string& path);

// Path of the .spec called `name` ("gnb-clone", "l2fwd"): in `directory` or, if that is empty, in p4/generated of the
// sources of this build.
[[nodiscard]] std::string spec_path(const std::string& directory, std::string_view name);

}  // namespace splitplane::nic
