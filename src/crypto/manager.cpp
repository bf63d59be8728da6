#include "crypto/manager.h"

#include <utility>

#include "crypto/ipsec_mb.h"

namespace splitplane::crypto {
namespace {

std::string name_of(const IMB_MGR& manager) {
  const bool vector_aes = (manager.features & IMB_FEATURE_VAES) != 0;
  switch (static_cast<int>(manager.used_arch)) {
    case IMB_ARCH_SSE:
      return "sse";
    case IMB_ARCH_AVX2:
      return vector_aes ? "avx2+vaes" : "avx2";
    case IMB_ARCH_AVX512:
      return vector_aes ? "avx512+vaes" : "avx512";
    default:
      return manager.used_arch > IMB_ARCH_AVX512 ? "avx10" : "avx";
  }
}

bool is_there(std::uint64_t features, std::uint64_t needed) {
  return (features & needed) == needed;
}

}  // namespace

Expected<Manager> Manager::create(Implementation implementation, SecretMemory::Locking locking) {
  auto memory = SecretMemory::map(imb_get_mb_mgr_size(), locking);
  if (!memory) return tl::unexpected(memory.error());
  Manager manager(std::move(*memory), implementation);
  if (!manager.start()) {
    return fail("intel-ipsec-mb {} cannot cipher on this CPU: {}", runs_with(),
                manager.manager_ != nullptr ? imb_get_strerror(imb_get_errno(manager.manager_)) : "no state");
  }
  return manager;
}

void Manager::reset() {
  start();
}

bool Manager::start() {
  manager_ = imb_set_pointers_mb_mgr(memory_.data(), 0, 1);
  if (manager_ == nullptr) return false;
  const std::uint64_t features = manager_->features;
  switch (implementation_) {
    case Implementation::kBest:
      init_mb_mgr_auto(manager_, nullptr);
      break;
    case Implementation::kSse:
      if (!is_there(features, IMB_CPUFLAGS_SSE)) return false;
      init_mb_mgr_sse(manager_);
      break;
    case Implementation::kAvx2:
      if (!is_there(features, IMB_CPUFLAGS_AVX2)) return false;
      init_mb_mgr_avx2(manager_);
      break;
    case Implementation::kAvx512:
      if (!is_there(features, IMB_CPUFLAGS_AVX512)) return false;
      init_mb_mgr_avx512(manager_);
      break;
  }
  name_ = name_of(*manager_);
  return imb_get_errno(manager_) == 0 && is_there(manager_->features, IMB_FEATURE_SELF_TEST_PASS);
}

std::string_view Manager::built_with() {
  return IMB_VERSION_STR;
}

std::string_view Manager::runs_with() {
  return imb_get_version_str();
}

}  // namespace splitplane::crypto
