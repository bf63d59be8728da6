// Values of sysfs that we change for a time. Their earlier values are first written to a file that outlives a crash,
// and are restored at the end. The lock of the file shows whether its owner lives.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "power/governor/sysfs.h"

namespace splitplane::governor {

class Loan {
 public:
  // Begins the loan `name` with its file in `directory`. It first restores what a dead owner left under that name. The
  // error says that another process has it.
  [[nodiscard]] static Expected<Loan> begin(const std::string& directory, const std::string& name);

  Loan(Loan&& other) noexcept;
  Loan& operator=(Loan&&) = delete;
  Loan(const Loan&) = delete;
  Loan& operator=(const Loan&) = delete;
  ~Loan() { give_back(); }

  // Stores the file's value. Call it before the file is written.
  [[nodiscard]] Expected<void> remember(const std::string& path);
  // Stores the file's value, then writes the new one.
  [[nodiscard]] Expected<void> change(const std::string& path, std::string_view value);
  // Values that could not be restored stay in the file; returns where they are.
  std::vector<std::string> give_back();

 private:
  Loan(Descriptor file, std::string path) : file_(std::move(file)), path_(std::move(path)) {}
  Descriptor file_;
  std::string path_;
};

struct Restored {
  std::string name;
  std::string root;                  // of the tree of files, "/sys"; empty if the loan has no value yet
  bool in_use = false;               // its owner lives: nothing was done
  std::vector<std::string> refused;  // "<path>: <reason>"
};
// Restores everything that dead owners left in `directory`. Values of a tree that is gone are forgotten.
[[nodiscard]] std::vector<Restored> restore_all(const std::string& directory);

}  // namespace splitplane::governor
