#include "card/swx/spec_repair.h"

#include <algorithm>
#include <sstream>

namespace splitplane::nic {
namespace {

constexpr std::string_view kField = "constant_index";

bool is_constant(const std::string& operand) {
  return !operand.empty() && operand.find_first_not_of("0123456789abcdefABCDEFxX") == std::string::npos &&
         operand[0] >= '0' && operand[0] <= '9';
}

// Appends the instruction as it is, or as two.
void repair(std::vector<std::string>& out, const std::string& instruction, bool& repaired) {
  std::istringstream text(instruction);
  std::vector<std::string> words;
  for (std::string word; text >> word;) words.push_back(word);
  const bool labelled = words.size() > 2 && words[1] == ":";
  const std::string label = labelled ? words[0] + " : " : "";
  if (labelled) words.erase(words.begin(), words.begin() + 2);
  const bool wrong = words.size() == 4 && (words[0] == "regadd" || words[0] == "regwr") && is_constant(words[2]) &&
                     is_constant(words[3]);
  if (!wrong) {
    out.push_back(instruction);
    return;
  }
  repaired = true;
  out.push_back(fmt::format("{}mov m.{} {}", label, kField, words[2]));
  out.push_back(fmt::format("{} {} m.{} {}", words[0], words[1], kField, words[3]));
}

void repair(std::vector<std::string>& instructions, bool& repaired) {
  std::vector<std::string> out;
  for (const std::string& instruction : instructions) repair(out, instruction, repaired);
  instructions = std::move(out);
}

}  // namespace

void repair_constant_register_access(SpecFile& spec) {
  bool repaired = false;
  for (SpecAction& action : spec.actions) repair(action.instructions, repaired);
  repair(spec.apply, repaired);
  if (!repaired) return;
  const auto metadata = std::ranges::find(spec.structs, spec.metadata, &SpecStruct::name);
  metadata->fields.push_back({std::string(kField), 32});
}

}  // namespace splitplane::nic
