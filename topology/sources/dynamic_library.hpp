// A library that may be missing: loaded at run time, asked for its functions by name.
#pragma once

#include <dlfcn.h>

#include <string>

#include "src/base/unique_handle.hpp"

namespace mgsync::topology {

struct dl_traits {
  using type = void*;
  static type none() { return nullptr; }
  static void close(type library) noexcept { dlclose(library); }
};

class dynamic_library {
 public:
  explicit dynamic_library(const char* name) : handle_(dlopen(name, RTLD_NOW | RTLD_LOCAL)) {}
  explicit operator bool() const { return static_cast<bool>(handle_); }

  // The function of this name, or null. The caller vouches for its type: no header of the vendor is read.
  template <class Function>
  Function* find(const char* name) const {
    return handle_ ? reinterpret_cast<Function*>(dlsym(handle_.get(), name)) : nullptr;
  }

  // Keeps the library in the process: drivers do not survive being unloaded.
  void keep() { static_cast<void>(handle_.release()); }

 private:
  unique_handle<dl_traits> handle_;
};

}  // namespace mgsync::topology
