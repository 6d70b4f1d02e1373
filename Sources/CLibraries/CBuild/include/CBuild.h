// What was built.
#pragma once

/// The commit of the sources, with -dirty where files differed from it; empty where the build was not told.
const char *fieldscribe_commit(void);
