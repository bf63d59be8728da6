// The functions of all rings in the device's form: objects, bearer lines, keys and table in its memory.
#pragma once

#include "bypass/cpu_drivers.h"
#include "gpu/cuda/device.h"
#include "gpu/rings/pdcp_nea2.h"

namespace splitplane::gpu {

class GpuFunctions {
 public:
  explicit GpuFunctions(const bypass::Scenario& s) : kind_(s.function) {
    if (kind_ == bypass::FunctionKind::echo) copy(std::vector<Echo>(s.rings));
    if (kind_ == bypass::FunctionKind::macswap) copy(std::vector<MacSwap>(s.rings));
    if (kind_ == bypass::FunctionKind::gnb_headers || kind_ == bypass::FunctionKind::pdcp_nea2) make_gnb(s);
  }

  // Calls `f` with the first of the objects in the device's memory; there is one object for each ring.
  template <class F>
  void with(F f) const {
    switch (kind_) {
      case bypass::FunctionKind::echo:
        return f(reinterpret_cast<Echo*>(objects_.get()));
      case bypass::FunctionKind::macswap:
        return f(reinterpret_cast<MacSwap*>(objects_.get()));
      case bypass::FunctionKind::gnb_headers:
        return f(reinterpret_cast<GnbHeaders*>(objects_.get()));
      case bypass::FunctionKind::pdcp_nea2:
        return f(reinterpret_cast<PdcpNea2*>(objects_.get()));
    }
  }

 private:
  void make_gnb(const bypass::Scenario& s) {
    bypass::GnbBearers bearers(s);
    bearers_ = to_device(bearers.lines());
    const GnbHeaders headers = bypass::gnb_headers(bearers_.get(), bearers.capacity());
    if (kind_ == bypass::FunctionKind::gnb_headers) return copy(std::vector(s.rings, headers));
    table_ = to_device(std::vector<AesTable>{kAesTable});
    keys_ = to_device(bearers.keys());
    copy(std::vector(s.rings, PdcpNea2(headers, table_.get(), keys_.get())));
  }
  template <class T>
  static DevicePointer<T> to_device(const std::vector<T>& all) {
    auto memory = device_array<T>(all.size());
    must(cudaMemcpy(memory.get(), all.data(), all.size() * sizeof(T), cudaMemcpyHostToDevice), "cudaMemcpy");
    return memory;
  }
  template <class T>
  void copy(const std::vector<T>& all) {
    objects_ = device_array<std::uint8_t>(all.size() * sizeof(T));
    must(cudaMemcpy(objects_.get(), all.data(), all.size() * sizeof(T), cudaMemcpyHostToDevice), "cudaMemcpy");
  }

  bypass::FunctionKind kind_;
  DevicePointer<GnbBearer> bearers_;
  DevicePointer<AesTable> table_;
  DevicePointer<Aes128Key> keys_;
  DevicePointer<std::uint8_t> objects_;
};

}  // namespace splitplane::gpu
