// What Swift sees of PocketSphinx: 0.8+5prealpha (Debian 12 and 13) and 5.x look the same. Beside each function are the
// library's own that it calls; those of 5.x are behind the colon where they differ, - if 5.x has none. Besides, Swift calls the
// ps_ functions of pocketsphinx.h that both have.
#pragma once
#include <pocketsphinx.h>
#include <stddef.h>
#include <stdint.h>

/// The library's version, from its headers.
const char *fieldscribe_ps_version(void);

/// The library's last error line; empty if there was none.
/// err_set_callback
char *fieldscribe_ps_last_error(void);

/// Receives a line that the library logs, without its line break.
typedef void (*fieldscribe_ps_listener)(const char *line);

/// Loads a decoder from `count` strings: name, value, name, value ... with names like "hmm" (no dash). The library logs to
/// `listener`, if there is one. Null if the library refuses; `fieldscribe_ps_last_error` then says why. To be freed by ps_free.
/// cmd_ln_parse_r, ps_init, err_set_callback: ps_config_parse_json, ps_init, err_set_callback
ps_decoder_t *fieldscribe_ps_open(const char *const *options, int count, fieldscribe_ps_listener listener);

/// Starts the next utterance from this cepstral mean; returns 0, or -1 if its length is wrong.
/// cmn_live_set: ps_set_cmn
int fieldscribe_ps_set_mean(ps_decoder_t *decoder, const float *mean, int count);

/// Makes the next utterance a streamed one, normalized as it comes.
/// ps_get_feat: -
void fieldscribe_ps_stream(ps_decoder_t *decoder);

/// The probability that a log value of this decoder stands for.
/// logmath_exp
double fieldscribe_ps_probability(ps_decoder_t *decoder, int32_t value);

/// Searches frames of cepstra that are already normalized; less than 0 if the library refuses.
/// ps_process_cep: -
int fieldscribe_ps_search(ps_decoder_t *decoder, float *cepstra, int width, int frames);

/// The library looks a few frames past the last one before it has searched that: this repeats it.
/// ps_process_cep: -
int fieldscribe_ps_search_end(ps_decoder_t *decoder, float *last);

/// Adds a second language model beside the decoder's own, each with its full weight; 0, or -1 if the library refuses.
/// ngram_model_read, ngram_model_set_init, ps_set_lm, ps_set_search: the same with ps_add_lm, ps_activate_search
int fieldscribe_ps_add_model(ps_decoder_t *decoder, const char *path);

/// From here on understands what a grammar allows, and nothing else; 0, or -1 if the library refuses.
/// ps_set_jsgf_file, ps_set_search, ps_unset_search: ps_add_jsgf_file, ps_activate_search, ps_remove_search
int fieldscribe_ps_take_grammar(ps_decoder_t *decoder, const char *path);

/// From here on understands one graph of words, from its state 0 to its last one, with silence and fillers anywhere and every
/// pronunciation of a word: links lead from[i] to to[i] by words[i]. Beams are like the library's settings. 0, or -1 if the
/// library refuses.
/// fsg_model_init, fsg_model_trans_add, ps_set_fsg, ps_set_search: -
int fieldscribe_ps_take_graph(
    ps_decoder_t *decoder, int states, const int32_t *from, const int32_t *to, const char *const *words, int count,
    double beam, double word_beam);

/// Whether words can be found by a graph at all: not with 5.x.
int fieldscribe_ps_can_align(void);

/// A front end of its own: samples in, cepstra out. 5.x does not give access to its own: there it is null, and whole utterances
/// are normalized by their own mean alone.
typedef struct fieldscribe_fe fieldscribe_fe;

/// With the model's own settings, and the frequencies warped by `warp` (1: not at all). Null if the library refuses.
/// fe_init_auto_r: -
fieldscribe_fe *fieldscribe_fe_open(ps_decoder_t *decoder, double warp);

/// fe_free: -
void fieldscribe_fe_close(fieldscribe_fe *fe);

/// Begins an utterance; what was learnt of the noise before is forgotten.
/// fe_start_stream, fe_start_utt: -
void fieldscribe_fe_begin(fieldscribe_fe *fe);

/// Values per frame.
/// fe_get_output_size: -
int fieldscribe_fe_width(fieldscribe_fe *fe);

/// Takes more of the utterance, as much as gives `most` frames, 64 or fewer; moves `samples` and `count` on. The frames go to
/// `cepstra`, one after the other, and their number is returned; less than 0 if the library refuses.
/// fe_process_frames: -
int fieldscribe_fe_hear(fieldscribe_fe *fe, const int16_t **samples, size_t *count, float *cepstra, int most);

/// Ends the utterance; returns the number of frames that it still gives, 0 or 1.
/// fe_end_utt: -
int fieldscribe_fe_end(fieldscribe_fe *fe, float *cepstra);

/// A language model alone, and the base of its logarithms.
typedef struct {
    ngram_model_t *model;
    logmath_t *math;
} fieldscribe_lm;

/// Opens one; its model is null if the library refuses. The library logs to `listener`, if there is one.
/// logmath_init, ngram_model_read
fieldscribe_lm fieldscribe_lm_open(const char *path, fieldscribe_ps_listener listener);

/// ngram_model_free, logmath_free
void fieldscribe_lm_close(fieldscribe_lm opened);

/// The probability of words[0] after words[1], words[2] ..., the nearest first; 0 for a word that the model lacks.
/// ngram_prob
double fieldscribe_lm_probability(fieldscribe_lm opened, const char *const *words, int count);

/// The library's estimator of pitch (YIN).
struct yin_s;

/// For one utterance: its own start forgets only a part of the previous one. Null if there is none. To be freed by
/// fieldscribe_voice_close.
/// yin_init, yin_start: -
struct yin_s *fieldscribe_voice_open(int window);

/// yin_free: -
void fieldscribe_voice_close(struct yin_s *voice);

/// Takes a window of samples, or null after the last one. Gives the period in samples, and how little the window resembles
/// itself a period later (32768: not at all), of an earlier window; returns 0 if it has none to give yet.
/// yin_write, yin_end, yin_read: -
int fieldscribe_voice_hear(struct yin_s *voice, const int16_t *window, uint16_t *period, uint16_t *difference);
