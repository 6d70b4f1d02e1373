# shellcheck shell=bash
# Sourced by most scripts in deploy: the list of installed files, and functions for installing them.

# Prints mode, source and destination of every installed file, except for the executable and the configuration.
installed_files() {
    cat <<'LIST'
0755 deploy/stick usr/lib/fieldscribe/stick
0755 deploy/drive usr/lib/fieldscribe/drive
0644 deploy/fieldscribe.service usr/lib/systemd/system/fieldscribe.service
0644 deploy/fieldscribe-export@.service usr/lib/systemd/system/fieldscribe-export@.service
0644 deploy/fieldscribe-drive.service usr/lib/systemd/system/fieldscribe-drive.service
0644 deploy/fieldscribe-drive-copy.path usr/lib/systemd/system/fieldscribe-drive-copy.path
0644 deploy/fieldscribe-drive-copy.service usr/lib/systemd/system/fieldscribe-drive-copy.service
0644 deploy/fieldscribe.sysusers usr/lib/sysusers.d/fieldscribe.conf
0644 deploy/fieldscribe.tmpfiles usr/lib/tmpfiles.d/fieldscribe.conf
0644 deploy/fieldscribe.polkit usr/share/polkit-1/rules.d/50-fieldscribe.rules
0644 udev/60-fieldscribe.rules usr/lib/udev/rules.d/60-fieldscribe.rules
0644 udev/80-fieldscribe-stick.rules usr/lib/udev/rules.d/80-fieldscribe-stick.rules
0644 deploy/completion/fieldscribe.bash usr/share/bash-completion/completions/fieldscribe
0644 deploy/man/fieldscribe.1 usr/share/man/man1/fieldscribe.1
0644 deploy/man/fieldscribe.conf.5 usr/share/man/man5/fieldscribe.conf.5
0644 deploy/man/fieldscribe.8 usr/share/man/man8/fieldscribe.8
LIST
}

# shellcheck disable=SC2034 # used by the scripts that source this
executable=usr/bin/fieldscribe
# shellcheck disable=SC2034
configuration=etc/fieldscribe/fieldscribe.conf

say() { echo "$*" >&2; }

# Whether this is an installation into the running system.
is_live() { [ -z "${DESTDIR:-}" ]; }

# Whether systemd runs here; in a container or a chroot it does not.
has_systemd() { is_live && [ -d /run/systemd/system ]; }

need_root() {
    if is_live && [ "$(id -u)" -ne 0 ]; then
        say "$0: run it as root: sudo $0 $*"
        exit 1
    fi
}

refuse_over_package() {
    if is_live && dpkg-query --show --showformat '${Status}' fieldscribe 2>/dev/null | grep -q 'ok installed'; then
        say "$0: the Debian package fieldscribe is installed; first: apt remove fieldscribe (recordings stay)"
        exit 1
    fi
}
