// Implements CGpiod.h with libgpiod 1.6.
#include "CGpiod.h"
#include "text.h"
#include <errno.h>
#include <stdlib.h>
#include <time.h>

#ifdef GPIOD_LINE_BULK_MAX_LINES

struct fieldscribe_gpio_line {
    struct gpiod_chip *chip;
    struct gpiod_line *line;
};

int fieldscribe_gpio_describe(struct gpiod_chip *chip, char *label, size_t size, unsigned *lines) {
    fieldscribe_gpio_copy(label, size, gpiod_chip_label(chip));
    *lines = gpiod_chip_num_lines(chip);
    return 0;
}

int fieldscribe_gpio_find(struct gpiod_chip *chip, const char *name) {
    struct gpiod_line *line = gpiod_chip_find_line(chip, name);
    return line ? (int)gpiod_line_offset(line) : -1;
}

int fieldscribe_gpio_user(struct gpiod_chip *chip, unsigned offset, char *user, size_t size) {
    struct gpiod_line *line = gpiod_chip_get_line(chip, offset);
    if (!line) return -1;
    fieldscribe_gpio_copy(user, size, gpiod_line_consumer(line));
    return gpiod_line_is_used(line) ? 1 : 0;
}

void fieldscribe_gpio_release(struct fieldscribe_gpio_line *line) {
    if (!line) return;
    // Closing the chip also releases the line.
    if (line->chip) gpiod_chip_close(line->chip);
    free(line);
}

struct fieldscribe_gpio_line *fieldscribe_gpio_request(
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

int fieldscribe_gpio_descriptor(struct fieldscribe_gpio_line *line) {
    return gpiod_line_event_get_fd(line->line);
}

int fieldscribe_gpio_get(struct fieldscribe_gpio_line *line) { return gpiod_line_get_value(line->line); }

int fieldscribe_gpio_set(struct fieldscribe_gpio_line *line, int on) {
    return gpiod_line_set_value(line->line, on);
}

int fieldscribe_gpio_read(struct fieldscribe_gpio_line *line, struct fieldscribe_gpio_edge *edge) {
    struct timespec timeout = {0};
    int ready = gpiod_line_event_wait(line->line, &timeout);
    if (ready <= 0) return ready;
    struct gpiod_line_event event;
    if (gpiod_line_event_read(line->line, &event) < 0) return -1;
    edge->time = (uint64_t)event.ts.tv_sec * 1000000000 + (uint64_t)event.ts.tv_nsec;
    edge->sequence = 0;
    edge->rising = event.event_type == GPIOD_LINE_EVENT_RISING_EDGE;
    return 1;
}

#endif
