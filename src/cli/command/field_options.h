// The keys of a request as options of a command, by their rows: `ul_teid` is --ul-teid.
#pragma once

#include <deque>
#include <string>

#include "control/params.h"
#include "fields/reference.h"

namespace CLI {
class App;
class Option;
}  // namespace CLI

namespace splitplane::app {

// The options of one command and what they hold. A flag has two forms: --sdap-dl sets it, --no-sdap-dl turns it off.
// The command keeps pointers into this object.
class FieldOptions {
 public:
  enum class Defaults { kShown, kHidden };  // in the command's help
  FieldOptions(CLI::App& command, const fields::Keys& keys, Defaults defaults);
  FieldOptions(const FieldOptions&) = delete;
  FieldOptions& operator=(const FieldOptions&) = delete;

  // The members that are on the command line.
  [[nodiscard]] Json given() const;
  // "--upf, --ul-teid"; of a flag the form that changes its usual value.
  [[nodiscard]] std::string names() const;

 private:
  struct Slot {
    const fields::Field* field = nullptr;
    const fields::Field* group = nullptr;  // that the field is a member of, or null
    std::string name;
    const CLI::Option* option = nullptr;
    std::uint64_t integer = 0;
    double number = 0;
    bool flag = false;
    std::string text;
  };
  void add(CLI::App& command, const fields::Key& key, const fields::Field* group, Defaults defaults);
  [[nodiscard]] static Json value_of(const Slot& slot);

  std::deque<Slot> slots_;  // options point into it
};

}  // namespace splitplane::app
