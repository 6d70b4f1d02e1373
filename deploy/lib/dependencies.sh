# shellcheck shell=bash
# Sourced by steps in Tests/parts.py: the packages and test data that the parts of the tests need in addition to a build.

. deploy/lib/packages.sh

# packages_of PART...: prints the Debian packages that these parts need.
packages_of() {
    local part
    for part; do
        case $part in
        *Tests) echo age cmark ffmpeg flac libreoffice-writer-nogui libsox-fmt-all libxml2-utils minisign openssh-client \
            praat python3 python3-docx sox sqlite3 ;;
        esac
        case $part in
        CopyingTests | DeployTests | EndToEndTests | OfficeTests | PageTests | RecognizingTests | tsan-*)
            echo alsa-utils chromium chromium-driver firefox-esr unzip ;;
        esac
        case $part in
        DeployTests) echo bash-completion binutils dpkg-dev lintian man-db mandoc shellcheck systemd udev xz-utils ;;
        # The tests start PostgreSQL themselves, and are skipped with a message if it is unavailable.
        OfficeTests) echo curl postgresql ;;
        arm64-*) echo age arch-test binutils-aarch64-linux-gnu dpkg-dev mmdebstrap pocketsphinx-testdata ;;
        power-on | appliance | image) echo arch-test cpio curl dosfstools e2fsprogs exfatprogs fdisk kmod mmdebstrap mtools \
            ntfs-3g qemu-system-arm qemu-system-x86 xz-utils ;;
        kill | syscalls | disk | corrupt | owners | seal | reseal | redact | soak) echo age e2fsprogs minisign ;;
        esac
    done
}

# install_dependencies PART...: installs the packages that these parts need.
install_dependencies() {
    local packages
    mapfile -t packages < <(packages_of "$@" | tr ' ' '\n' | sort -u)
    install_packages "${packages[@]}"
}

# fetch_test_data FILE LOGS: downloads test data and programs that Debian does not have, and writes environment variables
# that name them into the file. For each unavailable item, prints a line "skipped:"; the tests that need it are skipped.
fetch_test_data() {
    local file=$1 logs=$2 whisper pympi axe model speakers=${XDG_CACHE_HOME:-$HOME/.cache}/fieldscribe-speakers/model
    . deploy/lib/files.sh
    . deploy/lib/model.sh
    . Tests/lib/whisper.sh
    . Tests/lib/pypi.sh
    : >"$file.new"
    if whisper=$(make_whisper 2>"$logs/whisper.log"); then
        echo "PATH=$PATH:$whisper" >>"$file.new"
    else
        echo "skipped: the tests with whisper-cli: $(tail -n 1 "$logs/whisper.log")"
    fi
    if model=$(make_whisper_model 2>"$logs/whisper-model.log"); then
        echo "FIELDSCRIBE_TEST_WHISPER=$model" >>"$file.new"
    else
        echo "skipped: the tests with Whisper's real model: $(tail -n 1 "$logs/whisper-model.log")"
    fi
    if pympi=$(make_pympi 2>"$logs/pympi.log"); then
        echo "FIELDSCRIBE_TEST_PYMPI=$pympi" >>"$file.new"
    else
        echo "skipped: the tests of ELAN documents with pympi: $(tail -n 1 "$logs/pympi.log")"
    fi
    if axe=$(make_axe 2>"$logs/axe.log"); then
        echo "FIELDSCRIBE_TEST_AXE=$axe/axe_playwright_python/axe.min.js" >>"$file.new"
    else
        echo "skipped: the tests of pages with axe-core: $(tail -n 1 "$logs/axe.log")"
    fi
    if model=$(make_model moonshine-tiny-en 2>"$logs/model.log"); then
        echo "FIELDSCRIBE_TEST_MODEL=$model" >>"$file.new"
    else
        echo "skipped: the tests with Moonshine: $(tail -n 1 "$logs/model.log")"
    fi
    if deploy/model speakers --folder "$speakers" >"$logs/speakers.log" 2>&1; then
        echo "FIELDSCRIBE_TEST_SPEAKERS=$speakers" >>"$file.new"
    else
        echo "skipped: the tests with the speaker model: $(tail -n 1 "$logs/speakers.log")"
    fi
    mv "$file.new" "$file"
}
