// A queue of objects that have the link themselves: nothing is allocated, and an object is in the queue once or not at
// all. The objects outlive their time in the queue.
#pragma once

#include <utility>

namespace splitplane::ran {

// Next, IsQueued: the members of T that belong to the queue.
template <class T, T* T::* Next, bool T::* IsQueued>
class IntrusiveQueue {
 public:
  [[nodiscard]] bool empty() const { return first_ == nullptr; }
  // nullptr if it is empty.
  [[nodiscard]] T* front() const { return first_; }
  [[nodiscard]] T* back() const { return first_ == nullptr ? nullptr : last_; }

  // At the end; nothing happens if the object is in the queue.
  void push(T& one) {
    if (std::exchange(one.*IsQueued, true)) return;
    one.*Next = nullptr;
    (first_ == nullptr ? first_ : last_->*Next) = &one;
    last_ = &one;
  }
  // Takes out the first; nullptr if it is empty.
  T* pop() {
    T* const one = first_;
    if (one == nullptr) return nullptr;
    first_ = one->*Next;
    one->*IsQueued = false;
    return one;
  }
  // Takes the object out if it is in the queue. A linear search: for what is rare.
  void remove(T& one) {
    if (!(one.*IsQueued)) return;
    T* rest = std::exchange(first_, nullptr);
    while (rest != nullptr) {
      T* const next = rest->*Next;
      rest->*IsQueued = false;
      if (rest != &one) push(*rest);
      rest = next;
    }
  }
  void clear() {
    while (pop() != nullptr) {
    }
  }

 private:
  T* first_ = nullptr;
  T* last_ = nullptr;  // if there is a first
};

}  // namespace splitplane::ran
