# shellcheck shell=bash
# Sourced by deploy/deb and deploy/model: functions for building packages. All dates in the packages are SOURCE_DATE_EPOCH.

maintainer=$(sed -n 's/^Upstream-Contact: //p' deploy/debian/copyright)

# Prints the newest section of deploy/CHANGELOG.md in the format of a Debian changelog.
changes() {
    awk '/^## /{if (++sections > 1) exit; next} sections' deploy/CHANGELOG.md |
        awk '/^- /{if (item) print item; item = substr($0, 3); next} /^  /{item = item " " substr($0, 3); next} END {if (item) print item}' |
        while IFS= read -r item; do fold -s -w 74 <<<"$item" | sed -e 's/ *$//' -e '1s/^/  * /' -e '1!s/^/    /'; done
}

# write_documents ROOT NAME VERSION COPYRIGHT: writes the package's copyright file and changelog.
write_documents() {
    local documents=$1/usr/share/doc/$2 news='  * See the change log of the package fieldscribe.'
    install -D -m 0644 "$4" "$documents/copyright"
    [ "$2" != fieldscribe ] || news=$(changes)
    printf '%s (%s) unstable; urgency=medium\n\n%s\n\n -- %s  %s\n' "$2" "$3" "$news" "$maintainer" \
        "$(LC_ALL=C date --utc --rfc-email --date="@$SOURCE_DATE_EPOCH")" | gzip -9n >"$documents/changelog.gz"
    chmod 0644 "$documents/changelog.gz"
}

# size_of ROOT: prints the installed size in KiB.
size_of() { du --apparent-size --summarize --block-size=1K --exclude=DEBIAN "$1" | cut -f1; }

# build_package ROOT FILE COMPRESSION...: writes the checksums of all files except conffiles, then builds the package.
build_package() {
    local root=$1 file=$2
    shift 2
    (cd "$root" && find . -path ./DEBIAN -prune -o -type f -printf '%P\0' | LC_ALL=C sort -z |
        grep -zvxFf <(sed 's|^/||' DEBIAN/conffiles 2>/dev/null) | xargs -0 md5sum) >"$root/DEBIAN/md5sums"
    chmod 0644 "$root/DEBIAN/md5sums"
    find "$root" -exec touch --no-dereference --date="@$SOURCE_DATE_EPOCH" {} +
    dpkg-deb --root-owner-group --threads-max=1 "$@" --build "$root" "$file" >/dev/null
}
