// SPDX-License-Identifier: Apache-2.0
// Compiled once so that the precompiled header exists; see AddModule.cmake.
