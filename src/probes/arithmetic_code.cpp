#include "src/probes/arithmetic_code.hpp"

#include <map>
#include <stdexcept>
#include <string>

namespace mgsync::probes {

namespace {

struct family {
  const char* name;
  const char* opcode;
  std::map<unsigned, double> stall;  // cycles until a dependent instruction may issue
};

const family families[] = {
    {"fp32_add", "FADD", {{0, 4}}}, {"fp64_add", "DADD", {{0, 8}, {80, 6}}}, {"int_add", "IADD3", {{0, 4}}}};

const family& find(const std::string& operation) {
  for (const auto& f : families)
    if (operation == f.name) return f;
  throw std::invalid_argument("no chain of " + operation);
}

}  // namespace

machine_code::expected_code expected_add_chain(const std::string& operation, unsigned links) {
  const auto& f = find(operation);
  machine_code::expected_code code;
  code.kernel = operation + "_" + std::to_string(links);
  code.links = links;
  code.per_link = {{f.opcode, 1}};
  code.extras = {{"ISETP", 1}};  // makes the clock read wait for the last sum
  code.result_of = f.opcode;
  code.stall_per_link = f.stall;
  return code;
}

machine_code::expected_code expected_add_loop(const std::string& operation) {
  auto code = expected_add_chain(operation, arithmetic_loop_body);
  code.kernel = operation + "_loop_" + std::to_string(arithmetic_loop_body);
  code.looped = true;
  // The loop counter: set to zero, increment, compare, and the branch back.
  code.extras = {{"ISETP", 2}, {"UMOV", 1}, {"MOV", 1}, {"UIADD3", 1}, {"VIADD", 1}, {"BRA", 1}};
  return code;
}

std::vector<machine_code::expected_code> arithmetic_code() {
  std::vector<machine_code::expected_code> all;
  for (const auto& f : families) {
    for (const unsigned links : arithmetic_lengths) all.push_back(expected_add_chain(f.name, links));
    all.push_back(expected_add_loop(f.name));
  }
  return all;
}

machine_code::expected_code expected_unrolled(unsigned links) {
  auto code = expected_add_chain("fp32_add", links);
  code.kernel = "fp32_add_unrolled_" + std::to_string(links);
  return code;
}

std::vector<machine_code::expected_code> unrolled_code() {
  std::vector<machine_code::expected_code> all;
  for (const unsigned links : unrolled_lengths) all.push_back(expected_unrolled(links));
  return all;
}

}  // namespace mgsync::probes
