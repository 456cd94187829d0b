#include <stdio.h>

#include <mgsync/multi_grid.h>

int main(void) {
  mgsync_multi_grid* grids = NULL;
  const int code = mgsync_multi_grid_create(&grids, NULL, 0, 30.0);
  printf("%d: %s\n", code, mgsync_last_error());
  return code == MGSYNC_USAGE ? 0 : 1;
}
