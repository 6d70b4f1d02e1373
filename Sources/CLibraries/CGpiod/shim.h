// One face for libgpiod 1.6 (Debian 12) and 2.2 (Debian 13), whose calls have nothing in common.
#pragma once
#include <errno.h>
#include <gpiod.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

/// A line that is ours: input or output. Only the functions below look inside.
struct fieldscribe_gpio_line {
#ifdef GPIOD_LINE_BULK_MAX_LINES
    struct gpiod_chip *chip;
    struct gpiod_line *line;
#else
    struct gpiod_line_request *request;
    struct gpiod_edge_event_buffer *events;
    unsigned offset;
#endif
};

/// An edge of an input.
struct fieldscribe_gpio_edge {
    /// Nanoseconds of CLOCK_MONOTONIC.
    uint64_t time;
    /// Counts the line's edges from 1; 0 where the library does not count them.
    uint64_t sequence;
    int rising;
};

/// Copies as much of a text as there is place for.
static inline void fieldscribe_gpio_copy(char *buffer, size_t size, const char *text) {
    size_t length = text ? strlen(text) : 0;
    if (size == 0) return;
    if (length >= size) length = size - 1;
    if (length > 0) memcpy(buffer, text, length);
    buffer[length] = 0;
}

#ifdef GPIOD_LINE_BULK_MAX_LINES

/// Tells a chip's label and number of lines; returns 0, or -1 and errno.
static inline int fieldscribe_gpio_describe(struct gpiod_chip *chip, char *label, size_t size, unsigned *lines) {
    fieldscribe_gpio_copy(label, size, gpiod_chip_label(chip));
    *lines = gpiod_chip_num_lines(chip);
    return 0;
}

/// The place of the line of that name, -1 where the chip has none.
static inline int fieldscribe_gpio_find(struct gpiod_chip *chip, const char *name) {
    struct gpiod_line *line = gpiod_chip_find_line(chip, name);
    return line ? (int)gpiod_line_offset(line) : -1;
}

/// Tells who uses a line; returns 1 where somebody does, 0 where nobody does, -1 and errno.
static inline int fieldscribe_gpio_user(struct gpiod_chip *chip, unsigned offset, char *user, size_t size) {
    struct gpiod_line *line = gpiod_chip_get_line(chip, offset);
    if (!line) return -1;
    fieldscribe_gpio_copy(user, size, gpiod_line_consumer(line));
    return gpiod_line_is_used(line) ? 1 : 0;
}

/// Gives a line back, and frees it.
static inline void fieldscribe_gpio_release(struct fieldscribe_gpio_line *line) {
    if (!line) return;
    // Releases the line as well.
    if (line->chip) gpiod_chip_close(line->chip);
    free(line);
}

/// Takes a line, an output that is off or an input with pull-up that is on at ground; returns NULL and errno where it
/// cannot. 1.6 has no debouncing.
static inline struct fieldscribe_gpio_line *fieldscribe_gpio_request(
    const char *path, unsigned offset, const char *consumer, int output, unsigned debounce_microseconds) {
    (void)debounce_microseconds;
    struct fieldscribe_gpio_line *line = calloc(1, sizeof *line);
    if (!line) return NULL;
    line->chip = gpiod_chip_open(path);
    line->line = line->chip ? gpiod_chip_get_line(line->chip, offset) : NULL;
    struct gpiod_line_request_config config = {
        .consumer = consumer,
        .request_type = output ? GPIOD_LINE_REQUEST_DIRECTION_OUTPUT : GPIOD_LINE_REQUEST_EVENT_BOTH_EDGES,
        .flags = output ? 0 : GPIOD_LINE_REQUEST_FLAG_BIAS_PULL_UP | GPIOD_LINE_REQUEST_FLAG_ACTIVE_LOW,
    };
    if (line->line && gpiod_line_request(line->line, &config, 0) == 0) return line;
    int error = errno;
    fieldscribe_gpio_release(line);
    errno = error;
    return NULL;
}

/// The descriptor that becomes readable when there is an edge; -1 and errno.
static inline int fieldscribe_gpio_descriptor(struct fieldscribe_gpio_line *line) {
    return gpiod_line_event_get_fd(line->line);
}

/// 1 on, 0 off, -1 and errno.
static inline int fieldscribe_gpio_get(struct fieldscribe_gpio_line *line) { return gpiod_line_get_value(line->line); }

/// Returns 0, or -1 and errno.
static inline int fieldscribe_gpio_set(struct fieldscribe_gpio_line *line, int on) {
    return gpiod_line_set_value(line->line, on);
}

/// Waits for an edge and reads it; returns 1, 0 where none came in time, -1 and errno.
static inline int fieldscribe_gpio_wait(
    struct fieldscribe_gpio_line *line, int64_t nanoseconds, struct fieldscribe_gpio_edge *edge) {
    struct timespec timeout = {.tv_sec = nanoseconds / 1000000000, .tv_nsec = nanoseconds % 1000000000};
    int ready = gpiod_line_event_wait(line->line, &timeout);
    if (ready <= 0) return ready;
    struct gpiod_line_event event;
    if (gpiod_line_event_read(line->line, &event) < 0) return -1;
    edge->time = (uint64_t)event.ts.tv_sec * 1000000000 + (uint64_t)event.ts.tv_nsec;
    edge->sequence = 0;
    edge->rising = event.event_type == GPIOD_LINE_EVENT_RISING_EDGE;
    return 1;
}

#else

