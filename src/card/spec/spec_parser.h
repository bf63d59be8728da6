// The grammar of .spec files, one statement after the other. It accepts what DPDK's own reader of these files accepts,
// except for forms that the programs of this project never use. It refuses a file with such a form completely.
#pragma once

#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "card/spec/spec_file.h"

namespace splitplane::nic {

class SpecParser {
 public:
  SpecParser(std::string_view text, std::string path);
  Expected<SpecFile> parse();

 private:
  struct Line {
    unsigned number = 0;
    std::vector<std::string> tokens;
    [[nodiscard]] std::string joined(std::size_t from = 0) const;
  };
  // A statement's own lines, up to the closing brace.
  using Block = std::vector<Line>;
  using Result = Expected<void>;

  template <class... Args>
  [[nodiscard]] tl::unexpected<Error> wrong(unsigned line, fmt::format_string<Args...> format, Args&&... args) const {
    return fail("{}:{}: {}", path_, line, fmt::format(format, std::forward<Args>(args)...));
  }
  Result read_first_line();
  Result statement(const Line& line);
  Expected<Block> take_block(const Line& opening);
  Result read_struct(const Line& line);
  Result read_action(const Line& line);
  Result read_table(const Line& line);
  Result read_table_line(SpecTable& table, const Line& line);
  Result read_default_action(SpecTable& table, const Line& line);
  Result read_registers(const Line& line);
  Result check_jumps(const Block& block) const;
  Result once(const Line& line, const std::string& what);
  Expected<std::uint64_t> number(const Line& line, const std::string& text, std::uint64_t max) const;

  std::string path_;
  std::string first_line_;
  std::vector<Line> lines_;
  std::size_t next_ = 0;
  unsigned last_line_ = 0;
  std::set<std::string> seen_;  // "struct x", "table y"
  SpecFile spec_;
};

}  // namespace splitplane::nic
