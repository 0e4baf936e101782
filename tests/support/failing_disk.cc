// SPDX-License-Identifier: Apache-2.0
#include "tests/support/failing_disk.h"

#include <cstdlib>
#include <fstream>
#include <sstream>

namespace brigade::testing {
namespace {

std::string encoded(const DiskRule& rule) {
  std::ostringstream out;
  out << "calls=" << rule.calls << "\tpath=" << rule.path << "\trank=" << rule.rank
      << "\tfrom=" << rule.from << "\ttimes=" << rule.times << "\terror=" << rule.error
      << "\tfits=" << rule.fits_bytes << "\tdelay=" << rule.delay_ms << "\tfree=" << rule.free_bytes
      << "\tkill=" << static_cast<int>(rule.kill) << "\tthrows=" << rule.throws
      << "\tlog=" << rule.log << '\n';
  return out.str();
}

}  // namespace

std::map<std::string, std::string> failing_disk(const std::vector<DiskRule>& rules) {
  std::string text;
  for (const DiskRule& rule : rules) {
    text += encoded(rule);
  }
  const char* options = std::getenv("ASAN_OPTIONS");
  return {{"LD_PRELOAD", BRIGADE_FAILING_DISK},
          {"BRIGADE_DISK_RULES", text},
          // Its runtime wants to be the first library, and need not be.
          {"ASAN_OPTIONS",
           std::string(options == nullptr ? "" : options) + ":verify_asan_link_order=0"}};
}

std::vector<DiskCall> logged_calls(const std::string& log) {
  std::vector<DiskCall> calls;
  std::ifstream in(log);
  for (DiskCall call; in >> call.rank >> call.call >> call.result;) {
    in.ignore(1);
    std::getline(in, call.path);
    calls.push_back(call);
  }
  return calls;
}

}  // namespace brigade::testing
