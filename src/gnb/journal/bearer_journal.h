// What of the bearers survives this process: their configuration, and how far their numbers may have gone. Everything
// that is said here is written by a thread of its own, as much at a time as came meanwhile (group commit); a lease of
// COUNTs is granted when it is on the disk, not before.
#pragma once

#include <chrono>
#include <condition_variable>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <thread>
#include <unordered_map>
#include <vector>

#include "gnb/journal/file.h"
#include "gnb/journal/view.h"
#include "ran/count_lease.h"

namespace splitplane::app {

class BearerJournal {
 public:
  struct Grant {
    BearerId id;
    std::uint32_t from = 0;  // the end of the lease before
    ran::CountLease lease;
    std::uint64_t series = 0;  // of the COUNTs that it is for; the journal sets it
  };
  using Granted = std::function<void(std::span<const Grant>)>;
  struct Settings {
    std::string path;
    JournalOwner owner;
    std::chrono::milliseconds retry{1000};     // after the disk or a worker refused
    std::chrono::milliseconds patience{2000};  // of who waits for the disk
  };

  // Reads what an earlier run left, unless `fresh`: then it is forgotten with begin(). Error: not ours, not to be
  // trusted, or another process has it.
  [[nodiscard]] static Expected<std::unique_ptr<BearerJournal>> open(const Settings& settings, bool fresh);
  ~BearerJournal();
  BearerJournal(const BearerJournal&) = delete;
  BearerJournal& operator=(const BearerJournal&) = delete;

  [[nodiscard]] const JournalContent& found() const { return found_; }

  // What shall be there. Returns at once. A bearer that the configuration names, that was released and that the control
  // socket adds again is the configuration's again, so that a later release() keeps it away, too.
  void set(const JournalBearer& bearer, const std::optional<Grant>& grant = {});
  void set_config(const ran::BearerConfig& config);  // of a bearer that is there
  void set_session(BearerId id, const JournalSession& session);
  void set_pin(BearerId id, const std::optional<std::string>& to);
  void set_epoch(BearerId id, std::uint8_t epoch);
  void set_received(BearerId id, std::uint32_t rx_next);
  // Other keys, with which numbers begin anew: a new series. Leases of the series before are not granted any more.
  // Returns what restore_keys() needs.
  struct Before {
    JournalNumbers numbers;
    std::uint64_t series = 0;
  };
  Before set_keys(const ran::BearerConfig& config, const JournalNumbers& numbers);
  // The bearer keeps its keys, its numbers and its series, and with them the grant that its worker has not heard.
  void restore_keys(const ran::BearerConfig& config, const Before& before);
  void set_numbers(BearerId id, const JournalNumbers& numbers, const std::optional<Grant>& grant = {});
  void extend(const Grant& grant, std::uint32_t heard);  // COUNTs alone
  void remove(BearerId id);
  // Released by the control socket: gone, and if the configuration names it, it shall stay away.
  void release(BearerId id);
  // Before begin(): the configuration names it, and it was released in an earlier run.
  void keep_away(const FileKey& file) { released_.insert(file); }
  // Of one that was released: it was added again by the control socket.
  void revive(const FileKey& file);

  // These keys have protected something: no bearer gets them again, also in a later run.
  void spend(const UsedKey& key);
  // What the journal knows of a bearer's keys.
  [[nodiscard]] std::optional<UsedKey> keys_of(BearerId id) const;

  // The new file with all that was said until now, in place of the old one; then the thread. `granted` is called on it,
  // and here for what was said until now.
  [[nodiscard]] Expected<void> begin(Granted granted);
  // From inside `granted`: the worker did not listen. The grant, which is on the disk, is given again after `retry`.
  // Other grants do not wait for it.
  void again(const Grant& grant);
  // Waits until what was said until now is on the disk, and its leases are granted; for `patience` at most. Error: the
  // disk refuses, or takes longer; it is tried again all the time.
  [[nodiscard]] Expected<void> wait_for_disk();
  // Ends the thread: no lease is granted from here on.
  void stop();
  // The last words, after stop() and the workers' end: COUNTs in place of leases. Epochs stay. What is said later is
  // not written, and wait_for_disk() fails from then on.
  [[nodiscard]] Expected<void> finish(std::span<const std::pair<BearerId, JournalNumbers>> last);

  [[nodiscard]] BearerJournalView view() const;
  // How long it takes until a lease is on the disk, by the slowest of the last ones.
  [[nodiscard]] std::chrono::milliseconds horizon() const;

 private:
  using Lock = std::unique_lock<std::mutex>;
  enum class Change : std::uint8_t { kNumbers, kWhole, kGone };

  explicit BearerJournal(const Settings& settings) : settings_(settings), file_(settings.path, settings.owner) {}
  void note(std::uint32_t id, Change change, const std::optional<Grant>& grant);
  void serve();
  // With the lock, which is let go for the disk. False: it refused, and everything is to be said again.
  bool commit(Lock& lock);
  void give_again(Lock& lock);
  [[nodiscard]] bool is_current(const Grant& grant) const;
  [[nodiscard]] bool has_changes() const { return !dirty_.empty() || !dirty_keys_.empty() || !dirty_used_.empty(); }
  [[nodiscard]] JournalRecords everything() const;
  void say_failed(const Error& error);

  const Settings settings_;
  JournalContent found_;
  mutable std::mutex mutex_;
  std::condition_variable changed_, settled_;
  JournalFile file_;  // the thread's, once it runs
  JournalBearers bearers_;
  std::unordered_map<std::uint32_t, std::uint64_t> series_;  // of the COUNTs of each bearer
  std::uint64_t last_series_ = 0;
  std::set<FileKey> released_;
  std::unordered_map<std::uint32_t, Change> dirty_;
  std::set<FileKey> dirty_keys_;  // of released_
  std::set<UsedKey> used_keys_, dirty_used_;
  std::unordered_map<std::uint32_t, Grant> grants_;   // for when the disk has what was said
  std::unordered_map<std::uint32_t, Grant> unheard_;  // on the disk, and their workers did not listen
  std::chrono::steady_clock::time_point again_at_;    // when those are given again
  Granted granted_;
  std::uint64_t said_ = 0, on_disk_ = 0;  // changes, and how many of them are on the disk
  std::size_t rewritten_octets_ = 0;
  bool begun_ = false, finished_ = false;
  bool stop_ = false;
  BearerJournalView view_;
  double slowest_ms_ = 0;
  std::thread thread_;
};

}  // namespace splitplane::app
