/* Counts each call that changes a file below one folder, and lets one of them go wrong.
 *
 * Loaded before the C library (LD_PRELOAD), so that Python, SQLite, MuPDF, FFmpeg and the vector engine are all counted. What is
 * to happen stands in a page that all processes share: see `Control` in steps.py, which writes it.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/sendfile.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/uio.h>
#include <time.h>
#include <unistd.h>

enum how { COUNT, KILL, KILL_HALF, FAIL_ONCE, FAIL_ON, SHORT };
enum group { MAKES = 1, WRITES = 2, NAMES = 4, REMOVES = 8, SYNCS = 16, MARKS = 32 };

struct control {
  _Atomic int64_t armed, counted, at, how, error, groups, hit, later;
  char root[512];
  char what[512];
};

static struct control *control;
static int trace = -1;

__attribute__((constructor)) static void begin(void) {
  const char *page = getenv("FAULTS_CONTROL"), *log = getenv("FAULTS_TRACE");
  if (page == NULL) return;
  int file = (int)syscall(SYS_openat, AT_FDCWD, page, O_RDWR | O_CLOEXEC);
  if (file < 0) return;
  void *shared = mmap(NULL, sizeof *control, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
  syscall(SYS_close, file);
  if (shared != MAP_FAILED) control = shared;
  if (log != NULL) trace = (int)syscall(SYS_openat, AT_FDCWD, log, O_WRONLY | O_APPEND | O_CLOEXEC);
}

static int armed(void) { return control != NULL && atomic_load(&control->armed); }

static int below(const char *path) {
  size_t size = strlen(control->root);
  return size && !strncmp(path, control->root, size) && (path[size] == 0 || path[size] == '/');
}

/* The absolute path of what is named, or of an open file. */
static const char *full(int folder, const char *path, char *into) {
  if (path != NULL && path[0] == '/') return path;
  char link[64];
  if (folder == AT_FDCWD) strcpy(link, "/proc/self/cwd");
  else snprintf(link, sizeof link, "/proc/self/fd/%d", folder);
  long size = syscall(SYS_readlink, link, into, 4095);
  if (size < 0) size = 0;
  into[size] = 0;
  if (path != NULL && size + strlen(path) + 2 < 4096) {
    into[size] = '/';
    strcpy(into + size + 1, path);
  }
  return into;
}

static void note(int64_t number, const char *op, const char *path, const char *other, long size) {
  if (trace < 0) return;
  char line[9000];
  int length = snprintf(line, sizeof line, "%ld\t%d\t%s\t%s\t%s\t%ld\n", (long)number, getpid(), op, path, other, size);
  syscall(SYS_write, trace, line, length < (int)sizeof line ? length : (int)sizeof line - 1);
}

static void die(void) {
  syscall(SYS_kill, 0, SIGKILL);
  for (;;) syscall(SYS_pause);
}

/* What is to become of this step: 0 go on, else -1 it fails (errno is set), 1 half of it is done, 2 half and then the end. */
static int step(enum group group, const char *op, const char *path, const char *other, long size) {
  if (!below(path) && !below(other)) return 0;
  int64_t number = atomic_fetch_add(&control->counted, 1) + 1, at = atomic_load(&control->at);
  note(number, op, path, other, size);
  int how = (int)atomic_load(&control->how);
  if (at == 0 || number < at || how == COUNT) return 0;
  if (how == SHORT && (group != WRITES || size <= 1)) return 0;
  if (how == FAIL_ON ? !(atomic_load(&control->groups) & group) : how != SHORT && number != at) return 0;
  if (atomic_fetch_add(&control->hit, 1) == 0) snprintf(control->what, sizeof control->what, "%s %s %s", op, path, other);
  if (how == SHORT) return 1;
  if (how == KILL) die();
  if (how == KILL_HALF) {
    if (group == WRITES && size > 1) return 2;
    die();
  }
  if (how == FAIL_ON && group == WRITES && size > 1 && number == at) return 1; /* what still fits */
  errno = (int)atomic_load(&control->error);
  return -1;
}

static int step_at(enum group group, const char *op, int folder, const char *path) {
  char into[4096 * 2];
  return step(group, op, full(folder, path, into), "", 0);
}

static int step_between(const char *op, int from, const char *old, int to, const char *new) {
  char one[4096 * 2], other[4096 * 2];
  return step(NAMES, op, full(from, old, one), full(to, new, other), 0);
}

static int step_open(enum group group, const char *op, int file, long size) {
  char into[4096 * 2];
  int before = errno, became = step(group, op, full(file, NULL, into), "", size);
  if (became >= 0) errno = before;
  return became;
}

