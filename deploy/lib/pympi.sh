# shellcheck shell=bash
# Sourced by deploy/test: pympi, a library of Python that reads and writes ELAN's documents as linguists do, from PyPI; pinned here.

# make_pympi: prints the folder in the cache in which the package lies. Says why there is none, and fails, where PyPI cannot be reached.
make_pympi() (
    version=1.71
    sum=f89043d275946d9fe04c09cd5a5fbcff1e42b4160c91c8aa246e5e8136e305ab
    folder=${XDG_CACHE_HOME:-$HOME/.cache}/fieldscribe-pympi/$version
    if ! [ -d "$folder/pympi" ]; then
        mkdir -p "$(dirname "$folder")"
        place=$(mktemp -d "$folder.XXXXXX")
        trap 'rm -rf "$place"' EXIT
        python3 -m pip --version >/dev/null 2>&1 || install_packages python3-pip
        echo "pympi-ling==$version --hash=sha256:$sum" >"$place/requirements"
        if ! python3 -m pip install --quiet --disable-pip-version-check --no-cache-dir --retries 2 --timeout 30 --no-deps \
            --only-binary=:all: --require-hashes --requirement "$place/requirements" --target "$place/python" \
            >&2 </dev/null; then
            echo "pympi-ling $version cannot be had from PyPI" >&2
            return 1
        fi
        mv -T "$place/python" "$folder"
    fi
    echo "$folder"
)
