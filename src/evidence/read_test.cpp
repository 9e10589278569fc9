// SPDX-License-Identifier: Apache-2.0
#include "evidence/read.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <unistd.h>

#include <thread>

#include "base/result_matchers.h"
#include "evidence/testing.h"

namespace holter::evidence {
namespace {

namespace fs = std::filesystem;
using base::testing::Fails;
using ::testing::HasSubstr;
using namespace testing;

model::Evidence read_ok(const std::vector<std::string>& paths, const Options& options = {}) {
  auto got = read(paths, keeping_readers(), options);
  EXPECT_TRUE(got) << (got ? "" : got.error().to_string());
  return got ? std::move(*got) : model::Evidence();
}

// Everything that a report could depend on.
std::string summary(const model::Evidence& ev) {
  std::string out;
  for (const auto& f : ev.files) {
    out += f.path + "|" + f.format + "|" + std::to_string(static_cast<int>(f.status)) + "|" + std::to_string(f.bytes) +
           "|" + f.note + "\n";
  }
  for (const auto& e : ev.events) {
    out += std::to_string(value(e.at.file)) + ":" + std::to_string(static_cast<std::uint32_t>(e.text)) +
           std::string(ev.text(e.kind)) + "=" + std::string(ev.text(e.text)) + "\n";
  }
  for (const auto& p : ev.problems) out += std::to_string(value(p.at.file)) + "!" + p.what + "\n";
  return out;
}

std::string content_of(const model::Evidence& ev, std::string_view path) {
  for (const auto& e : ev.events) {
    if (ev.files[value(e.at.file)].path == path) return std::string(ev.text(e.text));
  }
  return "(nothing of " + std::string(path) + ")\n" + summary(ev);
}

const model::SourceFile& file(const model::Evidence& ev, std::string_view path) {
  for (const auto& f : ev.files) {
    if (f.path == path) return f;
  }
  ADD_FAILURE() << "no file " << path << " in\n" << summary(ev);
  static const model::SourceFile kNone;
  return kNone;
}

TEST(Read, utf_16_is_read_as_text_in_archives_too) {
  ScratchFolder dir;
  std::string wide = "\xFF\xFE";
  for (const char c : std::string("a line of text\n")) wide += c, wide += '\0';
  dir.write("wide.log", wide);
  dir.write("wide.tar", tar_entry("in.log.gz", gzip(wide)) + tar_end());
  const auto ev = read_ok({dir.path()});
  EXPECT_EQ(content_of(ev, "wide.log"), "a line of text\n");
  EXPECT_EQ(content_of(ev, "wide.tar!in.log.gz"), "a line of text\n");
  EXPECT_EQ(file(ev, "wide.log").status, model::FileStatus::kRead);
}

TEST(Read, files_compression_and_archives) {
  ScratchFolder dir;
  dir.write("a.log", "plain");
  dir.write("b.log.gz", gzip("zipped"));
  dir.write("c.tar", tar_entry("r0/x.log", "in tar") + tar_entry("y.log.zst", zstd("zst in tar")) + tar_end());
  dir.write("d.tar.xz", xz(tar_entry("inner.tar.gz", gzip(tar_entry("z", "nested") + tar_end())) + tar_end()));
  const auto ev = read_ok({dir.path()});
  EXPECT_EQ(content_of(ev, "a.log"), "plain");
  EXPECT_EQ(content_of(ev, "b.log.gz"), "zipped");
  EXPECT_EQ(content_of(ev, "c.tar!r0/x.log"), "in tar");
  EXPECT_EQ(content_of(ev, "c.tar!y.log.zst"), "zst in tar");
  EXPECT_EQ(content_of(ev, "d.tar.xz!inner.tar.gz!z"), "nested");
  EXPECT_EQ(file(ev, "c.tar").format, "tar");
  EXPECT_EQ(file(ev, "c.tar").counts.at("members"), 2u);
  EXPECT_EQ(file(ev, "b.log.gz").bytes, 6u);
  EXPECT_TRUE(ev.problems.empty()) << summary(ev);
}

TEST(Read, nothing_there_is_an_error) {
  EXPECT_THAT(read({"/nonexistent/x"}, keeping_readers(), {}), Fails(base::Code::kNotFound, HasSubstr("No such file")));
  ScratchFolder dir;
  EXPECT_THAT(read({dir.path()}, keeping_readers(), {}), Fails(base::Code::kNotFound, HasSubstr("no files")));
}

TEST(Read, one_missing_path_does_not_hide_the_others) {
  ScratchFolder dir;
  const auto ev = read_ok({dir.write("a.log", "x"), dir.path("gone")});
  EXPECT_EQ(content_of(ev, "a.log"), "x");
  ASSERT_EQ(ev.problems.size(), 1u);
  EXPECT_EQ(ev.files[value(ev.problems[0].at.file)].path, "gone");
}

TEST(Read, unknown_and_empty_files_are_listed) {
  ScratchFolder dir;
  dir.write("empty", "");
  dir.write("core", std::string("\x7f"
                                "ELF\2\1\0\0",
                                8));
  dir.write("z.zip", std::string("PK\x03\x04\0\0", 6));
  dir.write("junk", std::string(100'000, '\0'));
  const auto ev = read_ok({dir.path()});
  EXPECT_EQ(file(ev, "empty").note, "empty");
  EXPECT_THAT(file(ev, "core").note, HasSubstr("ELF"));
  EXPECT_THAT(file(ev, "z.zip").note, HasSubstr("unpack"));
  EXPECT_THAT(file(ev, "junk").note, HasSubstr("binary"));
  for (const auto& f : ev.files) EXPECT_EQ(f.status, model::FileStatus::kUnread) << f.path;
  EXPECT_TRUE(ev.problems.empty());
}

TEST(Read, documents_are_listed_but_prove_nothing) {
  ScratchFolder dir;
  dir.write("README.md", "If you see `CUDA out of memory`, lower the batch size.");
  dir.write("a.log", "plain");
  const auto ev = read_ok({dir.path()});
  EXPECT_EQ(file(ev, "README.md").status, model::FileStatus::kUnread);
  EXPECT_THAT(file(ev, "README.md").note, HasSubstr("document"));
  EXPECT_EQ(content_of(ev, "a.log"), "plain");
}

TEST(Read, truncated_data_is_partial_and_kept) {
  ScratchFolder dir;
  std::string text;
  for (int i = 0; i < 50'000; ++i) text += std::to_string(i * 31) + "\n";
  const auto packed = gzip(tar_entry("a.log", "complete") + tar_entry("b.log", text) + tar_end());
  dir.write("cut.tgz", std::string_view(packed).substr(0, packed.size() / 2));
  const auto ev = read_ok({dir.path()});
  EXPECT_EQ(content_of(ev, "cut.tgz!a.log"), "complete");
  EXPECT_EQ(file(ev, "cut.tgz!a.log").status, model::FileStatus::kRead);
  EXPECT_TRUE(text.starts_with(content_of(ev, "cut.tgz!b.log")));
  EXPECT_EQ(file(ev, "cut.tgz!b.log").status, model::FileStatus::kPartial);
  EXPECT_EQ(file(ev, "cut.tgz").status, model::FileStatus::kPartial);
  EXPECT_EQ(ev.text(ev.events.back().kind), "truncated");
  EXPECT_EQ(ev.problems.size(), 2u);
}

TEST(Read, archives_ten_deep_stop_at_the_limit) {
  std::string data = "core";
  std::string name = "x.log";
  for (int i = 0; i < 10; ++i) {
    data = gzip(tar_entry(name, data) + tar_end());
    name = "level" + std::to_string(i) + ".tgz";
  }
  ScratchFolder dir;
  dir.write("deep.tgz", data);
  const auto ev = read_ok({dir.path()});
  ASSERT_EQ(ev.problems.size(), 1u) << summary(ev);
  EXPECT_THAT(ev.problems[0].what, HasSubstr("more than 3 deep"));
  std::string onion = "x";
  for (int i = 0; i < 10; ++i) onion = gzip(onion);
  dir.write("deep.tgz", onion);
  EXPECT_THAT(read_ok({dir.path()}).problems.at(0).what, HasSubstr("compressed more than 3 times"));
}

TEST(Read, limits_of_size_are_problems) {
  ScratchFolder dir;
  dir.write("a", std::string(5000, 'a'));
  dir.write("b", std::string(5000, 'b'));
  Options options;
  options.limits.max_file_bytes = 4000;
  auto ev = read_ok({dir.path()}, options);
  EXPECT_EQ(content_of(ev, "a"), std::string(4000, 'a'));
  EXPECT_EQ(file(ev, "a").status, model::FileStatus::kPartial);
  EXPECT_EQ(ev.problems.size(), 2u);
  options.limits = {};
  options.limits.max_total_bytes = 6000;
  ev = read_ok({dir.path()}, options);
  EXPECT_EQ(content_of(ev, "a"), std::string(5000, 'a'));
  ASSERT_EQ(ev.problems.size(), 1u);
  EXPECT_THAT(ev.problems[0].what, HasSubstr("all inputs together"));
}

TEST(Read, a_sparse_file_of_8_gib_is_cheap) {
  ScratchFolder dir;
  const auto path = dir.write("huge", "");
  ASSERT_EQ(::truncate(path.c_str(), off_t{8} << 30), 0);
  const auto ev = read_ok({path});
  EXPECT_EQ(file(ev, "huge").status, model::FileStatus::kUnread);
  EXPECT_EQ(file(ev, "huge").bytes, std::uint64_t{8} << 30);
}

TEST(Read, files_may_change_while_they_are_read) {
  ScratchFolder dir;
  const auto path = dir.write("a.log", std::string(1 << 20, 'x'));
  std::jthread writer([&](const std::stop_token& stop) {
    const base::Fd fd(::open(path.c_str(), O_WRONLY | O_APPEND));
    for (int i = 0; !stop.stop_requested() && i < 200; ++i) {
      if (::ftruncate(fd.get(), i % 2 ? 1000 : 1 << 20) != 0) return;
      std::this_thread::sleep_for(std::chrono::microseconds(50));
    }
  });
  for (int i = 0; i < 50; ++i) {
    const auto ev = read_ok({path});
    for (const auto& p : ev.problems) EXPECT_THAT(p.what, HasSubstr("shrank"));
  }
}

TEST(Read, the_result_does_not_depend_on_threads) {
  ScratchFolder dir;
  for (int i = 0; i < 300; ++i) {
    const auto text = "text " + std::to_string(i % 7);
    dir.write("f" + std::to_string(i), i % 50 == 3   ? std::string("\0", 1)
                                       : i % 20 == 1 ? gzip(text).substr(0, 12)
                                                     : text);
  }
  dir.write("t.tar", tar_entry("m1", "text 3") + tar_entry("m2", "other") + tar_end());
  const auto alone = summary(read_ok({dir.path()}));
  for (const int threads : {1, 2, 5}) {
    Options options;
    options.executor = base::thread_executor(threads);
    std::size_t last = 0;
    options.progress = [&](std::size_t done, std::size_t known) {
      EXPECT_LE(done, known);
      last = done;
    };
    EXPECT_EQ(summary(read_ok({dir.path()}, options)), alone) << threads;
    EXPECT_EQ(last, 301u);
  }
}

TEST(Read, a_reader_that_runs_out_of_memory_costs_one_file) {
  class Greedy final : public formats::Reader {
   public:
    std::string_view name() const override { return "greedy"; }
    int probe(const model::SourceFile&, std::string_view head) const override { return head == "greedy" ? 90 : 0; }
    void read(formats::ByteSource&, formats::FileContext, model::Evidence&) const override { throw std::bad_alloc(); }
  };
  auto readers = keeping_readers();
  readers.push_back(std::make_unique<Greedy>());
  ScratchFolder dir;
  dir.write("a", "greedy");
  dir.write("b", "fine");
  const auto ev = read({dir.path()}, readers, {});
  ASSERT_TRUE(ev);
  EXPECT_EQ(content_of(*ev, "b"), "fine");
  ASSERT_EQ(ev->problems.size(), 1u);
  EXPECT_THAT(ev->problems[0].what, HasSubstr("given up"));
}

}  // namespace
}  // namespace holter::evidence
