#include "barriers/words.hpp"

#include <gtest/gtest.h>

#include <array>

#include "src/base/closest_word.hpp"
#include "src/base/comma_list.hpp"
#include "src/base/errors.hpp"
#include "src/harness/axis.hpp"
#include "tests/unit/barriers/made_up_variant.hpp"
#include "tests/unit/refused.hpp"

namespace mgsync { namespace {

using test::refused;

// As studies declare them: what is typed goes through an axis.
constexpr axis_of<int> member_axis({.name = "members", .help = "how many"},
                                   numbers_in{.least = 1, .most = most_members, .ranges = true});
constexpr axis_of<shape> shape_axis({.name = "shape", .help = "of what"},
                                    read_by<shape>{.accepted = accepted_shapes, .read = read_shapes});
constexpr axis_of<load> load_axis({.name = "load", .help = "beside it"},
                                  read_by<load>{.accepted = accepted_loads, .read = read_load});

template <class Value>
std::vector<Value> typed(const axis_of<Value>& axis, std::string_view text) {
  const auto words = split_at_commas(text);
  return std::any_cast<std::vector<Value>>(
      axis.values_of(std::vector<std::string>(words.begin(), words.end()), topology::device::gpu));
}

TEST(members, ranges_and_numbers_in_order_without_duplicates) {
  EXPECT_EQ(typed(member_axis, "1-4,8"), (std::vector{1, 2, 3, 4, 8}));
  EXPECT_EQ(typed(member_axis, "8"), (std::vector{8}));
  EXPECT_EQ(typed(member_axis, "4,2,1-3"), (std::vector{4, 2, 1, 3}));
  EXPECT_EQ(typed(member_axis, "7-7"), (std::vector{7}));
  EXPECT_EQ(typed(member_axis, "1-65536").size(), 65536U);
}

TEST(members, refuses_what_is_no_number_of_members) {
  for (const char* text :
       {"", ",", "1,", "0", "-1", "4-1", "1-", "a", "1.5", "1-2-3", "99999999999", "65537", "1 2", "+1"}) {
    const std::string message = refused([text] { typed(member_axis, text); });
    EXPECT_NE(message.find("--members"), std::string::npos) << message;
    EXPECT_NE(message.find("1-4,8"), std::string::npos) << message;
  }
}

TEST(shapes, blocks_per_sm_and_blocks_in_all) {
  const auto shapes = typed(shape_axis, "1x32,4x256,b1x32,1x32");
  ASSERT_EQ(shapes.size(), 3U);
  EXPECT_EQ(shapes[0], (shape{.blocks_per_sm = 1, .blocks = {}, .threads_per_block = 32}));
  EXPECT_EQ(shapes[1], (shape{.blocks_per_sm = 4, .blocks = {}, .threads_per_block = 256}));
  EXPECT_EQ(shapes[2], (shape{.blocks_per_sm = {}, .blocks = 1, .threads_per_block = 32}));
  for (const shape& one : shapes) EXPECT_EQ(typed(shape_axis, to_string(one)), std::vector{one});
  EXPECT_EQ(to_string(shapes[2]), "b1x32");
}

TEST(shapes, all_is_36_powers_of_two) {
  const auto shapes = typed(shape_axis, "all");
  EXPECT_EQ(shapes.size(), 36U);
  EXPECT_EQ(to_string(shapes.front()), "1x32");
  EXPECT_EQ(to_string(shapes.back()), "32x1024");
  EXPECT_EQ(typed(shape_axis, "all,2x64"), shapes);
}

TEST(shapes, refuses_what_is_no_shape) {
  for (const char* text : {"", "1", "x", "1x", "x32", "0x32", "1x0", "1x1025", "1x32x4", "bx32", "c1x32",
                           "1X32", "-1x32", "1x32,"})
    EXPECT_NE(refused([text] { typed(shape_axis, text); }).find("--shape"), std::string::npos) << text;
}

TEST(loads, kinds_with_strength_and_place) {
  const auto loads =
      typed(load_axis, "idle,peer-stores,peer-loads:16x64,local-stores@all,host-reads:1x32@others,idle");
  ASSERT_EQ(loads.size(), 5U);
  EXPECT_TRUE(loads[0].idle());
  EXPECT_EQ(loads[1], (load{traffic::peer_stores, 0, 512, load_sms::others}));
  EXPECT_EQ(loads[2], (load{traffic::peer_loads, 16, 64, load_sms::others}));
  EXPECT_EQ(loads[3], (load{traffic::local_stores, 0, 128, load_sms::all}));
  EXPECT_EQ(loads[4], (load{traffic::host_reads, 1, 32, load_sms::others}));
  EXPECT_EQ(to_string(loads[0]), "idle");
  EXPECT_EQ(to_string(loads[1]), "peer-stores:x512@others");
  for (const load& one : loads) EXPECT_EQ(typed(load_axis, to_string(one)), std::vector{one});
}

TEST(loads, refuses_what_is_no_load) {
  for (const char* text : {"", "both", "streaming", "idle@all", "idle:x32", "peer-stores:", "peer-stores:16",
                           "peer-stores:0x32", "peer-stores:16x33", "peer-stores:x2048", "peer-stores@some",
                           "peer-stores@", "peer-stores:16x32@all@all"}) {
    const std::string message = refused([text] { typed(load_axis, text); });
    EXPECT_NE(message.find("--load"), std::string::npos) << message;
    EXPECT_NE(message.find("peer-stores:16x512@others"), std::string::npos) << message;
  }
  EXPECT_NE(refused([] { typed(load_axis, "peer-store@all"); }).find("did you mean 'peer-stores'?"),
            std::string::npos);
}

using test::made_up_variant;
constexpr barrier_variant callable(std::string_view name) {
  auto made = made_up_variant(name);
  made.call.call = "it()";
  return made;
}
constexpr barrier_variant openmp_variants[] = {made_up_variant("runtime"), made_up_variant("std-barrier")};
constexpr barrier_variant mpi_variants[] = {made_up_variant("default")};
constexpr barrier_variant multigrid_variants[] = {made_up_variant("auto"), callable("inbox"),
                                                  made_up_variant("dissemination")};
const backend openmp{.name = "openmp", .summary = "", .variants = openmp_variants};
const backend mpi{.name = "mpi", .summary = "", .variants = mpi_variants};
const backend multigrid{.name = "multigrid", .summary = "", .variants = multigrid_variants};
const backend* const table[] = {&openmp, &mpi, &multigrid};
constexpr axis_of<backend_choice> backend_axis({.name = "backend", .help = "what is compared"},
                                               read_by<backend_choice>{.read = [](auto words, auto& into) {
                                                 return read_backend(words, into, table);
                                               }});

std::vector<std::string> chosen(std::string_view text) {
  std::vector<std::string> names;
  for (const backend_choice& one : typed(backend_axis, text)) names.push_back(to_string(one));
  return names;
}

using names = std::vector<std::string>;

TEST(backends, words) {
  EXPECT_EQ(chosen("default"), (names{"openmp:runtime", "mpi:default", "multigrid:auto", "multigrid:inbox"}))
      << "and inbox, as no program can call auto";
  EXPECT_EQ(chosen("all"), (names{"openmp:runtime", "openmp:std-barrier", "mpi:default", "multigrid:auto",
                                  "multigrid:inbox", "multigrid:dissemination"}));
  EXPECT_EQ(chosen("multigrid"), names{"multigrid:auto"});
  EXPECT_EQ(chosen("multigrid:inbox"), names{"multigrid:inbox"});
  EXPECT_EQ(chosen("openmp:*"), (names{"openmp:runtime", "openmp:std-barrier"}));
  EXPECT_EQ(chosen("openmp:std*"), names{"openmp:std-barrier"});
  EXPECT_EQ(chosen("multigrid:inbox,mpi,multigrid:*"),
            (names{"multigrid:inbox", "mpi:default", "multigrid:auto", "multigrid:dissemination"}));
}

TEST(backends, unknown_words_are_answered_with_the_accepted_and_the_nearest) {
  const std::string name = refused([] { typed(backend_axis, "mutligrid"); });
  EXPECT_NE(name.find("'mutligrid'"), std::string::npos) << name;
  EXPECT_NE(name.find("did you mean 'multigrid'?"), std::string::npos) << name;
  EXPECT_NE(name.find("openmp, mpi, multigrid"), std::string::npos) << name;
  const std::string variant = refused([] { typed(backend_axis, "openmp:std_barrier"); });
  EXPECT_NE(variant.find("did you mean 'std-barrier'?"), std::string::npos) << variant;
  EXPECT_NE(variant.find("runtime, std-barrier"), std::string::npos) << variant;
  EXPECT_THROW(typed(backend_axis, "openmp:barrier*"), usage_error);
  EXPECT_EQ(refused([] { typed(backend_axis, "zzzzzz"); }).find("did you mean"), std::string::npos);
  EXPECT_NE(refused([] { typed(backend_axis, "mpi,,openmp"); }).find("unknown backend ''"),
            std::string::npos);
  refused([] { typed(backend_axis, "openmp:"); });
  refused([] { typed(backend_axis, ":runtime"); });
  refused([] { typed(backend_axis, "openmp:runtime:x"); });
}

TEST(placements, a_list_takes_the_numbers_behind_it) {
  using words = std::vector<std::string>;
  const auto read = [](const words& typed) {
    words found;
    for (std::span<const std::string> rest(typed); !rest.empty();) {
      const auto took = read_placement(rest, found);
      if (took == 0) return words{"none: " + rest.front()};
      rest = rest.subspan(took);
    }
    return found;
  };
  EXPECT_EQ(read({"near", "list:0", "3", "5", "far", "spread"}),
            (words{"near", "list:0,3,5", "far", "spread"}));
  EXPECT_EQ(read({"list:0", "list:1"}), (words{"list:0", "list:1"}));
  for (const char* wrong : {"", "nearest", "list:", "list:a", "3", "list:-1"})
    EXPECT_EQ(read({wrong}), words{std::string("none: ") + wrong});
}

TEST(closest, takes_the_nearest_if_it_is_near) {
  constexpr std::array<std::string_view, 3> accepted = {"hub", "inbox", "dissemination"};
  EXPECT_EQ(closest("inbx", accepted), "inbox");
  EXPECT_EQ(closest("disemnation", accepted), "dissemination");
  EXPECT_EQ(closest("xyz", accepted), std::nullopt);
  EXPECT_EQ(closest("", accepted), std::nullopt);
  EXPECT_EQ(closest(std::string(100000, 'a'), accepted), std::nullopt);
}

}}  // namespace mgsync
