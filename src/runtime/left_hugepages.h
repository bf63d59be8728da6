// Memory files of DPDK processes that were killed. They keep hugepages from the next start, which then is refused or
// runs on ordinary memory.
#pragma once

#include <cstddef>
#include <filesystem>

namespace splitplane::app {

// Removes those of `folder`, a hugetlbfs, that no process has locked, as DPDK itself does when it starts with hugepages
// (that is too late for who counts the free ones before). Returns how many octets they had.
std::size_t free_left_hugepages(const std::filesystem::path& folder);

}  // namespace splitplane::app
