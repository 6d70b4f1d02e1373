# shellcheck shell=bash
# Provides pympi, the Python library with which linguists read and write ELAN's documents. The version from PyPI is pinned here.
# deploy/test sources this file.

# make_pympi: prints the package's folder in the cache. If PyPI cannot be reached, prints why and fails.
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
