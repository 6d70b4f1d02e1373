// SHA-256. Nettle's names are macros, which Swift cannot import, and before version 4, sha256_digest takes a length.
#pragma once
#include <nettle/sha2.h>
#include <nettle/version.h>

static inline void fieldscribe_sha256_start(struct sha256_ctx *state) { sha256_init(state); }

static inline void fieldscribe_sha256_add(struct sha256_ctx *state, const void *bytes, size_t count) {
    sha256_update(state, count, (const uint8_t *)bytes);
}

/// Writes 32 bytes and resets the state.
static inline void fieldscribe_sha256_finish(struct sha256_ctx *state, uint8_t *digest) {
#if NETTLE_VERSION_MAJOR >= 4
    sha256_digest(state, digest);
#else
    sha256_digest(state, SHA256_DIGEST_SIZE, digest);
#endif
}
