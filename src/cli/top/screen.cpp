#include "cli/top/screen.h"

#include <fmt/chrono.h>

#include <clocale>
#include <csignal>
#include <cstdlib>

#include "base/text.h"
// Behind all others, and in no header: it defines macros of common names.
#include <curses.h>

namespace splitplane::app {
namespace {

using Clock = std::chrono::steady_clock;
constexpr int kKeyWaitMs = 50;
constexpr int kColourHead = 1, kColourAlarm = 2;

volatile std::sig_atomic_t g_ended = 0;

// The terminal is as it was when this ends, however that is.
class Terminal {
 public:
  Terminal() {
    std::setlocale(LC_ALL, "");
    for (const char* stale : {"LINES", "COLUMNS"}) ::unsetenv(stale);  // they would hide the terminal's own size
    screen_ = ::newterm(nullptr, stdout, stdin);
    if (screen_ == nullptr) return;
    ::cbreak();
    ::noecho();
    ::keypad(stdscr, TRUE);
    ::curs_set(0);
    ::wtimeout(stdscr, kKeyWaitMs);
    if (::has_colors()) {
      ::start_color();
      ::use_default_colors();
      ::init_pair(kColourHead, COLOR_CYAN, -1);
      ::init_pair(kColourAlarm, COLOR_RED, -1);
    }
    for (const int number : {SIGINT, SIGTERM, SIGHUP}) std::signal(number, [](int) { g_ended = 1; });
  }
  ~Terminal() {
    if (screen_ == nullptr) return;
    ::endwin();
    ::delscreen(screen_);
  }
  Terminal(const Terminal&) = delete;
  Terminal& operator=(const Terminal&) = delete;
  [[nodiscard]] bool good() const { return screen_ != nullptr; }

 private:
  SCREEN* screen_ = nullptr;
};

struct Screen {
  TopSource& source;
  TopState& state;
  TopPage page;
  std::string trouble;  // why there is no answer
  bool paused = false;
  int scroll = 0;

  void put(int row, const std::string& text, attr_t attributes) const {
    ::wattrset(stdscr, static_cast<int>(attributes));
    mvwaddnstr(stdscr, row, 0, text.c_str(), COLS);
  }

  [[nodiscard]] std::string title() const {
    const std::string name = printable(source.socket(), 107);
    const std::string base = name.substr(name.rfind('/') + 1);
    if (!trouble.empty()) return fmt::format("no answer, trying again: {}", trouble);
    if (!source.has_rates()) return base + ": the first interval";
    const std::string head = paused ? "PAUSED  " : "";
    const std::string rest =
        fmt::format("  {:%H:%M:%S}  {}  {:.1f} s  {}", fmt::localtime(std::time(nullptr)), what_it_has(state.rates),
                    state.rates.seconds, state.rates.balanced ? "all accounted for" : "COUNTERS DO NOT ADD UP");
    // A long name gives way: what it stands beside matters more.
    const auto room = std::max(1, COLS - static_cast<int>(head.size() + rest.size()));
    return head + fit(base, static_cast<std::size_t>(room)) + rest;
  }

  void draw() {
    ::werase(stdscr);
    put(0, title(), trouble.empty() ? A_BOLD : A_BOLD | static_cast<attr_t>(COLOR_PAIR(kColourAlarm)));
    const std::vector<TopLine> lines = trouble.empty() && source.has_rates()
                                           ? top_lines(state, page, static_cast<std::size_t>(COLS))
                                           : std::vector<TopLine>{};
    const int room = std::max(0, LINES - 3);
    scroll = std::clamp(scroll, 0, std::max(0, static_cast<int>(lines.size()) - room));
    for (int row = 0; row < room && scroll + row < static_cast<int>(lines.size()); ++row) {
      const TopLine& line = lines[static_cast<std::size_t>(scroll + row)];
      const attr_t look = line.style == TopLine::Style::kHead    ? static_cast<attr_t>(COLOR_PAIR(kColourHead)) | A_BOLD
                          : line.style == TopLine::Style::kAlarm ? static_cast<attr_t>(COLOR_PAIR(kColourAlarm))
                                                                 : A_NORMAL;
      put(2 + row, line.text, look);
    }
    std::string keys;
    for (std::size_t i = 0; i < kTopPageNames.size(); ++i) {
      const bool here = i == static_cast<std::size_t>(page);
      keys += fmt::format("{}{} {}{} ", here ? "[" : "", i + 1, kTopPageNames[i], here ? "]" : "");
    }
    keys += fmt::format("s sort:{} p pause q quit", state.by_rate ? "rate" : "name");
    const int count = static_cast<int>(lines.size());
    if (count > room && room > 0) {
      put(1, fmt::format("rows {}-{} of {}: PgUp, PgDn", scroll + 1, std::min(scroll + room, count), count), A_DIM);
    }
    put(LINES - 1, keys, A_REVERSE);
    ::redrawwin(stdscr);  // all of it, whatever a resize or another program left there
    ::wrefresh(stdscr);
  }

  void turn_to(int number) {
    constexpr int kPages = static_cast<int>(kTopPageNames.size());
    page = static_cast<TopPage>((number + kPages) % kPages);
    scroll = 0;
  }

  // False: quit.
  bool key(int pressed) {
    const int step = std::max(1, LINES - 4);
    switch (pressed) {
      case 'q':
      case 'Q':
        return false;
      case '1':
      case '2':
      case '3':
      case '4':
      case '5':
      case '6':
        turn_to(pressed - '1');
        break;
      case KEY_RIGHT:
      case '\t':
        turn_to(static_cast<int>(page) + 1);
        break;
      case KEY_LEFT:
        turn_to(static_cast<int>(page) - 1);
        break;
      case 's':
        state.by_rate = !state.by_rate;
        break;
      case 'p':
      case ' ':
        paused = !paused;
        break;
      case KEY_DOWN:
        ++scroll;
        break;
      case KEY_UP:
        --scroll;
        break;
      case KEY_NPAGE:
        scroll += step;
        break;
      case KEY_PPAGE:
        scroll -= step;
        break;
      case KEY_RESIZE:  // the terminal may have moved what was there: draw all of it
        ::clearok(stdscr, TRUE);
        break;
      default:
        break;
    }
    return true;
  }
};

}  // namespace

int run_top_screen(TopSource& source, TopState& state, TopPage page, std::chrono::milliseconds interval,
                   std::ostream& err) {
  const Terminal terminal;
  if (!terminal.good()) {
    err << "splitplane top: this terminal (TERM) is not known; allowed: --once or --batch N\n";
    return 1;
  }
  Screen screen{source, state, page, {}};
  constexpr std::chrono::milliseconds kSoon{200};  // the first rates need not wait for a long interval
  Clock::time_point next{};
  bool asked_for = false;  // bearers to show, also in a pause
  while (g_ended == 0) {
    const auto now = Clock::now();
    if (asked_for || (!screen.paused && now >= next)) {
      asked_for = false;
      const auto seen = source.look(state, screen.page == TopPage::kBearers);
      screen.trouble = seen ? "" : seen.error().message;
      next = now + (seen && !source.has_rates() ? std::min(interval, kSoon) : interval);
      screen.draw();
    }
    const int pressed = ::wgetch(stdscr);
    if (pressed == ERR) continue;
    const TopPage before = screen.page;
    if (!screen.key(pressed)) break;
    asked_for = screen.page != before && screen.page == TopPage::kBearers && !state.bearers;
    if (!asked_for) screen.draw();
  }
  return 0;
}

}  // namespace splitplane::app
