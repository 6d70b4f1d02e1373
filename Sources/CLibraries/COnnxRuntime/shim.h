// ONNX Runtime's C API, loaded at run time, so that neither its header nor its library is needed to build.
//
// The library has one entry point, OrtGetApiBase, which leads to a table of functions. The table only ever grows, so the
// meaning of an entry never changes. The entries below have existed since version 1.6, whose API version is 6. Functions
// that can fail return null or a status that must be released.
#pragma once
#include <stddef.h>
#include <stdint.h>

typedef struct OrtEnv OrtEnv;
typedef struct OrtStatus OrtStatus;
typedef struct OrtSession OrtSession;
typedef struct OrtSessionOptions OrtSessionOptions;
typedef struct OrtRunOptions OrtRunOptions;
typedef struct OrtValue OrtValue;
typedef struct OrtMemoryInfo OrtMemoryInfo;
typedef struct OrtAllocator OrtAllocator;
typedef struct OrtArenaCfg OrtArenaCfg;
typedef struct OrtTensorTypeAndShapeInfo OrtTensorTypeAndShapeInfo;
typedef struct OrtTypeInfo OrtTypeInfo;

/// Receives the library's log messages.
typedef void (*fieldscribe_ort_logger)(
    void *parameter, int level, const char *category, const char *log, const char *location, const char *message);

/// The first 145 entries of OrtApi. Unused entries have their index in their name.
struct fieldscribe_ort_api {
    const void *unused_0[2];
    const char *(*GetErrorMessage)(const OrtStatus *);
    const void *unused_3;
    OrtStatus *(*CreateEnvWithCustomLogger)(fieldscribe_ort_logger, void *, int level, const char *log, OrtEnv **);
    const void *unused_5;
    OrtStatus *(*DisableTelemetryEvents)(const OrtEnv *);
    const void *unused_7;
    OrtStatus *(*CreateSessionFromArray)(const OrtEnv *, const void *, size_t, const OrtSessionOptions *, OrtSession **);
    OrtStatus *(*Run)(
        OrtSession *, const OrtRunOptions *, const char *const *inputs, const OrtValue *const *values, size_t count,
        const char *const *outputs, size_t outputCount, OrtValue **results);
    OrtStatus *(*CreateSessionOptions)(OrtSessionOptions **);
    const void *unused_11[6];
    OrtStatus *(*DisableMemPattern)(OrtSessionOptions *);
    const void *unused_18[6];
    OrtStatus *(*SetIntraOpNumThreads)(OrtSessionOptions *, int);
    OrtStatus *(*SetInterOpNumThreads)(OrtSessionOptions *, int);
    const void *unused_26[4];
    OrtStatus *(*SessionGetInputCount)(const OrtSession *, size_t *);
    OrtStatus *(*SessionGetOutputCount)(const OrtSession *, size_t *);
    const void *unused_32;
    OrtStatus *(*SessionGetInputTypeInfo)(const OrtSession *, size_t, OrtTypeInfo **);
    OrtStatus *(*SessionGetOutputTypeInfo)(const OrtSession *, size_t, OrtTypeInfo **);
    const void *unused_35;
    OrtStatus *(*SessionGetInputName)(const OrtSession *, size_t, OrtAllocator *, char **);
    OrtStatus *(*SessionGetOutputName)(const OrtSession *, size_t, OrtAllocator *, char **);
    const void *unused_38[10];
    OrtStatus *(*CreateTensorAsOrtValue)(OrtAllocator *, const int64_t *shape, size_t dimensions, int type, OrtValue **);
    const void *unused_49[2];
    OrtStatus *(*GetTensorMutableData)(OrtValue *, void **);
    const void *unused_52[3];
    OrtStatus *(*CastTypeInfoToTensorInfo)(const OrtTypeInfo *, const OrtTensorTypeAndShapeInfo **);
    const void *unused_56[4];
    OrtStatus *(*GetTensorElementType)(const OrtTensorTypeAndShapeInfo *, int *);
    OrtStatus *(*GetDimensionsCount)(const OrtTensorTypeAndShapeInfo *, size_t *);
    OrtStatus *(*GetDimensions)(const OrtTensorTypeAndShapeInfo *, int64_t *, size_t);
    const void *unused_63[2];
    OrtStatus *(*GetTensorTypeAndShape)(const OrtValue *, OrtTensorTypeAndShapeInfo **);
    const void *unused_66[3];
    OrtStatus *(*CreateCpuMemoryInfo)(int allocator, int memory, OrtMemoryInfo **);
    const void *unused_70[6];
    OrtStatus *(*AllocatorFree)(OrtAllocator *, void *);
    const void *unused_77;
    OrtStatus *(*GetAllocatorWithDefaultOptions)(OrtAllocator **);
    const void *unused_79[13];
    void (*ReleaseEnv)(OrtEnv *);
    void (*ReleaseStatus)(OrtStatus *);
    void (*ReleaseMemoryInfo)(OrtMemoryInfo *);
    void (*ReleaseSession)(OrtSession *);
    void (*ReleaseValue)(OrtValue *);
    const void *unused_97;
    void (*ReleaseTypeInfo)(OrtTypeInfo *);
    void (*ReleaseTensorTypeAndShapeInfo)(OrtTensorTypeAndShapeInfo *);
    void (*ReleaseSessionOptions)(OrtSessionOptions *);
    const void *unused_101[29];
    OrtStatus *(*AddSessionConfigEntry)(OrtSessionOptions *, const char *key, const char *value);
    const void *unused_131[13];
    OrtStatus *(*CreateAndRegisterAllocator)(OrtEnv *, const OrtMemoryInfo *, const OrtArenaCfg *);
};

/// The result of OrtGetApiBase.
struct fieldscribe_ort_base {
    const struct fieldscribe_ort_api *(*GetApi)(uint32_t version);
    const char *(*GetVersionString)(void);
};

_Static_assert(offsetof(struct fieldscribe_ort_api, CreateTensorAsOrtValue) == 48 * sizeof(void *), "entry 48");
_Static_assert(offsetof(struct fieldscribe_ort_api, GetDimensionsCount) == 61 * sizeof(void *), "entry 61");
_Static_assert(offsetof(struct fieldscribe_ort_api, ReleaseEnv) == 92 * sizeof(void *), "entry 92");
_Static_assert(offsetof(struct fieldscribe_ort_api, AddSessionConfigEntry) == 130 * sizeof(void *), "entry 130");
_Static_assert(offsetof(struct fieldscribe_ort_api, CreateAndRegisterAllocator) == 144 * sizeof(void *), "entry 144");

/// The version of the API whose functions are used.
enum { fieldscribe_ort_version = 6 };

/// The library's numbers for the element types of tensors.
enum { fieldscribe_ort_float = 1, fieldscribe_ort_int64 = 7, fieldscribe_ort_bool = 9 };

/// The library's numbers for the types of allocators and memory.
enum { fieldscribe_ort_arena = 1, fieldscribe_ort_default_memory = 0 };

/// Returns the table, or null if the library does not support this version of the API. `entry` is the address of
/// OrtGetApiBase.
static inline const struct fieldscribe_ort_api *fieldscribe_ort_open(void *entry, const char **version) {
    const struct fieldscribe_ort_base *(*base)(void);
    *(void **)&base = entry;
    const struct fieldscribe_ort_base *api_base = base();
    *version = api_base ? api_base->GetVersionString() : NULL;
    return api_base ? api_base->GetApi(fieldscribe_ort_version) : NULL;
}
