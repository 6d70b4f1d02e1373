#pragma once

/// Returns the commit that was built, followed by -dirty if files differed from it; empty if the build did not get it.
const char *fieldscribe_commit(void);
