// What Swift sees of libgpiod 1.6 (Debian 12) and 2.2 (Debian 13), whose calls have nothing in common. Beside each function are
// the library's own that it calls, those of 2.2 behind the colon where they differ.
#pragma once
#include <gpiod.h>
#include <stddef.h>
#include <stdint.h>

/// A requested line, input or output.
struct fieldscribe_gpio_line;

/// An edge of an input.
struct fieldscribe_gpio_edge {
    /// Nanoseconds of CLOCK_MONOTONIC.
    uint64_t time;
    /// Counts the line's edges from 1; 0 if the library does not count them.
    uint64_t sequence;
    int rising;
};

/// Gives a chip's label and number of lines; returns 0, or -1 and errno.
/// gpiod_chip_label, gpiod_chip_num_lines: gpiod_chip_get_info
int fieldscribe_gpio_describe(struct gpiod_chip *chip, char *label, size_t size, unsigned *lines);

/// The offset of the line of that name, -1 if the chip has none.
/// gpiod_chip_find_line: gpiod_chip_get_line_offset_from_name
int fieldscribe_gpio_find(struct gpiod_chip *chip, const char *name);

/// Gives the name of the program that uses a line; returns 1 if one does, 0 if none does, or -1 and errno.
/// gpiod_line_consumer, gpiod_line_is_used: gpiod_chip_get_line_info
int fieldscribe_gpio_user(struct gpiod_chip *chip, unsigned offset, char *user, size_t size);

/// Requests a line, as an output that is off, or as an input with pull-up that is on at ground; returns NULL and errno if that
/// fails. 1.6 does not debounce.
/// gpiod_line_request: gpiod_chip_request_lines
struct fieldscribe_gpio_line *fieldscribe_gpio_request(
    const char *path, unsigned offset, const char *consumer, int output, unsigned debounce_microseconds);

/// Gives a line back, and frees it.
/// gpiod_chip_close: gpiod_line_request_release
void fieldscribe_gpio_release(struct fieldscribe_gpio_line *line);

/// The descriptor that becomes readable when there is an edge; -1 and errno.
/// gpiod_line_event_get_fd: gpiod_line_request_get_fd
int fieldscribe_gpio_descriptor(struct fieldscribe_gpio_line *line);

/// 1 if the line is on, 0 if it is off, -1 and errno.
/// gpiod_line_get_value: gpiod_line_request_get_value
int fieldscribe_gpio_get(struct fieldscribe_gpio_line *line);

/// Switches an output; returns 0, or -1 and errno.
/// gpiod_line_set_value: gpiod_line_request_set_value
int fieldscribe_gpio_set(struct fieldscribe_gpio_line *line, int on);

/// Reads an edge; returns 1, 0 if there is none, -1 and errno.
/// gpiod_line_event_wait, gpiod_line_event_read: gpiod_line_request_wait_edge_events, gpiod_line_request_read_edge_events
int fieldscribe_gpio_read(struct fieldscribe_gpio_line *line, struct fieldscribe_gpio_edge *edge);
