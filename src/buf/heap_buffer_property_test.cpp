// Random operations on a family of buffers, compared with a model made of vectors. Every handle shows its own octets
// whatever happens through the others, refused operations change nothing, and no buffer leaks.
#include <gtest/gtest.h>
#include <rapidcheck.h>

#include <algorithm>
#include <memory>
#include <vector>

#include "buf/heap_buffer.h"

namespace splitplane::buf {
namespace {

constexpr std::size_t kHeadroom = 12;
constexpr std::size_t kTailroom = 7;
constexpr std::size_t kLimit = 12;

struct ModelStorage {};

// One view of a storage; handles to the same view share it. Its octets are a copy, so that aliasing cannot hide a
// fault.
struct ModelView {
  std::shared_ptr<ModelStorage> storage;
  std::vector<std::uint8_t> octets;
  std::size_t headroom = kHeadroom;
  std::size_t tailroom = kTailroom;
  bool part = false;
};

struct Handle {
  HeapBuffer real;
  std::shared_ptr<ModelView> model;

  [[nodiscard]] bool may_trim() const {
    return model.use_count() == 1 && (model->part || model->storage.use_count() == 1);
  }
  [[nodiscard]] bool own() const { return may_trim() && !model->part; }
};

class Family {
 public:
  void step() {
    const int operation = *rc::gen::inRange(0, handles_.empty() ? 1 : 9);
    if (operation == 0) return make();
    Handle& handle = handles_[*rc::gen::inRange<std::size_t>(0, handles_.size())];
    const std::size_t n = *rc::gen::inRange<std::size_t>(0, 24);
    switch (operation) {
      case 1:
        return prepend(handle, n);
      case 2:
        return append(handle, n);
      case 3:
        return trim_front(handle, n);
      case 4:
        return trim_back(handle, n);
      case 5:
        return share(handle);
      case 6:
        return split(handle, n);
      case 7:
        return overwrite(handle);
      default:
        return release(handle);
    }
  }

  void compare() {
    std::vector<const ModelView*> views;
    for (const Handle& handle : handles_) {
      const auto view = octets(handle.real);
      RC_ASSERT(std::vector<std::uint8_t>(view.begin(), view.end()) == handle.model->octets);
      RC_ASSERT(handle.real.writable() == handle.own());
      RC_ASSERT(handle.real.headroom() == (handle.own() ? handle.model->headroom : 0));
      RC_ASSERT(handle.real.tailroom() == (handle.own() ? handle.model->tailroom : 0));
      RC_ASSERT(handle.real.intact());
      views.push_back(handle.model.get());
    }
    std::sort(views.begin(), views.end());
    views.erase(std::unique(views.begin(), views.end()), views.end());
    RC_ASSERT(pool_.live() == views.size());
  }

  void finish() {
    handles_.clear();
    RC_ASSERT(pool_.live() == 0U);
  }

 private:
  static std::vector<std::uint8_t> fresh(std::size_t n) {
    return *rc::gen::container<std::vector<std::uint8_t>>(n, rc::gen::arbitrary<std::uint8_t>());
  }

  void make() {
    const auto octets = fresh(*rc::gen::inRange<std::size_t>(0, 40));
    const bool room = pool_.live() < kLimit;
    HeapBuffer real = pool_.make(octets);
    RC_ASSERT(static_cast<bool>(real) == room);
    if (!room) return;
    handles_.push_back(
        {std::move(real), std::make_shared<ModelView>(ModelView{std::make_shared<ModelStorage>(), octets})});
  }

  void prepend(Handle& handle, std::size_t n) {
    std::uint8_t* const added = handle.real.prepend(n);
    const bool allowed = handle.own() && n <= handle.model->headroom;
    RC_ASSERT((added != nullptr) == allowed);
    if (!allowed) return;
    const auto octets = fresh(n);
    std::copy(octets.begin(), octets.end(), added);
    handle.model->octets.insert(handle.model->octets.begin(), octets.begin(), octets.end());
    handle.model->headroom -= n;
  }

  void append(Handle& handle, std::size_t n) {
    std::uint8_t* const added = handle.real.append(n);
    const bool allowed = handle.own() && n <= handle.model->tailroom;
    RC_ASSERT((added != nullptr) == allowed);
    if (!allowed) return;
    const auto octets = fresh(n);
    std::copy(octets.begin(), octets.end(), added);
    handle.model->octets.insert(handle.model->octets.end(), octets.begin(), octets.end());
    handle.model->tailroom -= n;
  }

  void trim_front(Handle& handle, std::size_t n) {
    ModelView& model = *handle.model;
    const bool allowed = handle.may_trim() && n <= model.octets.size();
    RC_ASSERT(handle.real.trim_front(n) == allowed);
    if (!allowed) return;
    model.octets.erase(model.octets.begin(), model.octets.begin() + static_cast<std::ptrdiff_t>(n));
    model.headroom += n;
  }

  void trim_back(Handle& handle, std::size_t n) {
    ModelView& model = *handle.model;
    const bool allowed = handle.may_trim() && n <= model.octets.size();
    RC_ASSERT(handle.real.trim_back(n) == allowed);
    if (!allowed) return;
    model.octets.resize(model.octets.size() - n);
    model.tailroom += n;
  }

  void share(Handle& handle) {
    HeapBuffer real = handle.real.share();
    RC_ASSERT(static_cast<bool>(real));
    std::shared_ptr<ModelView> model = handle.model;
    handles_.push_back({std::move(real), std::move(model)});
  }

  void split(Handle& handle, std::size_t at) {
    const std::size_t needed = handle.model->part && handle.may_trim() ? 1 : 2;
    const bool allowed = at <= handle.model->octets.size() && pool_.live() + needed <= kLimit;
    HeapBuffer rest = handle.real.split(at);
    RC_ASSERT(static_cast<bool>(rest) == allowed);
    if (!allowed) return;
    const auto middle = handle.model->octets.begin() + static_cast<std::ptrdiff_t>(at);
    ModelView head{handle.model->storage, {handle.model->octets.begin(), middle}, 0, 0, true};
    ModelView tail{handle.model->storage, {middle, handle.model->octets.end()}, 0, 0, true};
    handle.model = std::make_shared<ModelView>(std::move(head));
    handles_.push_back({std::move(rest), std::make_shared<ModelView>(std::move(tail))});
  }

  void overwrite(Handle& handle) {
    std::uint8_t* const data = handle.real.mutable_data();
    RC_ASSERT((data != nullptr) == handle.own());
    if (data == nullptr) return;
    handle.model->octets = fresh(handle.model->octets.size());
    std::copy(handle.model->octets.begin(), handle.model->octets.end(), data);
  }

  void release(Handle& handle) {
    handle.real.release();
    RC_ASSERT(!handle.real);
    std::swap(handle, handles_.back());
    handles_.pop_back();
  }

  HeapPool pool_{{.headroom = kHeadroom, .tailroom = kTailroom, .limit = kLimit}};
  std::vector<Handle> handles_;
};

TEST(HeapBufferProperty, random_operations_agree_with_vectors) {
  EXPECT_TRUE(rc::check([] {
    Family family;
    const int steps = *rc::gen::inRange(1, 120);
    for (int i = 0; i < steps; ++i) {
      family.step();
      family.compare();
    }
    family.finish();
  }));
}

}  // namespace
}  // namespace splitplane::buf
