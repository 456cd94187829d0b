// What the body of communicator with MPI asks of the ranks of the job, all of them, as processes.
#pragma once

#include <string>

namespace mgsync {

class communicator;

// Collective over all ranks of the job: tells each rank the others' processes.
void introduce_ranks(const communicator& all);
bool job_has_several_ranks();  // false before introduce_ranks()
void ranks_begin_to_end();     // of communicator::is_over()

// A rank whose wait is over its time asks all others by a message, which those that wait too answer by
// calling this now and then. On other hosts nothing else tells who is missing.
void answer_questions();
// "; rank 3 (process 4711 on n1) did not come": those that do not answer within half a second; empty where
// all do, or it is not known.
std::string who_did_not_come();

}  // namespace mgsync
