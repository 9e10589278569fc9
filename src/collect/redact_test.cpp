// SPDX-License-Identifier: Apache-2.0
#include "collect/redact.h"

#include <gtest/gtest.h>

namespace holter::collect {
namespace {

TEST(Redact, secrets_by_name_shape_and_url_are_replaced) {
  EXPECT_EQ(without_secrets("HF_TOKEN=hf_abcdefgh12345678 x\n"), "HF_TOKEN=<secret> x\n");
  EXPECT_EQ(without_secrets("curl --api-key 0123456789 host\n"), "curl --api-key <secret> host\n");
  EXPECT_EQ(without_secrets("clone https://bob:pa55@git.corp/x.git\n"), "clone https://<secret>@git.corp/x.git\n");
  EXPECT_EQ(without_secrets("a\n-----BEGIN RSA PRIVATE KEY-----\nMIIE\n-----END RSA PRIVATE KEY-----\nb\n"),
            "a\n<secret>\nb\n");
}

TEST(Redact, what_is_no_secret_stays_byte_by_byte) {
  const std::string_view text = "step 1 tokens/s 9000 keys 12\r\nno newline at the end";
  EXPECT_EQ(without_secrets(text), text);
}

TEST(Redact, only_known_variables_leave_the_host) {
  EXPECT_EQ(allowed_environment({{"NCCL_DEBUG", "INFO"},
                                 {"AWS_SECRET_ACCESS_KEY", "x"},
                                 {"HOME", "/home/bob"},
                                 {"RANK", "3"},
                                 {"RAY_AUTH_TOKEN", "abcdef"},
                                 {"NCCL_X", "a\nb"}}),
            "NCCL_DEBUG=INFO\nRANK=3\nRAY_AUTH_TOKEN=<secret>\nNCCL_X=a\\x0ab\n");
}

}  // namespace
}  // namespace holter::collect
