#include "ran/mac/copy.h"

#include <gtest/gtest.h>

#include <vector>

#include "wire/test_octets.h"

namespace splitplane::ran::mac::test {
namespace {

// Both ends are on the heap in exactly their size, so a sanitizer sees an octet too far. The guards tell without one.
TEST(Copy, copies_each_length_and_touches_no_octet_beside_it) {
  constexpr std::size_t kGuard = 80;
  std::vector<std::size_t> lengths{1000, 1499, 1500, 4095, 4096, 9000, 65535};
  for (std::size_t n = 0; n <= 600; ++n) lengths.push_back(n);
  for (const std::size_t n : lengths) {
    wire::test::HeapOctets from(n);
    for (std::size_t i = 0; i < n; ++i) from.all()[i] = static_cast<std::uint8_t>(i * 7 + 1 + (i >> 8));
    const wire::Octets source = from;
    std::vector<std::uint8_t> to(n + 2 * kGuard, 0xEE), expected = to;
    std::copy(source.begin(), source.end(), expected.begin() + kGuard);
    copy_payload(to.data() + kGuard, source.data(), n);
    ASSERT_EQ(to, expected) << n;
    wire::test::HeapOctets exact(n);
    copy_payload(exact.all().data(), source.data(), n);
    ASSERT_TRUE(std::equal(source.begin(), source.end(), wire::Octets(exact).begin())) << n;
  }
}

TEST(Copy, works_at_each_alignment_of_both_ends) {
  std::vector<std::uint8_t> from(400), to(400);
  for (std::size_t i = 0; i < from.size(); ++i) from[i] = static_cast<std::uint8_t>(i);
  for (std::size_t a = 0; a < 64; a += 3) {
    for (std::size_t b = 0; b < 64; b += 5) {
      for (const std::size_t n : {1U, 31U, 64U, 65U, 127U, 200U, 300U}) {
        std::fill(to.begin(), to.end(), std::uint8_t{0xEE});
        copy_payload(to.data() + a, from.data() + b, n);
        ASSERT_TRUE(std::equal(to.begin() + static_cast<std::ptrdiff_t>(a),
                               to.begin() + static_cast<std::ptrdiff_t>(a + n),
                               from.begin() + static_cast<std::ptrdiff_t>(b)));
        ASSERT_EQ(to[a + n], 0xEE);
      }
    }
  }
}

}  // namespace
}  // namespace splitplane::ran::mac::test
