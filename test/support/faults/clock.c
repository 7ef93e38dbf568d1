// Shifts the wall clock of a process that is started with this library in LD_PRELOAD. The file LARDER_TEST_CLOCK holds the
// offset in seconds as one int64. The monotonic clock does not change, as when an administrator sets the clock.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

static volatile int64_t *offset;
static int (*real_clock)(clockid_t, struct timespec *);
static int (*real_day)(struct timeval *, void *);

__attribute__((constructor)) static void begin(void) {
  real_clock = dlsym(RTLD_NEXT, "clock_gettime");
  real_day = dlsym(RTLD_NEXT, "gettimeofday");
  const char *path = getenv("LARDER_TEST_CLOCK");
  int file = path ? open(path, O_RDONLY | O_CLOEXEC) : -1;
  if (file < 0) return;
  void *mapped = mmap(0, sizeof *offset, PROT_READ, MAP_SHARED, file, 0);
  if (mapped != MAP_FAILED) offset = mapped;
  close(file);
}

int clock_gettime(clockid_t which, struct timespec *at) {
  if (!real_clock) real_clock = dlsym(RTLD_NEXT, "clock_gettime");
  int failed = real_clock(which, at);
  if (!failed && offset && which == CLOCK_REALTIME) at->tv_sec += *offset;
  return failed;
}

int gettimeofday(struct timeval *at, void *zone) {
  if (!real_day) real_day = dlsym(RTLD_NEXT, "gettimeofday");
  int failed = real_day(at, zone);
  if (!failed && offset) at->tv_sec += *offset;
  return failed;
}
