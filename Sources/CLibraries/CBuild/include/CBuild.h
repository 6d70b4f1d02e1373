// Information about the build.
#pragma once

/// Returns the commit that was built, with -dirty if files differed from it; empty if it was not passed to the build.
const char *fieldscribe_commit(void);
