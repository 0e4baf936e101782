// SPDX-License-Identifier: Apache-2.0
// The precompiled header of the torch half. Sources still include what they use; this only makes it
// cheap.
#pragma once

#include <ATen/ATen.h>
#include <torch/csrc/autograd/autograd.h>
#include <torch/csrc/autograd/custom_function.h>
