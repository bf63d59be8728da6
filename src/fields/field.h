// A key as one row: its name, its limits, its words, and how its value comes out of a struct and goes into it. The
// configuration file, the control protocol, `splitplane ctl`, config/schema.json and the tables of the docs read rows.
#pragma once

#include <array>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

#include "base/ip_address.h"
#include "base/types.h"

namespace splitplane::fields {

// std::monostate: the key is absent.
using Value = std::variant<std::monostate, bool, std::uint64_t, double, std::string, std::vector<std::string>,
                           IpAddress, MacAddress>;

enum class Kind : std::uint8_t {
  kInteger,
  kNumber,  // an integer or a decimal fraction
  kFlag,
  kWord,  // one of some words
  kText,
  kTexts,  // a list of them, which is not empty
  kIp,
  kIpv4,
  kIpv6,
  kMac,
  kGroup,   // an object with keys
  kByHand,  // what no kind above reads: its section's code does
};

// What a text must look like.
enum class Form : std::uint8_t {
  kFree,
  kName,       // a letter or digit, then letters, digits, _ . -
  kSocket,     // the path of a socket
  kDirectory,  // a path from / on
};

inline constexpr unsigned kEverywhere = ~0U;
inline constexpr std::string_view kNoOption = "-";

// What stands beside a row's name and limits. The readers and writers use `in`, `required` and `brief`, people the
// rest.
struct Notes {
  std::string_view help;      // a phrase without a full stop; limits, clause and `special` follow it
  std::string_view clause;    // of a specification
  std::string_view special;   // what one value, or none, means: "0: never", "absent: the host"
  std::string_view more;      // whole sentences for the docs alone; a link names the page only: [rlc.md](rlc.md)
  std::string_view option;    // of the command line; empty: made from the name
  unsigned in = kEverywhere;  // where the key stands: bits that the table's room gives a meaning
  bool required = false;
  bool brief = false;  // a flag that is written only while it is set
};

// A key that belongs to some values of another key only.
struct Condition {
  bool (*holds)(const void* of) = nullptr;  // null: always
  std::string_view wrong;                   // "stands at a bearer that is not AM"
  std::string_view key, values;             // "rlc", "am12 or am18"
};

struct Field {
  std::string_view name;
  Kind kind = Kind::kText;
  std::uint64_t min = 0, max = 0;           // kInteger
  double least = 0, most = 0;               // kNumber
  std::span<const std::uint64_t> numbers;   // kInteger: these only, in order; else empty
  std::uint64_t multiple_of = 1;            // kInteger
  std::span<const std::string_view> words;  // kWord
  std::string_view text;                    // kText, kTexts: what it may be, as "the name of a card"; numbers: in words
  std::string_view if_empty;                // kTexts: what stands there instead of an empty list
  Form form = Form::kFree;                  // kText
  std::size_t most_octets = 0;              // Form::kName; Form::kFree: for the schema, 0 for no limit
  std::size_t most_items = 0;               // kTexts: for the schema, 0 for no limit
  bool once_each = false;                   // kTexts: for the schema, no item stands twice
  bool unicast = false;                     // kIp, kIpv4, kIpv6: the address of one host
  std::string_view schema;                  // kByHand: its JSON schema, without a description
  std::span<const Field> members;           // kGroup
  bool one_flag = false;                    // kGroup of flags: in a file true or false stands for all of them
  Condition condition;                      // kGroup
  const void* owner = nullptr;              // the tag of the struct
  Value (*get)(const void* of) = nullptr;   // kGroup: whether it is there
  void (*set)(void* of, const Value& value) = nullptr;  // kGroup: makes it be there
  Notes notes;
};

// Rows of one struct, as far as they stand where `in` says. `partial`: none is required.
struct Rows {
  std::span<const Field> all;
  unsigned in = kEverywhere;
  bool partial = false;

  [[nodiscard]] std::vector<const Field*> list() const;
  [[nodiscard]] std::vector<std::string_view> names() const;
  [[nodiscard]] Rows of(const Field& group) const { return {group.members, in, partial}; }
  // A key that stands in some of the places only is needed in none of the others.
  [[nodiscard]] bool needs(const Field& field) const {
    return field.notes.required && !partial && (field.notes.in & in) == in;
  }
};

template <class T>
inline constexpr char kOwner = 0;

// Rows of T. A row of another struct does not compile.
template <class T>
class Fields : public Rows {
 public:
  // For a constexpr variable: clang 14 crashes where a temporary is made by it.
  template <std::size_t N>
  consteval explicit Fields(const std::array<Field, N>& rows) : Rows{rows} {
    if (!owned(rows)) throw "a row of another struct";
  }
  [[nodiscard]] constexpr Fields where(unsigned bits) const {
    Fields some = *this;
    some.in = bits;
    return some;
  }
  [[nodiscard]] constexpr Fields optional() const {
    Fields some = *this;
    some.partial = true;
    return some;
  }

