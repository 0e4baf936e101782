// Compiled once so that the precompiled header exists; see AddModule.cmake.
