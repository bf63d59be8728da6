#include "base/table.h"

#include <fmt/format.h>

#include <algorithm>

namespace splitplane::app {
namespace {

bool is_number(const std::string& text) {
  return !text.empty() && text.find_first_not_of("0123456789,.-+e%") == std::string::npos;
}

}  // namespace

Table Table::without_empty_columns() const {
  Table kept({});
  kept.rows_.assign(rows_.size(), {});
  for (std::size_t c = 0; c < rows_.front().size(); ++c) {
    const bool empty = rows_.size() > 1 && std::all_of(rows_.begin() + 1, rows_.end(), [c](const auto& row) {
                         return row.size() <= c || row[c] == "-";
                       });
    if (empty) continue;
    for (std::size_t r = 0; r < rows_.size(); ++r) kept.rows_[r].push_back(c < rows_[r].size() ? rows_[r][c] : "");
  }
  return kept;
}

std::string Table::to_string(const std::string& indent) const {
  std::vector<std::size_t> widths;
  std::vector<bool> numeric;
  for (std::size_t r = 0; r < rows_.size(); ++r) {
    widths.resize(std::max(widths.size(), rows_[r].size()));
    numeric.resize(widths.size(), true);
    for (std::size_t c = 0; c < rows_[r].size(); ++c) {
      widths[c] = std::max(widths[c], rows_[r][c].size());
      if (r > 0 && rows_[r][c] != "-") numeric[c] = numeric[c] && is_number(rows_[r][c]);
    }
  }
  std::string out;
  for (const auto& row : rows_) {
    if (row.empty()) continue;
    std::string line = indent;
    for (std::size_t c = 0; c < row.size(); ++c) {
      line += c == 0 ? "" : "  ";
      line += numeric[c] ? fmt::format("{:>{}}", row[c], widths[c]) : fmt::format("{:<{}}", row[c], widths[c]);
    }
    line.erase(line.find_last_not_of(' ') + 1);
    out += line + "\n";
  }
  return out;
}

}  // namespace splitplane::app
