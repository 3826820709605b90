#include "mtuscope/verbs/handles.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cerrno>
#include <string>
#include <vector>

#include "fake_verbs.hpp"
#include "mtuscope/core/log.hpp"

namespace mtuscope::verbs {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;

class Handles : public testing::Test {
 protected:
  Handles() {
    fake_verbs::reset();
    set_log_sink([this](LogLevel, std::string_view line) { logged.emplace_back(line); });
  }
  ~Handles() override { set_log_sink({}); }

  /// What `call` threw, with its errno checked.
  template <class Call>
  static std::string thrown_by(int error_number, Call call) {
    try {
      call();
    } catch (const VerbsError& error) {
      EXPECT_EQ(error.error_number(), error_number);
      return error.what();
    }
    return "nothing";
  }

  ibv_device device{};
  ibv_context context{};
  const Where where{"fake0", 1};
  std::vector<std::string> logged;
};

TEST_F(Handles, AFailedCallNamesItselfDevicePortAndErrno) {
  fake_verbs::fail_call("ibv_alloc_pd", ENOMEM);
  EXPECT_THAT(thrown_by(ENOMEM, [&] { (void)alloc_pd(context, where); }),
              AllOf(HasSubstr("ibv_alloc_pd"), HasSubstr("fake0 port 1"), HasSubstr("Cannot allocate memory")));
}

TEST_F(Handles, ErrnoIsClearedBeforeTheCallSoThatAStaleOneIsNeverReported) {
  errno = EPERM;
  (void)create_cq(context, 16, nullptr, where);
  EXPECT_EQ(errno, 0);
}

TEST_F(Handles, RefusedMemoryNamesTheSizeTheLimitAndTheWayOut) {
  const auto pd = alloc_pd(context, where);
  fake_verbs::fail_call("ibv_reg_mr", ENOMEM);
  int byte = 0;
  EXPECT_THAT(thrown_by(ENOMEM, [&] { (void)register_memory(*pd, &byte, 123456, where); }),
              AllOf(HasSubstr("123456 B"), HasSubstr("RLIMIT_MEMLOCK")));
}

TEST_F(Handles, ARefusedQueuePairNamesWhatWasAsked) {
  const auto pd = alloc_pd(context, where);
  ibv_qp_init_attr attributes{};
  attributes.cap.max_send_wr = 77;
  fake_verbs::fail_call("ibv_create_qp", EINVAL);
  EXPECT_THAT(thrown_by(EINVAL, [&] { (void)create_qp(*pd, attributes, where); }),
              AllOf(HasSubstr("77 sends"), HasSubstr("--tx-depth")));
}

TEST_F(Handles, EveryDestroyThatFailsReachesTheLog) {
  fake_verbs::refuse_destroy("ibv_dealloc_pd", EBUSY);
  fake_verbs::refuse_destroy("ibv_destroy_cq", EBUSY);
  {
    const auto pd = alloc_pd(context, where);
    const auto cq = create_cq(context, 16, nullptr, where);
  }
  EXPECT_THAT(logged, ElementsAre(HasSubstr("ibv_destroy_cq"), HasSubstr("ibv_dealloc_pd")));
}

TEST_F(Handles, ADestroyThatSucceedsIsNotLogged) {
  const auto before = fake_verbs::live_objects();
  {
    const auto pd = alloc_pd(context, where);
    EXPECT_EQ(fake_verbs::live_objects(), before + 1);
  }
  EXPECT_EQ(fake_verbs::live_objects(), before);
  EXPECT_TRUE(logged.empty());
}

}  // namespace
}  // namespace mtuscope::verbs
