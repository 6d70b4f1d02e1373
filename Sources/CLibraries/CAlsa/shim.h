#pragma once
#include <alsa/asoundlib.h>

static void fieldscribe_ignore_error(const char *file, int line, const char *function, int error, const char *format, ...) {
    (void)file, (void)line, (void)function, (void)error, (void)format;
}

/// Keeps libasound from writing to stderr. Calls return their errors. The handler is variadic, which Swift cannot import.
static inline void fieldscribe_silence_alsa(void) {
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wdeprecated-declarations"
    snd_lib_error_set_handler(fieldscribe_ignore_error);
#pragma GCC diagnostic pop
}
