// Only in programs under ThreadSanitizer, itself not instrumented. The suppressions leave out all that Qt
// does inside, locks as well as memory; here is what Qt's thread pool puts in order for others.
#include <QRunnable>
#include <QThreadPool>

#include <cstdarg>
#include <dlfcn.h>
#include <sched.h>

extern "C" {
void __tsan_acquire(void* at);
void __tsan_release(void* at);
}

namespace {

/// The function of that (mangled) name that this file stands in for.
template <typename Function>
Function nextOf(const char* name) {
    return reinterpret_cast<Function>(dlsym(RTLD_NEXT, name));
}

/// Sees all that was done before it was handed to the pool.
class Handed : public QRunnable {
public:
    Handed(QThreadPool* pool, QRunnable* work) : pool_(pool), work_(work) { __tsan_release(work); }
    void run() override {
        __tsan_acquire(work_);
        const bool ours = work_->autoDelete();
        work_->run();
        if (ours)
            delete work_;
        __tsan_release(pool_);
    }

private:
    QThreadPool* const pool_;
    QRunnable* const work_;
};

/// Sees all that was done before it was posted.
class Posted : public QtPrivate::QSlotObjectBase {
public:
    explicit Posted(QSlotObjectBase* slot) : QSlotObjectBase(&does), slot_(slot) { __tsan_release(slot); }

private:
    static void does(int which, QSlotObjectBase* self, QObject* receiver, void** arguments, bool*) {
        auto* posted = static_cast<Posted*>(self);
        __tsan_acquire(posted->slot_);
        if (which == Call)
            posted->slot_->call(receiver, arguments);
        __tsan_release(posted->slot_); // whoever of both threads lets go of it last, destroys it
        if (which != Destroy)
            return;
        posted->slot_->destroyIfLastRef();
        delete posted;
    }

    QSlotObjectBase* const slot_;
};

} // namespace

bool QMetaObject::invokeMethodImpl(QObject* receiver, QtPrivate::QSlotObjectBase* slot,
                                   Qt::ConnectionType type, void* result) {
    static const auto kNext = nextOf<bool (*)(QObject*, QtPrivate::QSlotObjectBase*, Qt::ConnectionType,
                                              void*)>(
        "_ZN11QMetaObject16invokeMethodImplEP7QObjectPN9QtPrivate15QSlotObjectBaseEN2Qt14ConnectionTypeEPv");
    return kNext(receiver, new Posted(slot), type, result);
}

void QThreadPool::start(QRunnable* work, int priority) {
    static const auto kNext =
        nextOf<void (*)(QThreadPool*, QRunnable*, int)>("_ZN11QThreadPool5startEP9QRunnablei");
    kNext(this, new Handed(this, work), priority);
}

void QThreadPool::start(std::function<void()> work, int priority) {
    start(QRunnable::create(std::move(work)), priority);
}

bool QThreadPool::waitForDone(int ms) {
    static const auto kNext = nextOf<bool (*)(QThreadPool*, int)>("_ZN11QThreadPool11waitForDoneEi");
    const bool done = kNext(this, ms);
    __tsan_acquire(this);
    return done;
}

/// Qt 6.4 starts processes with clone(CLONE_VM | CLONE_VFORK); libtsan of gcc 12 prepares the child of any
/// clone() as if its memory were a copy: it stops watching the calling thread and forgets all others, and
/// does so in the parent, too, whose memory it is. From then on races are reported that are none, others are
/// not, and the next thread ends the program. With a copy of the memory all is as libtsan believes.
extern "C" int clone(int (*function)(void*), void* stack, int flags, void* argument, ...) {
    static const auto kNext = nextOf<int (*)(int (*)(void*), void*, int, void*, ...)>("clone");
    va_list rest; // of it, Qt gives the place of a pidfd
    va_start(rest, argument);
    int* const pidfd = va_arg(rest, int*);
    va_end(rest);
    return kNext(function, stack, flags & ~CLONE_VM, argument, pidfd);
}
