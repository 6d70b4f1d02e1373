// A common interface to PocketSphinx 0.8+5prealpha (Debian 12 and 13) and 5.x. Below each description are the main library
// functions that it uses; those of 5.x come after a colon if they differ, or "-" if 5.x has none. Swift also calls ps_
// functions from pocketsphinx.h that both versions have.
#pragma once
#include <pocketsphinx.h>
#include <stddef.h>
#include <stdint.h>

/// Returns the library's version, according to its headers.
const char *fieldscribe_ps_version(void);

/// Returns the library's last error line; empty if there was none.
/// err_set_callback
char *fieldscribe_ps_last_error(void);

/// Receives a line that the library logs, without the line break.
typedef void (*fieldscribe_ps_listener)(const char *line);

/// Loads a decoder with settings from `count` strings: name, value, name, value ..., with names like "hmm" (no dash). The
/// library logs to `listener` if it is not null. Returns null on failure; `fieldscribe_ps_last_error` then has the reason.
/// Free the decoder with ps_free.
/// cmd_ln_parse_r, ps_init, err_set_callback: ps_config_parse_json, ps_init, err_set_callback
ps_decoder_t *fieldscribe_ps_open(const char *const *options, int count, fieldscribe_ps_listener listener);

/// Sets the cepstral mean at the start of the next utterance. Returns 0, or -1 if its length is wrong.
/// cmn_live_set: ps_set_cmn
int fieldscribe_ps_set_mean(ps_decoder_t *decoder, const float *mean, int count);

/// Makes the next utterance a streamed one, whose cepstral mean is updated continuously.
/// ps_get_feat: -
void fieldscribe_ps_stream(ps_decoder_t *decoder);

/// Converts a logarithm, whose base is the decoder's, to a probability.
/// logmath_exp
double fieldscribe_ps_probability(ps_decoder_t *decoder, int32_t value);

/// Searches frames of cepstra that are already normalized. Returns a negative value on failure.
/// ps_process_cep: -
int fieldscribe_ps_search(ps_decoder_t *decoder, float *cepstra, int width, int frames);

/// Finishes the search. The library needs a few more frames to search the last one, so this repeats the last frame.
/// ps_process_cep: -
int fieldscribe_ps_search_end(ps_decoder_t *decoder, float *last);

/// Adds a second language model to the decoder's own, both with full weight. Returns 0, or -1 on failure.
/// ngram_model_read, ngram_model_set_init, ps_set_lm, ps_set_search: the same with ps_add_lm, ps_activate_search
int fieldscribe_ps_add_model(ps_decoder_t *decoder, const char *path);

/// Makes the decoder recognize only what a grammar allows. Returns 0, or -1 on failure.
/// ps_set_jsgf_file, ps_set_search, ps_unset_search: ps_add_jsgf_file, ps_activate_search, ps_remove_search
int fieldscribe_ps_set_grammar(ps_decoder_t *decoder, const char *path);

/// Makes the decoder recognize only a word graph, from state 0 to the last state, with silence and fillers anywhere and
/// with all pronunciations of a word. Link i leads from from[i] to to[i] with words[i]. Beams are as in the library's
/// settings. Returns 0, or -1 on failure.
/// fsg_model_init, fsg_model_trans_add, ps_set_fsg, ps_set_search: -
int fieldscribe_ps_set_graph(
    ps_decoder_t *decoder, int states, const int32_t *from, const int32_t *to, const char *const *words, int count,
    double beam, double word_beam);

/// Returns whether word graphs are supported; false with 5.x.
int fieldscribe_ps_can_align(void);

/// A separate front end, which converts samples to cepstra. 5.x does not give access to its front end, so this is null, and
/// complete utterances are normalized only by their own mean.
typedef struct fieldscribe_fe fieldscribe_fe;

/// Creates a front end with the model's settings and with frequencies warped by `warp` (1 for no warping). Returns null on
/// failure.
/// fe_init_auto_r: -
fieldscribe_fe *fieldscribe_fe_open(ps_decoder_t *decoder, double warp);

/// fe_free: -
void fieldscribe_fe_close(fieldscribe_fe *fe);

/// Begins an utterance and resets the noise estimate.
/// fe_start_stream, fe_start_utt: -
void fieldscribe_fe_begin(fieldscribe_fe *fe);

/// Returns the number of values per frame.
/// fe_get_output_size: -
int fieldscribe_fe_width(fieldscribe_fe *fe);

/// Processes samples of the utterance for up to `limit` frames, at most 64, and advances `samples` and `count`. Writes the
/// frames consecutively to `cepstra` and returns their number, or a negative value on failure.
/// fe_process_frames: -
int fieldscribe_fe_process(fieldscribe_fe *fe, const int16_t **samples, size_t *count, float *cepstra, int limit);

/// Ends the utterance. Returns the number of remaining frames, 0 or 1, which are written to `cepstra`.
/// fe_end_utt: -
int fieldscribe_fe_end(fieldscribe_fe *fe, float *cepstra);

/// A language model without a decoder, and the base of its logarithms.
typedef struct {
    ngram_model_t *model;
    logmath_t *math;
} fieldscribe_lm;

/// Opens a language model. On failure, its `model` is null. The library logs to `listener` if it is not null.
/// logmath_init, ngram_model_read
fieldscribe_lm fieldscribe_lm_open(const char *path, fieldscribe_ps_listener listener);

/// ngram_model_free, logmath_free
void fieldscribe_lm_close(fieldscribe_lm lm);

/// Returns the probability of words[0] after words[1], words[2] ..., nearest first; 0 if words[0] is not in the model.
/// ngram_prob
double fieldscribe_lm_probability(fieldscribe_lm lm, const char *const *words, int count);

/// The library's pitch estimator (YIN).
struct yin_s;

/// Creates a pitch estimator for a single utterance, because restarting one does not reset it completely. Returns null if
/// it is not available. Free it with fieldscribe_voice_close.
/// yin_init, yin_start: -
struct yin_s *fieldscribe_voice_open(int window);

/// yin_free: -
void fieldscribe_voice_close(struct yin_s *voice);

/// Processes a window of samples, or null after the last window. Gets the results for an earlier window: the period in
/// samples, and how much the window differs from itself one period later (32768: completely). Returns 0 if there is no
/// result yet.
/// yin_write, yin_end, yin_read: -
int fieldscribe_voice_process(struct yin_s *voice, const int16_t *window, uint16_t *period, uint16_t *difference);
