// Implements CGpiod.h with libgpiod 2.2.
#include "CGpiod.h"
#include "text.h"
#include <errno.h>
#include <stdlib.h>
#include <time.h>

#ifndef GPIOD_LINE_BULK_MAX_LINES

struct fieldscribe_gpio_line {
    struct gpiod_line_request *request;
    struct gpiod_edge_event_buffer *events;
    unsigned offset;
};

int fieldscribe_gpio_describe(struct gpiod_chip *chip, char *label, size_t size, unsigned *lines) {
    struct gpiod_chip_info *info = gpiod_chip_get_info(chip);
    if (!info) return -1;
    fieldscribe_gpio_copy(label, size, gpiod_chip_info_get_label(info));
    *lines = (unsigned)gpiod_chip_info_get_num_lines(info);
    gpiod_chip_info_free(info);
    return 0;
}

int fieldscribe_gpio_find(struct gpiod_chip *chip, const char *name) {
    return gpiod_chip_get_line_offset_from_name(chip, name);
}

int fieldscribe_gpio_user(struct gpiod_chip *chip, unsigned offset, char *user, size_t size) {
    struct gpiod_line_info *info = gpiod_chip_get_line_info(chip, offset);
    if (!info) return -1;
    fieldscribe_gpio_copy(user, size, gpiod_line_info_get_consumer(info));
    int used = gpiod_line_info_is_used(info) ? 1 : 0;
    gpiod_line_info_free(info);
    return used;
}

void fieldscribe_gpio_release(struct fieldscribe_gpio_line *line) {
    if (!line) return;
    if (line->request) gpiod_line_request_release(line->request);
    if (line->events) gpiod_edge_event_buffer_free(line->events);
    free(line);
}

struct fieldscribe_gpio_line *fieldscribe_gpio_request(
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

int fieldscribe_gpio_descriptor(struct fieldscribe_gpio_line *line) {
    return gpiod_line_request_get_fd(line->request);
}

int fieldscribe_gpio_get(struct fieldscribe_gpio_line *line) {
    return gpiod_line_request_get_value(line->request, line->offset);
}

int fieldscribe_gpio_set(struct fieldscribe_gpio_line *line, int on) {
    return gpiod_line_request_set_value(
        line->request, line->offset, on ? GPIOD_LINE_VALUE_ACTIVE : GPIOD_LINE_VALUE_INACTIVE);
}

int fieldscribe_gpio_read(struct fieldscribe_gpio_line *line, struct fieldscribe_gpio_edge *edge) {
    int ready = gpiod_line_request_wait_edge_events(line->request, 0);
    if (ready <= 0) return ready;
    int count = gpiod_line_request_read_edge_events(line->request, line->events, 1);
    if (count <= 0) return count;
    // The buffer owns the event.
    struct gpiod_edge_event *event = gpiod_edge_event_buffer_get_event(line->events, 0);
    if (!event) return -1;
    edge->time = gpiod_edge_event_get_timestamp_ns(event);
    edge->sequence = gpiod_edge_event_get_line_seqno(event);
    edge->rising = gpiod_edge_event_get_event_type(event) == GPIOD_EDGE_EVENT_RISING_EDGE;
    return 1;
}

#endif
