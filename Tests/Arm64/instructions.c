/* A plugin for qemu's user mode that counts the instructions that a program executes. Tests/Arm64/instructions compiles it. */
#include <inttypes.h>
#include <stddef.h>
#include <stdio.h>

/* The declarations from qemu-plugin.h, version 1. No Debian package contains that file. */
typedef uint64_t plugin_id;
struct qemu_plugin_tb;
typedef void (*on_translation)(plugin_id, struct qemu_plugin_tb *);
typedef void (*on_exit)(plugin_id, void *);
enum { ADD_U64 = 0 };
void qemu_plugin_register_vcpu_tb_trans_cb(plugin_id id, on_translation callback);
void qemu_plugin_register_vcpu_tb_exec_inline(struct qemu_plugin_tb *block, int operation, void *counter, uint64_t value);
void qemu_plugin_register_atexit_cb(plugin_id id, on_exit callback, void *data);
size_t qemu_plugin_tb_n_insns(const struct qemu_plugin_tb *block);

int qemu_plugin_version = 1;

static uint64_t instructions;

static void handle_translation(plugin_id id, struct qemu_plugin_tb *block) {
    (void)id;
    qemu_plugin_register_vcpu_tb_exec_inline(block, ADD_U64, &instructions, qemu_plugin_tb_n_insns(block));
}

static void handle_exit(plugin_id id, void *data) {
    (void)id, (void)data;
    fprintf(stderr, "instructions %" PRIu64 "\n", instructions);
}

int qemu_plugin_install(plugin_id id, const void *info, int count, char **arguments) {
    (void)info, (void)count, (void)arguments;
    qemu_plugin_register_vcpu_tb_trans_cb(id, handle_translation);
    qemu_plugin_register_atexit_cb(id, handle_exit, NULL);
    return 0;
}
