#pragma once
#include <stdint.h>

// Injects faults into a program with LD_PRELOAD=libFaultShim.so. Environment variables choose the faults.
//
//   FAULT_UNDER=FOLDER   applies the faults to calls on files in this folder
//   FAULT_FILE=SUFFIX    applies them only to files whose paths end with SUFFIX
//   FAULT_CALL=NAME      the call that fails: open write pwrite writev fsync fdatasync ftruncate rename unlink mkdir fallocate, or any
//   FAULT_AT=K           makes the K-th such call fail, counted from 1
//   FAULT_SPAN=one|every|rest   makes only the K-th call, every K-th call, or the K-th call and all later ones fail
//   FAULT_ERROR=NAME     the error: EIO ENOSPC EROFS EINTR; SHORT: writes only a part; LIE: does nothing, but reports success; KILL: sends
//                        SIGKILL before the call; HANG: succeeds after FAULT_STALL milliseconds
//   FAULT_STATE=FILE     keeps the counters in this file: struct fault_state
//   FAULT_JOURNAL=FILE   writes every change in the folder, and the previous content, to this file; see Journal.c
//   FAULT_SWALLOW=1      fsync and fdatasync do nothing and succeed
//   FAULT_LEAK=1         each write leaks memory, and every 64th write a descriptor
//   FAULT_WORKER=PROGRAM replaces the decode workers
//   FAULT_CLOCK=1        a PCM without a clock delivers audio in real time, like a sound card
//   FAULT_OVERRUN=K      the K-th snd_pcm_readi returns -EPIPE after FAULT_STALL milliseconds (default 300)
//   FAULT_SUSPEND=K      simulates a suspend: the K-th snd_pcm_readi waits FAULT_STALL milliseconds and returns -ESTRPIPE, as do
//                        all later ones until the PCM is prepared again
//   FAULT_WALL=SECONDS   the wall clock always shows this second, counted from 1970
//   FAULT_UNPLUG=K       from the K-th call on, snd_pcm_readi returns -ENODEV; then snd_pcm_open fails FAULT_REFUSALS times

enum fault_call {
    FAULT_OPEN, FAULT_WRITE, FAULT_PWRITE, FAULT_WRITEV, FAULT_FSYNC, FAULT_FDATASYNC, FAULT_FTRUNCATE, FAULT_RENAME,
    FAULT_UNLINK, FAULT_MKDIR, FAULT_FALLOCATE, FAULT_CALLS
};

/// Counters that remain after the program exits or is killed. Times are in nanoseconds of CLOCK_MONOTONIC.
struct fault_state {
    /// The number of calls on files, by `enum fault_call`.
    uint64_t calls[16];
    /// The number of injected faults.
    uint64_t raised;
    /// The number of calls to snd_pcm_readi.
    uint64_t reads;
    /// The number of frames that the program read with snd_pcm_readi.
    uint64_t frames;
    /// The number of calls to snd_pcm_open, and the number of those that failed on purpose.
    uint64_t opens, refusals;
    /// The times of the first and the last start of the PCM.
    uint64_t started, restarted;
    /// The number of frames read before the last overrun, suspend or unplugging.
    uint64_t frames_before;
    /// The number of calls to snd_pcm_resume during a simulated sleep.
    uint64_t resumes;
};
