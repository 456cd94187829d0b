// Which processes are on the same host. Names alone do not tell: on some clusters and in some containers
// every node is called "localhost".
#pragma once

#include <span>
#include <string>
#include <vector>

namespace mgsync {

// This host's name in every result, message and store: the kernel's name, "localhost" where that is empty, or
// the pseudonym after hide_host_name().
std::string host_name();
// From now on host_name() returns a pseudonym (--anonymous).
void hide_host_name();
// "host-" and ten hexadecimal digits of the name's SHA-256. Not a secret: whoever guesses a name can check
// the guess. The pseudonym of a pseudonym is itself. Pure.
std::string pseudonym_of(const std::string& name);

// The kernel's identifier of this boot, the same for all processes of a host and no other; empty where it
// does not tell.
std::string boot_id();

// A name for the host of each process, equal where both name and boot are: hosts of one name become "n",
// "n-2", "n-3" in the order of their first process. Pure.
std::vector<std::string> distinct_hosts(std::span<const std::string> names,
                                        std::span<const std::string> boots);

}  // namespace mgsync
