#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Every check that a change must pass, from a bare machine: the style, the torch-free half under ThreadSanitizer, then
# the whole in the dev preset. The closing lines are those of ctest over the whole.
#
#   tools/test.sh
#
# Prepares as quickstart.sh does (see the top of tools/prepare.sh for what steers it) and is quick where that is done.
cd "$(dirname "$0")/.."
source tools/prepare.sh

step "Debian packages for the build and its tests (tools/packages.txt)"
install_packages build text test style optional
check_cmake

step "libtorch $TORCH_VERSION, and Python's safetensors as a second reader of our files"
provide_libtorch
make_venv
if "$VENV/bin/python" -c 'import numpy, safetensors' 2>/dev/null; then
  say "already there: numpy, safetensors"
else
  pip_install numpy safetensors
fi

step "Python's transformers as a judge of converted weights"
if python_judge; then
  say "already there: torch, transformers"
elif install_python_judge; then
  say "installed: transformers, and what torch's own Python half imports"
else
  say "not to be had here: the tests that compare with it are left out"
fi

step "The house style, and each torch-free header compiled by itself (preset tidy)"
cmake --preset tidy
cmake --build --preset tidy --parallel "$(cores)"
ctest --preset tidy

step "The torch-free half under ThreadSanitizer (preset tsan)"
cmake --preset tsan
cmake --build --preset tsan --parallel "$(cores)"
ctest --preset tsan

step "Everything (preset dev)"
cmake --preset dev -DLIBTORCH_ROOT="$LIBTORCH_ROOT"
cmake --build --preset dev --parallel "$(cores)"
ctest --preset dev
