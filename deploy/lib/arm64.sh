# shellcheck shell=bash
# Makes a Debian 13 root for building the arm64 release, and the sysroot that the build links against. Both are in the
# folder FIELDSCRIBE_ARM64, by default ~/.cache/fieldscribe-arm64. Sourced by deploy/deb, deploy/image, Tests/Arm64 and
# Tests/Appliance/image/build.

. deploy/lib/debian.sh

cache=${FIELDSCRIBE_ARM64:-${XDG_CACHE_HOME:-$HOME/.cache}/fieldscribe-arm64}
suite=trixie
sdk=fieldscribe-arm64
triple=aarch64-unknown-linux-gnu
bundle=$cache/sdks/$sdk.artifactbundle
sysroot=$bundle/$sdk/$triple/sysroot
libraries=(libasound2-dev libgpiod-dev libinih-dev libpocketsphinx-dev libsphinxbase-dev libsndfile1-dev libsoxr-dev
    libsqlite3-dev libpq-dev libmicrohttpd-dev nettle-dev libc6-dev libstdc++-14-dev libgcc-14-dev linux-libc-dev libswiftlang)
tools=(base-files bash coreutils dash sed grep findutils git pkgconf swiftlang binutils gcc "${libraries[@]}")

# link_algebra FOLDER: makes the links to BLAS and LAPACK that sphinxbase needs. On an installed system, update-alternatives
# makes them.
link_algebra() {
    local name
    for name in blas lapack; do
        [ -e "$1/lib$name.so.3" ] || ln -s "$name/lib$name.so.3" "$1/lib$name.so.3"
    done
}

# Makes a root with Debian 13 for amd64 and its Swift compiler, which needs a newer libc than older Debian releases have.
make_toolroot() {
    local root=$cache/toolroot package
    is_made "$root" "${tools[@]}" && return
    say "making the tool root (2.6 GB) in $cache"
    rm -rf "$root"
    mkdir -p "$root"/{proc,dev,tmp,root,w,sdks}
    fetch amd64 "${tools[@]}"
    # base-files comes first, because it makes /bin, /lib and /sbin links into /usr.
    for package in "$cache"/apt-amd64/archives/base-files_*.deb "$cache"/apt-amd64/archives/*.deb; do
        unpack "$package" "$root"
    done
    ln -sfn dash "$root/usr/bin/sh"
    ln -sfn /usr/libexec/swift/bin/swift "$root/usr/bin/swift"
    link_algebra "$root/usr/lib/x86_64-linux-gnu"
    echo 'root:x:0:0:root:/root:/bin/sh' >"$root/etc/passwd"
    rm -rf "$cache/apt-amd64"
    echo "${tools[@]}" >"$root/complete"
}

# keep_symbols PACKAGE ROOT FOLDER: puts a package's control files, and links to its libraries that were unpacked into ROOT,
# into FOLDER. dpkg-shlibdeps needs them to find dependencies.
keep_symbols() {
    local folder
    [[ $(dpkg-deb --ctrl-tarfile "$1" | tar -t) == */shlibs* ]] || return 0
    folder=$3/$(dpkg-deb --field "$1" Package)
    mkdir -p "$folder"
    dpkg-deb --control "$1" "$folder/DEBIAN"
    dpkg-deb --fsys-tarfile "$1" | tar -t | sed -n '/\.so\.[0-9][0-9.]*$/p' |
        (cd "$2" && xargs --no-run-if-empty cp -al --parents --target-directory="$folder")
}

# Makes the sysroot: headers, libraries and the Swift runtime for arm64.
make_sysroot() {
    local root=$sysroot package folder link
    is_made "$bundle" "${libraries[@]}" && return
    say "making the sysroot (1 GB) in $cache"
    rm -rf "$bundle"
    mkdir -p "$root"
    fetch arm64 "${libraries[@]}"
    (cd "$cache/apt-arm64/archives" && APT_CONFIG=$cache/apt-arm64/apt.conf apt-get -q download swiftlang >&2)
    for package in "$cache"/apt-arm64/archives/*.deb; do
        case $package in
        */swiftlang_*) # From the compiler's package, only the target modules and static libraries are needed.
            unpack "$package" "$root" --wildcards './usr/libexec/swift/lib/swift/*' \
                './usr/libexec/swift/lib/swift_static/*' './usr/libexec/swift/lib/clang/*'
            rm -rf "$root"/usr/libexec/swift/lib/swift/{host,pm,migrator,embedded} \
                "$root/usr/libexec/swift/lib/swift_static/embedded"
            ;;
        *)
            unpack "$package" "$root"
            keep_symbols "$package" "$root" "$bundle/packages"
            ;;
        esac
    done
    link_algebra "$root/usr/lib/aarch64-linux-gnu"
    # Merges folders into /usr as on an installed Debian, and makes every link relative, so that the tree can be anywhere.
    for folder in lib bin sbin; do
        if [ -d "$root/$folder" ] && ! [ -L "$root/$folder" ]; then
            mkdir -p "$root/usr/$folder"
            cp -a "$root/$folder/." "$root/usr/$folder/"
            rm -rf "${root:?}/$folder"
        fi
        ln -sfn "usr/$folder" "$root/$folder"
    done
    find "$root" -type l -lname '/*' | while read -r link; do
        ln -sfn "$(realpath -m --relative-to="$(dirname "$link")" "$root$(readlink "$link")")" "$link"
    done
    rm -rf "${root:?}"/usr/{bin,sbin} "${root:?}"/{var,etc,bin,sbin}
    rm -rf "$cache/apt-arm64"
    echo "${libraries[@]}" >"$bundle/complete"
}

# Writes the files that make the sysroot a Swift SDK.
describe_sdk() {
    cat >"$bundle/info.json" <<JSON
{ "schemaVersion": "1.0",
  "artifacts": { "$sdk": { "type": "swiftSDK", "version": "1",
    "variants": [ { "path": "$sdk/$triple",
                    "supportedTriples": ["x86_64-unknown-linux-gnu", "x86_64-pc-linux-gnu"] } ] } } }
JSON
    cat >"$bundle/$sdk/$triple/swift-sdk.json" <<JSON
{ "schemaVersion": "4.0",
  "targetTriples": { "$triple": {
    "sdkRootPath": "sysroot",
    "swiftResourcesPath": "sysroot/usr/libexec/swift/lib/swift",
    "swiftStaticResourcesPath": "sysroot/usr/libexec/swift/lib/swift_static",
    "toolsetPaths": ["toolset.json"] } } }
JSON
    cat >"$bundle/$sdk/$triple/toolset.json" <<JSON
{ "schemaVersion": "1.0",
  "swiftCompiler": { "extraCLIOptions": ["-use-ld=lld", "-no-toolchain-stdlib-rpath"] } }
JSON
}

# inside COMMAND...: runs a command in the tool root, with this repository as /w.
inside() {
    # shellcheck disable=SC2016 # for the inner shell
    unshare --map-root-user --mount --pid --fork bash -c '
        root=$1 sdks=$2 work=$3
        shift 3
        mount --rbind /dev "$root/dev"
        mount -t proc proc "$root/proc"
        mount --bind "$sdks" "$root/sdks"
        mount --bind "$work" "$root/w"
        export HOME=/root TMPDIR=/tmp PATH=/usr/bin:/usr/sbin LANG=C.UTF-8
        exec chroot "$root" /bin/sh -c "cd /w && exec \"\$@\"" sh "$@"' \
        bash "$cache/toolroot" "$cache/sdks" "$PWD" "$@"
}

