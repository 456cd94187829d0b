// Which files `mgsync audit` reads: fat binaries, compressed ones, damaged ones, and those that are made to
// take long; it comes to an end with any bytes.
#include <algorithm>
#include <chrono>
#include <cstring>

#include "audited_code.hpp"
#include "src/audit/registers.hpp"
#include "src/base/errors.hpp"

namespace mgsync { namespace {

using namespace mgsync::test;

// --- fat binaries

template <class T>
void put(std::string& to, T value) {
  to.append(reinterpret_cast<const char*>(&value), sizeof value);
}
std::string image(std::uint16_t kind, const std::string& bytes, std::uint64_t flags = 0) {
  std::string made;
  put<std::uint16_t>(made, kind), put<std::uint16_t>(made, 0x101), put<std::uint32_t>(made, 64);
  put<std::uint64_t>(made, bytes.size());
  for (int i = 0; i < 3; ++i) put<std::uint32_t>(made, 0);
  put<std::uint32_t>(made, 90), put<std::uint64_t>(made, 0), put<std::uint64_t>(made, flags);
  put<std::uint64_t>(made, 0), put<std::uint64_t>(made, 0);
  made.resize(64);
  return made + bytes;
}
std::string fat_binary(const std::string& images) {
  std::string made;
  put<std::uint32_t>(made, 0xba55ed50), put<std::uint16_t>(made, 1), put<std::uint16_t>(made, 16);
  put<std::uint64_t>(made, images.size());
  return made + images;
}

TEST(audit, reads_both_kinds_of_code_of_a_fat_binary) {
  const auto all = audit::audit_bytes({{"fat", fat_binary(image(1, ptx()) + image(2, cubin()))}}, {});
  ASSERT_EQ(all.parts.size(), 2u);
  EXPECT_EQ(all.parts[0].functions.size(), all.parts[1].functions.size());
  EXPECT_TRUE(all.not_known.empty());
  EXPECT_NE(all.parts[0].name.find("PTX for 9.0"), std::string::npos) << all.parts[0].name;
}
// As nvcc 13.0 packs them. What was not decompressed, for want of a library, is said.
TEST(audit, reads_what_of_a_fat_binary_is_compressed) {
  for (const auto& [name, is_read] :
       {std::pair("packed_lz4", MGSYNC_WITH_LZ4 != 0), std::pair("packed_zstd", MGSYNC_WITH_ZSTD != 0)}) {
    const auto bytes = content(MGSYNC_AUDIT_CODE "/" + std::string(name) + ".fatbin");
    const auto all = audit::audit_bytes({{name, bytes}}, {});
    if (!is_read) {
      ASSERT_EQ(all.not_known.size(), 1u);
      EXPECT_NE(all.not_known[0].find("cuobjdump"), std::string::npos);
      continue;
    }
    ASSERT_EQ(all.parts.size(), 2u) << name;
    EXPECT_TRUE(all.not_known.empty());
    std::size_t texts = 0;
    for (const auto& part : all.parts) {
      texts += part.text.empty() ? 0 : 1;
      ASSERT_EQ(part.functions.size(), 1u);
      EXPECT_GT(part.functions[0].steps.size(), 10u) << name;
      if (!part.text.empty()) { EXPECT_EQ(found_in(part.reports[0]), (words{"fault release"})) << name; }
    }
    EXPECT_EQ(texts, 1u);
    // Wherever it is cut or changed, it is read or refused by a sentence.
    for (std::size_t at = 16; at < bytes.size(); at += 3) {
      auto damaged = bytes;
      damaged[at] = static_cast<char>(damaged[at] ^ 0x41);
      try {
        audit::audit_bytes({{name, damaged}}, {});
      } catch (const usage_error& error) {
        EXPECT_NE(std::string(error.what()).find("accepted: "), std::string::npos) << error.what();
      }
    }
  }
}
TEST(audit, refuses_a_compressed_image_that_is_damaged_or_too_large) {
  const auto of = [](std::uint64_t flag, std::uint64_t unpacked) -> std::string {
    auto made = image(2, "packed", flag);
    std::memcpy(made.data() + 56, &unpacked, sizeof unpacked);
    try {
      audit::audit_bytes({{"given", fat_binary(made)}}, {});
    } catch (const usage_error& error) { return error.what(); }
    return "accepted";
  };
  EXPECT_NE(of(0x2000, std::uint64_t{1} << 40).find("accepted: 256 MiB"), std::string::npos);
  if (MGSYNC_WITH_LZ4) { EXPECT_NE(of(0x2000, 100).find("is damaged"), std::string::npos); }
  if (MGSYNC_WITH_ZSTD) { EXPECT_NE(of(0x8000, 100).find("is damaged"), std::string::npos); }
}

// --- any bytes

TEST(audit, refuses_what_it_cannot_read_with_a_sentence) {
  const auto refusal = [](const std::string& bytes) -> std::string {
    try {
      audit::audit_bytes({{"given", bytes}}, {});
    } catch (const usage_error& error) { return error.what(); }
    return "accepted";
  };
  for (const std::string& bytes :
       {std::string(), std::string("hello"), std::string(100, '\0'), cubin().substr(0, 200),
        fat_binary(image(2, "x")), fat_binary(image(1, ptx())).substr(0, 500),
        std::string(".version 9.0\n.entry k() { mov.u32")}) {
    EXPECT_EQ(refusal(bytes).rfind("given: ", 0), 0u) << refusal(bytes);
    EXPECT_NE(refusal(bytes).find("accepted: PTX, a cubin"), std::string::npos) << refusal(bytes);
  }
}
TEST(audit, reads_no_image_that_lies_outside_of_its_file) {
  auto bytes = fat_binary(image(2, cubin()));
  for (const std::size_t size_at : {std::size_t{8}, std::size_t{16 + 8}}) {
    auto longer = bytes;
    longer[size_at + 4] = 1;  // 4 GiB more
    try {
      audit::audit_bytes({{"given", longer}}, {});
      ADD_FAILURE() << size_at;
    } catch (const usage_error& error) {
      EXPECT_NE(std::string(error.what()).find("lies outside of the file"), std::string::npos)
          << error.what();
    }
  }
}
// Cut anywhere, and with single bytes changed: it is read, or refused by a sentence, and nothing else.
TEST(audit, survives_damaged_files) {
  std::size_t refused = 0, read = 0;
  const auto go = [&](const std::string& bytes) {
    try {
      audit::audit_bytes({{"given", bytes}}, {});
      ++read;
    } catch (const usage_error&) { ++refused; }
  };
  const std::string fat = fat_binary(image(1, ptx()) + image(2, cubin()));
  for (const auto* whole : {&ptx(), &cubin(), &fat})
    for (std::size_t cut = 0; cut < whole->size(); cut += 1 + whole->size() / 23) go(whole->substr(0, cut));
  for (std::size_t at = 0; at < cubin().size(); at += 2'711) {
    auto bytes = cubin();
    bytes[at] = static_cast<char>(~bytes[at]);
    go(bytes);
  }
  EXPECT_GT(refused, 10u);
  EXPECT_GT(read, 10u);
}
// Texts made to take long: seconds each, of a minute that is given.
TEST(audit, ends_soon_with_code_that_goes_too_many_ways) {
  std::string loops =
      ".version 9.0\n.visible .entry k(){\n.reg .pred %p<9>;.reg .b32 %r<9>;.reg .b64 %rd<9>;\n";
  std::string ends, polls = loops, braces = ".version 9.0\n.visible .entry k(){\n";
  for (int i = 0; i < 6'000; ++i) {
    loops += "L" + std::to_string(i) + ":\nld.volatile.global.u32 %r1, [%rd1];\nsetp.ne.s32 %p1, %r1, %r2;\n";
    ends = "@%p1 bra L" + std::to_string(i) + ";\n" + ends;
    const auto label = "P" + std::to_string(i);
    polls += "st.volatile.global.u32 [%rd2], %r2;\n" + label +
             ":\nld.volatile.global.u32 %r1, [%rd1];\nsetp.ne.s32 %p1, %r1, %r2;\n@%p1 bra " + label + ";\n";
    braces += "{";
  }
  loops += ends + "ret;\n}\n";
  polls += "ret;\n}\n";
  const auto begin = std::chrono::steady_clock::now();
  for (const auto* text : {&loops, &polls}) {
    const auto r = report_of({{"given", *text}}, "k");
    EXPECT_TRUE(std::any_of(r.not_known.begin(), r.not_known.end(), [](const auto& one) {
      return one.what.find("too many") != std::string::npos;
    })) << "it must be said what was left out";
  }
  EXPECT_THROW(audit::audit_bytes({{"given", braces}}, {}), usage_error);
  EXPECT_LT(std::chrono::steady_clock::now() - begin, std::chrono::minutes(1));
}

TEST(audit, ends_soon_with_machine_code_in_which_much_is_live_at_many_places) {
  constexpr std::size_t steps = 100'000;
  constexpr int registers = 700;
  audit::function f;
  f.registers = registers;
  f.steps.resize(steps);
  for (std::size_t at = 0; at + 1 < steps; ++at) f.steps[at].next = {at + 1, at / 2};
  for (int r = 0; r < registers; ++r) f.steps.back().reads.push_back(r);
  f.steps[10].writes = f.steps[20].writes = {7};
  const auto begin = std::chrono::steady_clock::now();
  audit::separate_values(f);
  EXPECT_LT(std::chrono::steady_clock::now() - begin, std::chrono::minutes(1));
  EXPECT_EQ(f.steps[10].writes, f.steps[20].writes);
}

}}  // namespace mgsync
