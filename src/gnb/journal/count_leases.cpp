#include "gnb/journal/count_leases.h"

#include <algorithm>

namespace splitplane::app {
namespace {

constexpr std::uint32_t kLeast = 8;

}  // namespace

std::uint32_t lease_after_restart(unsigned pdcp_sn_bits, std::uint32_t ahead) {
  const std::uint32_t half = 1U << (pdcp_sn_bits - 1);
  const std::uint32_t left = ahead < half ? (half - ahead) / 2 : 0;
  return std::clamp(left, kLeast, usual_lease(pdcp_sn_bits));
}

ran::CountLease CountLeases::begin(BearerId id, unsigned pdcp_sn_bits, std::uint32_t next, std::uint32_t ahead) {
  const std::uint32_t length = std::min(lease_after_restart(pdcp_sn_bits, ahead), ran::kCountEnd - next);
  const ran::CountLease lease{.end = next + length, .mark = next};
  books_[id.value] = {pdcp_sn_bits, lease, {}, next, next, next - ahead};
  return lease;
}

ran::CountLease CountLeases::adopt(BearerId id, unsigned pdcp_sn_bits, std::uint32_t next, std::uint32_t end) {
  const ran::CountLease lease{.end = end, .mark = next};
  books_[id.value] = {pdcp_sn_bits, lease, {}, next, next, next};
  return lease;
}

std::uint32_t CountLeases::heard(BearerId id, std::uint32_t next) const {
  const auto book = books_.find(id.value);
  return book != books_.end() && book->second.first == next ? book->second.heard : next;
}

bool CountLeases::is_earlier(BearerId id, std::uint32_t at) const {
  const auto book = books_.find(id.value);
  return book != books_.end() && at < book->second.first;
}

std::optional<CountLeases::Extension> CountLeases::asked(BearerId id, Clock::time_point now,
                                                         std::chrono::milliseconds horizon) {
  const auto found = books_.find(id.value);
  if (found == books_.end()) return std::nullopt;
  Book& book = found->second;
  const std::uint32_t at = book.lease.mark;
  double wanted = 0;  // half of it is used up in a horizon
  if (book.since) {
    const double seconds = std::max(std::chrono::duration<double>(now - *book.since).count(), 1e-6);
    wanted = 2 * (at - book.at) / seconds * std::chrono::duration<double>(horizon).count();
  }
  book.since = now;
  book.at = at;
  const double most = longest_lease(book.pdcp_sn_bits);
  const std::uint32_t length =
      std::min(std::max(usual_lease(book.pdcp_sn_bits), static_cast<std::uint32_t>(std::min(wanted, most))),
               ran::kCountEnd - at);
  Extension extension{.from = book.lease.end, .lease = {}, .heard = at};
  const std::uint32_t end = std::max(book.lease.end, at + length);
  // At the very end there is nothing to ask for.
  book.lease = {.end = end, .mark = end == ran::kCountEnd ? end : std::max(at + 1, end - length / 2)};
  extension.lease = book.lease;
  return extension;
}

}  // namespace splitplane::app
