// Sets what a decoder recognizes, with language models, grammars and word graphs.
#include "library.h"
#include <stdio.h>

int fieldscribe_ps_add_model(ps_decoder_t *decoder, const char *path) {
    char name[64];
    snprintf(name, sizeof name, "%s", fieldscribe_ps_current(decoder));
    // The decoder keeps its model in a set that considers every word in the dictionary to be in the model. Takes the model
    // out of the set; otherwise the decoder would also search for words that are not in the model.
    ngram_model_t *current = NULL;
    const char *unused;
    ngram_model_set_iter_t *first = ngram_model_set_iter(ps_get_lm(decoder, name));
    if (first) {
        current = ngram_model_set_iter_model(first, &unused);
        ngram_model_set_iter_free(first);
    }
    logmath_t *math = logmath_retain(ps_get_logmath(decoder));
    ngram_model_t *added = ngram_model_read(ps_get_config(decoder), path, NGRAM_ARPA, math);
    if (!current || !added) return -1;
    ngram_model_t *models[] = {ngram_model_retain(current), added};
    char *names[] = {(char *)"own", (char *)"added"};
    const float weights[] = {1, 1};
    ngram_model_t *combined = ngram_model_set_init(ps_get_config(decoder), models, names, weights, 2);
    // The combined model gets the current one's name, so that the decoder frees the current search.
    if (!combined || fieldscribe_ps_set_lm(decoder, name, combined) < 0) return -1;
    return fieldscribe_ps_activate(decoder, name) < 0 ? -1 : 0;
}

int fieldscribe_ps_set_grammar(ps_decoder_t *decoder, const char *path) {
    char name[64];
    snprintf(name, sizeof name, "%s", fieldscribe_ps_current(decoder));
    if (fieldscribe_ps_set_jsgf(decoder, "grammar", path) < 0) return -1;
    if (fieldscribe_ps_activate(decoder, "grammar") < 0) return -1;
    fieldscribe_ps_remove(decoder, name);
    return 0;
}

int fieldscribe_ps_set_graph(
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
    // The decoder retains the graph and frees the previous one, which has the same name.
    int status = ps_set_fsg(decoder, "words", graph);
    fsg_model_free(graph);
    if (status < 0) return -1;
    return fieldscribe_ps_activate(decoder, "words") < 0 ? -1 : 0;
#endif
}

int fieldscribe_ps_can_align(void) { return !FIELDSCRIBE_POCKETSPHINX_5; }

fieldscribe_lm fieldscribe_lm_open(const char *path, fieldscribe_ps_listener listener) {
    fieldscribe_lm lm = {NULL, NULL};
    fieldscribe_ps_log_to(listener);
    *fieldscribe_ps_last_error() = 0;
    lm.math = logmath_init(1.0001, 0, 0);
    if (lm.math) lm.model = ngram_model_read(NULL, path, NGRAM_AUTO, logmath_retain(lm.math));
    return lm;
}

void fieldscribe_lm_close(fieldscribe_lm lm) {
    if (lm.model) ngram_model_free(lm.model);
    if (lm.math) logmath_free(lm.math);
}

double fieldscribe_lm_probability(fieldscribe_lm lm, const char *const *words, int count) {
    ngram_model_t *model = lm.model;
    if (ngram_wid(model, words[0]) == ngram_unknown_wid(model)) return 0;
    // Words before an unknown word are not useful as context.
    int length = 1;
    while (length < count && ngram_wid(model, words[length]) != ngram_unknown_wid(model)) length++;
    return logmath_exp(lm.math, ngram_prob(model, words, length));
}
