// Wraps libasound functions: paces a PCM without a clock, and simulates overruns, suspends and an unplugged microphone.
#include "shim.h"
#include <time.h>

typedef struct snd_pcm snd_pcm_t;

#define NEXT(type, name) \
    static type next; \
    if (!next) next = (type)fault_next(name)

// Only one PCM is open at a time, and only one thread reads it.
static uint64_t started, frames_since, rate = 16000;
static bool is_unplugged, is_asleep;
static uint64_t refusals_left;

static void add(uint64_t *counter, uint64_t count) { atomic_fetch_add((_Atomic uint64_t *)counter, count); }

static void sleep_until(uint64_t time) {
    struct timespec deadline = {(time_t)(time / 1000000000u), (long)(time % 1000000000u)};
    // wait: paces the audio like a microphone
    while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &deadline, NULL) == EINTR) {}
}

int snd_pcm_open(snd_pcm_t **pcm, const char *name, int stream, int mode) {
    typedef int (*open_type)(snd_pcm_t **, const char *, int, int);
    NEXT(open_type, "snd_pcm_open");
    fault_begin();
    add(&fault_state->opens, 1);
    if (is_unplugged && refusals_left > 0) {
        refusals_left--;
        add(&fault_state->refusals, 1);
        return -ENODEV;
    }
    is_unplugged = false;
    return next(pcm, name, stream, mode);
}

int snd_pcm_hw_params_get_rate(const void *parameters, unsigned *value, int *direction) {
    typedef int (*rate_type)(const void *, unsigned *, int *);
    NEXT(rate_type, "snd_pcm_hw_params_get_rate");
    int status = next(parameters, value, direction);
    if (status >= 0 && *value > 0) rate = *value;
    return status;
}

/// Simulates a driver that reports twice that the machine is still waking up, and then, like most drivers, that it cannot resume.
int snd_pcm_resume(snd_pcm_t *pcm) {
    typedef int (*resume_type)(snd_pcm_t *);
    NEXT(resume_type, "snd_pcm_resume");
    if (!is_asleep) return next(pcm);
    add(&fault_state->resumes, 1);
    return fault_state->resumes < 3 ? -EAGAIN : -ENOSYS;
}

/// Ends a simulated sleep.
int snd_pcm_prepare(snd_pcm_t *pcm) {
    typedef int (*prepare_type)(snd_pcm_t *);
    NEXT(prepare_type, "snd_pcm_prepare");
    is_asleep = false;
    return next(pcm);
}

int snd_pcm_start(snd_pcm_t *pcm) {
    typedef int (*start_type)(snd_pcm_t *);
    NEXT(start_type, "snd_pcm_start");
    fault_begin();
    int status = next(pcm);
    started = fault_now();
    frames_since = 0;
    if (fault_state->started == 0) fault_state->started = started;
    else fault_state->restarted = started;
    return status;
}

/// Counts and paces a read. Returns a negative error if the read must fail.
static long before_read(unsigned long count) {
    const struct fault_settings *s = &fault_settings;
    fault_begin();
    uint64_t read_number = atomic_fetch_add((_Atomic uint64_t *)&fault_state->reads, 1) + 1;
    if (is_unplugged) return -ENODEV;
    if (s->unplug > 0 && read_number == s->unplug) {
        is_unplugged = true;
        refusals_left = s->refusals;
        fault_state->frames_before = fault_state->frames;
        add(&fault_state->raised, 1);
        return -ENODEV;
    }
    if (s->overrun > 0 && read_number == s->overrun) {
        fault_state->frames_before = fault_state->frames;
        add(&fault_state->raised, 1);
        sleep_until(fault_now() + (uint64_t)s->stall * 1000000u);
        return -EPIPE;
    }
    if (s->suspend > 0 && read_number == s->suspend) {
        fault_state->frames_before = fault_state->frames;
        add(&fault_state->raised, 1);
        sleep_until(fault_now() + (uint64_t)s->stall * 1000000u);
        is_asleep = true;
        return -ESTRPIPE;
    }
    if (is_asleep) return -ESTRPIPE;
    if (s->is_paced) sleep_until(started + (frames_since + count) * 1000000000u / rate);
    return 0;
}

static long after_read(long count) {
    if (count > 0) {
        frames_since += (uint64_t)count;
        add(&fault_state->frames, (uint64_t)count);
    }
    return count;
}

long snd_pcm_readi(snd_pcm_t *pcm, void *buffer, unsigned long count) {
    typedef long (*read_type)(snd_pcm_t *, void *, unsigned long);
    NEXT(read_type, "snd_pcm_readi");
    long failure = before_read(count);
    return failure < 0 ? failure : after_read(next(pcm, buffer, count));
}

long snd_pcm_mmap_readi(snd_pcm_t *pcm, void *buffer, unsigned long count) {
    typedef long (*read_type)(snd_pcm_t *, void *, unsigned long);
    NEXT(read_type, "snd_pcm_mmap_readi");
    long failure = before_read(count);
    return failure < 0 ? failure : after_read(next(pcm, buffer, count));
}
