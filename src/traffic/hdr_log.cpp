#include "traffic/hdr_log.h"

#include <zlib.h>

#include <bit>

#include "wire/bytes.h"

namespace splitplane::traffic {
namespace {

// HdrHistogram's AbstractHistogram.java: V2 cookie bases, with 0x10 in the place of a word size.
constexpr std::uint32_t kEncodingCookie = 0x1c849303 | 0x10;
constexpr std::uint32_t kCompressedCookie = 0x1c849304 | 0x10;
constexpr std::size_t kHeaderBytes = 40;

void put_be32(std::vector<std::uint8_t>& out, std::uint32_t v) {
  out.resize(out.size() + 4);
  wire::store_be32(out.data() + out.size() - 4, v);
}
void put_be64(std::vector<std::uint8_t>& out, std::uint64_t v) {
  out.resize(out.size() + 8);
  wire::store_be64(out.data() + out.size() - 8, v);
}

// ZigZag LEB128-64b9B: seven bits an octet, the ninth holds the last eight.
void put_zigzag(std::vector<std::uint8_t>& out, std::int64_t number) {
  auto left = static_cast<std::uint64_t>(number) << 1 ^ static_cast<std::uint64_t>(number >> 63);
  for (unsigned octet = 0; octet < 8 && left >> 7 != 0; ++octet, left >>= 7) {
    out.push_back(static_cast<std::uint8_t>(left | 0x80));
  }
  out.push_back(static_cast<std::uint8_t>(left));
}

std::string base64(const std::vector<std::uint8_t>& in) {
  constexpr std::string_view kLetters = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::string out;
  for (std::size_t i = 0; i < in.size(); i += 3) {
    std::uint32_t word = static_cast<std::uint32_t>(in[i]) << 16;
    if (i + 1 < in.size()) word |= static_cast<std::uint32_t>(in[i + 1]) << 8;
    if (i + 2 < in.size()) word |= in[i + 2];
    out += kLetters[word >> 18];
    out += kLetters[word >> 12 & 63];
    out += i + 1 < in.size() ? kLetters[word >> 6 & 63] : '=';
    out += i + 2 < in.size() ? kLetters[word & 63] : '=';
  }
  return out;
}

}  // namespace

std::vector<std::uint8_t> encode_hdr(const Histogram& histogram) {
  std::vector<std::uint8_t> out;
  put_be32(out, kEncodingCookie);
  put_be32(out, 0);  // octets after the header, set below
  put_be32(out, 0);  // normalizing index offset
  put_be32(out, Histogram::kDigits);
  put_be64(out, 1);  // lowest discernible value
  put_be64(out, Histogram::kHighest);
  put_be64(out, std::bit_cast<std::uint64_t>(1.0));  // integer to double value conversion ratio
  const auto& counts = histogram.counts();
  const std::size_t end = histogram.total() == 0 ? 0 : Histogram::index_of(histogram.max()) + 1;
  for (std::size_t i = 0; i < end;) {
    std::size_t zeros = 0;
    while (i + zeros < end && counts[i + zeros] == 0) ++zeros;
    if (zeros != 0) {
      put_zigzag(out, -static_cast<std::int64_t>(zeros));
      i += zeros;
    } else {
      put_zigzag(out, static_cast<std::int64_t>(counts[i++]));
    }
  }
  wire::store_be32(out.data() + 4, static_cast<std::uint32_t>(out.size() - kHeaderBytes));
  return out;
}

Expected<std::string> encode_hdr_text(const Histogram& histogram) {
  const std::vector<std::uint8_t> plain = encode_hdr(histogram);
  uLongf size = compressBound(plain.size());
  std::vector<std::uint8_t> packed(size);
  if (compress(packed.data(), &size, plain.data(), plain.size()) != Z_OK) {
    return fail("zlib could not compress a histogram of {} octets", plain.size());
  }
  std::vector<std::uint8_t> out;
  put_be32(out, kCompressedCookie);
  put_be32(out, static_cast<std::uint32_t>(size));
  out.insert(out.end(), packed.begin(), packed.begin() + static_cast<std::ptrdiff_t>(size));
  return base64(out);
}

Expected<std::string> hdr_log(const Histogram& histogram, std::chrono::system_clock::time_point begin,
                              std::chrono::duration<double> length) {
  auto text = encode_hdr_text(histogram);
  if (!text) return text;
  const double start = std::chrono::duration<double>(begin.time_since_epoch()).count();
  return fmt::format(
      "#[Histogram log format version 1.3]\n"
      "#[splitplane: one-way latency from the intended send time, in ns]\n"
      "#[StartTime: {:.3f} (seconds since epoch)]\n"
      "\"StartTimestamp\",\"Interval_Length\",\"Interval_Max\",\"Interval_Compressed_Histogram\"\n"
      "0.000,{:.3f},{:.3f},{}\n",
      start, length.count(), static_cast<double>(histogram.max()) / 1e6, *text);
}

}  // namespace splitplane::traffic
