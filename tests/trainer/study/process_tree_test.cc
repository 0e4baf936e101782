// SPDX-License-Identifier: Apache-2.0
#include "trainer/study/process_tree.h"

#include <csignal>
#include <fstream>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "parallel/base/text.h"
#include "tests/support/signal_process.h"
#include "tests/trainer/checkpoint/temporary_folder.h"
#include "trainer/study/run_output.h"

namespace brigade::study {
namespace {

using std::chrono::milliseconds;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

class ProcessTreeTest : public ::testing::Test {
 protected:
  TreeCommand shell(const std::string& script, milliseconds timeout = milliseconds(30000)) const {
    return {.argv = {"/bin/sh", "-c", script},
            .out_path = path("out"),
            .err_path = path("out"),
            .timeout = timeout,
            .grace = milliseconds(300)};
  }
  std::string path(const std::string& name) const {
    return concat(folder_.path().string(), '/', name);
  }
  std::string text(const std::string& name) const { return contents(path(name)); }
  /// The process whose id the script wrote into a file, once it has.
  pid_t written_pid(const std::string& name) const {
    for (int tries = 0; tries < 200; ++tries) {
      std::ifstream in(path(name));
      pid_t pid = 0;
      if (in >> pid) {
        return pid;
      }
      std::this_thread::sleep_for(milliseconds(50));
    }
    return 0;
  }