/// Tells a chip's label and number of lines; returns 0, or -1 and errno.
static inline int fieldscribe_gpio_describe(struct gpiod_chip *chip, char *label, size_t size, unsigned *lines) {
    struct gpiod_chip_info *info = gpiod_chip_get_info(chip);
    if (!info) return -1;
    fieldscribe_gpio_copy(label, size, gpiod_chip_info_get_label(info));
    *lines = (unsigned)gpiod_chip_info_get_num_lines(info);
    gpiod_chip_info_free(info);
    return 0;
}

/// The place of the line of that name, -1 where the chip has none.
static inline int fieldscribe_gpio_find(struct gpiod_chip *chip, const char *name) {
    return gpiod_chip_get_line_offset_from_name(chip, name);
}

/// Tells who uses a line; returns 1 where somebody does, 0 where nobody does, -1 and errno.
static inline int fieldscribe_gpio_user(struct gpiod_chip *chip, unsigned offset, char *user, size_t size) {
    struct gpiod_line_info *info = gpiod_chip_get_line_info(chip, offset);
    if (!info) return -1;
    fieldscribe_gpio_copy(user, size, gpiod_line_info_get_consumer(info));
    int used = gpiod_line_info_is_used(info) ? 1 : 0;
    gpiod_line_info_free(info);
    return used;
}

/// Gives a line back, and frees it.
static inline void fieldscribe_gpio_release(struct fieldscribe_gpio_line *line) {
    if (!line) return;
    if (line->request) gpiod_line_request_release(line->request);
    if (line->events) gpiod_edge_event_buffer_free(line->events);
    free(line);
}

/// Takes a line, an output that is off or an input with pull-up that is on at ground; returns NULL and errno where it
/// cannot.
static inline struct fieldscribe_gpio_line *fieldscribe_gpio_request(
    const char *path, unsigned offset, const char *consumer, int output, unsigned debounce_microseconds) {
    struct gpiod_line_settings *settings = gpiod_line_settings_new();
    struct gpiod_line_config *lines = gpiod_line_config_new();
    struct gpiod_request_config *config = gpiod_request_config_new();
    struct fieldscribe_gpio_line *line = calloc(1, sizeof *line);
    struct gpiod_chip *chip = NULL;
    int error = ENOMEM;
    if (line) line->events = gpiod_edge_event_buffer_new(1);
    if (settings && lines && config && line && line->events) {
        line->offset = offset;
        gpiod_request_config_set_consumer(config, consumer);
        if (output) {
            gpiod_line_settings_set_direction(settings, GPIOD_LINE_DIRECTION_OUTPUT);
            gpiod_line_settings_set_output_value(settings, GPIOD_LINE_VALUE_INACTIVE);
        } else {
            gpiod_line_settings_set_direction(settings, GPIOD_LINE_DIRECTION_INPUT);
            gpiod_line_settings_set_edge_detection(settings, GPIOD_LINE_EDGE_BOTH);
            gpiod_line_settings_set_bias(settings, GPIOD_LINE_BIAS_PULL_UP);
            gpiod_line_settings_set_active_low(settings, true);
            gpiod_line_settings_set_debounce_period_us(settings, debounce_microseconds);
        }
        chip = gpiod_chip_open(path);
        if (chip && gpiod_line_config_add_line_settings(lines, &offset, 1, settings) == 0)
            line->request = gpiod_chip_request_lines(chip, config, lines);
        error = errno;
    }
    if (chip) gpiod_chip_close(chip);
    if (config) gpiod_request_config_free(config);
    if (lines) gpiod_line_config_free(lines);
    if (settings) gpiod_line_settings_free(settings);
    if (line && line->request) return line;
    fieldscribe_gpio_release(line);
    errno = error;
    return NULL;
}

/// The descriptor that becomes readable when there is an edge.
static inline int fieldscribe_gpio_descriptor(struct fieldscribe_gpio_line *line) {
    return gpiod_line_request_get_fd(line->request);
}

/// 1 on, 0 off, -1 and errno.
static inline int fieldscribe_gpio_get(struct fieldscribe_gpio_line *line) {
    return gpiod_line_request_get_value(line->request, line->offset);
}

/// Returns 0, or -1 and errno.
static inline int fieldscribe_gpio_set(struct fieldscribe_gpio_line *line, int on) {
    return gpiod_line_request_set_value(
        line->request, line->offset, on ? GPIOD_LINE_VALUE_ACTIVE : GPIOD_LINE_VALUE_INACTIVE);
}

/// Waits for an edge and reads it; returns 1, 0 where none came in time, -1 and errno.
static inline int fieldscribe_gpio_wait(
    struct fieldscribe_gpio_line *line, int64_t nanoseconds, struct fieldscribe_gpio_edge *edge) {
    int ready = gpiod_line_request_wait_edge_events(line->request, nanoseconds);
    if (ready <= 0) return ready;
    int count = gpiod_line_request_read_edge_events(line->request, line->events, 1);
    if (count <= 0) return count;
    // Owned by the buffer.
    struct gpiod_edge_event *event = gpiod_edge_event_buffer_get_event(line->events, 0);
    if (!event) return -1;
    edge->time = gpiod_edge_event_get_timestamp_ns(event);
    edge->sequence = gpiod_edge_event_get_line_seqno(event);
    edge->rising = gpiod_edge_event_get_event_type(event) == GPIOD_EDGE_EVENT_RISING_EDGE;
    return 1;
}

#endif
