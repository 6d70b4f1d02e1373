// Computes cepstra and pitch from samples, and passes cepstra to the search.
#include "library.h"
#include <stdio.h>

#if FIELDSCRIBE_POCKETSPHINX_5
fieldscribe_fe *fieldscribe_fe_open(ps_decoder_t *decoder, double warp) {
    (void)decoder, (void)warp;
    return NULL;
}

void fieldscribe_fe_close(fieldscribe_fe *fe) { (void)fe; }
void fieldscribe_fe_begin(fieldscribe_fe *fe) { (void)fe; }
int fieldscribe_fe_width(fieldscribe_fe *fe) { return (void)fe, 0; }
int fieldscribe_fe_process(
    fieldscribe_fe *fe, const int16_t **samples, size_t *count, float *cepstra, int limit) {
    return (void)fe, (void)samples, (void)count, (void)cepstra, (void)limit, -1;
}
int fieldscribe_fe_end(fieldscribe_fe *fe, float *cepstra) { return (void)fe, (void)cepstra, 0; }
int fieldscribe_ps_search(ps_decoder_t *decoder, float *cepstra, int width, int frames) {
    return (void)decoder, (void)cepstra, (void)width, (void)frames, -1;
}
int fieldscribe_ps_search_end(ps_decoder_t *decoder, float *last) { return (void)decoder, (void)last, 0; }
#else
fieldscribe_fe *fieldscribe_fe_open(ps_decoder_t *decoder, double warp) {
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

void fieldscribe_fe_close(fieldscribe_fe *fe) { fe_free((fe_t *)fe); }

void fieldscribe_fe_begin(fieldscribe_fe *fe) {
    fe_start_stream((fe_t *)fe);
    fe_start_utt((fe_t *)fe);
}

int fieldscribe_fe_width(fieldscribe_fe *fe) { return fe_get_output_size((fe_t *)fe); }

int fieldscribe_fe_process(
    fieldscribe_fe *fe, const int16_t **samples, size_t *count, float *cepstra, int limit) {
    mfcc_t *rows[64];
    int32 frames = limit < 64 ? limit : 64;
    for (int i = 0; i < frames; i++) rows[i] = cepstra + (size_t)i * (size_t)fieldscribe_fe_width(fe);
    return fe_process_frames((fe_t *)fe, samples, count, rows, &frames, NULL) < 0 ? -1 : frames;
}

int fieldscribe_fe_end(fieldscribe_fe *fe, float *cepstra) {
    int32 frames = 0;
    return fe_end_utt((fe_t *)fe, cepstra, &frames) < 0 || frames < 1 ? 0 : 1;
}

int fieldscribe_ps_search(ps_decoder_t *decoder, float *cepstra, int width, int frames) {
    // A streamed utterance permanently switches the library to its own normalization, but the caller has already
    // normalized the cepstra.
    ps_get_feat(decoder)->cmn = CMN_NONE;
    for (int done = 0; done < frames;) {
        // Passes four frames at a time: the library loses frames that do not fit in its buffer of a dozen.
        mfcc_t *rows[4];
        int count = 0;
        for (; count < 4 && done < frames; count++, done++) rows[count] = cepstra + (size_t)done * (size_t)width;
        int status = ps_process_cep(decoder, rows, count, 0, 0);
        if (status < 0) return status;
    }
    return 0;
}

int fieldscribe_ps_search_end(ps_decoder_t *decoder, float *last) {
    int status = 0;
    for (int i = feat_window_size(ps_get_feat(decoder)); i > 0 && status >= 0; i--)
        status = fieldscribe_ps_search(decoder, last, 0, 1);
    return status;
}
#endif

struct yin_s *fieldscribe_voice_open(int window) {
#if FIELDSCRIBE_POCKETSPHINX_5
    (void)window;
    return NULL;
#else
    yin_t *voice = yin_init(window, 0.1f, 0.2f, 2);
    if (voice) yin_start(voice);
    return voice;
#endif
}

void fieldscribe_voice_close(struct yin_s *voice) {
#if FIELDSCRIBE_POCKETSPHINX_5
    (void)voice;
#else
    yin_free(voice);
#endif
}

int fieldscribe_voice_process(
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
