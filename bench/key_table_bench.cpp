// The key table's cost per lookup: bursts of 32 random keys out of 64 K and 1 M, compared with std::unordered_map, hits
// and misses, one at a time and in bulk.
#include <benchmark/benchmark.h>

#include <array>
#include <bit>
#include <cstdlib>
#include <memory>
#include <new>
#include <random>
#include <span>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "ran/key_table.h"

namespace splitplane::ran {
namespace {

constexpr std::size_t kBurst = 32;
constexpr std::size_t kOrder = std::size_t{1} << 20;  // lookups before the order repeats: more than caches hold

template <class Key>
Key random_key(std::mt19937_64& random) {
  Key key{};
  if constexpr (sizeof(Key) == 4) {
    key = static_cast<Key>(random());
  } else {
    for (auto& octet : key) octet = static_cast<std::uint8_t>(random());
  }
  return key;
}

struct KeyHasher {
  std::size_t operator()(Ipv4Key key) const { return std::hash<Ipv4Key>{}(key); }
  std::size_t operator()(const Ipv6Key& key) const {
    return std::hash<std::string_view>{}({reinterpret_cast<const char*>(key.data()), key.size()});
  }
};

// `entries` keys to insert, and a long random order of lookups: of those keys, or of others.
template <class Key>
struct Workload {
  Workload(std::size_t entries, bool hits) : keys(entries), order(kOrder) {
    std::mt19937_64 random(42);
    std::unordered_set<Key, KeyHasher> seen;
    for (Key& key : keys) {
      do key = random_key<Key>(random);
      while (!seen.insert(key).second);
    }
    for (Key& key : order) {
      if (hits) {
        key = keys[random() % entries];
      } else {
        do key = random_key<Key>(random);
        while (seen.contains(key));
      }
    }
  }
  std::vector<Key> keys;
  std::vector<Key> order;
};

struct Free {
  void operator()(std::byte* memory) const { ::operator delete[](memory, std::align_val_t{64}); }
};

template <class Key>
struct FilledTable {
  explicit FilledTable(const std::vector<Key>& keys)
      : bytes(KeyTable<Key>::bytes_needed(keys.size())),
        memory(static_cast<std::byte*>(::operator new[](bytes, std::align_val_t{64}))),
        table(KeyTable<Key>::create({memory.get(), bytes}, keys.size(), 7).value()) {
    for (std::uint32_t i = 0; i < keys.size(); ++i) {
      if (table.insert(keys[i], i) != KeyInsert::inserted) std::abort();
    }
  }
  std::size_t bytes;
  std::unique_ptr<std::byte, Free> memory;
  KeyTable<Key> table;
};

// Runs `lookup(burst of keys)`, which returns the number of hits, over the order. A wrong number of hits is an error.
template <class Key, class Lookup>
void run(benchmark::State& state, const Workload<Key>& work, Lookup lookup) {
  const bool hits = state.range(1) != 0;
  std::size_t at = 0;
  std::size_t found = 0;
  for (auto _ : state) {
    found += lookup(std::span<const Key>(work.order.data() + at, kBurst));
    at = (at + kBurst) & (kOrder - 1);
  }
  const auto lookups = static_cast<std::size_t>(state.iterations()) * kBurst;
  if (found != (hits ? lookups : 0)) state.SkipWithError("wrong number of hits");
  state.SetItemsProcessed(static_cast<std::int64_t>(lookups));
  state.counters["per_key"] =
      benchmark::Counter(static_cast<double>(lookups), benchmark::Counter::kIsRate | benchmark::Counter::kInvert);
}

template <class Key>
void key_table_bulk(benchmark::State& state) {
  const Workload<Key> work(static_cast<std::size_t>(state.range(0)), state.range(1) != 0);
  const FilledTable<Key> filled(work.keys);
  run(state, work, [&](std::span<const Key> keys) {
    std::array<std::uint32_t, kBurst> values;
    const std::uint64_t mask = filled.table.find_bulk(keys, values);
    benchmark::DoNotOptimize(values);
    return static_cast<std::size_t>(std::popcount(mask));
  });
}

template <class Key>
void key_table_single(benchmark::State& state) {
  const Workload<Key> work(static_cast<std::size_t>(state.range(0)), state.range(1) != 0);
  const FilledTable<Key> filled(work.keys);
  run(state, work, [&](std::span<const Key> keys) {
    std::size_t found = 0;
    for (const Key& key : keys) {
      const auto value = filled.table.find(key);
      benchmark::DoNotOptimize(value);
      found += value.has_value();
    }
    return found;
  });
}

template <class Key>
void unordered_map(benchmark::State& state) {
  const Workload<Key> work(static_cast<std::size_t>(state.range(0)), state.range(1) != 0);
  std::unordered_map<Key, std::uint32_t, KeyHasher> map;
  map.reserve(work.keys.size());
  for (std::uint32_t i = 0; i < work.keys.size(); ++i) map.emplace(work.keys[i], i);
  run(state, work, [&](std::span<const Key> keys) {
    std::size_t found = 0;
    for (const Key& key : keys) {
      if (const auto it = map.find(key); it != map.end()) {
        benchmark::DoNotOptimize(it->second);
        ++found;
      }
    }
    return found;
  });
}

void sizes(benchmark::internal::Benchmark* bench) {
  bench->ArgNames({"entries", "hit"})->ArgsProduct({{65'536, 1'048'576}, {1, 0}});
}

BENCHMARK(key_table_bulk<Ipv4Key>)->Apply(sizes);
BENCHMARK(key_table_single<Ipv4Key>)->Apply(sizes);
BENCHMARK(unordered_map<Ipv4Key>)->Apply(sizes);
BENCHMARK(key_table_bulk<Ipv6Key>)->Apply(sizes);
BENCHMARK(key_table_single<Ipv6Key>)->Apply(sizes);
BENCHMARK(unordered_map<Ipv6Key>)->Apply(sizes);

}  // namespace
}  // namespace splitplane::ran
