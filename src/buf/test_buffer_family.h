// For tests only: random operations on a family of buffers of one implementation, compared with vectors. Every handle
// shows its own octets whatever happens through the others, refused operations change nothing, and no buffer leaks.
#pragma once

#include <rapidcheck.h>

#include <algorithm>
#include <cstdint>
#include <memory>
#include <numeric>
#include <set>
#include <utility>
#include <vector>

#include "buf/packet_buffer.h"

namespace splitplane::buf::test {

using Bytes = std::vector<std::uint8_t>;

// `size` is the largest content; in an mbuf, smaller content leaves the rest as tailroom.
struct BufferRoom {
  std::size_t headroom = 0, size = 1, tailroom = 0;
  unsigned limit = 16;
};

inline Bytes sequence(std::size_t n) {
  Bytes octets(n);
  std::iota(octets.begin(), octets.end(), std::uint8_t{1});
  return octets;
}

template <class Buffer>
Bytes content(const Buffer& buffer) {
  const auto view = buf::octets(buffer);
  return {view.begin(), view.end()};
}

inline constexpr BufferRoom kFamilyRoom{.headroom = 12, .size = 40, .tailroom = 7, .limit = 12};

struct Storage {};

// One view of a storage; handles to the same view share it. Its octets are a copy, so that aliasing cannot hide a
// fault.
struct View {
  std::shared_ptr<Storage> storage;
  Bytes octets;
  std::size_t headroom = 0, tailroom = 0;
  bool part = false;
};

template <class Model>
class BufferFamily {
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
        return trim(handle, n, true);
      case 4:
        return trim(handle, n, false);
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
    for (const Handle& handle : handles_) {
      RC_ASSERT(content(handle.real) == handle.view->octets);
      RC_ASSERT(handle.real.writable() == handle.own());
      RC_ASSERT(handle.real.headroom() == (handle.own() ? handle.view->headroom : 0));
      RC_ASSERT(handle.real.tailroom() == (handle.own() ? handle.view->tailroom : 0));
      RC_ASSERT(handle.real.intact());
    }
    RC_ASSERT(model_.live() == live());
  }

  void finish() {
    handles_.clear();
    RC_ASSERT(model_.live() == 0U);
  }

 private:
  struct Handle {
    typename Model::Buffer real;
    std::shared_ptr<View> view;

    [[nodiscard]] bool may_trim() const {
      return view.use_count() == 1 && (view->part || view->storage.use_count() == 1);
    }
    [[nodiscard]] bool own() const { return may_trim() && !view->part; }
  };

  // Distinct views; where the storage is a buffer itself, also the storages that only parts keep.
  [[nodiscard]] std::size_t live() const {
    std::set<const void*> views, whole, storages;
    for (const Handle& handle : handles_) {
      views.insert(handle.view.get());
      storages.insert(handle.view->storage.get());
      if (!handle.view->part) whole.insert(handle.view->storage.get());
    }
    return views.size() + (Model::kStorageIsABuffer ? storages.size() - whole.size() : 0);
  }

  static Bytes fresh(std::size_t n) { return *rc::gen::container<Bytes>(n, rc::gen::arbitrary<std::uint8_t>()); }

  void make() {
    const Bytes octets = fresh(*rc::gen::inRange<std::size_t>(0, kFamilyRoom.size + 1));
    const bool room = live() < kFamilyRoom.limit;
    auto real = model_.make(octets);
    RC_ASSERT(static_cast<bool>(real) == room);
    if (!room) return;
    handles_.push_back(
        {std::move(real), std::make_shared<View>(View{std::make_shared<Storage>(), octets, kFamilyRoom.headroom,
                                                      Model::tailroom(kFamilyRoom, octets.size()), false})});
  }

  void prepend(Handle& handle, std::size_t n) {
    std::uint8_t* const added = handle.real.prepend(n);
    const bool allowed = handle.own() && n <= handle.view->headroom;
    RC_ASSERT((added != nullptr) == allowed);
    if (!allowed) return;
    const Bytes octets = fresh(n);
    std::copy(octets.begin(), octets.end(), added);
    handle.view->octets.insert(handle.view->octets.begin(), octets.begin(), octets.end());
    handle.view->headroom -= n;
  }

  void append(Handle& handle, std::size_t n) {
    std::uint8_t* const added = handle.real.append(n);
    const bool allowed = handle.own() && n <= handle.view->tailroom;
    RC_ASSERT((added != nullptr) == allowed);
    if (!allowed) return;
    const Bytes octets = fresh(n);
    std::copy(octets.begin(), octets.end(), added);
    handle.view->octets.insert(handle.view->octets.end(), octets.begin(), octets.end());
    handle.view->tailroom -= n;
  }

  void trim(Handle& handle, std::size_t n, bool front) {
    View& view = *handle.view;
    const bool allowed = handle.may_trim() && n <= view.octets.size();
    RC_ASSERT((front ? handle.real.trim_front(n) : handle.real.trim_back(n)) == allowed);
    if (!allowed) return;
    if (front) view.octets.erase(view.octets.begin(), view.octets.begin() + static_cast<std::ptrdiff_t>(n));
    if (!front) view.octets.resize(view.octets.size() - n);
    (front ? view.headroom : view.tailroom) += n;
  }

  void share(Handle& handle) {
    auto real = handle.real.share();
    RC_ASSERT(static_cast<bool>(real));
    std::shared_ptr<View> view = handle.view;
    handles_.push_back({std::move(real), std::move(view)});
  }

  void split(Handle& handle, std::size_t at) {
    const std::size_t needed = handle.view->part && handle.may_trim() ? 1 : 2;
    const bool allowed = at <= handle.view->octets.size() && live() + needed <= kFamilyRoom.limit;
    auto rest = handle.real.split(at);
    RC_ASSERT(static_cast<bool>(rest) == allowed);
    if (!allowed) return;
    const auto middle = handle.view->octets.begin() + static_cast<std::ptrdiff_t>(at);
    View head{handle.view->storage, {handle.view->octets.begin(), middle}, 0, 0, true};
    View tail{handle.view->storage, {middle, handle.view->octets.end()}, 0, 0, true};
    handle.view = std::make_shared<View>(std::move(head));
    handles_.push_back({std::move(rest), std::make_shared<View>(std::move(tail))});
  }

  void overwrite(Handle& handle) {
    std::uint8_t* const data = handle.real.mutable_data();
    RC_ASSERT((data != nullptr) == handle.own());
    if (data == nullptr) return;
    handle.view->octets = fresh(handle.view->octets.size());
    std::copy(handle.view->octets.begin(), handle.view->octets.end(), data);
  }

  void release(Handle& handle) {
    handle.real.release();
    RC_ASSERT(!handle.real);
    std::swap(handle, handles_.back());
    handles_.pop_back();
  }

  Model model_{kFamilyRoom};
  std::vector<Handle> handles_;
};

}  // namespace splitplane::buf::test