  const TemporaryFolder folder_;
};

bool runs(pid_t pid) {
  return pid > 0 && kill(pid, 0) == 0;
}

/// That there was such a process, and is none any longer.
void expect_ended(pid_t pid) {
  EXPECT_GT(pid, 0) << "it never began";
  EXPECT_FALSE(runs(pid)) << pid;
}

TEST_F(ProcessTreeTest, OutputAndCodeOfAProgramAreKept) {
  const Result<TreeEnd> end = run_tree(shell("echo one; echo two >&2; exit 3"), {});
  ASSERT_TRUE(end) << end.error().text;
  EXPECT_EQ(end->code, 3);
  EXPECT_FALSE(end->well());
  EXPECT_EQ(to_string(*end), "failed with exit code 3");
  EXPECT_EQ(text("out"), "one\ntwo\n");
  EXPECT_TRUE(run_tree(shell("true"), {})->well());
  EXPECT_EQ(text("out"), "");
}

TEST_F(ProcessTreeTest, ACrashIsToldByItsSignal) {
  const Result<TreeEnd> end = run_tree(shell("kill -SEGV $$"), {});
  ASSERT_TRUE(end);
  EXPECT_EQ(to_string(*end), "was ended by SIGSEGV");
}

TEST_F(ProcessTreeTest, WhatCannotBeRunSaysSo) {
  TreeCommand command = shell("");
  command.argv = {"/nowhere/brigade"};
  const Result<TreeEnd> end = run_tree(command, {});
  ASSERT_TRUE(end);
  EXPECT_EQ(end->code, 127);
  EXPECT_THAT(text("out"), HasSubstr("/nowhere/brigade cannot be run: No such file"));
  command.out_path = "/nowhere/out";
  EXPECT_THAT(run_tree(command, {}).error().text, HasSubstr("/nowhere/out"));
}

TEST_F(ProcessTreeTest, OneThatHangsIsEndedAtItsTimeout) {
  const Result<TreeEnd> end =
      run_tree(shell(concat("echo $$ > ", path("pid"), "; sleep 600"), milliseconds(500)), {});
  ASSERT_TRUE(end);
  EXPECT_EQ(end->how, TreeEnd::How::kTimedOut);
  EXPECT_THAT(to_string(*end), HasSubstr("did not end by itself"));
  expect_ended(written_pid("pid"));
}

TEST_F(ProcessTreeTest, OneThatIgnoresSigtermIsKilled) {
  const std::string script =
      concat("trap '' TERM; echo $$ > ", path("pid"), "; while true; do sleep 1; done");
  const Result<TreeEnd> end = run_tree(shell(script, milliseconds(500)), {});
  ASSERT_TRUE(end);
  EXPECT_EQ(end->how, TreeEnd::How::kTimedOut);
  EXPECT_EQ(end->signal, SIGKILL);
  expect_ended(written_pid("pid"));
}

TEST_F(ProcessTreeTest, OneThatIsStoppedIsEndedToo) {
  const std::string script = concat("echo $$ > ", path("pid"), "; kill -STOP $$; sleep 600");
  const Result<TreeEnd> end = run_tree(shell(script, milliseconds(500)), {});
  ASSERT_TRUE(end);
  EXPECT_EQ(end->how, TreeEnd::How::kTimedOut);
  expect_ended(written_pid("pid"));
}

/// In a session of its own, ignoring signals, and orphaned: out of reach of a group's signal.
TEST_F(ProcessTreeTest, AGrandchildThatLeftItsSessionIsEndedToo) {
  const std::string grandchild = concat("setsid sh -c 'trap \"\" TERM HUP; echo $$ > ",
                                        path("pid"),
                                        "; while true; do sleep 1; done' & ");
  const std::string wait_for_it = concat("while ! [ -s ", path("pid"), " ]; do sleep 0.05; done; ");

  const Result<TreeEnd> left = run_tree(shell(grandchild + wait_for_it + "exit 0"), {});
  ASSERT_TRUE(left);
  EXPECT_TRUE(left->well());
  EXPECT_TRUE(left->orphans);
  expect_ended(written_pid("pid"));

  std::filesystem::remove(path("pid"));
  const Result<TreeEnd> hung =
      run_tree(shell(grandchild + wait_for_it + "sleep 600", milliseconds(1500)), {});
  ASSERT_TRUE(hung);
  EXPECT_EQ(hung->how, TreeEnd::How::kTimedOut);
  expect_ended(written_pid("pid"));
}

TEST_F(ProcessTreeTest, AWishToStopEndsIt) {
  const auto begun = [this] { return !text("pid").empty(); };
  const Result<TreeEnd> end =
      run_tree(shell(concat("echo $$ > ", path("pid"), "; sleep 600")), begun);
  ASSERT_TRUE(end);
  EXPECT_EQ(end->how, TreeEnd::How::kStopped);
  expect_ended(written_pid("pid"));
}

TEST_F(ProcessTreeTest, ItEndsWithTheStudyThatIsKilled) {
  const pid_t study = fork();
  if (study == 0) {
    (void)run_tree(shell(concat("trap '' TERM; echo $$ > ", path("pid"), "; sleep 600")), {});
    _exit(0);
  }
  const pid_t program = written_pid("pid");
  EXPECT_TRUE(runs(program));
  brigade::testing::signal_process(study, SIGKILL);
  waitpid(study, nullptr, 0);
  for (int tries = 0; runs(program) && tries < 200; ++tries) {
    std::this_thread::sleep_for(milliseconds(50));
  }
  expect_ended(program);
}

TEST_F(ProcessTreeTest, NothingElseOfThisProcessIsEnded) {
  const pid_t bystander = fork();
  if (bystander == 0) {
    pause();
    _exit(0);
  }
  EXPECT_TRUE(run_tree(shell("sleep 600", milliseconds(300)), {}));
  EXPECT_EQ(waitpid(bystander, nullptr, WNOHANG), 0);
  brigade::testing::signal_process(bystander, SIGKILL);
  waitpid(bystander, nullptr, 0);
}

TEST_F(ProcessTreeTest, BinaryJunkWithoutALinesEndIsKeptAndShownSafely) {
  ASSERT_TRUE(run_tree(shell("head -c 200000 /dev/urandom; printf '\\n\\033[2J\\377end'"), {}));
  EXPECT_THAT(last_lines(path("out"), 1), ElementsAre("?[2J?end"));
}

}  // namespace
}  // namespace brigade::study
