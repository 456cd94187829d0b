/* The version of mgsync. Code that is compiled with one version and linked or run with another is told so: by
   the linker (mgsync::v1, the library's SONAME), by the other processes when a group is made, and by kernels,
   whose sync() returns false. */
#ifndef MGSYNC_VERSION_H
#define MGSYNC_VERSION_H

#define MGSYNC_VERSION_MAJOR 0
#define MGSYNC_VERSION_MINOR 1
#define MGSYNC_VERSION_PATCH 0
/* 100 is 0.1.0, 10203 is 1.2.3. */
#define MGSYNC_VERSION (MGSYNC_VERSION_MAJOR * 10000 + MGSYNC_VERSION_MINOR * 100 + MGSYNC_VERSION_PATCH)

/* The version of what kernels, library and processes tell each other: the layout of handles and records, the
   flags, the first exchange. It grows with any change of these, and from the first release on mgsync::v1 with
   it. */
#define MGSYNC_ABI_VERSION 3

#endif