 private:
  static consteval bool owned(std::span<const Field> rows) {
    for (const Field& row : rows) {
      if (row.owner != &kOwner<T> || !owned(row.members)) return false;
    }
    return true;
  }
};

// "1 to 5", "12 or 18", "`am18`, `am12`": what a person may write; empty where there is nothing to say.
[[nodiscard]] std::string limits(const Field& field, std::string_view quote = "");
// " (TS 38.415 5.5.3.3); 0: never": clause, condition and special values, behind a phrase.
[[nodiscard]] std::string remarks(const Field& field);
// "QoS flow, 0 to 63 (TS 38.415 5.5.3.3)": the row for people, without a full stop.
[[nodiscard]] std::string sentence(const Field& field, std::string_view quote = "");
// "12 and 18"
[[nodiscard]] std::string number_list(std::span<const std::uint64_t> numbers, std::string_view last);

namespace detail {

template <class>
struct MemberOf;
template <class M, class T>
struct MemberOf<M T::*> {
  using Owner = T;
  using Member = M;
};
template <class M>
inline constexpr bool kIsOptional = false;
template <class M>
inline constexpr bool kIsOptional<std::optional<M>> = true;
template <class M>
inline constexpr bool kIsStrong = false;
template <class Tag, class Rep>
inline constexpr bool kIsStrong<Strong<Tag, Rep>> = true;

template <auto...>
struct PathOwner;
template <auto First, auto... Rest>
struct PathOwner<First, Rest...> {
  using Type = typename MemberOf<decltype(First)>::Owner;
};
template <auto... Path>
using OwnerOf = typename PathOwner<Path...>::Type;

// The member at the end of the path; null behind an optional that is empty.
template <auto First, auto... Rest, class T>
const auto* find(const T& of) {
  const auto& member = of.*First;
  if constexpr (sizeof...(Rest) == 0) {
    return &member;
  } else if constexpr (kIsOptional<std::remove_cvref_t<decltype(member)>>) {
    return member ? find<Rest...>(*member) : decltype(find<Rest...>(*member)){nullptr};
  } else {
    return find<Rest...>(member);
  }
}
template <auto First, auto... Rest, class T>
auto& make(T& of) {
  auto& member = of.*First;
  if constexpr (sizeof...(Rest) == 0) {
    return member;
  } else if constexpr (kIsOptional<std::remove_cvref_t<decltype(member)>>) {
    if (!member) member.emplace();
    return make<Rest...>(*member);
  } else {
    return make<Rest...>(member);
  }
}

template <class M>
Value to_value(const M& member) {
  if constexpr (kIsOptional<M>) {
    return member ? to_value(*member) : Value{};
  } else if constexpr (kIsStrong<M>) {
    return to_value(member.value);
  } else if constexpr (std::same_as<M, bool>) {
    return member;
  } else if constexpr (std::unsigned_integral<M>) {
    return static_cast<std::uint64_t>(member);
  } else if constexpr (std::floating_point<M>) {
    return static_cast<double>(member);
  } else if constexpr (std::same_as<M, std::string> || std::same_as<M, std::vector<std::string>>) {
    return member.empty() ? Value{} : Value{member};
  } else {
    return Value{member};
  }
}
template <class M>
void from_value(M& member, const Value& value) {
  if constexpr (kIsOptional<M>) {
    from_value(member.emplace(), value);
  } else if constexpr (kIsStrong<M>) {
    from_value(member.value, value);
  } else if constexpr (std::same_as<M, bool>) {
    member = std::get<bool>(value);
  } else if constexpr (std::unsigned_integral<M>) {
    member = static_cast<M>(std::get<std::uint64_t>(value));
  } else if constexpr (std::floating_point<M>) {
    member = static_cast<M>(std::get<double>(value));
  } else {
    member = std::get<M>(value);
  }
}

template <auto... Path>
constexpr Field row(std::string_view name, Kind kind, const Notes& notes) {
  using T = OwnerOf<Path...>;
  Field field;
  field.name = name;
  field.kind = kind;
  field.notes = notes;
  field.owner = &kOwner<T>;
  field.get = [](const void* of) {
    const auto* member = find<Path...>(*static_cast<const T*>(of));
    return member != nullptr ? to_value(*member) : Value{};
  };
  field.set = [](void* of, const Value& value) { from_value(make<Path...>(*static_cast<T*>(of)), value); };
  return field;
}

}  // namespace detail

// A row for the member at the end of a path of pointers to members: flag<&Bearer::arq, &Arq::on>("on", {...}).
// An optional on the path is made when the key is set.
template <auto... Path>
constexpr Field integer(std::string_view name, std::uint64_t min, std::uint64_t max, const Notes& notes = {}) {
  Field field = detail::row<Path...>(name, Kind::kInteger, notes);
  field.min = min;
  field.max = max;
  return field;
}
// One of `Numbers`, an array of constant size that goes up.
template <const auto& Numbers, auto... Path>
constexpr Field one_number(std::string_view name, const Notes& notes = {}) {
  Field field = integer<Path...>(name, Numbers.front(), Numbers.back(), notes);
  field.numbers = Numbers;
  return field;
}
// Its section's code refuses what is no multiple.
template <auto... Path>
constexpr Field multiple(std::string_view name, std::uint64_t of, std::uint64_t max, const Notes& notes = {}) {
  Field field = integer<Path...>(name, of, max, notes);
  field.multiple_of = of;
  return field;
}
// A power of two.
namespace detail {

inline constexpr auto kPowersOfTwo = [] {
  std::array<std::uint64_t, 64> powers{};
  for (std::size_t i = 0; i < powers.size(); ++i) powers[i] = std::uint64_t{1} << i;
  return powers;
}();

}  // namespace detail
template <auto... Path>
constexpr Field power_of_two(std::string_view name, unsigned least_bits, unsigned most_bits, const Notes& notes = {}) {
  Field field = integer<Path...>(name, detail::kPowersOfTwo[least_bits], detail::kPowersOfTwo[most_bits], notes);
  field.numbers = std::span(detail::kPowersOfTwo).subspan(least_bits, most_bits - least_bits + 1);
  field.text = "a power of two";
  return field;
}
template <auto... Path>
constexpr Field number(std::string_view name, double least, double most, const Notes& notes = {}) {
  Field field = detail::row<Path...>(name, Kind::kNumber, notes);
  field.least = least;
  field.most = most;
  return field;
}
template <auto... Path>
constexpr Field flag(std::string_view name, const Notes& notes = {}) {
  return detail::row<Path...>(name, Kind::kFlag, notes);
}
template <auto... Path>
constexpr Field text(std::string_view name, std::string_view allowed, const Notes& notes = {}) {
  Field field = detail::row<Path...>(name, Kind::kText, notes);
  field.text = allowed;
  return field;
}
template <auto... Path>
constexpr Field name(std::string_view name, std::size_t most_octets, const Notes& notes = {}) {
  Field field = detail::row<Path...>(name, Kind::kText, notes);
  field.form = Form::kName;
  field.most_octets = most_octets;
  return field;
}
template <auto... Path>
constexpr Field socket(std::string_view name, const Notes& notes = {}) {
  Field field = detail::row<Path...>(name, Kind::kText, notes);
  field.form = Form::kSocket;
  return field;
}
template <auto... Path>
constexpr Field directory(std::string_view name, const Notes& notes = {}) {
  Field field = detail::row<Path...>(name, Kind::kText, notes);
  field.form = Form::kDirectory;
  return field;
}
// A list: each item is `allowed`; an empty one is refused, with what it should hold.
template <auto... Path>
constexpr Field texts(std::string_view name, std::string_view allowed, std::string_view if_empty,
                      const Notes& notes = {}) {
  Field field = detail::row<Path...>(name, Kind::kTexts, notes);
  field.text = allowed;
  field.if_empty = if_empty;
  return field;
}
// Limits that the section's checks know, with more words than a reader has; here they are for the schema.
constexpr Field with_most_octets(Field field, std::size_t octets) {
  field.most_octets = octets;
  return field;
}
constexpr Field with_most_items(Field field, std::size_t items) {
  field.most_items = items;
  return field;
}
constexpr Field once_each(Field field) {
  field.once_each = true;
  return field;
}
template <auto... Path>
constexpr Field ip(std::string_view name, const Notes& notes = {}) {
  return detail::row<Path...>(name, Kind::kIp, notes);
}
template <auto... Path>
constexpr Field ipv4(std::string_view name, const Notes& notes = {}) {
  return detail::row<Path...>(name, Kind::kIpv4, notes);
}
template <auto... Path>
constexpr Field ipv6(std::string_view name, const Notes& notes = {}) {
  return detail::row<Path...>(name, Kind::kIpv6, notes);
}
// The address of one host, of a family.
template <auto... Path>
constexpr Field host_ipv4(std::string_view name, const Notes& notes = {}) {
  Field field = ipv4<Path...>(name, notes);
  field.unicast = true;
  return field;
}
template <auto... Path>
constexpr Field host_ipv6(std::string_view name, const Notes& notes = {}) {
  Field field = ipv6<Path...>(name, notes);
  field.unicast = true;
  return field;
}
template <auto... Path>
constexpr Field mac(std::string_view name, const Notes& notes = {}) {
  return detail::row<Path...>(name, Kind::kMac, notes);
}

// One of `Words`. Its place is the value of the enum or flag at the end of the path; a string there gets the word.
template <const auto& Words, auto... Path>
constexpr Field word(std::string_view name, const Notes& notes = {}) {
  using T = detail::OwnerOf<Path...>;
  Field field;
  field.name = name;
  field.kind = Kind::kWord;
  field.words = Words;
  field.notes = notes;
  field.owner = &kOwner<T>;
  field.get = [](const void* of) {
    const auto* member = detail::find<Path...>(*static_cast<const T*>(of));
    using M = std::remove_cvref_t<decltype(*member)>;
    if (member == nullptr) return Value{};
    if constexpr (std::same_as<M, std::string>) {
      return Value{*member};
    } else if constexpr (detail::kIsOptional<M>) {
      return *member ? Value{std::string(Words[static_cast<std::size_t>(**member)])} : Value{};
    } else {
      return Value{std::string(Words[static_cast<std::size_t>(*member)])};
    }
  };
  field.set = [](void* of, const Value& value) {
    auto& member = detail::make<Path...>(*static_cast<T*>(of));
    using M = std::remove_cvref_t<decltype(member)>;
    std::size_t at = 0;
    if constexpr (std::same_as<M, std::string>) {
      member = std::get<std::string>(value);
      return;
    }
    while (Words[at] != std::get<std::string>(value)) ++at;  // a reader has looked whether it is one of them
    if constexpr (detail::kIsOptional<M>) {
      member = static_cast<typename M::value_type>(at);
    } else if constexpr (!std::same_as<M, std::string>) {
      member = static_cast<M>(at);
    }
  };
  return field;
}

// A row whose value is made by functions: Value Get(const T&), void Set(T&, const Value&).
template <class T, Value (*Get)(const T&), void (*Set)(T&, const Value&)>
constexpr Field by_functions(std::string_view name, Kind kind, const Notes& notes = {}) {
  Field field;
  field.name = name;
  field.kind = kind;
  field.notes = notes;
  field.owner = &kOwner<T>;
  field.get = [](const void* of) { return Get(*static_cast<const T*>(of)); };
  field.set = [](void* of, const Value& value) { Set(*static_cast<T*>(of), value); };
  return field;
}
template <const auto& Words, class T, Value (*Get)(const T&), void (*Set)(T&, const Value&)>
constexpr Field word_by_functions(std::string_view name, const Notes& notes = {}) {
  Field field = by_functions<T, Get, Set>(name, Kind::kWord, notes);
  field.words = Words;
  return field;
}

// A key that the section's code reads: rows name it, require it, and describe it.
template <class T>
constexpr Field by_hand(std::string_view name, std::string_view schema, const Notes& notes = {}) {
  Field field;
  field.name = name;
  field.kind = Kind::kByHand;
  field.schema = schema;
  field.notes = notes;
  field.owner = &kOwner<T>;
  field.get = [](const void*) { return Value{}; };
  field.set = [](void*, const Value&) {};
  return field;
}

// Members that are always there.
template <class T>
constexpr Field group(std::string_view name, std::span<const Field> members, const Notes& notes = {}) {
  Field field;
  field.name = name;
  field.kind = Kind::kGroup;
  field.members = members;
  field.notes = notes;
  field.owner = &kOwner<T>;
  field.get = [](const void*) { return Value{true}; };
  field.set = [](void*, const Value&) {};
  return field;
}
// Members of an optional.
template <auto Member>
constexpr Field optional_group(std::string_view name, std::span<const Field> members, const Notes& notes = {}) {
  using T = detail::OwnerOf<Member>;
  Field field = group<T>(name, members, notes);
  field.get = [](const void* of) { return (static_cast<const T*>(of)->*Member) ? Value{true} : Value{}; };
  field.set = [](void* of, const Value&) { (static_cast<T*>(of)->*Member).emplace(); };
  return field;
}
// Flags; in a file one flag may stand for all of them.
template <class T>
constexpr Field flags(std::string_view name, std::span<const Field> members, const Notes& notes = {}) {
  Field field = group<T>(name, members, notes);
  field.one_flag = true;
  return field;
}
// Members that belong to some values of another key, which Holds(const T&) looks at.
template <class T, bool (*Holds)(const T&)>
constexpr Field group_with(std::string_view name, std::span<const Field> members, std::string_view wrong,
                           std::string_view key, std::string_view values, const Notes& notes = {}) {
  Field field = group<T>(name, members, notes);
  field.condition = {[](const void* of) { return Holds(*static_cast<const T*>(of)); }, wrong, key, values};
  field.get = [](const void* of) { return Holds(*static_cast<const T*>(of)) ? Value{true} : Value{}; };
  return field;
}

}  // namespace splitplane::fields
