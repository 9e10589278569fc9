// SPDX-License-Identifier: Apache-2.0
#include "evidence/decompress.h"

#include <gmock/gmock.h>

#include "evidence/testing.h"

namespace holter::evidence {
namespace {

using ::testing::HasSubstr;
using namespace testing;

std::string long_text() {
  std::string out;
  for (int i = 0; out.size() < 3'000'000; ++i) out += "line " + std::to_string(i * 7919) + "\n";
  return out;
}

struct Outcome {
  std::string content, trouble;
};

Outcome unpack(std::string_view packed, std::size_t chunk = 4096, Limits limits = {}) {
  TextStream inner(packed, chunk);
  const auto stream = decompress(detect_compression(packed), inner, limits);
  if (!stream) return {"", "not compressed"};
  Outcome out;
  out.content = read_all(*stream);
  out.trouble = std::string(stream->trouble());
  EXPECT_EQ(stream->truncated(), !out.trouble.empty());
  return out;
}

class Formats : public ::testing::TestWithParam<std::string (*)(std::string_view)> {
 protected:
  std::string pack(std::string_view data) const { return GetParam()(data); }
};
INSTANTIATE_TEST_SUITE_P(All, Formats, ::testing::Values(&gzip, &xz, &zstd));

TEST_P(Formats, whole_data_in_chunks_of_any_size) {
  const auto text = long_text();
  const auto packed = pack(text);
  for (const std::size_t chunk : {std::size_t{1000}, std::size_t{65536}, packed.size()}) {
    const auto got = unpack(packed, chunk);
    EXPECT_EQ(got.trouble, "");
    EXPECT_TRUE(got.content == text) << chunk;
  }
  EXPECT_EQ(unpack(pack("tiny"), 1).content, "tiny");
  EXPECT_EQ(unpack(pack(""), 1).trouble, "");
}

TEST_P(Formats, members_follow_each_other_and_zero_padding_is_no_fault) {
  const auto got = unpack(pack("one ") + pack("two ") + pack("three") + std::string(3000, '\0'), 7);
  EXPECT_EQ(got.content, "one two three");
  EXPECT_EQ(got.trouble, "");
}

TEST_P(Formats, truncated_data_keeps_what_came_before) {
  const auto text = long_text();
  const auto packed = pack(text);
  const auto got = unpack(std::string_view(packed).substr(0, packed.size() / 2));
  EXPECT_GT(got.content.size(), text.size() / 10);
  EXPECT_TRUE(text.starts_with(got.content));
  EXPECT_THAT(got.trouble, HasSubstr("ends early"));
}

TEST_P(Formats, damage_is_trouble_not_a_crash) {
  auto packed = pack(long_text());
  for (std::size_t i = packed.size() / 2; i < packed.size() / 2 + 40; ++i) packed[i] ^= 0x5a;
  EXPECT_NE(unpack(packed).trouble, "");
  EXPECT_THAT(unpack(pack("good") + "garbage").trouble, HasSubstr("not compressed data"));
  EXPECT_EQ(unpack(pack("good") + "garbage").content, "good");
}

TEST_P(Formats, a_bomb_stops_soon_after_the_limit) {
  const std::string zeros(std::size_t{70} << 20, '\0');
  const auto got = unpack(pack(zeros));
  EXPECT_THAT(got.trouble, HasSubstr("times as many"));
  EXPECT_LT(got.content.size(), std::size_t{66} << 20);
}

TEST(Decompress, xz_that_wants_too_much_memory_is_refused) {
  lzma_options_lzma options;
  lzma_lzma_preset(&options, 6);
  options.dict_size = 1u << 30;
  lzma_filter filters[] = {{LZMA_FILTER_LZMA2, &options}, {LZMA_VLI_UNKNOWN, nullptr}};
  lzma_stream z = LZMA_STREAM_INIT;
  options.dict_size = 64 << 20;
  std::string packed(4096, '\0');
  std::size_t size = 0;
  ASSERT_EQ(lzma_stream_buffer_encode(filters, LZMA_CHECK_CRC32, nullptr, reinterpret_cast<const std::uint8_t*>("x"), 1,
                                      reinterpret_cast<std::uint8_t*>(packed.data()), &size, packed.size()),
            LZMA_OK);
  lzma_end(&z);
  packed.resize(size);
  // Dictionary size code of the block header (40 = 4 GiB - 1), with its checksum.
  const auto code = packed.find('\x21', 12);  // filter id of LZMA2
  packed[code + 2] = 40;
  const std::size_t header = (static_cast<unsigned char>(packed[12]) + 1u) * 4;
  const auto crc = lzma_crc32(reinterpret_cast<const std::uint8_t*>(&packed[12]), header - 4, 0);
  std::memcpy(&packed[12 + header - 4], &crc, 4);
  EXPECT_THAT(unpack(packed).trouble, HasSubstr("damaged compressed data"));
}

}  // namespace
}  // namespace holter::evidence
