// Which processes are on one host: names alone do not tell, since clusters and containers exist where every
// node is called "localhost".
#pragma once

#include <span>
#include <string>
#include <vector>

namespace mgsync {

// This host's name, as every result, message and store has it: the kernel's, "localhost" where it has none,
// or what stands for it.
std::string host_name();
// From here on host_name() is a pseudonym: for those who pass results on and do not want to tell where they
// come from.
void hide_host_name();
// "host-" and ten hexadecimal digits of the name's SHA-256: the same for the same name, another for another.
// Who guesses the name can check the guess. A pseudonym stands for itself. Pure.
std::string pseudonym_of(const std::string& name);

// The kernel's identifier of this boot, the same for all processes of a host and no other; empty where it
// does not tell.
std::string boot_id();

// A name for the host of each process, equal where both name and boot are: hosts of one name become "n",
// "n-2", "n-3" in the order of their first process. Pure.
std::vector<std::string> distinct_hosts(std::span<const std::string> names,
                                        std::span<const std::string> boots);

}  // namespace mgsync
