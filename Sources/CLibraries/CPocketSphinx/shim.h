// PocketSphinx behind plain C types: 0.8+5prealpha (Debian 12 and 13) and 5.x look the same from Swift.
#pragma once
#include <pocketsphinx.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#if defined(__has_include) && __has_include(<pocketsphinx/endpointer.h>)
#define FIELDSCRIBE_POCKETSPHINX_5 1
#include <pocketsphinx/err.h>
#include <pocketsphinx/model.h>
#define fieldscribe_ps_set_lm ps_add_lm
#define fieldscribe_ps_set_jsgf ps_add_jsgf_file
#define fieldscribe_ps_activate ps_activate_search
#define fieldscribe_ps_current ps_current_search
#define fieldscribe_ps_remove ps_remove_search
#else
#define FIELDSCRIBE_POCKETSPHINX_5 0
#include <sphinxbase/cmd_ln.h>
#include <sphinxbase/cmn.h>
#include <sphinxbase/err.h>
#include <sphinxbase/fe.h>
#include <sphinxbase/feat.h>
#include <sphinxbase/fsg_model.h>
#include <sphinxbase/fixpoint.h>
#include <sphinxbase/logmath.h>
#include <sphinxbase/ngram_model.h>
#include <sphinxbase/yin.h>
#define fieldscribe_ps_set_lm ps_set_lm
#define fieldscribe_ps_set_jsgf ps_set_jsgf_file
#define fieldscribe_ps_activate ps_set_search
#define fieldscribe_ps_current ps_get_search
#define fieldscribe_ps_remove ps_unset_search
#endif

static inline const char *fieldscribe_ps_version(void) { return FIELDSCRIBE_POCKETSPHINX_5 ? "5" : "0.8+5prealpha"; }

/// The library's last error line; empty where there was none.
static inline char *fieldscribe_ps_last_error(void) {
    static char line[512];
    return line;
}

static inline void fieldscribe_ps_keep_error(const char *text) {
    char *line = fieldscribe_ps_last_error();
    snprintf(line, 512, "%s", text);
    line[strcspn(line, "\n")] = 0;
}

/// Takes a line that the library logs, without its line break.
typedef void (*fieldscribe_ps_listener)(const char *line);

/// What the library calls with each line; `listener` gets all of them, where there is one.
static inline void fieldscribe_ps_log(void *listener, err_lvl_t level, const char *format, ...) {
    if (level < ERR_ERROR && !listener) return;
    char text[512];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    text[strcspn(text, "\n")] = 0;
    if (level >= ERR_ERROR) fieldscribe_ps_keep_error(text);
    if (listener && *text) ((fieldscribe_ps_listener)listener)(text);
}

/// Has the library log to `listener`, or nowhere.
static inline void fieldscribe_ps_log_to(fieldscribe_ps_listener listener) {
#if FIELDSCRIBE_POCKETSPHINX_5
    if (listener) err_set_loglevel(ERR_INFO);
#else
    err_set_logfp(NULL);
#endif
    err_set_callback(fieldscribe_ps_log, (void *)listener);
}

