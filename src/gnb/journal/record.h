// What the journal of bearers holds, as octets: records of bearers and of their numbers, in frames that are whole or
// not there. Pure: no file, no clock. docs/operate/journal.md has the layout.
#pragma once

#include <compare>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <tuple>
#include <vector>

#include "base/expected.h"
#include "ran/session_config.h"

namespace splitplane::app {

// Where a bearer's numbers may go on in a later run.
struct JournalNumbers {
  std::uint32_t end = 0;      // no packet has a COUNT from here on
  std::uint32_t heard = 0;    // <= end: a receiver may not have seen any COUNT from here on
  std::uint32_t rx_next = 0;  // uplink: RX_NEXT as far as it was known (TS 38.323 7.1)
  std::uint8_t epoch = 0;     // of RLC, in airhdr

  friend bool operator==(const JournalNumbers&, const JournalNumbers&) = default;
};

// By which the configuration names a bearer, also after a modify.
struct FileKey {
  IpAddress upf;
  Teid uplink_teid;

  friend bool operator==(const FileKey&, const FileKey&) = default;
  friend bool operator<(const FileKey& a, const FileKey& b) {
    return std::tuple(a.upf.is_v6(), a.upf.octets(), a.uplink_teid) <
           std::tuple(b.upf.is_v6(), b.upf.octets(), b.uplink_teid);
  }
};

// Keys that some bearer had: the number in the file of keys, and the DRB.
struct UsedKey {
  std::uint32_t key = 0;
  std::uint8_t drb = 0;

  friend auto operator<=>(const UsedKey&, const UsedKey&) = default;
};
[[nodiscard]] inline UsedKey used_key_of(const ran::SecurityConfig& security) {
  return {security.key, security.drb};
}

// What the record of a bearer says of its session with several bearers. Each bearer's record says all that is needed,
// so a session whose last record was cut off is known by its number of bearers.
struct JournalSession {
  Teid teid;
  BearerId spare;
  std::uint8_t bearers = 0;  // of the session
  std::uint8_t number = 0;   // of this bearer, from 1 on
  ran::sdap::DrbId drb, default_drb;
  bool reflective = false;
  std::vector<Qfi> flows;

  friend bool operator==(const JournalSession&, const JournalSession&) = default;
};

struct JournalBearer {
  enum class Origin : std::uint8_t { kControl, kFile };  // who added it: the control socket, or the configuration
  ran::BearerConfig config;
  Origin origin = Origin::kControl;
  FileKey file;  // kFile
  JournalNumbers numbers;
  std::optional<JournalSession> session;  // absent: the bearer is a session by itself
  // What the control socket said of its place: "host", a card's name, or empty for none, whatever the configuration
  // says. Absent: nothing.
  std::optional<std::string> pin;

  friend bool operator==(const JournalBearer&, const JournalBearer&) = default;
};

using JournalBearers = std::map<std::uint32_t, JournalBearer>;  // by identity

// Whose journal it is: another instance's numbers are not ours.
struct JournalOwner {
  std::string file_prefix;
  std::uint32_t instance = 0;
};

using JournalOctets = std::vector<std::uint8_t>;

struct JournalRecords {
  JournalOctets octets;
  std::vector<std::size_t> ends;  // of each record

  void bearer(const JournalBearer& bearer);
  void numbers(BearerId id, const JournalNumbers& numbers);
  void gone(BearerId id);
  void released(const FileKey& file);
  void revived(const FileKey& file);
  void used_key(const UsedKey& key);
};

// The beginning of a file, and a frame around records; `sequence` counts frames from 0.
[[nodiscard]] JournalOctets journal_header(const JournalOwner& owner);
[[nodiscard]] JournalOctets journal_frame(std::uint64_t sequence, std::span<const std::uint8_t> records);
inline constexpr std::size_t kMaxFrameRecords = std::size_t{1} << 20;  // octets

struct JournalContent {
  JournalBearers bearers;
  std::set<FileKey> released;   // by the control socket, so that the configuration does not bring them back
  std::set<UsedKey> used_keys;  // of bearers that are gone, or that have other keys now
  std::uint64_t frames = 0;
  std::size_t torn = 0;  // octets at the end: of a frame that was never whole, so that no reader has relied on it
};

// A whole file. Error: one sentence without the file's name. What is cut off at the end is no error, everything else
// that is not as it was written is.
[[nodiscard]] Expected<JournalContent> read_journal(std::span<const std::uint8_t> file, const JournalOwner& owner);

}  // namespace splitplane::app
