#include "guard/state/state_file.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cassert>
#include <cerrno>
#include <cstring>
#include <fstream>

#include "base/open_file.h"
#include "guard/state/keyed_hash.h"

namespace splitplane::guard {
namespace {

constexpr std::size_t kPage = 4096, kHugePage = std::size_t{2} << 20;
constexpr std::array<char, 16> kMagic{'s', 'p', 'l', 'i', 't', 'p', 'l', 'a', 'n', 'e', ' ', 'g', 'u', 'a', 'r', 'd'};
// Another one when the meaning of a table, of a hash or of the keys changes.
constexpr std::uint32_t kStateVersion = 1;

struct Header {
  std::array<char, 16> magic = kMagic;
  std::uint32_t version = kStateVersion;
  std::uint32_t hash_kind = KeyedHash::kKind;
  std::uint32_t flow_bytes = sizeof(Flow), source_bucket_bytes = sizeof(SourceBucket),
                keys_bytes = sizeof(CookieJar::Keys);
  std::uint32_t workers = 0;
  std::uint64_t sources_bytes = 0, flows_bytes = 0;  // of a worker
  std::array<char, 40> boot{};                       // /proc/sys/kernel/random/boot_id
  std::uint32_t spare = 0;
  std::uint32_t crc = 0;  // of all before
};
static_assert(sizeof(Header) == 16 + 6 * 4 + 16 + 40 + 8);

// The first page of a worker.
struct WorkerHead {
  CookieJar::Keys keys;
  std::uint64_t secret = 0;
};
static_assert(sizeof(WorkerHead) <= kPage);

// CRC-32C, bit by bit: of a header only.
std::uint32_t crc_of(const Header& header) {
  std::uint32_t crc = ~0U;
  const auto* const octets = reinterpret_cast<const std::uint8_t*>(&header);
  for (std::size_t i = 0; i < offsetof(Header, crc); ++i) {
    crc ^= octets[i];
    for (int bit = 0; bit < 8; ++bit) crc = (crc >> 1) ^ (0x82f63b78U & (0U - (crc & 1U)));
  }
  return ~crc;
}

std::array<char, 40> boot_identity() {
  std::array<char, 40> identity{};
  std::ifstream file("/proc/sys/kernel/random/boot_id");
  std::string text;
  if (std::getline(file, text)) std::copy_n(text.begin(), std::min(text.size(), identity.size() - 1), identity.begin());
  return identity;
}

std::size_t whole_pages(std::size_t bytes) {
  return (bytes + kPage - 1) / kPage * kPage;
}

std::size_t worker_bytes(std::size_t sources_bytes, std::size_t flows_bytes) {
  return kPage + whole_pages(sources_bytes) + whole_pages(flows_bytes);
}

Expected<std::uint64_t> random_word() {
  std::uint64_t word = 0;
  if (::getrandom(&word, sizeof word, 0) != sizeof word)
    return fail("the kernel gives no random numbers: {}", std::strerror(errno));
  return word;
}

// So that no packet waits for a page. Pages keep what is in them.
bool touch_pages(void* at, std::size_t bytes) {
#ifdef MADV_POPULATE_WRITE
  if (::madvise(at, bytes, MADV_POPULATE_WRITE) == 0) return true;
  if (errno != EINVAL) return false;
#endif
  auto* const octets = static_cast<volatile std::uint8_t*>(at);
  for (std::size_t i = 0; i < bytes; i += kPage) octets[i] = octets[i];
  return true;
}

}  // namespace

std::size_t StateFile::bytes_of(const Settings& settings) {
  return kPage + settings.workers *
                     worker_bytes(SourceTable::memory_bytes(settings.sources), FlowTable::memory_bytes(settings.flows));
}

Expected<StateFile> StateFile::open(const Settings& settings) {
  assert(settings.workers > 0);
  StateFile file;
  file.bytes_ = bytes_of(settings);
  file.sources_bytes_ = SourceTable::memory_bytes(settings.sources);
  file.flows_bytes_ = FlowTable::memory_bytes(settings.flows);
  const bool named = !settings.path.empty();
  if (named) {
    if (auto taken = file.take(settings.path); !taken) return tl::unexpected(taken.error());
    file.beginning_ = file.why_not(settings);
    file.continues_ = file.beginning_.empty();
    // Forgotten before the length changes: if this process ends here, the next one finds no header.
    if (!file.continues_ && ::ftruncate(file.fd_, kMagic.size()) != 0)
      return fail("state file {}: cannot be emptied: {}", settings.path, std::strerror(errno));
    if (auto reserved = file.reserve(settings.path); !reserved) return tl::unexpected(reserved.error());
  }
  if (auto mapped = file.map(settings.path); !mapped) return tl::unexpected(mapped.error());
  if (file.continues_) {
    file.beginning_ = fmt::format("the guard goes on with the tables of an earlier process, from {}", settings.path);
    return file;
  }
  if (auto begun = file.begin_empty(settings); !begun) return tl::unexpected(begun.error());
  if (named)
    file.beginning_ = fmt::format("the guard begins with empty tables in {}: {}", settings.path, file.beginning_);
  else
    file.beginning_ = "the guard begins with empty tables, in memory that ends with the process";
  return file;
}

// Opens and locks the file, and makes sure that it may be written over.
Expected<void> StateFile::take(const std::string& path) {
  constexpr int kAttempts = 50;  // somebody may put another file there between our steps
  for (int attempt = 0; attempt < kAttempts; ++attempt) {
    fd_ = ::open(path.c_str(), O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK | O_NOCTTY, 0600);
    if (fd_ < 0 && errno == ELOOP) return fail("state file {}: is a symbolic link; allowed: a plain file", path);
    if (fd_ < 0) return fail("state file {}: cannot be opened: {}", path, std::strerror(errno));
    struct stat is{};
    if (::fstat(fd_, &is) != 0) return fail("state file {}: cannot be read: {}", path, std::strerror(errno));
    if (!S_ISREG(is.st_mode)) return fail("state file {}: is no plain file; allowed: another path", path);
    if (is.st_uid != ::geteuid()) return fail("state file {}: belongs to another user (uid {})", path, is.st_uid);
    if ((is.st_mode & 077) != 0) {
      return fail("state file {}: others may open it (mode {:04o}), and it has secret keys; remove it", path,
                  is.st_mode & 07777);
    }
    if (::flock(fd_, LOCK_EX | LOCK_NB) != 0) return fail("state file {}: another process has it", path);
    if (!is_still_at(fd_, path)) {
      ::close(std::exchange(fd_, -1));
      continue;
    }
    std::array<char, kMagic.size()> magic{};
    const ssize_t n = ::pread(fd_, magic.data(), magic.size(), 0);
    if (n < 0) return fail("state file {}: cannot be read: {}", path, std::strerror(errno));
    if (n != 0 && magic != kMagic) return fail("state file {}: has another content; remove it or name another", path);
    if (n == 0 && ::pwrite(fd_, kMagic.data(), kMagic.size(), 0) != static_cast<ssize_t>(kMagic.size()))
      return fail("state file {}: cannot be written: {}", path, std::strerror(errno));
    return {};
  }
  return fail("state file {}: other processes put files there all the time", path);
}

// Why the content cannot be gone on with; empty: it can.
std::string StateFile::why_not(const Settings& settings) const {
  struct stat is{};
  if (::fstat(fd_, &is) != 0) return "its length cannot be read";
  if (is.st_size <= static_cast<off_t>(kMagic.size())) return "it is new";
  Header header;
  if (::pread(fd_, &header, sizeof header, 0) != static_cast<ssize_t>(sizeof header)) return "it is cut off";
  if (header.crc != crc_of(header)) return "its header is damaged, or was not finished";
  const Header ours;
  if (header.version != ours.version || header.hash_kind != ours.hash_kind || header.flow_bytes != ours.flow_bytes ||
      header.source_bucket_bytes != ours.source_bucket_bytes || header.keys_bytes != ours.keys_bytes)
    return "another version of the program made it";
  if (header.boot != boot_identity() || header.boot.front() == 0) return "the machine was started anew";
  if (header.workers != settings.workers)
    return fmt::format("it is for {} workers, and there are {}", header.workers, settings.workers);
  if (header.sources_bytes != sources_bytes_ || header.flows_bytes != flows_bytes_)
    return "it is for tables of other sizes";
  if (static_cast<std::size_t>(is.st_size) != bytes_) return "it is cut off";
  return {};
}

Expected<void> StateFile::reserve(const std::string& path) const {
  int error = 0;
  do {
    error = ::posix_fallocate(fd_, 0, static_cast<off_t>(bytes_));
  } while (error == EINTR);
  if (error == 0) return {};
  if (!continues_) (void)::ftruncate(fd_, kMagic.size());  // gives back what was reserved of it
  return fail("state file {}: there is no room for its {} MB: {}", path, (bytes_ + 999'999) / 1'000'000,
              std::strerror(error));
}

Expected<void> StateFile::map(const std::string& path) {
  const bool named = fd_ >= 0;
  mapped_bytes_ = named ? bytes_ : bytes_ + kHugePage;
  void* const at =
      ::mmap(nullptr, mapped_bytes_, PROT_READ | PROT_WRITE, named ? MAP_SHARED : MAP_PRIVATE | MAP_ANONYMOUS, fd_, 0);
  if (at == MAP_FAILED) {
    return named ? fail("state file {}: cannot be mapped: {}", path, std::strerror(errno))
                 : fail("no memory for the {} MB of the guard's tables: {}", bytes_ / 1'000'000, std::strerror(errno));
  }
  mapped_ = at;
  const auto address = reinterpret_cast<std::uintptr_t>(at);
  begin_ = static_cast<std::uint8_t*>(at) + (named ? 0 : (kHugePage - address % kHugePage) % kHugePage);
  (void)::madvise(begin_, bytes_, MADV_DONTDUMP);  // there are keys in it
  (void)::madvise(begin_, bytes_, MADV_HUGEPAGE);  // a kernel or file system that has none gives small pages
  if (touch_pages(begin_, bytes_)) return {};
  return fail("no memory for the {} MB of the guard's tables: {}", bytes_ / 1'000'000, std::strerror(errno));
}

Expected<void> StateFile::begin_empty(const Settings& settings) {
  for (unsigned worker = 0; worker < settings.workers; ++worker) {
    auto* const head =
        reinterpret_cast<WorkerHead*>(begin_ + kPage + worker * worker_bytes(sources_bytes_, flows_bytes_));
    const auto secret = random_word();
    if (!secret) return tl::unexpected(secret.error());
    head->keys = CookieJar::random_keys();
    head->secret = *secret;
  }
  Header header;
  header.workers = settings.workers;
  header.sources_bytes = sources_bytes_;
  header.flows_bytes = flows_bytes_;
  header.boot = boot_identity();
  header.crc = crc_of(header);
  std::atomic_signal_fence(std::memory_order_seq_cst);  // a header is there only when all it speaks of is
  std::memcpy(begin_, &header, sizeof header);
  return {};
}

StateFile::Part StateFile::part(unsigned worker) const {
  std::uint8_t* const at = begin_ + kPage + worker * worker_bytes(sources_bytes_, flows_bytes_);
  assert(at + worker_bytes(sources_bytes_, flows_bytes_) <= begin_ + bytes_);
  auto* const head = reinterpret_cast<WorkerHead*>(at);
  std::uint8_t* const sources = at + kPage;
  return {.sources = {sources, sources_bytes_},
          .flows = {sources + whole_pages(sources_bytes_), flows_bytes_},
          .keys = &head->keys,
          .secret = head->secret};
}

StateFile::StateFile(StateFile&& other) noexcept {
  *this = std::move(other);
}

StateFile& StateFile::operator=(StateFile&& other) noexcept {
  if (this == &other) return *this;
  release();
  fd_ = std::exchange(other.fd_, -1);
  mapped_ = std::exchange(other.mapped_, nullptr);
  mapped_bytes_ = std::exchange(other.mapped_bytes_, 0);
  begin_ = std::exchange(other.begin_, nullptr);
  bytes_ = other.bytes_;
  sources_bytes_ = other.sources_bytes_;
  flows_bytes_ = other.flows_bytes_;
  continues_ = other.continues_;
  beginning_ = std::move(other.beginning_);
  return *this;
}

StateFile::~StateFile() {
  release();
}

void StateFile::release() {
  if (mapped_ != nullptr) ::munmap(mapped_, mapped_bytes_);
  if (fd_ >= 0) ::close(fd_);  // and gives up the lock
  mapped_ = nullptr;
  fd_ = -1;
}

}  // namespace splitplane::guard