/// Loads a decoder from `count` strings: name, value, name, value ... with names as "hmm" (no dash).
/// Null where the library refuses; `fieldscribe_ps_last_error` then says why. Frees itself with ps_free.
static inline ps_decoder_t *fieldscribe_ps_open(
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
        // 5.x never drops frames, and no longer knows the setting.
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

/// Copies the cepstral mean into `mean` and returns its length, at most `capacity`; 0 where there is none.
static inline int fieldscribe_ps_get_mean(ps_decoder_t *decoder, float *mean, int capacity) {
#if FIELDSCRIBE_POCKETSPHINX_5
    const char *text = ps_get_cmn(decoder, 0);
    int count = 0;
    while (text && *text && count < capacity) {
        char *end;
        mean[count++] = strtof(text, &end);
        text = *end == ',' ? end + 1 : NULL;
    }
    return count;
#else
    feat_t *feature = ps_get_feat(decoder);
    if (!feature || !feature->cmn_struct) return 0;
    cmn_t *cmn = feature->cmn_struct;
    int count = cmn->veclen < capacity ? cmn->veclen : capacity;
    for (int i = 0; i < count; i++) mean[i] = MFCC2FLOAT(cmn->cmn_mean[i]);
    return count;
#endif
}

/// Starts the next utterance from this cepstral mean; returns 0, or -1 where its length is wrong.
static inline int fieldscribe_ps_set_mean(ps_decoder_t *decoder, const float *mean, int count) {
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

/// A front end of its own: samples in, cepstra out. 5.x keeps its front end to itself: there it is null, and whole
/// utterances are normalised by their own mean alone.
typedef struct fieldscribe_fe fieldscribe_fe;

#if FIELDSCRIBE_POCKETSPHINX_5
static inline fieldscribe_fe *fieldscribe_fe_open(ps_decoder_t *decoder, double warp) {
    (void)decoder, (void)warp;
    return NULL;
}

static inline void fieldscribe_fe_close(fieldscribe_fe *fe) { (void)fe; }
static inline void fieldscribe_fe_begin(fieldscribe_fe *fe) { (void)fe; }
static inline int fieldscribe_fe_width(fieldscribe_fe *fe) { return (void)fe, 0; }
static inline int fieldscribe_fe_hear(
    fieldscribe_fe *fe, const int16_t **samples, size_t *count, float *cepstra, int most) {
    return (void)fe, (void)samples, (void)count, (void)cepstra, (void)most, -1;
}
static inline int fieldscribe_fe_end(fieldscribe_fe *fe, float *cepstra) { return (void)fe, (void)cepstra, 0; }
static inline int fieldscribe_ps_search(ps_decoder_t *decoder, float *cepstra, int width, int frames) {
    return (void)decoder, (void)cepstra, (void)width, (void)frames, -1;
}
static inline int fieldscribe_ps_search_end(ps_decoder_t *decoder, float *last) { return (void)decoder, (void)last, 0; }
#else
/// With the model's own settings, and the frequencies warped by `warp` (1: not at all). Null where the library refuses.
static inline fieldscribe_fe *fieldscribe_fe_open(ps_decoder_t *decoder, double warp) {
    cmd_ln_t *config = ps_get_config(decoder);
    char text[32];
    snprintf(text, sizeof text, "%.4f", warp);
    if (warp != 1) {
        cmd_ln_set_str_r(config, "-warp_type", "inverse_linear");
        cmd_ln_set_str_r(config, "-warp_params", text);
    }
    fe_t *fe = fe_init_auto_r(config);
    cmd_ln_set_str_r(config, "-warp_params", NULL);
    return (fieldscribe_fe *)fe;
}

static inline void fieldscribe_fe_close(fieldscribe_fe *fe) { fe_free((fe_t *)fe); }

/// Begins an utterance; what was learnt of the noise before is forgotten.
static inline void fieldscribe_fe_begin(fieldscribe_fe *fe) {
    fe_start_stream((fe_t *)fe);
    fe_start_utt((fe_t *)fe);
}

/// Values a frame.
static inline int fieldscribe_fe_width(fieldscribe_fe *fe) { return fe_get_output_size((fe_t *)fe); }

/// Takes more of the utterance, as much as gives `most` frames, 64 or fewer; moves `samples` and `count` on. The frames
/// go to `cepstra`, one behind the other, and their number is returned; less than 0 where the library refuses.
static inline int fieldscribe_fe_hear(
    fieldscribe_fe *fe, const int16_t **samples, size_t *count, float *cepstra, int most) {
    mfcc_t *rows[64];
    int32 frames = most < 64 ? most : 64;
    for (int i = 0; i < frames; i++) rows[i] = cepstra + (size_t)i * (size_t)fieldscribe_fe_width(fe);
    return fe_process_frames((fe_t *)fe, samples, count, rows, &frames, NULL) < 0 ? -1 : frames;
}

/// Ends the utterance; returns the number of frames that it still gives, 0 or 1.
static inline int fieldscribe_fe_end(fieldscribe_fe *fe, float *cepstra) {
    int32 frames = 0;
    return fe_end_utt((fe_t *)fe, cepstra, &frames) < 0 || frames < 1 ? 0 : 1;
}

/// Searches frames of cepstra that are normalised already; less than 0 where the library refuses.
static inline int fieldscribe_ps_search(ps_decoder_t *decoder, float *cepstra, int width, int frames) {
    // One streamed utterance switches the library to its own normalisation for good; here all is done already.
    ps_get_feat(decoder)->cmn = CMN_NONE;
    for (int done = 0; done < frames;) {
        // More at a time than fit into the library's buffer of a dozen frames it loses.
        mfcc_t *rows[4];
        int count = 0;
        for (; count < 4 && done < frames; count++, done++) rows[count] = cepstra + (size_t)done * (size_t)width;
        int status = ps_process_cep(decoder, rows, count, 0, 0);
        if (status < 0) return status;
    }
    return 0;
}

/// Behind the last frame the library looks a few further before it has searched that: they repeat it.
static inline int fieldscribe_ps_search_end(ps_decoder_t *decoder, float *last) {
    int status = 0;
    for (int i = feat_window_size(ps_get_feat(decoder)); i > 0 && status >= 0; i--)
        status = fieldscribe_ps_search(decoder, last, 0, 1);
    return status;
}
#endif

/// Makes the next utterance a streamed one, normalised as it comes.
static inline void fieldscribe_ps_stream(ps_decoder_t *decoder) {
#if FIELDSCRIBE_POCKETSPHINX_5
    (void)decoder;
#else
    ps_get_feat(decoder)->cmn = CMN_LIVE;
#endif
}

/// The probability that a log value of this decoder stands for.
static inline double fieldscribe_ps_probability(ps_decoder_t *decoder, int32_t value) {
    return logmath_exp(ps_get_logmath(decoder), value);
}

/// Hears a second language model beside the decoder's own, each with its full weight; 0, or -1 where the library refuses.
static inline int fieldscribe_ps_add_model(ps_decoder_t *decoder, const char *path) {
    char name[64];
    snprintf(name, sizeof name, "%s", fieldscribe_ps_current(decoder));
    // The decoder keeps its model in a set that takes every word of the dictionary for one of the model's: the model
    // itself is wanted, else words that it does not know are searched for, too.
    ngram_model_t *own = NULL;
    const char *unused;
    ngram_model_set_iter_t *first = ngram_model_set_iter(ps_get_lm(decoder, name));
    if (first) {
        own = ngram_model_set_iter_model(first, &unused);
        ngram_model_set_iter_free(first);
    }
    logmath_t *math = logmath_retain(ps_get_logmath(decoder));
    ngram_model_t *added = ngram_model_read(ps_get_config(decoder), path, NGRAM_ARPA, math);
    if (!own || !added) return -1;
    ngram_model_t *models[] = {ngram_model_retain(own), added};
    char *names[] = {(char *)"own", (char *)"added"};
    const float weights[] = {1, 1};
    ngram_model_t *both = ngram_model_set_init(ps_get_config(decoder), models, names, weights, 2);
    // Under the same name: the search without it is freed.
    if (!both || fieldscribe_ps_set_lm(decoder, name, both) < 0) return -1;
    return fieldscribe_ps_activate(decoder, name) < 0 ? -1 : 0;
}

/// Understands from here on what a grammar tells, and nothing else; 0, or -1 where the library refuses.
static inline int fieldscribe_ps_take_grammar(ps_decoder_t *decoder, const char *path) {
    char name[64];
    snprintf(name, sizeof name, "%s", fieldscribe_ps_current(decoder));
    if (fieldscribe_ps_set_jsgf(decoder, "grammar", path) < 0) return -1;
    if (fieldscribe_ps_activate(decoder, "grammar") < 0) return -1;
    fieldscribe_ps_remove(decoder, name);
    return 0;
}

/// Understands from here on one graph of words, from its state 0 to its last one, with silence and fillers anywhere and
/// every way to say a word: links lead from[i] to to[i] by words[i]. Beams as the library's settings have them. 0, or -1
/// where the library refuses. 5.x: never.
static inline int fieldscribe_ps_take_graph(
    ps_decoder_t *decoder, int states, const int32_t *from, const int32_t *to, const char *const *words, int count,
    double beam, double word_beam) {
#if FIELDSCRIBE_POCKETSPHINX_5
    (void)decoder, (void)states, (void)from, (void)to, (void)words, (void)count, (void)beam, (void)word_beam;
    return -1;
#else
    cmd_ln_t *config = ps_get_config(decoder);
    cmd_ln_set_float_r(config, "-beam", beam);
    cmd_ln_set_float_r(config, "-pbeam", beam);
    cmd_ln_set_float_r(config, "-wbeam", word_beam);
    fsg_model_t *graph = fsg_model_init("words", ps_get_logmath(decoder), 1, states);
    if (!graph) return -1;
    graph->start_state = 0;
    graph->final_state = states - 1;
    for (int i = 0; i < count; i++) fsg_model_trans_add(graph, from[i], to[i], 0, fsg_model_word_add(graph, words[i]));
    // The decoder retains it, and frees the one before, which has the same name.
    int status = ps_set_fsg(decoder, "words", graph);
    fsg_model_free(graph);
    if (status < 0) return -1;
    return fieldscribe_ps_activate(decoder, "words") < 0 ? -1 : 0;
#endif
}

/// Whether words can be found by a graph at all.
static inline int fieldscribe_ps_can_align(void) { return !FIELDSCRIBE_POCKETSPHINX_5; }

/// A language model alone, and the base of its logarithms.
typedef struct {
    ngram_model_t *model;
    logmath_t *math;
} fieldscribe_lm;

/// Opens one; its model is null where the library refuses.
static inline fieldscribe_lm fieldscribe_lm_open(const char *path, fieldscribe_ps_listener listener) {
    fieldscribe_lm opened = {NULL, NULL};
    fieldscribe_ps_log_to(listener);
    *fieldscribe_ps_last_error() = 0;
    opened.math = logmath_init(1.0001, 0, 0);
    if (opened.math) opened.model = ngram_model_read(NULL, path, NGRAM_AUTO, logmath_retain(opened.math));
    return opened;
}

static inline void fieldscribe_lm_close(fieldscribe_lm opened) {
    if (opened.model) ngram_model_free(opened.model);
    if (opened.math) logmath_free(opened.math);
}

/// The probability of words[0] after words[1], words[2] ..., the nearest first; 0 for a word that the model lacks.
static inline double fieldscribe_lm_probability(fieldscribe_lm opened, const char *const *words, int count) {
    ngram_model_t *model = opened.model;
    if (ngram_wid(model, words[0]) == ngram_unknown_wid(model)) return 0;
    // What stands before an unknown word tells nothing.
    int known = 1;
    while (known < count && ngram_wid(model, words[known]) != ngram_unknown_wid(model)) known++;
    return logmath_exp(opened.math, ngram_prob(model, words, known));
}

/// The library's estimator of pitch.
struct yin_s;

/// For one utterance: its own start forgets only a part of the one before. Null where there is none: 5.x keeps its own to
/// itself. Frees itself with fieldscribe_voice_close.
static inline struct yin_s *fieldscribe_voice_open(int window) {
#if FIELDSCRIBE_POCKETSPHINX_5
    (void)window;
    return NULL;
#else
    yin_t *voice = yin_init(window, 0.1f, 0.2f, 2);
    if (voice) yin_start(voice);
    return voice;
#endif
}

static inline void fieldscribe_voice_close(struct yin_s *voice) {
#if FIELDSCRIBE_POCKETSPHINX_5
    (void)voice;
#else
    yin_free(voice);
#endif
}

/// Takes a window of samples, or null behind the last one. Gives the period in samples, and how little the window
/// resembles itself a period later (32768: not at all), of one that came before; returns 0 where it has none to give yet.
static inline int fieldscribe_voice_hear(
    struct yin_s *voice, const int16_t *window, uint16_t *period, uint16_t *difference) {
#if FIELDSCRIBE_POCKETSPHINX_5
    (void)voice, (void)window, (void)period, (void)difference;
    return 0;
#else
    if (window) yin_write(voice, window);
    else yin_end(voice);
    return yin_read(voice, period, difference);
#endif
}
