// The headers of the installed version of the library, and common names for functions that differ between versions.
#pragma once
#include "CPocketSphinx.h"

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

/// Makes the library log to `listener`, if it is not null, and store its last error line.
void fieldscribe_ps_log_to(fieldscribe_ps_listener listener);
