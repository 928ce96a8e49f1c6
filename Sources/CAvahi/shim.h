#pragma once
#include <avahi-client/client.h>
#include <avahi-client/lookup.h>
#include <avahi-client/publish.h>
#include <avahi-common/alternative.h>
#include <avahi-common/error.h>
#include <avahi-common/malloc.h>
#include <avahi-common/simple-watch.h>
#include <avahi-common/strlst.h>
#include <sys/eventfd.h>

// The Glibc module does not have it. Close-on-exec and non-blocking; -1 and errno where it fails.
static inline int CAvahi_eventfd(void) { return eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK); }
