#pragma once
#include <alsa/asoundlib.h>

static void fieldscribe_say_nothing(const char *file, int line, const char *function, int error, const char *format, ...) {
    (void)file, (void)line, (void)function, (void)error, (void)format;
}

/// Keeps libasound from writing to stderr; failures are reported by the calls' results. The handler is variadic.
static inline void fieldscribe_silence_alsa(void) {
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wdeprecated-declarations"
    snd_lib_error_set_handler(fieldscribe_say_nothing);
#pragma GCC diagnostic pop
}
