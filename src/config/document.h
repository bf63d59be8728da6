// A configuration file as YAML, from which a program's reader makes its configuration. It knows no key.
#pragma once

#include <yaml-cpp/yaml.h>

#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include "base/expected.h"
#include "config/finding.h"
#include "config/yaml/yaml_value.h"

namespace splitplane::app {

class Document {
 public:
  // Error: "<file>:<line>: file: what is wrong; what is allowed" (one line).
  [[nodiscard]] static Expected<Document> load(const std::string& path);
  // The same from text; `file` is for messages.
  [[nodiscard]] static Expected<Document> parse(std::string text, const std::string& file);

  [[nodiscard]] const std::string& file() const { return file_; }
  // Whether the top level has the key.
  [[nodiscard]] bool has(std::string_view key) const;
  // Lets `read` have the top level. `source` gets the file and the lines of the keys that are read. Error: the first
  // refusal, "<file>:<line>: <key>: what is wrong; what is allowed" (one line).
  [[nodiscard]] Expected<void> read(Source& source, const std::function<void(const YamlValue& top)>& read) const;

 private:
  Document(std::string file, std::string text) : file_(std::move(file)), text_(std::move(text)) {}
  [[nodiscard]] Error error_of(const YAML::Exception& error) const;
  [[nodiscard]] Error error_of(const Refusal& refusal) const;

  std::string file_, text_;
  YAML::Node top_;
};

// A program's configuration: `read` fills it, and throws Refusal; then `check` looks at the whole.
template <class Config>
[[nodiscard]] Expected<Config> make_config(const Document& document, void (*read)(const YamlValue&, Config&),
                                           std::optional<Finding> (*check)(const Config&)) {
  Config config;
  const auto good = document.read(config, [&](const YamlValue& top) { read(top, config); });
  if (!good) return tl::unexpected(good.error());
  if (const auto finding = check(config)) return fail("{}", located(config, *finding));
  return config;
}

}  // namespace splitplane::app
