# shellcheck shell=bash
# Sourced by scripts in deploy and Tests: installs missing packages with apt, and finds Swift 6.

# install_packages NAME...: installs missing packages; if none is missing, needs neither apt nor network.
install_packages() {
    local missing=() name
    for name in "$@"; do
        dpkg-query -W -f '${Status}' "$name" 2>/dev/null | grep -q 'ok installed' || missing+=("$name")
    done
    [ "${#missing[@]}" -gt 0 ] || return 0
    local as_root=()
    if [ "$(id -u)" -ne 0 ]; then
        command -v sudo >/dev/null || {
            echo "$0: as root, run: apt-get install ${missing[*]}" >&2
            exit 3
        }
        as_root=(sudo)
    fi
    echo "installing: ${missing[*]}"
    # Hides only apt's progress; errors and warnings go to standard error.
    "${as_root[@]}" apt-get -qq update
    "${as_root[@]}" env DEBIAN_FRONTEND=noninteractive apt-get -qq -y --no-install-recommends install "${missing[@]}" \
        >/dev/null
}

# Installs the packages that every build needs.
install_build_packages() {
    install_packages git g++ pkg-config libasound2-dev libgpiod-dev libinih-dev libpocketsphinx-dev \
        libsphinxbase-dev libsndfile1-dev libsoxr-dev libsqlite3-dev libpq-dev libmicrohttpd-dev nettle-dev \
        pocketsphinx-en-us pocketsphinx-testdata espeak-ng
}

# Prints the commit of these sources for `fieldscribe --version`, with -dirty if files differ from it. Prints nothing
# outside a repository, such as in a tarball.
source_commit() {
    [ "$(git -c safe.directory="*" rev-parse --show-toplevel 2>/dev/null)" = "$PWD" ] || return 0
    git -c safe.directory="*" -c core.fsmonitor=false describe --always --dirty --abbrev=12 --exclude='*' 2>/dev/null || true
}

# The command for release builds. It optimizes for size, which has no measurable cost for capture. The executable has a
# static Swift runtime, no symbols and no unused code. Its relocations are packed, which saves up to 1 MB, and read-only
# after startup. The linker is Swift's own, which is the same on every Debian release.
# shellcheck disable=SC2034 # used by the scripts that source this
release_build=(env "FIELDSCRIBE_COMMIT=$(source_commit)" swift build -c release --product fieldscribe --static-swift-stdlib -Xswiftc -Osize -Xswiftc -use-ld=lld
    -Xlinker --gc-sections -Xlinker -s -Xlinker -z -Xlinker pack-relative-relocs -Xlinker -z -Xlinker relro
    -Xlinker -z -Xlinker now -Xlinker --build-id=none)

# Prints Swift's version. Removes the folder that Swift leaves in TMPDIR.
swift_version() (
    TMPDIR=$(mktemp -d)
    export TMPDIR
    trap 'rm -rf "$TMPDIR"' EXIT
    swift --version
)

# Makes sure that Swift is on the PATH. On Debian 13 and later, installs Debian's package.
find_swift() {
    if ! command -v swift >/dev/null; then
        if apt-cache show swiftlang >/dev/null 2>&1; then install_packages swiftlang; fi
    fi
    command -v swift >/dev/null || {
        echo "$0: swift is not on the PATH; on Debian 13, install swiftlang; on Debian 12, unpack a Swift 6 toolchain from swift.org and put its usr/bin on the PATH" >&2
        exit 3
    }
    # A manually unpacked toolchain may lack dependencies. On Debian 12, it links libraries from these packages.
    swift_version >/dev/null 2>&1 || install_packages libcurl4 libncurses6 libsqlite3-0 libuuid1 libxml2 tzdata zlib1g
    swift_version >/dev/null 2>&1 || {
        swift_version >&2 || true
        echo "$0: $(command -v swift) does not start; install the library that it names, or a toolchain for this Debian release" >&2
        exit 3
    }
}

# Installs the programs that Tests/DeployTests uses.
install_deploy_test_packages() {
    install_packages bash-completion binutils dpkg-dev lintian man-db mandoc minisign shellcheck systemd udev xz-utils
}

# Prints the packages that an installation needs, by their names in this Debian release. The last six are for the scripts
# stick and drive.
run_packages() {
    local name
    for name in libasound2t64 libasound2 libgpiod3 libgpiod2 libsndfile1 libsoxr0 libnettle8t64 libnettle8 \
        libsqlite3-0 libinih1 libpocketsphinx3 libsphinxbase3t64 libsphinxbase3 pocketsphinx-en-us espeak-ng \
        util-linux coreutils findutils dosfstools exfatprogs kmod; do
        # Some packages have two names; a release has only one of them.
        if apt-cache show "$name" 2>/dev/null | grep -q '^Package:'; then echo "$name"; fi
    done
}
