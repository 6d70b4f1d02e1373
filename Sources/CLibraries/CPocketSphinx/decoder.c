// Loads a decoder, handles its log messages, and sets its cepstral mean.
#include "library.h"
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

const char *fieldscribe_ps_version(void) { return FIELDSCRIBE_POCKETSPHINX_5 ? "5" : "0.8+5prealpha"; }

char *fieldscribe_ps_last_error(void) {
    // Thread-local, like errno.
    static _Thread_local char line[512];
    return line;
}

static void store_error(const char *text) {
    char *line = fieldscribe_ps_last_error();
    snprintf(line, 512, "%s", text);
    line[strcspn(line, "\n")] = 0;
}

// The library calls this for each line that it logs.
static void log_line(void *listener, err_lvl_t level, const char *format, ...) {
    if (level < ERR_ERROR && !listener) return;
    char text[512];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    text[strcspn(text, "\n")] = 0;
    if (level >= ERR_ERROR) store_error(text);
    if (listener && *text) ((fieldscribe_ps_listener)listener)(text);
}

void fieldscribe_ps_log_to(fieldscribe_ps_listener listener) {
#if FIELDSCRIBE_POCKETSPHINX_5
    if (listener) err_set_loglevel(ERR_INFO);
#else
    err_set_logfp(NULL);
#endif
    err_set_callback(log_line, (void *)listener);
}

ps_decoder_t *fieldscribe_ps_open(
    const char *const *options, int count, fieldscribe_ps_listener listener) {
    fieldscribe_ps_log_to(listener);
    *fieldscribe_ps_last_error() = 0;
    ps_decoder_t *decoder = NULL;
#if FIELDSCRIBE_POCKETSPHINX_5
    size_t size = 3;
    for (int i = 0; i < count; i++) size += 2 * strlen(options[i]) + 4;
    char *json = (char *)malloc(size), *end = json;
    if (!json) return NULL;
    *end++ = '{';
    for (int i = 0; i + 1 < count; i += 2) {
        // 5.x never drops frames and no longer has this setting.
        if (!strcmp(options[i], "remove_silence")) continue;
        if (end[-1] != '{') *end++ = ',';
        for (int part = 0; part < 2; part++) {
            *end++ = '"';
            for (const char *c = options[i + part]; *c; c++) {
                if (*c == '"' || *c == '\\') *end++ = '\\';
                *end++ = *c;
            }
            *end++ = '"';
            if (part == 0) *end++ = ':';
        }
    }
    *end++ = '}';
    *end = 0;
    ps_config_t *config = ps_config_parse_json(NULL, json);
    free(json);
    if (!config) return NULL;
    decoder = ps_init(config);
    ps_config_free(config);
#else
    char **arguments = (char **)calloc((size_t)count + 1, sizeof *arguments);
    if (!arguments) return NULL;
    int ready = 1;
    for (int i = 0; i < count; i++) {
        size_t size = strlen(options[i]) + 2;
        arguments[i] = (char *)malloc(size);
        if (!arguments[i]) { ready = 0; break; }
        snprintf(arguments[i], size, "%s%s", i % 2 ? "" : "-", options[i]);
    }
    cmd_ln_t *config = ready ? cmd_ln_parse_r(NULL, ps_args(), count, arguments, TRUE) : NULL;
    for (int i = 0; i < count; i++) free(arguments[i]);
    free(arguments);
    if (!config) return NULL;
    decoder = ps_init(config);
    cmd_ln_free_r(config);
#endif
    return decoder;
}

int fieldscribe_ps_set_mean(ps_decoder_t *decoder, const float *mean, int count) {
#if FIELDSCRIBE_POCKETSPHINX_5
    char text[1024];
    size_t used = 0;
    for (int i = 0; i < count && used + 24 < sizeof text; i++)
        used += (size_t)snprintf(text + used, sizeof text - used, "%s%.6g", i ? "," : "", (double)mean[i]);
    return ps_set_cmn(decoder, text);
#else
    feat_t *feature = ps_get_feat(decoder);
    if (!feature || !feature->cmn_struct || feature->cmn_struct->veclen != count || count > 64) return -1;
    mfcc_t vector[64];
    for (int i = 0; i < count; i++) vector[i] = FLOAT2MFCC(mean[i]);
    cmn_live_set(feature->cmn_struct, vector);
    return 0;
#endif
}

void fieldscribe_ps_stream(ps_decoder_t *decoder) {
#if FIELDSCRIBE_POCKETSPHINX_5
    (void)decoder;
#else
    ps_get_feat(decoder)->cmn = CMN_LIVE;
#endif
}

double fieldscribe_ps_probability(ps_decoder_t *decoder, int32_t value) {
    return logmath_exp(ps_get_logmath(decoder), value);
}
