// For tests of card/ only: a small program in the form that p4c-dpdk writes, and files of changed programs.
#pragma once

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>

#include "card/spec/spec_file.h"

namespace splitplane::nic::test {

// By input port it sends the frame to a port with the source address of the entry, or also clones it, or drops it.
inline constexpr std::string_view kForwarder =
    R"(; sha256=0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef program=l2fwd defines=A,B=2

struct nic_t {
	bit<32> from
	bit<16> length
	bit<16> spare
}
struct ethernet_t {
	bit<48> dst
	bit<48> src
	bit<16> type
}
struct forward_arg_t {
	bit<48> src
	bit<32> port
}
struct clone_arg_t {
	bit<32> port
	bit<16> session
}
header nic instanceof nic_t
header ethernet instanceof ethernet_t

struct main_metadata_t {
	bit<32> input_port
	bit<32> output_port
	bit<32> from
	bit<8> slot
	bit<16> session
}
metadata instanceof main_metadata_t

regarray seen_0 size 0x40 initval 0
regarray longest size 1 initval 7

action forward args instanceof forward_arg_t {
	mov h.ethernet.src t.src
	mov m.output_port t.port
	return
}
action forward_and_clone args instanceof clone_arg_t {
	mov m.output_port t.port
	mov m.slot 0x0
	mov m.session t.session
	mirror m.slot m.session
	return
}
action lose args none {
	drop
	return
}
table ports {
	key {
		m.from exact
	}
	actions {
		forward
		forward_and_clone
		lose
	}
	default_action lose args none
	size 0x10000
}

apply {
	rx m.input_port
	mov m.output_port 0x0
	extract h.nic
	extract h.ethernet
	mov m.from h.nic.from
	shr m.from 0x10
	regadd seen_0 m.from 0x1
	jmpneq LABEL_END h.ethernet.type 0x1234
	mov h.ethernet.type 0x4321
	LABEL_END :	table ports
	emit h.ethernet
	tx m.output_port
}
)";

[[nodiscard]] inline std::string replaced(std::string text, std::string_view from, std::string_view to) {
  const std::size_t at = text.find(from);
  EXPECT_NE(at, std::string::npos) << from;
  return at == std::string::npos ? text : text.replace(at, from.size(), to);
}

[[nodiscard]] inline SpecFile parsed(std::string_view text) {
  auto spec = parse_spec(text, "test.spec");
  EXPECT_TRUE(spec) << spec.error().message;
  return spec ? std::move(*spec) : SpecFile{};
}

// A generated program, as it is committed.
[[nodiscard]] inline std::string generated(std::string_view name) {
  std::ifstream file(spec_path("", name));
  EXPECT_TRUE(file) << spec_path("", name);
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

}  // namespace splitplane::nic::test
