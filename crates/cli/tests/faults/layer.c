/* A layer between a program and its C library that fails on demand.
 *
 * FAULTS names a file that says what is wrong now, read at each call, one fault per line:
 *   errno N    writing, growing and syncing fail with this number
 *   slow MS    syncing takes so many milliseconds more
 *   clock S    the wall clock is so many seconds ahead, or behind with a sign
 * Only files in the directory FAULTS_IN are touched. */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

static long fault(const char *name) {
    const char *path = getenv("FAULTS");
    if (!path) return 0;
    int saved = errno;
    int fd = (int)syscall(SYS_openat, AT_FDCWD, path, O_RDONLY | O_CLOEXEC);
    long found = 0;
    if (fd >= 0) {
        char text[256];
        long length = syscall(SYS_read, fd, text, sizeof text - 1);
        syscall(SYS_close, fd);
        text[length > 0 ? length : 0] = 0;
        size_t size = strlen(name);
        for (char *line = text; line; line = strchr(line, '\n')) {
            if (*line == '\n') line++;
            if (!strncmp(line, name, size) && line[size] == ' ') found = atol(line + size);
        }
    }
    errno = saved;
    return found;
}

static int is_ours(int fd) {
    const char *directory = getenv("FAULTS_IN");
    char link[64], target[PATH_MAX];
    snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
    int saved = errno;
    ssize_t length = readlink(link, target, sizeof target - 1);
    errno = saved;
    if (!directory || length <= 0) return 0;
    target[length] = 0;
    return !strncmp(target, directory, strlen(directory)) && !strstr(target, "-shm");
}

static int fails(int fd) {
    long number = is_ours(fd) ? fault("errno") : 0;
    if (number) errno = (int)number;
    return number != 0;
}

static void lag(int fd) {
    long ms = is_ours(fd) ? fault("slow") : 0;
    struct timespec wait = {ms / 1000, (ms % 1000) * 1000000};
    if (ms > 0) nanosleep(&wait, NULL);
}

ssize_t write(int fd, const void *bytes, size_t size) {
    return fails(fd) ? -1 : syscall(SYS_write, fd, bytes, size);
}

ssize_t pwrite(int fd, const void *bytes, size_t size, off_t at) {
    return fails(fd) ? -1 : syscall(SYS_pwrite64, fd, bytes, size, at);
}

ssize_t pwrite64(int fd, const void *bytes, size_t size, off64_t at) {
    return fails(fd) ? -1 : syscall(SYS_pwrite64, fd, bytes, size, at);
}

int ftruncate(int fd, off_t size) {
    return fails(fd) ? -1 : (int)syscall(SYS_ftruncate, fd, size);
}

int ftruncate64(int fd, off64_t size) {
    return fails(fd) ? -1 : (int)syscall(SYS_ftruncate, fd, size);
}

int fsync(int fd) {
    lag(fd);
    return fails(fd) ? -1 : (int)syscall(SYS_fsync, fd);
}

int fdatasync(int fd) {
    lag(fd);
    return fails(fd) ? -1 : (int)syscall(SYS_fdatasync, fd);
}

int clock_gettime(clockid_t clock, struct timespec *now) {
    int result = (int)syscall(SYS_clock_gettime, clock, now);
    if (!result && clock == CLOCK_REALTIME) now->tv_sec += fault("clock");
    return result;
}
