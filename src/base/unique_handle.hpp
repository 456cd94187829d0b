// One owner for any C handle. Traits supply: type, none(), close(type) noexcept (reports its own failure on
// stderr).
#pragma once

#include <utility>

namespace mgsync {

template <class Traits>
class unique_handle {
 public:
  using type = typename Traits::type;

  unique_handle() = default;
  explicit unique_handle(type handle) : handle_(handle) {}
  unique_handle(unique_handle&& other) noexcept : handle_(other.release()) {}
  unique_handle& operator=(unique_handle&& other) noexcept {
    if (this != &other) {
      reset();
      handle_ = other.release();
    }
    return *this;
  }
  ~unique_handle() { reset(); }

  type get() const { return handle_; }
  explicit operator bool() const { return handle_ != Traits::none(); }
  type release() { return std::exchange(handle_, Traits::none()); }

 private:
  void reset() noexcept {
    if (handle_ != Traits::none()) Traits::close(release());
  }

  type handle_ = Traits::none();
};

}  // namespace mgsync
