// Loads and stores that another processor sees. GPU, NIC and host share words, and each of these functions states its
// memory order. One source serves both: std::atomic_ref on the host, cuda::atomic_ref on a device. System scope (no
// suffix) reaches the NIC and the host; `_on_device` reaches only other engines on the same processor.
#pragma once

#include <cstdint>

#include "base/host_device.h"

#if defined(__CUDACC__)
#include <cuda/atomic>
#else
#include <atomic>
#endif

namespace splitplane::gpu {

#if defined(__CUDACC__)
template <class T>
using SystemAtomic = cuda::atomic_ref<T, cuda::thread_scope_system>;
template <class T>
using DeviceAtomic = cuda::atomic_ref<T, cuda::thread_scope_device>;
namespace order = cuda::std;
#else
template <class T>
using SystemAtomic = std::atomic_ref<T>;
template <class T>
using DeviceAtomic = std::atomic_ref<T>;
namespace order = std;
#endif

template <class T>
[[nodiscard]] SPLITPLANE_HD inline T load_acquire(const T* word) {
  return SystemAtomic<T>(*const_cast<T*>(word)).load(order::memory_order_acquire);
}
template <class T>
[[nodiscard]] SPLITPLANE_HD inline T load_relaxed(const T* word) {
  return SystemAtomic<T>(*const_cast<T*>(word)).load(order::memory_order_relaxed);
}
template <class T>
SPLITPLANE_HD inline void store_release(T* word, T value) {
  SystemAtomic<T>(*word).store(value, order::memory_order_release);
}
template <class T>
SPLITPLANE_HD inline void store_relaxed(T* word, T value) {
  SystemAtomic<T>(*word).store(value, order::memory_order_relaxed);
}

template <class T>
[[nodiscard]] SPLITPLANE_HD inline T load_acquire_on_device(const T* word) {
  return DeviceAtomic<T>(*const_cast<T*>(word)).load(order::memory_order_acquire);
}
template <class T>
[[nodiscard]] SPLITPLANE_HD inline T load_relaxed_on_device(const T* word) {
  return DeviceAtomic<T>(*const_cast<T*>(word)).load(order::memory_order_relaxed);
}
template <class T>
SPLITPLANE_HD inline void store_relaxed_on_device(T* word, T value) {
  DeviceAtomic<T>(*word).store(value, order::memory_order_relaxed);
}
template <class T>
SPLITPLANE_HD inline void store_release_on_device(T* word, T value) {
  DeviceAtomic<T>(*word).store(value, order::memory_order_release);
}

// Adds to a word that engines of the same processor share. Returns the old value.
template <class T>
SPLITPLANE_HD inline T add_relaxed_on_device(T* word, T n) {
  return DeviceAtomic<T>(*word).fetch_add(n, order::memory_order_relaxed);
}

// Tells the NIC a new tail; everything stored before is visible to it first. On a device the tail is a register behind
// PCIe. It needs a fence at system scope, then a store that is neither split, merged nor cached (PTX ISA, ld/st.mmio).
// On the host a release store has that order. It is also the only form that ThreadSanitizer understands, because it
// does not model fences.
SPLITPLANE_HD inline void ring_doorbell(std::uint32_t* tail_register, std::uint32_t value) {
#if defined(__CUDA_ARCH__)
  asm volatile("fence.acq_rel.sys;" ::: "memory");
  asm volatile("st.mmio.relaxed.sys.global.u32 [%0], %1;" ::"l"(__cvta_generic_to_global(tail_register)), "r"(value)
               : "memory");
#else
  store_release(tail_register, value);
#endif
}

// How an engine writes a tail register.
struct ReleaseDoorbell {
  SPLITPLANE_HD static void ring(std::uint32_t* tail_register, std::uint32_t value) {
    ring_doorbell(tail_register, value);
  }
};

}  // namespace splitplane::gpu
