// For ThreadSanitizer builds only: our own mempool handler. DPDK's own pools pass mbufs between threads inside its
// uninstrumented libraries. ThreadSanitizer sees no order there and reports every mbuf that is used again. A
// suppression would also hide the functions in which races of ours would happen.
#pragma once

#include <cerrno>

#if defined(SPLITPLANE_TSAN)
#include <rte_mbuf_pool_ops.h>
#include <rte_mempool.h>

#include <mutex>
#include <vector>
#endif

namespace splitplane::datapath::test {

#if defined(SPLITPLANE_TSAN)

struct VisiblePool {
  std::mutex mutex;
  std::vector<void*> objects;

  static VisiblePool& of(const rte_mempool* pool) { return *static_cast<VisiblePool*>(pool->pool_data); }
  static int create(rte_mempool* pool) {
    pool->pool_data = new VisiblePool;
    return 0;
  }
  static void destroy(rte_mempool* pool) { delete static_cast<VisiblePool*>(pool->pool_data); }
  static int put(rte_mempool* pool, void* const* objects, unsigned n) {
    VisiblePool& self = of(pool);
    const std::lock_guard lock(self.mutex);
    self.objects.insert(self.objects.end(), objects, objects + n);
    return 0;
  }
  static int get(rte_mempool* pool, void** objects, unsigned n) {
    VisiblePool& self = of(pool);
    const std::lock_guard lock(self.mutex);
    if (self.objects.size() < n) return -ENOBUFS;
    for (unsigned i = 0; i < n; ++i) {
      objects[i] = self.objects.back();
      self.objects.pop_back();
    }
    return 0;
  }
  static unsigned count(const rte_mempool* pool) {
    VisiblePool& self = of(pool);
    const std::lock_guard lock(self.mutex);
    return static_cast<unsigned>(self.objects.size());
  }
};

// All pools made after this call use that handler. DPDK must run.
inline int use_visible_pools() {
  static const rte_mempool_ops ops = [] {
    rte_mempool_ops o{};
    strcpy(o.name, "visible");
    o.alloc = VisiblePool::create;
    o.free = VisiblePool::destroy;
    o.enqueue = VisiblePool::put;
    o.dequeue = VisiblePool::get;
    o.get_count = VisiblePool::count;
    return o;
  }();
  const int registered = rte_mempool_register_ops(&ops);
  return registered < 0 ? registered : rte_mbuf_set_platform_mempool_ops("visible");
}

#else

inline int use_visible_pools() {
  return 0;
}

#endif

}  // namespace splitplane::datapath::test
