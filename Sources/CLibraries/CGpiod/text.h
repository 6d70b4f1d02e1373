#pragma once
#include <stddef.h>
#include <string.h>

/// Copies as much of a string as fits into the buffer, with a terminating zero.
static inline void fieldscribe_gpio_copy(char *buffer, size_t size, const char *text) {
    size_t length = text ? strlen(text) : 0;
    if (size == 0) return;
    if (length >= size) length = size - 1;
    if (length > 0) memcpy(buffer, text, length);
    buffer[length] = 0;
}
