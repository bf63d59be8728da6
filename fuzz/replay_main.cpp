// Replaces libFuzzer if a target is built without it: it runs the committed corpus, file by file, as a plain test.
// Arguments are folders or files.
#include <filesystem>
#include <fstream>
#include <iterator>

#include "fuzz.h"

int main(int argc, char** argv) {
  namespace fs = std::filesystem;
  LLVMFuzzerInitialize(&argc, &argv);
  std::vector<fs::path> files;
  for (int i = 1; i < argc; ++i) {
    if (!fs::is_directory(argv[i])) {
      files.emplace_back(argv[i]);
      continue;
    }
    for (const auto& entry : fs::directory_iterator(argv[i])) files.push_back(entry.path());
  }
  for (const fs::path& path : files) {
    std::ifstream file(path, std::ios::binary);
    if (!file) {
      fmt::print(stderr, "{}: cannot be read\n", path.string());
      return 1;
    }
    const splitplane::fuzz::Bytes octets{std::istreambuf_iterator<char>(file), {}};
    // Printed before it runs, so the last name is the input that ended the process.
    fmt::print("{}\n", path.string());
    std::fflush(stdout);
    LLVMFuzzerTestOneInput(octets.data(), octets.size());
  }
  fmt::print("{} inputs\n", files.size());
  return files.empty() ? 1 : 0;
}
