#include "src/probes/machine_code/opcodes.hpp"

#include <algorithm>
#include <array>

namespace mgsync::machine_code {

namespace {

// `places` names the operands' places:
//   d general register written (bits 16 to 23)     D uniform register written (bits 16 to 23)
//   w the same, a pair                            l the same, as many as a load's size says (73 to 75)
//   a general register read (24 to 31)             A uniform register read (24 to 31)
//   b second operand: register (32 to 39), uniform register, number or constant, as the form says
//   c third operand: register (64 to 71), or in its place what the form says
//   B, C the same where plain operands are uniform registers
//   P, Q predicates written (81 to 83, 84 to 86)   p, q predicates read (87 to 89, 77 to 79)
//   x predicate read (68 to 70): of what a comparison of 64 bits goes on from
//   m, n predicates written, read: those of a number's bits (32 to 38), of one register all
//   - nothing but the guard                        ? not written down
struct row {
  std::uint16_t opcode;
  std::string_view name;
  std::string_view places;
};

// By all 12 bits, where forms of one opcode have names of their own.
constexpr row exact[] = {
    {0x5ab, "CGAERRBAR", "-"},    {0x9ab, "ERRBAR", "-"},    {0x9c7, "UCGABAR_ARV", "-"},
    {0xdc7, "UCGABAR_WAIT", "-"}, {0x9c5, "WARPGROUP", "-"}, {0x9f0, "HGMMA", "?"},
    {0x5a7, "SYNCS", "?"},        {0x9a7, "SYNCS", "?"},     {0x5b2, "SYNCS", "?"},
    {0x35d, "NANOSLEEP", "-"},    {0x95d, "NANOSLEEP", "-"}, {0x95c, "BPT", "-"},
    {0x82e, "ACQBULK", "-"},      {0x82d, "PREEXIT", "-"},   {0x82f, "ELECT", "DP"},
    {0x948, "WARPSYNC", "-"},     {0x348, "WARPSYNC", "a"},  {0x848, "WARPSYNC", "-"},
};

// By the low 9 bits: the forms have one name.
constexpr row by_base[] = {
    {0x002, "MOV", "db"},      {0x003, "P2R", "dan"},         {0x004, "R2P", "am"},
    {0x005, "CS2R", "w"},      {0x006, "VOTE", "dPp"},        {0x007, "SEL", "dabp"},
    {0x008, "FSEL", "dabp"},   {0x009, "FMNMX", "dabp"},      {0x00a, "FSET", "?"},
    {0x00b, "FSETP", "abPQp"}, {0x00c, "ISETP", "abPQpx"},    {0x010, "IADD3", "dabcPQpq"},
    {0x011, "LEA", "dabcPp"},  {0x012, "LOP3", "dabcP"},      {0x013, "IABS", "db"},
    {0x016, "PRMT", "dabc"},   {0x017, "IMNMX", "dabp"},      {0x019, "SHF", "dabc"},
    {0x01a, "SGXT", "dab"},    {0x01c, "PLOP3", "PQpqx"},     {0x020, "FMUL", "dab"},
    {0x021, "FADD", "dab"},    {0x023, "FFMA", "dabc"},       {0x024, "IMAD", "dabcp"},
    {0x025, "IMAD", "wabc"},   {0x026, "IDP", "dabc"},        {0x027, "IMAD", "dabc"},
    {0x028, "DMUL", "wab"},    {0x029, "DADD", "wac"},        {0x02a, "DSETP", "abPQp"},
    {0x02b, "DFMA", "wabc"},   {0x030, "HADD2", "?"},         {0x031, "HFMA2", "?"},
    {0x032, "HMUL2", "?"},     {0x035, "HFMA2", "dabc"},      {0x036, "VIADD", "dab"},
    {0x03b, "LDSM", "da"},     {0x03c, "HMMA", "dabc"},       {0x045, "I2FP", "db"},
    {0x048, "VIMNMX", "dabp"}, {0x082, "UMOV", "DB"},         {0x086, "VOTEU", "DPp"},
    {0x087, "USEL", "DABp"},   {0x08c, "UISETP", "?"},        {0x090, "UIADD3", "DABC"},
    {0x091, "ULEA", "DABC"},   {0x092, "ULOP3", "DABC"},      {0x096, "UPRMT", "DABC"},
    {0x099, "USHF", "DABC"},   {0x09c, "UPLOP3", "?"},        {0x0a4, "UIMAD", "DABC"},
    {0x0a5, "UIMAD", "DABC"},  {0x0b9, "ULDC", "D"},          {0x0bb, "ULDC", "D"},
    {0x0bd, "UFLO", "DB"},     {0x0bf, "UPOPC", "DB"},        {0x0c3, "S2UR", "D"},
    {0x0ca, "R2UR", "Da"},     {0x100, "FLO", "db"},          {0x101, "BREV", "db"},
    {0x105, "F2I", "db"},      {0x106, "I2F", "db"},          {0x108, "MUFU", "db"},
    {0x109, "POPC", "db"},     {0x10f, "F2F", "db"},          {0x110, "F2F", "db"},
    {0x111, "F2I", "db"},      {0x112, "I2F", "db"},          {0x118, "NOP", "-"},
    {0x119, "S2R", "d"},       {0x11b, "ENDCOLLECTIVE", "-"}, {0x11c, "B2R", "d"},
    {0x11d, "BAR", "-"},       {0x11e, "R2B", "?"},           {0x141, "BSYNC", "-"},
    {0x142, "BREAK", "-"},     {0x143, "CALL", "-"},          {0x144, "CALL", "-"},
    {0x145, "BSSY", "-"},      {0x146, "YIELD", "-"},         {0x147, "BRA", "-"},
    {0x149, "BRX", "?"},       {0x14a, "JMP", "-"},           {0x14c, "JMX", "?"},
    {0x14d, "EXIT", "-"},      {0x14e, "KILL", "-"},          {0x150, "RET", "?"},
    {0x152, "RET", "?"},       {0x155, "BMOV", "?"},          {0x156, "BMOV", "?"},
    {0x157, "WARPSYNC", "-"},  {0x180, "LD", "la"},           {0x181, "LDG", "la"},
    {0x182, "LDC", "la"},      {0x183, "LDL", "la"},          {0x184, "LDS", "la"},
    {0x185, "ST", "ab"},       {0x186, "STG", "ab"},          {0x187, "STL", "ab"},
    {0x188, "STS", "ab"},      {0x189, "SHFL", "daP"},        {0x18a, "ATOM", "dabP"},
    {0x18b, "ATOM", "dabcP"},  {0x18c, "ATOMS", "dab"},       {0x18d, "ATOMS", "dabc"},
    {0x18e, "REDG", "ab"},     {0x18f, "CCTL", "-"},          {0x192, "MEMBAR", "-"},
    {0x1a1, "MATCH", "daP"},   {0x1a8, "ATOMG", "dabP"},      {0x1a9, "ATOMG", "dabcP"},
    {0x1ab, "ERRBAR", "-"},    {0x1ae, "LDGSTS", "?"},        {0x1af, "LDGDEPBAR", "-"},
    {0x11a, "DEPBAR", "-"},    {0x1b5, "UTMALDG", "?"},       {0x1ba, "UBLKCP", "?"},
    {0x1bd, "STAS", "?"},      {0x1c6, "FENCE", "-"},         {0x1c3, "S2UR", "D"},
    {0x1c4, "REDUX", "Da"},    {0x1ca, "R2UR", "Da"},
};

const row* find(std::uint32_t opcode) {
  if (const auto* r = std::ranges::find(exact, opcode, &row::opcode); r != std::end(exact)) return r;
  const auto* r = std::ranges::find(by_base, opcode & 0x1ff, &row::opcode);
  return r == std::end(by_base) ? nullptr : r;
}

using file = register_name::file;

void add(std::vector<register_name>& list, file where, std::uint32_t number) {
  // URZ is 63 up to 9.x and 255 from 10.0 on.
  if (where == file::general && number == zero_register) return;
  if (where == file::uniform && (number == 63 || number == zero_register)) return;
  if (where == file::predicate && number == true_predicate) return;
  list.push_back({where, number});
}

void add_several(std::vector<register_name>& list, std::uint32_t first, unsigned count) {
  if (first == zero_register) return;
  for (unsigned k = 0; k < count; ++k) add(list, file::general, first + k);
}

void add_masked(std::vector<register_name>& list, const instruction& i) {
  const std::uint32_t mask = i.form() == 4 ? i.bits(32, 7) : 0x7f;
  for (std::uint32_t k = 0; k < true_predicate; ++k)
    if ((mask >> k & 1) != 0) add(list, file::predicate, k);
}

// The second and third operands. A form with something else than a register puts it into the second's place,
// and the register that is left into the third's.
void add_second_and_third(operands& found, const instruction& i, bool second, bool third, file plain) {
  const auto form = i.form();
  const bool replaced_second = form >= 4 && form <= 6;
  const bool replaced_third = form == 2 || form == 3 || form == 7;
  if (form == 1 || form == 0) {
    if (second) add(found.reads, plain, i.bits(32, 8));
    if (third) add(found.reads, plain, i.bits(64, 8));
    return;
  }
  if (replaced_second && third) add(found.reads, plain, i.bits(64, 8));
  if (replaced_third && second && third) add(found.reads, plain, i.bits(64, 8));
  if (form == 6 || form == 7) add(found.reads, file::uniform, i.bits(32, 6));
}

}  // namespace

std::string_view opcode_name(std::uint32_t opcode) {
  const row* r = find(opcode);
  return r == nullptr ? std::string_view{} : r->name;
}

bool reads_uniform_predicate(const instruction& i) {
  const auto name = i.name();
  return (name == "PLOP3" && i.bits(67, 1) != 0) || name == "USEL" ||
         (name.starts_with('U') && i.guard() != true_predicate);
}

operands operands_of(const instruction& i) {
  operands found;
  const row* r = find(i.opcode());
  if (r == nullptr || r->places == "?") return found;
  found.known = true;
  add(found.reads, file::predicate, i.guard());
  bool second = false, third = false;
  file plain = file::general;
  const bool memory = (i.opcode() & 0x180) == 0x180;  // loads, stores, atomics: plain registers in every form
  for (const char place : r->places) {
    switch (place) {
    case 'd': add(found.writes, file::general, i.bits(16, 8)); break;
    case 'w': add_several(found.writes, i.bits(16, 8), 2); break;
    case 'l':
      add_several(found.writes, i.bits(16, 8), i.bits(73, 3) == 5 ? 2 : i.bits(73, 3) == 6 ? 4 : 1);
      break;
    case 'D': add(found.writes, file::uniform, i.bits(16, 8)); break;
    case 'a': add(found.reads, file::general, i.bits(24, 8)); break;
    case 'A': add(found.reads, file::uniform, i.bits(24, 8)); break;
    case 'B': plain = file::uniform; [[fallthrough]];
    case 'b': second = true; break;
    case 'C': plain = file::uniform; [[fallthrough]];
    case 'c': third = true; break;
    case 'P': add(found.writes, file::predicate, i.bits(81, 3)); break;
    case 'Q': add(found.writes, file::predicate, i.bits(84, 3)); break;
    case 'p': add(found.reads, file::predicate, i.bits(87, 3)); break;
    case 'q': add(found.reads, file::predicate, i.bits(77, 3)); break;
    case 'm': add_masked(found.writes, i); break;
    case 'n': add_masked(found.reads, i); break;
    case 'x':
      if (!reads_uniform_predicate(i)) add(found.reads, file::predicate, i.bits(68, 3));
      break;
    default: break;
    }
  }
  constexpr std::uint32_t plain_generic_store = 0x385;  // ST: what it stores stands in the third place
  if (memory && second)
    add(found.reads, file::general, i.opcode() == plain_generic_store ? i.bits(64, 8) : i.bits(32, 8));
  else if (second || third) add_second_and_third(found, i, second, third, plain);
  return found;
}

}  // namespace mgsync::machine_code
