/* epoll(7), which the toolchain's module of the C library leaves out. */
#include <sys/epoll.h>
