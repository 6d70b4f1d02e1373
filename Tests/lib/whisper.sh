# shellcheck shell=bash
# Provides whisper.cpp for the tests of that engine. Debian has it since Debian 14. deploy/test sources this file.

# make_whisper: prints the folder of a whisper-cli that runs on this machine, on any Debian. Fails if it cannot download one.
make_whisper() (
    . deploy/lib/debian.sh
    # shellcheck disable=SC2030,SC2034 # used by fetch
    suite=forky cache=${XDG_CACHE_HOME:-$HOME/.cache}/fieldscribe-whisper
    if command -v whisper-cli >/dev/null; then
        dirname "$(command -v whisper-cli)"
        return
    fi
    root=$cache/root architecture=$(dpkg --print-architecture)
    if ! is_made "$root" whisper.cpp-tools; then
        rm -rf "$root" && mkdir -p "$root" && fetch "$architecture" whisper.cpp-tools || return
        for package in "$cache/apt-$architecture"/archives/*.deb; do
            unpack "$package" "$root" --exclude=./usr/share --exclude=./etc --exclude=./var || return
        done
        rm -rf "$cache/apt-$architecture"
        echo whisper.cpp-tools >"$root/complete"
    fi
    libraries=$(find "$root/usr/lib" -name '*.so*' -printf '%h\n' | sort -u | paste -s -d :)
    linker=$(find "$root/usr/lib" -name 'ld-linux-*.so.*' | sort | head -n 1)
    # The backend that runs on every processor of the architecture.
    kernels=$(find "$root/usr/lib" -name 'libggml-cpu-x64.so' -o -name 'libggml-cpu-armv8.0_1.so' | head -n 1)
    mkdir -p "$cache/bin"
    cat >"$cache/bin/whisper-cli" <<SCRIPT
#!/bin/sh
export GGML_BACKEND_PATH='$kernels'
exec '$linker' --library-path '$libraries' '$root/usr/bin/whisper-cli' "\$@"
SCRIPT
    chmod +x "$cache/bin/whisper-cli"
    "$cache/bin/whisper-cli" --version >&2 || return
    echo "$cache/bin"
)
