// The code of a kernel, looked up by name in what nvcc embeds in a program.
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstring>
#include <string>

#include <elf.h>
#include <gtest/gtest.h>

#include "src/base/errors.hpp"
#include "src/probes/fat_binary/images.hpp"
#include "src/probes/fat_binary/kernel_code.hpp"
#include "src/probes/machine_code/cubin.hpp"
#include "tests/unit/results/scratch_folder.hpp"

namespace mgsync::fat_binary { namespace {

const std::string& cubin() {
  static const std::string bytes = test::content_of(MGSYNC_AUDIT_CODE "/barriers_90.cubin");
  return bytes;
}
std::string code_in(const std::string& cubin, std::string_view kernel) {
  const auto image = machine_code::read_cubin(std::as_bytes(std::span(cubin)));
  const auto* f = image.find(kernel);
  return f == nullptr ? "" : std::string(reinterpret_cast<const char*>(f->code.data()), f->code.size() * 16);
}

template <class T>
std::string bytes_of(const T& value) {
  return {reinterpret_cast<const char*>(&value), sizeof value};
}
template <class T>
std::string number(T value) {
  return bytes_of(value);
}
// An image of a fat binary, and one fat binary of several.
std::string image_of(const std::string& cubin, std::uint32_t architecture) {
  std::string made = number<std::uint16_t>(2) + number<std::uint16_t>(0x101) + number<std::uint32_t>(64) +
                     number<std::uint64_t>(cubin.size()) + std::string(12, '\0') + number(architecture);
  made.resize(64);
  return made + cubin;
}
std::string fat(const std::string& images) {
  return number<std::uint32_t>(0xba55ed50) + number<std::uint16_t>(1) + number<std::uint16_t>(16) +
         number<std::uint64_t>(images.size()) + images;
}
// An object of the host with that section.
std::string object_of(const std::string& section, std::uint64_t claimed_bytes) {
  const std::string names("\0.nv_fatbin\0.shstrtab\0", 22);
  Elf64_Ehdr head{};
  std::memcpy(head.e_ident, ELFMAG, SELFMAG);
  head.e_ident[EI_CLASS] = ELFCLASS64;
  head.e_machine = EM_X86_64;
  head.e_shentsize = sizeof(Elf64_Shdr);
  head.e_shnum = 3;
  head.e_shstrndx = 2;
  head.e_shoff = sizeof head + section.size() + names.size();
  Elf64_Shdr none{}, code{}, of_names{};
  code.sh_name = 1;
  code.sh_type = SHT_PROGBITS;
  code.sh_offset = sizeof head;
  code.sh_size = claimed_bytes;
  of_names.sh_name = 12;
  of_names.sh_type = SHT_STRTAB;
  of_names.sh_offset = sizeof head + section.size();
  of_names.sh_size = names.size();
  return bytes_of(head) + section + names + bytes_of(none) + bytes_of(code) + bytes_of(of_names);
}

class program : public testing::Test {
 protected:
  std::string write(const std::string& bytes) {
    const auto file = folder_ / "program";
    test::write_to(file, bytes);
    return file.string();
  }
  std::string write_fat(const std::string& images) {
    const auto section = fat(images);
    return write(object_of(section, section.size()));
  }

 private:
  test::scratch_folder folder_;
};

TEST_F(program, has_the_code_of_its_kernels) {
  const auto wanted = code_in(cubin(), "sound_fences"), other = code_in(cubin(), "sound_volatile");
  ASSERT_GT(wanted.size(), 100U);
  ASSERT_NE(wanted, other);
  const code_of_program has(write_fat(image_of(cubin(), 90)), 90);
  EXPECT_EQ(has.of("sound_fences"), wanted);
  EXPECT_EQ(has.of("sound_volatile"), other);
  EXPECT_EQ(has.of("sound_fence"), std::nullopt);
}
TEST_F(program, has_the_code_for_the_architecture_that_runs) {
  auto changed = cubin();
  const auto code = code_in(changed, "sound_fences");
  changed[changed.find(code) + 16] ^= 1;
  const auto file = write_fat(image_of(changed, 80) + image_of(cubin(), 90));
  EXPECT_EQ(code_of_program(file, 90).of("sound_fences"), code);
  EXPECT_NE(code_of_program(file, 80).of("sound_fences"), code);
  EXPECT_EQ(code_of_program(file, 100).of("sound_fences"), std::nullopt);
}
TEST_F(program, without_code_for_gpus_has_none) {
  EXPECT_EQ(code_of_program("/nowhere", 90).of("k"), std::nullopt);
  EXPECT_EQ(code_of_program(write("no program"), 90).of("k"), std::nullopt);
  EXPECT_EQ(code_of_program("/proc/self/exe", 90).of("sound_fences"), std::nullopt);
  const auto damaged = image_of(cubin(), 90).substr(0, 1000);
  EXPECT_EQ(code_of_program(write_fat(damaged), 90).of("sound_fences"), std::nullopt);
}

// A section that is said to be larger than its file takes no memory for that.
TEST_F(program, is_read_no_further_than_it_goes) {
  const auto file = write(object_of(fat(image_of(cubin(), 90)), std::uint64_t{3} << 30));
  EXPECT_THROW(fat_sections_of(file), usage_error);
  const pid_t child = fork();
  if (child == 0) {
    try {
      fat_sections_of(file);
    } catch (const usage_error&) {}
    rusage used{};
    getrusage(RUSAGE_SELF, &used);
    _exit(used.ru_maxrss < 1'500'000 ? 0 : 1);  // KiB
  }
  int status = 0;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  EXPECT_EQ(status, 0) << "it took memory for 3 GiB";
}

}}  // namespace mgsync::fat_binary
