// SPDX-License-Identifier: Apache-2.0
/// The door to the shared object that alone sees oneDNN.
///
/// libtorch carries a oneDNN of its own, of another version, and exports a few of its inline
/// functions; the loader would make both copies share them, and then one initialises the other's
/// tables (oneDNN's small products fail with "unimplemented"). So the package's oneDNN is linked by
/// a module of its own, which matmul.cc loads in a way that lets it bind to its own symbols first
/// (RTLD_DEEPBIND). No other file may include dnnl.hpp.
#pragma once

#include "parallel/kernels/matmul.h"

namespace brigade::kernels {

struct OneDnnModule {
  decltype(&kernels::matmul) matmul;
  decltype(&kernels::matmul_supports) supports;
};

}  // namespace brigade::kernels

/// The module's one exported function.
extern "C" [[gnu::visibility("default")]] const brigade::kernels::OneDnnModule*
brigade_onednn_module();
