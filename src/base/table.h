// A table as text for people: aligned columns, numbers to the right, text to the left.
#pragma once

#include <string>
#include <utility>
#include <vector>

namespace splitplane::app {

class Table {
 public:
  explicit Table(std::vector<std::string> columns) : rows_{std::move(columns)} {}
  void add(std::vector<std::string> row) { rows_.push_back(std::move(row)); }
  // The table without the columns that hold "-" in every row.
  [[nodiscard]] Table without_empty_columns() const;
  [[nodiscard]] std::string to_string(const std::string& indent = "") const;

 private:
  std::vector<std::vector<std::string>> rows_;
};

}  // namespace splitplane::app
