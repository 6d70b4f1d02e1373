# shellcheck shell=bash
# Downloads Python packages for the tests from PyPI, in pinned versions. deploy/test sources this file.

# make_pympi: prints the path of pympi, which reads and writes ELAN documents. Fails with a message if PyPI cannot be reached.
make_pympi() { make_package pympi pympi-ling 1.71 f89043d275946d9fe04c09cd5a5fbcff1e42b4160c91c8aa246e5e8136e305ab; }

# make_axe: prints the path of a package with axe-core, an accessibility checker, in axe_playwright_python/axe.min.js.
make_axe() {
    make_package axe_playwright_python axe-playwright-python 0.1.8 fdd263c998388f1a8e67cad02677e612d946248bd44d163be5e8650ea31f95f8
}

# make_package FOLDER NAME VERSION SHA256: downloads a package if it is not in the cache, and prints its path there.
make_package() (
    folder=${XDG_CACHE_HOME:-$HOME/.cache}/fieldscribe-$1/$3
    if ! [ -d "$folder/$1" ]; then
        mkdir -p "$(dirname "$folder")"
        partial=$(mktemp -d "$folder.XXXXXX")
        trap 'rm -rf "$partial"' EXIT
        python3 -m pip --version >/dev/null 2>&1 || install_packages python3-pip
        echo "$2==$3 --hash=sha256:$4" >"$partial/requirements"
        if ! python3 -m pip install --quiet --disable-pip-version-check --no-cache-dir --retries 2 --timeout 30 --no-deps \
            --only-binary=:all: --require-hashes --requirement "$partial/requirements" --target "$partial/python" \
            >&2 </dev/null; then
            echo "$2 $3 cannot be downloaded from PyPI" >&2
            return 1
        fi
        mv -T "$partial/python" "$folder"
    fi
    echo "$folder"
)
