// Values of sysfs that are ours for a time: what they were is written down first, in a file that outlives a crash, and
// they go back to that at the end. The file's lock says whether its owner lives.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "power/governor/sysfs.h"

namespace splitplane::governor {

class Loan {
 public:
  // Begins the loan `name` with its file in `directory`. What a dead owner left under that name is given back first.
  // Error: somebody else has it.
  [[nodiscard]] static Expected<Loan> begin(const std::string& directory, const std::string& name);

  Loan(Loan&& other) noexcept;
  Loan& operator=(Loan&&) = delete;
  Loan(const Loan&) = delete;
  Loan& operator=(const Loan&) = delete;
  ~Loan() { give_back(); }

  // Writes down what the file holds. Before it is written to.
  [[nodiscard]] Expected<void> remember(const std::string& path);
  // Remembers it and writes to it.
  [[nodiscard]] Expected<void> change(const std::string& path, std::string_view value);
  // What could not be given back stays in the file, and its place is said.
  std::vector<std::string> give_back();

 private:
  Loan(Descriptor file, std::string path) : file_(std::move(file)), path_(std::move(path)) {}
  Descriptor file_;
  std::string path_;
};

struct Restored {
  std::string name;
  bool in_use = false;               // its owner lives: nothing was done
  std::vector<std::string> refused;  // "<path>: <reason>"
};
// Gives back all that dead owners left in `directory`.
[[nodiscard]] std::vector<Restored> restore_all(const std::string& directory);

}  // namespace splitplane::governor
