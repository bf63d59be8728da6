#include "bypass/matrix/row_log.h"

#include <filesystem>
#include <vector>

namespace splitplane::bypass {
namespace {

// Section, repeat and the whole scenario; other members of the row do not count.
std::string key_of(const std::string& section, unsigned repeat, const Json& row) {
  static const Json kScenario = to_json(Scenario{});
  Json key{section, repeat};
  for (const auto& [name, value] : kScenario.items()) key.push_back(row.value(name, Json()));
  return key.dump();
}

bool is_row(const Json& row) {
  return row.is_object() && row.contains("section") && row["section"].is_string() && row.contains("repeat") &&
         row["repeat"].is_number_unsigned();
}

Expected<void> write_line(std::ofstream& file, const std::string& path, const Json& json) {
  file << json.dump() << std::endl;  // flushed: the process may be ended in the next run
  if (!file) return fail("{} could not be written", path);
  return {};
}

}  // namespace

Expected<RowLog> RowLog::open(const std::string& path, const Json& head, bool resume, bool retry) {
  RowLog log;
  log.path_ = path;
  std::vector<Json> kept;
  if (std::ifstream before(path); resume && before) {
    std::string line;
    std::getline(before, line);
    if (const Json theirs = Json::parse(line, nullptr, false); theirs != head) {
      return fail("{}: its rows are of another machine, program or plan; without --resume they are replaced", path);
    }
    while (std::getline(before, line)) {
      Json row = Json::parse(line, nullptr, false);
      if (!is_row(row) || (retry && row.contains("error"))) continue;
      log.failed_ += row.contains("error") ? 1 : 0;
      log.rows_[key_of(row["section"].get<std::string>(), row["repeat"].get<unsigned>(), row)] = row;
      kept.push_back(std::move(row));
    }
  }
  // Replaces the old file in one step, so no row is lost if this process ends meanwhile.
  const std::string next = path + ".new";
  log.file_.open(next, std::ios::trunc);
  if (!log.file_) return fail("{} could not be opened for writing", next);
  if (auto written = write_line(log.file_, next, head); !written) return tl::unexpected(written.error());
  for (const Json& row : kept) {
    if (auto written = write_line(log.file_, next, row); !written) return tl::unexpected(written.error());
  }
  std::error_code error;
  std::filesystem::rename(next, path, error);
  if (error) return fail("{}: {}", path, error.message());
  return log;
}

std::optional<Json> RowLog::find(const std::string& section, unsigned repeat, const Scenario& scenario) const {
  const auto found = rows_.find(key_of(section, repeat, to_json(scenario)));
  return found == rows_.end() ? std::nullopt : std::optional(found->second);
}

Expected<void> RowLog::add(const std::string& section, unsigned repeat, Json& row) {
  row["section"] = section;
  row["repeat"] = repeat;
  return file_.is_open() ? write_line(file_, path_, row) : Expected<void>{};
}

}  // namespace splitplane::bypass
