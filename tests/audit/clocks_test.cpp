// What `mgsync audit` says of a clock that machine code reads elsewhere than PTX does.
#include "audited_code.hpp"

namespace mgsync { namespace {

using namespace mgsync::test;

TEST(audit, compares_where_the_clock_is_read) {
  const std::vector<audit::named_bytes> both{{"k.ptx", ptx()}, {"k.cubin", cubin()}};
  EXPECT_EQ(found_in(report_of(both, "clocks_around_a_barrier")), words{});
  EXPECT_EQ(found_in(report_of(both, "clocks_around_a_load")), words{"doubt clock-not-waited"});
  EXPECT_EQ(found_in(report_of(both, "clocks_around_arithmetic")), words{});
  EXPECT_FALSE(report_of({{"k.cubin", cubin()}}, "clocks_around_a_barrier").not_known.empty());
  EXPECT_FALSE(report_of({{"k.ptx", ptx()}}, "clocks_around_a_barrier").not_known.empty());
}
// PTX as if the source had meant something else than what machine code has.
TEST(audit, notices_what_is_not_between_the_clocks_where_it_was) {
  const std::string kernel = "clocks_around_a_load";
  const auto begin = ptx().find(".entry " + kernel + "(");
  const auto load = ptx().find("ld.volatile.global", begin),
             second = ptx().find("mov.u64", ptx().find("mov.u64", begin) + 1);
  ASSERT_LT(load, second);
  std::string text = ptx();
  const std::string line = text.substr(load, text.find('\n', load) - load);
  text.insert(second + text.substr(second).find('\n') + 1, line + "\n");
  text.erase(load, line.size());
  EXPECT_EQ(found_in(report_of({{"k.ptx", text}, {"k.cubin", cubin()}}, kernel)).count("fault clock-moved"),
            1u);
  const auto barrier = changed(ptx(), "clocks_around_a_barrier", "bar.sync");
  EXPECT_EQ(found_in(report_of({{"k.ptx", barrier}, {"k.cubin", cubin()}}, "clocks_around_a_barrier")),
            words{"fault clock-moved"});
}

TEST(audit, notices_what_machine_code_has_carried_out_from_between_the_clocks) {
  const std::string kernel = "clocks_around_arithmetic";
  auto text = ptx();
  const auto first = text.find("%clock64", text.find(".entry " + kernel + "("));
  ASSERT_NE(first, std::string::npos);
  text.insert(text.find('\n', first) + 1, "bar.sync 0;\n");
  EXPECT_EQ(found_in(report_of({{"k.ptx", text}, {"k.cubin", cubin()}}, kernel)), words{"fault clock-moved"});
}

}}  // namespace mgsync