#define REAL(name) ((__typeof__(&name))real(&name##_real, #name))
#define KEEP(name) static void *name##_real
static void *real(void **kept, const char *name) {
  if (*kept == NULL) *kept = dlsym(RTLD_NEXT, name);
  return *kept;
}

#define CHANGES(flags) ((flags) & (O_CREAT | O_TRUNC))
#define OPEN(name)                                                                     \
  KEEP(name);                                                                          \
  int name(const char *path, int flags, ...) {                                         \
    va_list rest;                                                                      \
    va_start(rest, flags);                                                             \
    mode_t mode = (flags & O_CREAT) || (flags & O_TMPFILE) == O_TMPFILE ? va_arg(rest, mode_t) : 0; \
    va_end(rest);                                                                      \
    if (armed() && CHANGES(flags) && step_at(MAKES, "open", AT_FDCWD, path) < 0) return -1; \
    return REAL(name)(path, flags, mode);                                              \
  }
OPEN(open)
OPEN(open64)

#define OPENAT(name)                                                                   \
  KEEP(name);                                                                          \
  int name(int folder, const char *path, int flags, ...) {                             \
    va_list rest;                                                                      \
    va_start(rest, flags);                                                             \
    mode_t mode = (flags & O_CREAT) || (flags & O_TMPFILE) == O_TMPFILE ? va_arg(rest, mode_t) : 0; \
    va_end(rest);                                                                      \
    if (armed() && CHANGES(flags) && step_at(MAKES, "open", folder, path) < 0) return -1; \
    return REAL(name)(folder, path, flags, mode);                                      \
  }
OPENAT(openat)
OPENAT(openat64)

#define FOPEN(name)                                                                    \
  KEEP(name);                                                                          \
  FILE *name(const char *path, const char *mode) {                                     \
    if (armed() && (strchr(mode, 'w') || strchr(mode, 'a')) && step_at(MAKES, "open", AT_FDCWD, path) < 0) return NULL; \
    return REAL(name)(path, mode);                                                     \
  }
FOPEN(fopen)
FOPEN(fopen64)

KEEP(fwrite);
size_t fwrite(const void *data, size_t size, size_t count, FILE *file) {
  int became = armed() ? step_open(WRITES, "fwrite", fileno(file), (long)(size * count)) : 0;
  if (became < 0) return 0;
  if (became == 0) return REAL(fwrite)(data, size, count, file);
  size_t done = REAL(fwrite)(data, 1, size * count / 2, file);
  if (became == 2) {
    fflush(file);
    die();
  }
  errno = ENOSPC;
  return done / (size ? size : 1);
}

KEEP(fclose);
int fclose(FILE *file) {
  int number = fileno(file), became = 0;
  if (armed() && number >= 0 && (fcntl(number, F_GETFL) & O_ACCMODE) != O_RDONLY) became = step_open(SYNCS, "fclose", number, 0);
  int before = errno, result = REAL(fclose)(file);
  if (became >= 0) return result;
  errno = before;
  return EOF;
}

KEEP(write);
ssize_t write(int file, const void *data, size_t size) {
  int became = armed() ? step_open(WRITES, "write", file, (long)size) : 0;
  if (became < 0) return -1;
  ssize_t done = REAL(write)(file, data, became ? (size + 1) / 2 : size);
  if (became == 2) die();
  return done;
}

#define PWRITE(name, offset_type)                                                      \
  KEEP(name);                                                                          \
  ssize_t name(int file, const void *data, size_t size, offset_type offset) {          \
    int became = armed() ? step_open(WRITES, "pwrite", file, (long)size) : 0;          \
    if (became < 0) return -1;                                                         \
    ssize_t done = REAL(name)(file, data, became ? (size + 1) / 2 : size, offset);     \
    if (became == 2) die();                                                            \
    return done;                                                                       \
  }
PWRITE(pwrite, off_t)
PWRITE(pwrite64, off64_t)

KEEP(writev);
ssize_t writev(int file, const struct iovec *parts, int count) {
  int became = armed() ? step_open(WRITES, "writev", file, count) : 0;
  if (became < 0) return -1;
  ssize_t done = REAL(writev)(file, parts, became ? (count + 1) / 2 : count);
  if (became == 2) die();
  return done;
}

#define SENDFILE(name, offset_type)                                                    \
  KEEP(name);                                                                          \
  ssize_t name(int to, int from, offset_type *offset, size_t size) {                   \
    int became = armed() ? step_open(WRITES, "sendfile", to, (long)size) : 0;          \
    if (became < 0) return -1;                                                         \
    ssize_t done = REAL(name)(to, from, offset, became ? 1 : size);                    \
    if (became == 2) die();                                                            \
    return done;                                                                       \
  }
SENDFILE(sendfile, off_t)
SENDFILE(sendfile64, off64_t)

