# shellcheck shell=bash
# shellcheck disable=SC2154 # arm64.sh sets cache and suite
# Runs arm64 programs on this machine with qemu, and makes an archive of Debian 13 for arm64. Source deploy/lib/arm64.sh first.
# Tests/Arm64/test, Tests/Appliance/image/build and deploy/image source this file.

# The binfmt_misc entry for arm64 ELF files, with the name that mmdebstrap expects.
arm64_magic=':qemu-aarch64:M::\x7fELF\x02\x01\x01\x00\x00\x00\x00\x00\x00\x00\x00\x00\x02\x00\xb7\x00'
arm64_magic+=':\xff\xff\xff\xff\xff\xff\xff\x00\xff\xff\xff\xff\xff\xff\xff\xff\xfe\xff\xff\xff'
arm64_magic+=":$cache/qemu/usr/bin/qemu-aarch64:F"

# Unpacks Debian 13's qemu, which is linked statically. Debian 12's qemu lacks openat2, with which `export` opens files.
make_qemu() {
    local folder=$cache/qemu
    is_made "$folder" qemu-user && return
    rm -rf "$folder"
    mkdir -p "$folder"
    fetch amd64 qemu-user
    dpkg-deb --fsys-tarfile "$cache"/apt-amd64/archives/qemu-user_*.deb | tar -C "$folder" -x ./usr/bin/qemu-aarch64
    rm -rf "$cache/apt-amd64"
    echo qemu-user >"$folder/complete"
}

# emulating COMMAND...: runs a command in its own user, mount and process namespaces, where qemu runs arm64 programs. Since Linux
# 6.7, each namespace has its own binfmt_misc; with an older kernel, install qemu-user-static, which registers qemu for all.
emulating() {
    local gate child status=0
    gate=$(mktemp --dry-run)
    mkfifo -m 0600 "$gate"
    # shellcheck disable=SC2016 # for the inner shell
    unshare --user bash -c 'read -r _ <"$1" && shift && exec unshare --mount --pid --fork --kill-child --mount-proc bash -c "
        if mount -t binfmt_misc none /proc/sys/fs/binfmt_misc 2>/dev/null; then
            echo \"\$0\" >/proc/sys/fs/binfmt_misc/register
        elif ! [ -e /proc/sys/fs/binfmt_misc/qemu-aarch64 ]; then
            echo \"this kernel cannot run arm64 programs: install qemu-user-static with systemd-binfmt\" >&2
            exit 3
        fi
        exec \"\$@\"" "$@"' bash "$gate" "$arm64_magic" "$@" &
    child=$!
    until [ "$(readlink /proc/$child/ns/user)" != "$(readlink /proc/self/ns/user)" ]; do sleep 0.05; done # wait: polls for the namespace
    if [ "$(id -u)" -eq 0 ]; then
        echo '0 0 65536' >/proc/$child/uid_map
        echo '0 0 65536' >/proc/$child/gid_map
    else
        map_ids newuidmap "$child" "$(id -u)" /etc/subuid
        map_ids newgidmap "$child" "$(id -g)" /etc/subgid
    fi
    echo >"$gate"
    wait "$child" || status=$?
    rm -f "$gate"
    return "$status"
}

# emulating_at_w COMMAND...: like emulating, but with this repository mounted at /w, because the tests were built there.
emulating_at_w() {
    # shellcheck disable=SC2016 # for the inner shell
    emulating bash -c '
        mount -t tmpfs none /mnt
        for name in /*; do
            [ "$name" != /mnt ] || continue
            if [ -L "$name" ]; then
                cp -a "$name" /mnt
            elif [ -d "$name" ]; then
                mkdir "/mnt$name"
                mount --rbind "$name" "/mnt$name"
            fi
        done
        mkdir /mnt/w
        mount --bind . /mnt/w
        exec chroot /mnt sh -c "cd /w && exec \"\$@\"" sh "$@"' bash "$@"
}

# map_ids PROGRAM PID ID FILE: maps root in the namespace to the caller's ID, and all other IDs to the caller's range in FILE.
map_ids() {
    local range
    range=$(sed -n "s/^$(id -un):\([0-9]*\):\([0-9]*\)$/\1 \2/p" "$4" | head -n 1)
    # shellcheck disable=SC2086 # two arguments
    "$1" "$2" 0 "$3" 1 1 $range
}

# Makes root.tar, a Debian 13 for arm64 with apt, systemd and udev, which stands in for Raspberry Pi OS Lite. It also has the
# downloaded dependencies of our package, which are not installed.
make_arm64_root() {
    local root=$cache/root mirror
    is_made "$root" "${root_packages[@]}" && return
    say "installing Debian 13 for arm64 in $cache (2 to 5 minutes)"
    rm -rf "$root"
    mkdir -p "$root"
    mirror=$(debian_mirror)
    # shellcheck disable=SC2016 # for the hook's shell
    emulating mmdebstrap --mode=unshare --architectures=arm64 --variant=apt --include=systemd,udev \
        --skip=cleanup/apt --customize-hook='APT_CONFIG=$MMDEBSTRAP_APT_CONFIG apt-get -q -y --download-only \
            --no-install-recommends install '"${root_packages[*]}" \
        "$suite" "$root/root.tar" \
        "deb [signed-by=/usr/share/keyrings/debian-archive-keyring.gpg] $mirror $suite main" >&2
    echo "${root_packages[@]}" >"$root/complete"
}
root_packages=(libasound2t64 libgpiod3 libsndfile1 libsoxr0 libnettle8t64 libsqlite3-0 libinih1 libpocketsphinx3
    libsphinxbase3t64 libstdc++6 pocketsphinx-en-us dosfstools)
