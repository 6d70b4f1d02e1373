# shellcheck shell=bash
# shellcheck disable=SC2154 # the script that sources this sets cache and suite
# Sourced by the scripts beside it: unpacks packages of another Debian release than this machine's, without installing them.

say() { echo "$*" >&2; }

# Debian's mirrors among this machine's sources, if apt has their indices.
known_mirrors() {
    # shellcheck disable=SC2016 # apt's own variable
    apt-get indextargets --format '$(REPO_URI)' 'Origin: Debian' 'Created-By: Packages' | grep -v security || true
}

# The sources of this machine itself.
debian_mirror() {
    local mirror
    mirror=$(known_mirrors | head -n 1)
    # Without indices apt does not know a source's origin.
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

# update_indices PLACE: fetches the signed indices of the apt configured there. Ignores their expiry date, with a
# message, only if that is apt's sole objection, as with a mirror that was frozen on purpose. Sets the list $frozen to
# the options that mmdebstrap then needs.
# shellcheck disable=SC2034 # for callers that make a root from the same mirror
update_indices() {
    local place=$1 log=$1/update.log
    frozen=()
    if LC_ALL=C APT_CONFIG=$place/apt.conf apt-get -q update >"$log" 2>&1; then
        cat "$log" >&2
        return
    fi
    cat "$log" >&2
    if ! grep -q '^E: Release file for .* is expired' "$log" || grep '^E:' "$log" | grep -qv 'is expired'; then
        say "$0: apt cannot read this mirror's indices; see above"
        return 1
    fi
    say "$0: this mirror was frozen: its signatures are valid, but its indices have expired (above); continuing"
    frozen=('--aptopt=Acquire::Check-Valid-Until "false";')
    APT_CONFIG=$place/apt.conf apt-get -q -o Acquire::Check-Valid-Until=false update >&2
}

# prepare_apt ARCHITECTURE SUITE...: configures a separate apt in $cache/apt-ARCHITECTURE, as if nothing were installed,
# for these Debian suites; of each its main, or the $components.
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

# fetch ARCHITECTURE PACKAGE...: downloads packages of Debian $suite and their dependencies into $cache, as if nothing
# were installed.
fetch() {
    local architecture=$1 place=$cache/apt-$1
    shift
    prepare_apt "$architecture" "$suite" "$suite-updates" || return
    # Reuses the still current files of an interrupted attempt.
    APT_CONFIG=$place/apt.conf apt-get -q -y autoclean >&2
    APT_CONFIG=$place/apt.conf apt-get -q -y --download-only install "$@" >&2
}

# unpack PACKAGE FOLDER TAR-OPTION...: unpacks it without its maintainer scripts.
unpack() {
    local package=$1 folder=$2
    shift 2
    dpkg-deb --fsys-tarfile "$package" | tar -C "$folder" -x --keep-directory-symlink --exclude='./dev/*' \
        --exclude='./usr/share/doc' --exclude='./usr/share/man' --exclude='./usr/share/locale' "$@"
}

# is_made FOLDER WHAT...: whether it is complete and was made of exactly this.
is_made() { [ "$(cat "$1/complete" 2>/dev/null)" = "${*:2}" ]; }
