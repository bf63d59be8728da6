// How a command gets from the control thread to the worker, and what becomes of commands that no worker fetches.
#include "engine/mailbox.h"

#include <gtest/gtest.h>

#include <memory>
#include <vector>

namespace splitplane::datapath {
namespace {

using std::chrono::milliseconds;

// A thread that looks into a mailbox as a worker does, until the test ends.
class Reader {
 public:
  explicit Reader(Mailbox& mailbox)
      : thread_([this, &mailbox] {
          while (!stop_.load(std::memory_order_relaxed)) mailbox.run_pending();
        }) {}
  ~Reader() {
    stop_.store(true, std::memory_order_relaxed);
    thread_.join();
  }
  [[nodiscard]] std::thread::id id() const { return thread_.get_id(); }

 private:
  std::atomic<bool> stop_{false};
  std::thread thread_;
};

TEST(Mailbox, a_command_runs_on_the_workers_thread_before_execute_returns) {
  Mailbox mailbox;
  Reader worker(mailbox);
  for (int i = 0; i < 100; ++i) {
    std::thread::id ran_on;
    ASSERT_TRUE(mailbox.execute([&ran_on] { ran_on = std::this_thread::get_id(); }));
    EXPECT_EQ(ran_on, worker.id());
  }
}

TEST(Mailbox, what_a_command_owns_is_given_back_before_execute_returns) {
  Mailbox mailbox;
  Reader worker(mailbox);
  for (int i = 0; i < 300; ++i) {
    auto owned = std::make_shared<int>(i);
    const std::weak_ptr<int> seen = owned;
    ASSERT_TRUE(mailbox.execute([kept = std::move(owned)] { (void)*kept; }));
    ASSERT_TRUE(seen.expired());
  }
}

TEST(Mailbox, a_command_that_nobody_fetches_is_taken_back_and_never_runs) {
  Mailbox mailbox;
  auto runs = std::make_shared<int>(0);
  EXPECT_FALSE(mailbox.execute([runs] { ++*runs; }, milliseconds{5}));
  mailbox.run_pending();
  mailbox.run_pending();
  EXPECT_EQ(*runs, 0);
  EXPECT_EQ(runs.use_count(), 1);
}

TEST(Mailbox, a_command_that_is_being_executed_at_the_deadline_is_waited_for) {
  Mailbox mailbox;
  Reader worker(mailbox);
  int runs = 0;
  EXPECT_TRUE(mailbox.execute(
      [&runs] {
        std::this_thread::sleep_for(milliseconds{50});
        ++runs;
      },
      milliseconds{10}));
  EXPECT_EQ(runs, 1);
}

TEST(Mailbox, after_a_given_up_command_the_next_one_works) {
  Mailbox mailbox;
  EXPECT_FALSE(mailbox.execute([] {}, milliseconds{2}));
  Reader worker(mailbox);
  EXPECT_TRUE(mailbox.execute([] {}));
}

TEST(Mailbox, commands_of_several_threads_each_run_once) {
  Mailbox mailbox;
  Reader worker(mailbox);
  int runs = 0;  // only the worker's thread touches it
  std::vector<std::thread> controls;
  for (int t = 0; t < 3; ++t) {
    controls.emplace_back([&] {
      for (int i = 0; i < 100; ++i) EXPECT_TRUE(mailbox.execute([&runs] { ++runs; }, milliseconds{20'000}));
    });
  }
  for (auto& thread : controls) thread.join();
  int seen = 0;
  ASSERT_TRUE(mailbox.execute([&] { seen = runs; }));
  EXPECT_EQ(seen, 300);
}

}  // namespace
}  // namespace splitplane::datapath
