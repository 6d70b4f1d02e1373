// A common interface to libgpiod 1.6 (Debian 12) and 2.2 (Debian 13), whose APIs have nothing in common. Below each
// description are the main library functions that it uses; those of 2.2 come after a colon if they differ.
#pragma once
#include <gpiod.h>
#include <stddef.h>
#include <stdint.h>

/// A requested line, input or output.
struct fieldscribe_gpio_line;

/// An edge on an input.
struct fieldscribe_gpio_edge {
    /// Nanoseconds on CLOCK_MONOTONIC.
    uint64_t time;
    /// Counts the line's edges from 1; 0 if the library does not count them.
    uint64_t sequence;
    int rising;
};

/// Gets a chip's label and number of lines. Returns 0, or -1 and sets errno.
/// gpiod_chip_label, gpiod_chip_num_lines: gpiod_chip_get_info
int fieldscribe_gpio_describe(struct gpiod_chip *chip, char *label, size_t size, unsigned *lines);

/// Returns the offset of the line with a name; -1 if the chip has no such line.
/// gpiod_chip_find_line: gpiod_chip_get_line_offset_from_name
int fieldscribe_gpio_find(struct gpiod_chip *chip, const char *name);

/// Gets the name under which a program uses a line. Returns 1 if the line is in use, 0 if not, or -1 and sets errno.
/// gpiod_line_consumer, gpiod_line_is_used: gpiod_chip_get_line_info
int fieldscribe_gpio_user(struct gpiod_chip *chip, unsigned offset, char *user, size_t size);

/// Requests a line, either as an output that is off, or as an input with a pull-up. The input is on when it is grounded.
/// Returns NULL and sets errno on failure. 1.6 does not debounce the line.
/// gpiod_line_request: gpiod_chip_request_lines
struct fieldscribe_gpio_line *fieldscribe_gpio_request(
    const char *path, unsigned offset, const char *consumer, int output, unsigned debounce_microseconds);

/// Releases and frees a line.
/// gpiod_chip_close: gpiod_line_request_release
void fieldscribe_gpio_release(struct fieldscribe_gpio_line *line);

/// Returns the descriptor that becomes readable when there is an edge, or -1 and sets errno.
/// gpiod_line_event_get_fd: gpiod_line_request_get_fd
int fieldscribe_gpio_descriptor(struct fieldscribe_gpio_line *line);

/// Returns 1 if the line is on, 0 if it is off, or -1 and sets errno.
/// gpiod_line_get_value: gpiod_line_request_get_value
int fieldscribe_gpio_get(struct fieldscribe_gpio_line *line);

/// Switches an output on or off. Returns 0, or -1 and sets errno.
/// gpiod_line_set_value: gpiod_line_request_set_value
int fieldscribe_gpio_set(struct fieldscribe_gpio_line *line, int on);

/// Reads an edge without waiting for one. Returns 1 if there was one, 0 if not, or -1 and sets errno.
/// gpiod_line_event_wait, gpiod_line_event_read: gpiod_line_request_wait_edge_events, gpiod_line_request_read_edge_events
int fieldscribe_gpio_read(struct fieldscribe_gpio_line *line, struct fieldscribe_gpio_edge *edge);
