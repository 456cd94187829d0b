#include <stdio.h>

#include <mgsync/multi_grid.h>

/* Prints the sentence of a call that must be refused as wrong use. */
static int refused(int code) {
  printf("%d: %s\n", code, mgsync_last_error());
  return code == MGSYNC_USAGE;
}

int main(void) {
  mgsync_multi_grid* grids = NULL;
  const int first = 0;
  char handle[128];
  int team = 0, good = refused(mgsync_multi_grid_create(&grids, NULL, 0, 30.0));
  good &= refused(mgsync_multi_grid_make_team(grids, &team, &first, 1));
  good &= refused(mgsync_multi_grid_team_handle(grids, 1, 8, 0, handle, sizeof handle));
  return good && mgsync_multi_grid_handle_size() == sizeof handle ? 0 : 1;
}
