#pragma once
#include <alsa/asoundlib.h>

static void fieldscribe_ignore_error(const char *file, int line, const char *function, int error, const char *format, ...) {
    (void)file, (void)line, (void)function, (void)error, (void)format;
}

/// Keeps libasound from writing errors to stderr; its calls return them too. Swift cannot define the variadic handler.
static inline void fieldscribe_silence_alsa(void) {
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wdeprecated-declarations"
    snd_lib_error_set_handler(fieldscribe_ignore_error);
#pragma GCC diagnostic pop
}
