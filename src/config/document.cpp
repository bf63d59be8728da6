#include "config/document.h"

#include <sys/stat.h>
#include <yaml-cpp/eventhandler.h>

#include <cerrno>
#include <cstring>
#include <fstream>
#include <iterator>
#include <sstream>

#include "base/plain_file.h"
#include "base/text.h"
#include "config/yaml/yaml_slip.h"

namespace splitplane::app {
namespace {

constexpr std::size_t kMaxFileBytes = std::size_t{1} << 20;

Expected<std::string> read_file(const std::string& path) {
  const std::string name = printable(path, 200);
  if (const auto refused = refuse_to_read(path))
    return fail("{}: cannot be read: {}; allowed: a YAML file", name, *refused);
  struct stat info{};
  if (::stat(path.c_str(), &info) != 0)
    return fail("{}: cannot be read: {}; allowed: a YAML file", name, std::strerror(errno));
  if (static_cast<std::size_t>(info.st_size) > kMaxFileBytes) {
    return fail("{}: has {} octets; allowed: at most {}", name, info.st_size, kMaxFileBytes);
  }
  std::ifstream in(path, std::ios::binary);
  std::string text{std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>()};
  if (!in) return fail("{}: cannot be read: {}; allowed: a YAML file", name, std::strerror(errno));
  return text;
}

// The line of a second document in the text, 0 if there is none. Not YAML::LoadAll: yaml-cpp 0.7 never comes back from
// it when a document begins with a comma (its issue 1040), since it takes nothing from the text and finds a document
// again.
int second_document(const std::string& text) {
  class Starts : public YAML::EventHandler {
   public:
    int line = 0;
    void OnDocumentStart(const YAML::Mark& mark) override { line = mark.line + 1; }
    void OnDocumentEnd() override {}
    void OnNull(const YAML::Mark&, YAML::anchor_t) override {}
    void OnAlias(const YAML::Mark&, YAML::anchor_t) override {}
    void OnScalar(const YAML::Mark&, const std::string&, YAML::anchor_t, const std::string&) override {}
    void OnSequenceStart(const YAML::Mark&, const std::string&, YAML::anchor_t, YAML::EmitterStyle::value) override {}
    void OnSequenceEnd() override {}
    void OnMapStart(const YAML::Mark&, const std::string&, YAML::anchor_t, YAML::EmitterStyle::value) override {}
    void OnMapEnd() override {}
  } starts;
  std::istringstream in(text);
  YAML::Parser parser(in);
  return parser.HandleNextDocument(starts) && parser.HandleNextDocument(starts) ? starts.line : 0;
}

}  // namespace

Error Document::error_of(const Refusal& refusal) const {
  // A line without its colon is a text where a map should stand.
  if (refusal.text.starts_with("is the text '") && refusal.text.find("; allowed: a map") != std::string::npos) {
    if (const auto slip = find_yaml_slip(text_, refusal.line))
      return {fmt::format("{}:{}: file: {}", file_, slip->line, slip->text)};
  }
  return {fmt::format("{}:{}: {}: {}", file_, refusal.line, refusal.key.empty() ? "file" : refusal.key, refusal.text)};
}

Error Document::error_of(const YAML::Exception& error) const {
  const int line = error.mark.is_null() ? 1 : error.mark.line + 1;
  if (const auto slip = find_yaml_slip(text_, line))
    return {fmt::format("{}:{}: file: {}", file_, slip->line, slip->text)};
  return {fmt::format("{}:{}: file: is no YAML: {}; allowed: YAML 1.2", file_, line, printable(error.msg, 120))};
}

Expected<Document> Document::parse(std::string text, const std::string& file) {
  Document document(printable(file, 200), std::move(text));
  try {
    if (const int line = second_document(document.text_); line > 0) {
      return fail("{}:{}: file: something stands behind the end of the YAML document; allowed: one document",
                  document.file_, line);
    }
    document.top_.reset(YAML::Load(document.text_));
    if (document.top_.IsNull())
      return fail("{}:1: file: is empty; allowed: a configuration (see config/demo.yaml)", document.file_);
  } catch (const YAML::Exception& error) {
    return tl::unexpected(document.error_of(error));
  }
  return document;
}

Expected<Document> Document::load(const std::string& path) {
  auto text = read_file(path);
  if (!text) return tl::unexpected(text.error());
  return parse(*std::move(text), path);
}

bool Document::has(std::string_view key) const {
  if (!top_.IsMap()) return false;
  for (const auto& entry : top_) {
    if (entry.first.IsScalar() && entry.first.Scalar() == key) return true;
  }
  return false;
}

Expected<void> Document::read(Source& source, const std::function<void(const YamlValue& top)>& read) const {
  source.file = file_;
  try {
    read(YamlValue(top_, "", 1, source.lines));
  } catch (const Refusal& refusal) {
    return tl::unexpected(error_of(refusal));
  } catch (const YAML::Exception& error) {
    return tl::unexpected(error_of(error));
  }
  return {};
}

}  // namespace splitplane::app
