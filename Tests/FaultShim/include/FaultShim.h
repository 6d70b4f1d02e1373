#pragma once
#include <stdint.h>

// Injects faults into a program with LD_PRELOAD=libFaultShim.so. The environment says which.
//
//   FAULT_UNDER=FOLDER   the files to which it applies
//   FAULT_FILE=END       only those of them whose names end with this
//   FAULT_CALL=NAME      open write pwrite writev fsync fdatasync ftruncate rename unlink mkdir fallocate, or any
//   FAULT_AT=K           the K-th such call fails, counted from 1
//   FAULT_SPAN=one|every|rest   that call, each K-th, or it and all that follow
//   FAULT_ERROR=NAME     EIO ENOSPC EROFS EINTR; SHORT: a part is written; LIE: nothing is, and success is reported;
//                        KILL: SIGKILL before the call; HANG: it takes FAULT_STALL milliseconds longer, and succeeds
//   FAULT_STATE=FILE     counters, shared with whoever maps the file: struct fault_state
//   FAULT_JOURNAL=FILE   every change under the folder with what was there before; see Journal.c
//   FAULT_SWALLOW=1      fsync and fdatasync do nothing and succeed
//   FAULT_LEAK=1         each write leaks memory and every 64th a descriptor
//   FAULT_WORKER=PROGRAM takes the place of the decode workers
//   FAULT_CLOCK=1        a PCM without a clock delivers at its rate, as a sound card does
//   FAULT_OVERRUN=K      the K-th snd_pcm_readi gives -EPIPE after FAULT_STALL milliseconds (default 300)
//   FAULT_SUSPEND=K      the K-th snd_pcm_readi gives -ESTRPIPE after FAULT_STALL milliseconds, and continues until the PCM is
//                        prepared again, as after a machine's sleep
//   FAULT_WALL=SECONDS   the wall clock stands there, in seconds since 1970
//   FAULT_UNPLUG=K       from the K-th snd_pcm_readi on -ENODEV, and snd_pcm_open fails FAULT_REFUSALS times

enum fault_call {
    FAULT_OPEN, FAULT_WRITE, FAULT_PWRITE, FAULT_WRITEV, FAULT_FSYNC, FAULT_FDATASYNC, FAULT_FTRUNCATE, FAULT_RENAME,
    FAULT_UNLINK, FAULT_MKDIR, FAULT_FALLOCATE, FAULT_CALLS
};

/// Outlives the program, also one that is killed. All 64 bits wide; times are CLOCK_MONOTONIC in nanoseconds.
struct fault_state {
    uint64_t calls[16];
    /// Faults that were raised.
    uint64_t raised;
    uint64_t reads;
    /// Frames that the program got from snd_pcm_readi.
    uint64_t frames;
    uint64_t opens;
    uint64_t refusals;
    /// When the PCM was first started, and when again after the last overrun.
    uint64_t started, restarted;
    /// Frames given before the last overrun.
    uint64_t frames_before;
    /// Calls of snd_pcm_resume.
    uint64_t resumes;
};
