#pragma once
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include "FaultShim.h"
#include <errno.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

enum fault_verdict { FAULT_NONE, FAULT_FAIL, FAULT_SHORT, FAULT_LIE };

struct fault_settings {
    const char *under, *worker, *file;
    size_t under_length;
    int call, error, span;
    uint64_t at, overrun, suspend, unplug, refusals;
    long stall;
    bool is_short, lies, kills, hangs, swallows, leaks, is_paced;
};

#define FAULT_ANY 98

extern struct fault_settings fault_settings;
extern struct fault_state *fault_state;

void fault_begin(void);
void *fault_next(const char *name);
/// Counts a call, and decides whether it fails; sets errno if it does. Does not return if the fault is KILL.
enum fault_verdict fault_decide(int call);
bool fault_is_under(int folder, const char *path);
bool fault_full_path(int folder, const char *path, char *full_path);
bool fault_tracks(int descriptor);
uint64_t fault_now(void);

void journal_begin(const char *path);
void journal_write(int descriptor, int64_t offset, uint64_t count);
void journal_truncate(int descriptor, int64_t length);
void journal_created(const char *path);
void journal_renaming(const char *from, const char *to);
void journal_unlinking(const char *path);
uint64_t journal_sync_begin(void);
void journal_synced(int descriptor, uint64_t durable);
