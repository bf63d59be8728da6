#include "cli/completion.h"

#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <string_view>
#include <vector>

#include "base/version.h"
#include "runtime/instance_lock.h"

namespace splitplane::app {
namespace {

// One command on the line, as far as it was typed: its path, and what may follow.
struct Row {
  std::string path;                                          // " ctl bearer"
  std::vector<std::string> words;                            // commands and options
  std::vector<std::string> values;                           // options that take a value
  std::vector<std::pair<std::string, std::string>> choices;  // an option, and the words that it takes
};

std::vector<std::string> names_of(const CLI::Option& option) {
  std::vector<std::string> names;
  for (const auto& name : option.get_lnames()) names.push_back("--" + name);
  for (const auto& name : option.get_snames()) names.push_back("-" + name);
  return names;
}

// "TEXT:{in,out,both}" -> "in out both"
std::string choices_of(const CLI::Option& option) {
  const std::string type = option.get_type_name();
  const std::size_t open = type.find('{'), close = type.find('}', open);
  if (open == std::string::npos || close == std::string::npos) return {};
  std::string words = type.substr(open + 1, close - open - 1);
  std::replace(words.begin(), words.end(), ',', ' ');
  return words;
}

void add_options(const CLI::App& app, Row& row) {
  for (const CLI::Option* option : app.get_options()) {
    for (const auto& name : names_of(*option)) {
      if (std::find(row.words.begin(), row.words.end(), name) != row.words.end()) continue;
      row.words.push_back(name);
      if (option->get_items_expected_max() == 0) continue;  // a flag
      row.values.push_back(name);
      if (auto choices = choices_of(*option); !choices.empty()) row.choices.emplace_back(name, std::move(choices));
    }
  }
}

std::vector<std::string> spellings(const CLI::App& app) {
  std::vector<std::string> all{app.get_name()};
  for (const auto& alias : app.get_aliases()) all.push_back(alias);
  return all;
}

// Options of the commands above count where a command lets them fall through.
void collect(const CLI::App& app, const std::string& path, std::vector<const CLI::App*> above, std::vector<Row>& rows) {
  Row row{.path = path, .words = {}, .values = {}, .choices = {}};
  above.push_back(&app);
  const auto commands = app.get_subcommands([](const CLI::App* sub) { return !sub->get_group().empty(); });
  for (const CLI::App* sub : commands) {
    for (const auto& word : spellings(*sub)) row.words.push_back(word);
  }
  for (auto at = above.rbegin(); at != above.rend(); ++at) {
    add_options(**at, row);
    if (!(*at)->get_fallthrough()) break;
  }
  rows.push_back(std::move(row));
  for (const CLI::App* sub : commands) {
    for (const auto& word : spellings(*sub)) collect(*sub, path + " " + word, above, rows);
  }
}

constexpr std::string_view kHead = R"(# bash completion of splitplane {0}, made by `splitplane completion bash`.
# In this shell: source <(splitplane completion bash)
_splitplane() {{
  local path= word skip= i
  local current=${{COMP_WORDS[COMP_CWORD]}} previous=${{COMP_WORDS[COMP_CWORD-1]}}
  local directory={1}
  for ((i = 1; i < COMP_CWORD; i++)); do
    word=${{COMP_WORDS[i]}}
    if [[ $skip ]]; then skip=; continue; fi
    case "$path $word" in
)";

constexpr std::string_view kTail = R"(  esac
  COMPREPLY=($(compgen -W "$words" -- "$current"))
}
complete -o default -F _splitplane splitplane
)";

}  // namespace

std::string bash_completion(const CLI::App& app) {
  std::vector<Row> rows;
  collect(app, "", {}, rows);
  std::string out = fmt::format(kHead, kVersion, runtime_directory());
  std::string commands, values, choices, words;
  for (const Row& row : rows) {
    if (!row.path.empty()) commands += fmt::format("{}\"{}\"", commands.empty() ? "" : "|", row.path);
    for (const auto& option : row.values)
      values += fmt::format("{}\"{} {}\"", values.empty() ? "" : "|", row.path, option);
    for (const auto& [option, known] : row.choices)
      choices += fmt::format("    \"{} {}\") COMPREPLY=($(compgen -W \"{}\" -- \"$current\")); return ;;\n", row.path,
                             option, known);
    words += fmt::format("    \"{}\") words=\"{}\" ;;\n", row.path, fmt::join(row.words, " "));
  }
  out += fmt::format("      {}) path=\"$path $word\" ;;\n", commands);
  out += fmt::format("      {}) skip=1 ;;\n", values);
  out += "    esac\n  done\n  case \"$path $previous\" in\n" + choices;
  // Instances that run: the names of their sockets.
  out +=
      "    *\" -i\"|*\" --instance\"|*\" --prefix\")\n"
      "      COMPREPLY=($(compgen -W \"$(cd \"$directory\" 2>/dev/null && for word in *.lock; do [[ -e $word ]] && "
      "echo "
      "\"${word%.lock}\"; "
      "done)\" -- \"$current\"))\n      return ;;\n";
  out += fmt::format("    {}) COMPREPLY=(); return ;;  # a value: a file name, by -o default\n", values);
  out += "  esac\n  local words=\n  case \"$path\" in\n" + words;
  return out + std::string(kTail);
}

void add_completion(CLI::App& app, std::function<int(CliOutput&)>& action) {
  const auto shell = std::make_shared<std::string>();
  CLI::App* command = app.add_subcommand("completion", "Prints the completion script of a shell");
  command->add_option("SHELL", *shell, "bash, or zsh (by its bashcompinit)")
      ->required()
      ->check(CLI::IsMember({"bash", "zsh"}));
  command->footer(
      "Example:\n  source <(splitplane completion bash)\n"
      "  splitplane completion bash > /etc/bash_completion.d/splitplane");
  command->callback([shell, &app, &action] {
    action = [shell, &app](CliOutput& output) {
      if (*shell == "zsh") output.out << "autoload -U +X bashcompinit && bashcompinit\n";
      output.out << bash_completion(app);
      return kExitGood;
    };
  });
}

}  // namespace splitplane::app