KEEP(copy_file_range);
ssize_t copy_file_range(int from, off64_t *in, int to, off64_t *out, size_t size, unsigned flags) {
  int became = armed() ? step_open(WRITES, "copy", to, (long)size) : 0;
  if (became < 0) return -1;
  ssize_t done = REAL(copy_file_range)(from, in, to, out, became ? 1 : size, flags);
  if (became == 2) die();
  return done;
}

#define BETWEEN(name, op, params, args, from, old, to, new)                            \
  KEEP(name);                                                                          \
  int name params {                                                                    \
    if (armed() && step_between(op, from, old, to, new) < 0) return -1;                \
    return REAL(name) args;                                                            \
  }
BETWEEN(rename, "rename", (const char *old, const char *new), (old, new), AT_FDCWD, old, AT_FDCWD, new)
BETWEEN(renameat, "rename", (int a, const char *old, int b, const char *new), (a, old, b, new), a, old, b, new)
BETWEEN(renameat2, "rename", (int a, const char *old, int b, const char *new, unsigned f), (a, old, b, new, f), a, old, b, new)
BETWEEN(link, "link", (const char *old, const char *new), (old, new), AT_FDCWD, old, AT_FDCWD, new)
BETWEEN(linkat, "link", (int a, const char *old, int b, const char *new, int f), (a, old, b, new, f), a, old, b, new)

#define AT(name, op, group, params, args, folder, path)                                \
  KEEP(name);                                                                          \
  int name params {                                                                    \
    if (armed() && step_at(group, op, folder, path) < 0) return -1;                    \
    return REAL(name) args;                                                            \
  }
AT(symlink, "symlink", MAKES, (const char *to, const char *path), (to, path), AT_FDCWD, path)
AT(mkdir, "mkdir", MAKES, (const char *path, mode_t mode), (path, mode), AT_FDCWD, path)
AT(mkdirat, "mkdir", MAKES, (int folder, const char *path, mode_t mode), (folder, path, mode), folder, path)
AT(unlink, "unlink", REMOVES, (const char *path), (path), AT_FDCWD, path)
AT(unlinkat, "unlink", REMOVES, (int folder, const char *path, int flags), (folder, path, flags), folder, path)
AT(rmdir, "rmdir", REMOVES, (const char *path), (path), AT_FDCWD, path)
AT(remove, "unlink", REMOVES, (const char *path), (path), AT_FDCWD, path)
AT(truncate, "truncate", WRITES, (const char *path, off_t size), (path, size), AT_FDCWD, path)
AT(truncate64, "truncate", WRITES, (const char *path, off64_t size), (path, size), AT_FDCWD, path)
AT(chmod, "chmod", MARKS, (const char *path, mode_t mode), (path, mode), AT_FDCWD, path)
AT(fchmodat, "chmod", MARKS, (int folder, const char *path, mode_t mode, int flags), (folder, path, mode, flags), folder, path)
AT(utimensat, "utime", MARKS, (int folder, const char *path, const struct timespec times[2], int flags), (folder, path, times, flags), folder, path)

#define ON(name, op, group, params, args)                                              \
  KEEP(name);                                                                          \
  int name params {                                                                    \
    if (armed() && step_open(group, op, file, 0) < 0) return -1;                       \
    return REAL(name) args;                                                            \
  }
ON(ftruncate, "truncate", WRITES, (int file, off_t size), (file, size))
ON(ftruncate64, "truncate", WRITES, (int file, off64_t size), (file, size))
ON(fsync, "fsync", SYNCS, (int file), (file))
ON(fdatasync, "fsync", SYNCS, (int file), (file))
ON(fchmod, "chmod", MARKS, (int file, mode_t mode), (file, mode))
ON(futimens, "utime", MARKS, (int file, const struct timespec times[2]), (file, times))
ON(fallocate, "allocate", WRITES, (int file, int mode, off_t from, off_t size), (file, mode, from, size))
ON(fallocate64, "allocate", WRITES, (int file, int mode, off64_t from, off64_t size), (file, mode, from, size))

#define ALLOCATE(name, offset_type)                                                    \
  KEEP(name);                                                                          \
  int name(int file, offset_type from, offset_type size) { /* gives the error itself */ \
    if (armed() && step_open(WRITES, "allocate", file, 0) < 0) return errno;           \
    return REAL(name)(file, from, size);                                               \
  }
ALLOCATE(posix_fallocate, off_t)
ALLOCATE(posix_fallocate64, off64_t)

/* The time of day, as many seconds later as the page says. */
int clock_gettime(clockid_t clock, struct timespec *now) {
  int result = (int)syscall(SYS_clock_gettime, clock, now);
  if (result == 0 && control != NULL && clock == CLOCK_REALTIME) now->tv_sec += atomic_load(&control->later);
  return result;
}
