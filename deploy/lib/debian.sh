# shellcheck shell=bash
# shellcheck disable=SC2154 # the script that sources this sets cache and suite
# Sourced by deploy/lib/arm64.sh and scripts in Tests: downloads packages from another Debian release or architecture, and
# unpacks them without installing them.

say() { echo "$*" >&2; }

# Prints the Debian mirrors among this machine's apt sources, if apt has their indices.
known_mirrors() {
    # shellcheck disable=SC2016 # apt's own variable
    apt-get indextargets --format '$(REPO_URI)' 'Origin: Debian' 'Created-By: Packages' | grep -v security || true
}

# Prints this machine's Debian mirror.
debian_mirror() {
    local mirror
    mirror=$(known_mirrors | head -n 1)
    # apt knows the origin of a source only once it has the indices.
    if [ -z "$mirror" ] && [ "$(id -u)" -eq 0 ]; then
        apt-get -qq update >&2
        mirror=$(known_mirrors | head -n 1)
    fi
    [ -n "$mirror" ] || {
        say "$0: apt on this machine has no Debian mirror; use Debian 12 or 13"
        exit 3
    }
    echo "$mirror"
}

# update_indices FOLDER: downloads signed indices for the apt that is configured in the folder. If apt's only error is that
# they have expired, as on an intentionally frozen mirror, reports that and continues. Sets the array frozen to the options
# that mmdebstrap then needs.
# shellcheck disable=SC2034 # for callers that build a root from the same mirror
update_indices() {
    local folder=$1 log=$1/update.log
    frozen=()
    if LC_ALL=C APT_CONFIG=$folder/apt.conf apt-get -q update >"$log" 2>&1; then
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
    APT_CONFIG=$folder/apt.conf apt-get -q -o Acquire::Check-Valid-Until=false update >&2
}

# prepare_apt ARCHITECTURE SUITE...: configures an apt in $cache/apt-ARCHITECTURE for these Debian suites, as if no package
# were installed. It uses the components in $components, by default main.
prepare_apt() {
    local architecture=$1 folder=$cache/apt-$1 mirror name
    shift
    mkdir -p "$folder"/{lists/partial,archives/partial}
    : >"$folder/status"
    mirror=$(debian_mirror)
    local keys='[signed-by=/usr/share/keyrings/debian-archive-keyring.gpg]'
    for name; do printf 'deb %s %s %s %s\n' "$keys" "$mirror" "$name" "${components:-main}"; done >"$folder/sources.list"
    cat >"$folder/apt.conf" <<CONF
APT::Architecture "$architecture";
APT::Architectures { "$architecture"; };
APT::Install-Recommends "false";
APT::Sandbox::User "$(id -un)";
Acquire::Languages "none";
Acquire::Check-Valid-Until "true";
Debug::NoLocking "1";
Dir::Etc::SourceList "$folder/sources.list";
Dir::Etc::SourceParts "/dev/null";
Dir::State "$folder";
Dir::State::Lists "$folder/lists";
Dir::State::status "$folder/status";
Dir::Cache "$folder";
Dir::Cache::archives "$folder/archives";
CONF
    update_indices "$folder"
}

# fetch ARCHITECTURE PACKAGE...: downloads packages from Debian $suite and all their dependencies into $cache.
fetch() {
    local architecture=$1 folder=$cache/apt-$1
    shift
    prepare_apt "$architecture" "$suite" "$suite-updates" || return
    # Keeps files from an interrupted attempt that are still current.
    APT_CONFIG=$folder/apt.conf apt-get -q -y autoclean >&2
    APT_CONFIG=$folder/apt.conf apt-get -q -y --download-only install "$@" >&2
}

# unpack PACKAGE FOLDER TAR-OPTION...: unpacks a package without running its maintainer scripts.
unpack() {
    local package=$1 folder=$2
    shift 2
    dpkg-deb --fsys-tarfile "$package" | tar -C "$folder" -x --keep-directory-symlink --exclude='./dev/*' \
        --exclude='./usr/share/doc' --exclude='./usr/share/man' --exclude='./usr/share/locale' "$@"
}

# is_made FOLDER PACKAGE...: whether the folder is complete and was made for exactly these packages.
is_made() { [ "$(cat "$1/complete" 2>/dev/null)" = "${*:2}" ]; }
