// The build runs this program: `card_aot_tool program SPEC OUT [without_prefetch]` writes a .spec as C++, and
// `card_aot_tool index OUT FUNCTION SPEC...` the function that lists such programs.
#include <cstdio>
#include <fstream>
#include <span>

#include "card/aot/generator.h"

namespace splitplane::nic {
namespace {

constexpr std::string_view kWithoutPrefetch = "without_prefetch";

Expected<void> write_file(const std::string& path, const std::string& text) {
  std::ofstream file(path, std::ios::binary);
  if (file << text && file.flush()) return {};
  return fail("{}: cannot be written", path);
}

Expected<void> run(std::span<const std::string> words) {
  if (words.size() >= 3 && words[0] == "program") {
    const auto spec = read_spec(words[1]);
    if (!spec) return tl::unexpected(spec.error());
    const bool prefetch = words.size() < 4 || words[3] != kWithoutPrefetch;
    const auto text = generate(*spec, {.id = program_id(words[2]), .prefetch = prefetch});
    return text ? write_file(words[2], *text) : tl::unexpected(text.error());
  }
  if (words.size() >= 3 && words[0] == "index") {
    std::vector<std::string> ids;
    for (const std::string& path : words.subspan(3)) ids.push_back(program_id(path));
    return write_file(words[1], generate_index(words[2], ids));
  }
  return fail("allowed: 'program SPEC OUT [{}]' or 'index OUT FUNCTION SPEC...'", kWithoutPrefetch);
}

}  // namespace
}  // namespace splitplane::nic

int main(int argc, char** argv) {
  const std::vector<std::string> words(argv + 1, argv + argc);
  const auto done = splitplane::nic::run(words);
  if (done) return 0;
  std::fprintf(stderr, "%s\n", done.error().message.c_str());
  return 1;
}
