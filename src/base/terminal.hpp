// What stdout and stderr can show: how wide, in which characters, with which marks.
#pragma once

namespace mgsync {

struct terminal {
  int columns = 100;     // of the window; 100 where there is none
  bool window = false;   // somebody looks at it: lines are to be broken
  bool unicode = false;  // the locale's characters are UTF-8
  bool styled = false;   // bold and colours: a terminal that is not "dumb", and NO_COLOR is not set
};

// Of the file descriptor 1 (stdout) or 2 (stderr). A rank of MPI has no window: its launcher decides where
// its text goes.
terminal terminal_at(int descriptor);

}  // namespace mgsync
