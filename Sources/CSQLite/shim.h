#pragma once
#include <sqlite3.h>

// SQLITE_TRANSIENT is a cast, which Swift does not import.
static inline sqlite3_destructor_type handoff_sqlite3_transient(void) { return SQLITE_TRANSIENT; }
