#include "card/spec/spec_file.h"

#include <zlib.h>

#include <algorithm>
#include <fstream>
#include <sstream>

#include "base/plain_file.h"
#include "card/spec/spec_parser.h"

namespace splitplane::nic {
namespace {

template <class Items>
auto* find_named(const Items& items, std::string_view name) {
  const auto at = std::ranges::find_if(items, [&](const auto& item) { return item.name == name; });
  return at == items.end() ? nullptr : &*at;
}

std::string body_hash(std::string_view text) {
  const std::string_view body = text.substr(std::min(text.find('\n'), text.size() - 1) + 1);
  return fmt::format("{:08x}", crc32_z(0, reinterpret_cast<const Bytef*>(body.data()), body.size()));
}

}  // namespace

bool SpecFile::defines_has(std::string_view name) const {
  return std::ranges::find(defines, name) != defines.end();
}
const SpecStruct* SpecFile::find_struct(std::string_view name) const {
  return find_named(structs, name);
}
const SpecAction* SpecFile::find_action(std::string_view name) const {
  return find_named(actions, name);
}
const SpecTable* SpecFile::find_table(std::string_view name) const {
  return find_named(tables, name);
}

bool is_called(std::string_view in_file, std::string_view name) {
  if (!in_file.starts_with(name)) return false;
  const std::string_view rest = in_file.substr(name.size());
  return rest.empty() ||
         (rest.size() > 1 && rest[0] == '_' && rest.find_first_not_of("0123456789", 1) == std::string_view::npos);
}

Expected<SpecFile> parse_spec(std::string_view text, const std::string& path) {
  SpecParser parser(text, path);
  auto spec = parser.parse();
  if (spec) spec->found_hash = body_hash(text);
  return spec;
}

Expected<SpecFile> read_spec(const std::string& path) {
  if (const auto refused = refuse_to_read(path))
    return fail("{}: cannot be read: {}; allowed: a .spec file that p4c-dpdk made ('make p4')", path, *refused);
  std::ifstream file(path, std::ios::binary);
  std::ostringstream text;
  if (!file || !(text << file.rdbuf())) {
    return fail("{}: cannot be read; allowed: a .spec file that p4c-dpdk made ('make p4')", path);
  }
  auto spec = parse_spec(text.view(), path);
  if (!spec || spec->body_hash.empty()) return spec;
  if (spec->body_hash == spec->found_hash) return spec;
  return fail(
      "{}:1: says body={}, and what follows has {}: it was changed or damaged; allowed: the file as 'make p4' wrote "
      "it, or "
      "without body= in its first line",
      path, spec->body_hash, spec->found_hash);
}

std::string spec_path(const std::string& directory, std::string_view name) {
  return fmt::format("{}/{}.spec", directory.empty() ? SPLITPLANE_SPECS : directory, name);
}

}  // namespace splitplane::nic
