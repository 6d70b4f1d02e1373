#include "CBuild.h"

#define TEXT(name) #name
#define TEXT_OF(macro) TEXT(macro)

const char *fieldscribe_commit(void) { return TEXT_OF(FIELDSCRIBE_COMMIT); }
