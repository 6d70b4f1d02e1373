# shellcheck shell=bash
# shellcheck disable=SC2154 # cache and suite are of the script that sources this
# Sourced by the scripts beside: packages of another Debian than this machine's, unpacked and not installed.

say() { echo "$*" >&2; }

# Debian's mirrors among this machine's sources, as far as apt has their indices.
known_mirrors() {
    # shellcheck disable=SC2016 # apt's own variable
    apt-get indextargets --format '$(REPO_URI)' 'Origin: Debian' 'Created-By: Packages' | grep -v security || true
}

# From where this machine itself installs.
debian_mirror() {
    local mirror
    mirror=$(known_mirrors | head -n 1)
    # Without indices apt does not know whose a source is.
    if [ -z "$mirror" ] && [ "$(id -u)" -eq 0 ]; then
        apt-get -qq update >&2
        mirror=$(known_mirrors | head -n 1)
    fi
    [ -n "$mirror" ] || {
        say "$0: this machine's apt has no Debian mirror; this needs Debian 12 or 13"
        exit 3
    }
    echo "$mirror"
}

# update_indices PLACE: fetches the signed indices of the apt that is configured there. Until when they are valid is passed over
# only where that date is all that apt has against them, as at a mirror that was frozen on purpose, and it is said. Sets
# the list $frozen to what mmdebstrap is then to be told.
# shellcheck disable=SC2034 # for who makes a root of the same mirror
update_indices() {
    local place=$1 log=$1/update.log
    frozen=()
    if LC_ALL=C APT_CONFIG=$place/apt.conf apt-get -q update >"$log" 2>&1; then
        cat "$log" >&2
        return
    fi
    cat "$log" >&2
    if ! grep -q '^E: Release file for .* is expired' "$log" || grep '^E:' "$log" | grep -qv 'is expired'; then
        say "$0: apt cannot have the indices of this mirror; its reason is above"
        return 1
    fi
    say "$0: this mirror was frozen: its signatures hold, but the date of its indices is over (above); going on without that date"
    frozen=('--aptopt=Acquire::Check-Valid-Until "false";')
    APT_CONFIG=$place/apt.conf apt-get -q -o Acquire::Check-Valid-Until=false update >&2
}

# prepare_apt ARCHITECTURE SUITE...: an apt of its own in $cache/apt-ARCHITECTURE, as if nothing were installed, with these
# suites of Debian; of each its main, or the $components.
prepare_apt() {
    local architecture=$1 place=$cache/apt-$1 mirror one
    shift
    mkdir -p "$place"/{lists/partial,archives/partial}
    : >"$place/status"
    mirror=$(debian_mirror)
    local keys='[signed-by=/usr/share/keyrings/debian-archive-keyring.gpg]'
    for one; do printf 'deb %s %s %s %s\n' "$keys" "$mirror" "$one" "${components:-main}"; done >"$place/sources.list"
    cat >"$place/apt.conf" <<CONF
APT::Architecture "$architecture";
APT::Architectures { "$architecture"; };
APT::Install-Recommends "false";
APT::Sandbox::User "$(id -un)";
Acquire::Languages "none";
Acquire::Check-Valid-Until "true";
Debug::NoLocking "1";
Dir::Etc::SourceList "$place/sources.list";
Dir::Etc::SourceParts "/dev/null";
Dir::State "$place";
Dir::State::Lists "$place/lists";
Dir::State::status "$place/status";
Dir::Cache "$place";
Dir::Cache::archives "$place/archives";
CONF
    update_indices "$place"
}

# fetch ARCHITECTURE PACKAGE...: downloads packages of the Debian $suite and all they need into $cache, as if nothing were
# installed.
fetch() {
    local architecture=$1 place=$cache/apt-$1
    shift
    prepare_apt "$architecture" "$suite" "$suite-updates" || return
    # What an attempt that broke off left, as far as it is still current, is not fetched again.
    APT_CONFIG=$place/apt.conf apt-get -q -y autoclean >&2
    APT_CONFIG=$place/apt.conf apt-get -q -y --download-only install "$@" >&2
}

# unpack PACKAGE FOLDER TAR-OPTION...: without its maintainer scripts.
unpack() {
    local package=$1 folder=$2
    shift 2
    dpkg-deb --fsys-tarfile "$package" | tar -C "$folder" -x --keep-directory-symlink --exclude='./dev/*' \
        --exclude='./usr/share/doc' --exclude='./usr/share/man' --exclude='./usr/share/locale' "$@"
}

# is_made FOLDER WHAT...: whether it is complete, and was made of just this.
is_made() { [ "$(cat "$1/complete" 2>/dev/null)" = "${*:2}" ]; }
