// The memory of the guard's tables and cookie keys, of all workers: in one mapped file, so that the next process goes
// on where this one ends, whenever that is; or in memory that ends with the process.
//
// The file is for one process at a time, which holds a lock on it. Its mode is 0600, because who has the keys can forge
// proofs. It belongs on a tmpfs: stores go to it at the speed of memory, and after a restart of the machine its stamps
// and connections would mean nothing. The header names the start of the machine for that.
//
//   page 0          header: what the file is for, with a CRC; written last
//   each worker     page of keys and secret | SourceTable | FlowTable      (whole pages each)
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <utility>

#include "base/expected.h"
#include "guard/cookie/cookie_jar.h"
#include "guard/state/flow_table.h"
#include "guard/state/source_table.h"

namespace splitplane::guard {

class StateFile {
 public:
  struct Settings {
    std::string path;  // empty: memory that ends with the process
    unsigned workers = 1;
    SourceTable::Settings sources;  // of each worker; only the number of entries must be the earlier process's
    FlowTable::Settings flows;
  };
  // What a worker's tables are made of. The keys are to be written here when they change.
  struct Part {
    std::span<std::uint8_t> sources, flows;
    CookieJar::Keys* keys = nullptr;
    std::uint64_t secret = 0;
  };

  // Error: one sentence. The file must be a plain one of this user, for no one else to read, and
  // empty or a state file. Where it fits not, its content is forgotten, and beginning() says why.
  [[nodiscard]] static Expected<StateFile> open(const Settings& settings);
  StateFile(StateFile&& other) noexcept;
  StateFile& operator=(StateFile&& other) noexcept;
  StateFile(const StateFile&) = delete;
  StateFile& operator=(const StateFile&) = delete;
  ~StateFile();

  [[nodiscard]] Part part(unsigned worker) const;
  // Whether the tables are an earlier process's. Flows of each source are to be counted anew then (recount.h).
  [[nodiscard]] bool continues() const { return continues_; }
  // How it began: a sentence for the log.
  [[nodiscard]] const std::string& beginning() const { return beginning_; }
  [[nodiscard]] std::size_t bytes() const { return bytes_; }
  [[nodiscard]] static std::size_t bytes_of(const Settings& settings);

 private:
  StateFile() = default;
  [[nodiscard]] Expected<void> take(const std::string& path);
  [[nodiscard]] Expected<void> reserve(const std::string& path) const;
  [[nodiscard]] Expected<void> map(const std::string& path);
  [[nodiscard]] std::string why_not(const Settings& settings) const;
  [[nodiscard]] Expected<void> begin_empty(const Settings& settings);
  void release();

  int fd_ = -1;  // -1: no file
  void* mapped_ = nullptr;
  std::size_t mapped_bytes_ = 0;
  std::uint8_t* begin_ = nullptr;  // in what is mapped, on a huge page where there is no file
  std::size_t bytes_ = 0, sources_bytes_ = 0, flows_bytes_ = 0;
  bool continues_ = false;
  std::string beginning_;
};

}  // namespace splitplane::guard
