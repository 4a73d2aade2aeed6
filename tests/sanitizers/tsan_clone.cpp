// Only in programs under ThreadSanitizer. Qt 6.4 starts processes with clone(CLONE_VM | CLONE_VFORK); libtsan
// of gcc 12 prepares the child of any clone() as if its memory were a copy: it stops watching the calling
// thread and forgets all others, and does so in the parent, too, whose memory it is. From then on that
// thread's locks are not seen (races are reported that are none), and the next thread ends the program. With
// a copy of the memory all is as it believes.
#include <cstdarg>
#include <dlfcn.h>
#include <sched.h>

extern "C" int clone(int (*function)(void*), void* stack, int flags, void* argument, ...) {
    using Clone = int (*)(int (*)(void*), void*, int, void*, ...);
    static const auto kNext = reinterpret_cast<Clone>(dlsym(RTLD_NEXT, "clone"));
    va_list rest; // of it, Qt gives the place of a pidfd
    va_start(rest, argument);
    int* const pidfd = va_arg(rest, int*);
    va_end(rest);
    return kNext(function, stack, flags & ~CLONE_VM, argument, pidfd);
}
