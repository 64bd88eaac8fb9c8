/* Registers of a traced process on a processor whose set of them is larger than its tracer knows (AMX; user-mode Linux 6.1,
 * gdb 13): the kernel takes all of a set or none (EFAULT), and the tracer has a part. What lies beyond that part stays as it
 * is. For LD_PRELOAD. The stacks that this is called on may be small: nothing large is on them. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <elf.h>
#include <stdarg.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/types.h>
#include <sys/uio.h>

static long (*next)(int, pid_t, void *, void *);
static unsigned char all_bytes[1 << 16];

__attribute__((constructor)) static void find_next(void)
{
    next = (long (*)(int, pid_t, void *, void *))dlsym(RTLD_NEXT, "ptrace");
}

long ptrace(enum __ptrace_request request, ...)
{
    va_list given;
    va_start(given, request);
    pid_t process = va_arg(given, pid_t);
    void *address = va_arg(given, void *);
    void *data = va_arg(given, void *);
    va_end(given);
    if ((int)request == PTRACE_SETREGSET && (unsigned long)address == NT_X86_XSTATE) {
        struct iovec *part = data;
        struct iovec all = {all_bytes, sizeof all_bytes};
        if (next(PTRACE_GETREGSET, process, address, &all) == 0 && part->iov_len < all.iov_len) {
            memcpy(all_bytes, part->iov_base, part->iov_len);
            return next(request, process, address, &all);
        }
    }
    return next(request, process, address, data);
}
