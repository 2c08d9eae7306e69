# Shared by the scripts beside this folder: talk, missing packages, the Rust toolchain. Sourced, not run.
# shellcheck shell=bash

ROOT=$(cd -- "$(dirname -- "${BASH_SOURCE[0]}")/../.." && pwd)
export ROOT

# The oldest compiler that builds the workspace, as Cargo.toml says it.
RUST_NEEDED=$(sed -n 's/^rust-version = "\(.*\)"/\1/p' "$ROOT/Cargo.toml" | head -n 1)

say() { printf '==> %s\n' "$*" >&2; }

die() {
    printf 'error: %s\n' "$1" >&2
    shift
    for hint in "$@"; do printf '  hint: %s\n' "$hint" >&2; done
    exit 1
}

have() { command -v "$1" >/dev/null 2>&1; }

# Runs a command as root: as it is, or through sudo.
as_root() {
    if [ "$(id -u)" -eq 0 ]; then
        "$@"
    elif have sudo; then
        sudo "$@"
    else
        die "'$*' needs root, and there is no sudo here" "run it as root, then start this script again"
    fi
}

# The package that brings a command or file, by family of distribution: what, Debian's name, Fedora's name.
# What ffmpeg is called differs: Fedora itself only has the free build.
PACKAGES='
cc gcc gcc
make make make
fusermount3 fuse3 fuse3
curl curl curl
ffmpeg ffmpeg ffmpeg-free
ffprobe ffmpeg ffmpeg-free
flac flac flac
metaflac flac flac
rsync rsync rsync
sqlite3 sqlite3 sqlite
python3 python3 python3
promtool prometheus golang-github-prometheus
pkg-config pkg-config pkgconf-pkg-config
setpriv util-linux util-linux
python-mutagen python3-mutagen python3-mutagen
libfuse3 libfuse3-dev fuse3-devel
fio fio fio
strace strace strace
'

# Whether something of the table above is there already.
present() {
    case $1 in
        python-mutagen) python_with_mutagen >/dev/null ;;
        libfuse3) have pkg-config && pkg-config --exists fuse3 ;;
        *) have "$1" ;;
    esac
}

# Prints a Python that can import mutagen: the first in PATH may be a private build that sees no packages.
python_with_mutagen() {
    local python
    for python in "${MUSEFS_PYTHON:-python3}" /usr/bin/python3; do
        if "$python" -c 'import mutagen' >/dev/null 2>&1; then
            printf '%s\n' "$python"
            return 0
        fi
    done
    return 1
}

# Prints the package for $1 in column $2 of the table.
package_for() { awk -v want="$1" -v column="$2" '$1 == want { print $column }' <<<"$PACKAGES"; }

# Installs what is missing of the things named, after saying so. Nothing missing: nothing is asked, no root needed.
install_missing() {
    local thing missing=() packages=()
    for thing in "$@"; do present "$thing" || missing+=("$thing"); done
    [ ${#missing[@]} -gt 0 ] || return 0
    if have apt-get; then
        for thing in "${missing[@]}"; do packages+=("$(package_for "$thing" 2)"); done
        say "missing: ${missing[*]}; installing with apt-get: ${packages[*]}"
        as_root apt-get update -q >&2
        as_root env DEBIAN_FRONTEND=noninteractive apt-get install -q -y --no-install-recommends "${packages[@]}" >&2
    elif have dnf; then
        for thing in "${missing[@]}"; do packages+=("$(package_for "$thing" 3)"); done
        say "missing: ${missing[*]}; installing with dnf: ${packages[*]}"
        as_root dnf install -y "${packages[@]}" >&2
    else
        die "missing: ${missing[*]}; there is neither apt-get nor dnf here" "install them by hand, then start this script again"
    fi
    for thing in "${missing[@]}"; do
        present "$thing" || die "$thing is still missing after its package was installed" "install it by hand, then start this script again"
    done
}

# True when the compiler in PATH is new enough.
rust_is_new_enough() {
    local found
    found=$(cd "$ROOT" && cargo --version 2>/dev/null | awk '{ print $2 }') || return 1
    [ -n "$found" ] && [ "$(printf '%s\n%s\n' "$RUST_NEEDED" "$found" | sort -V | head -n 1)" = "$RUST_NEEDED" ]
}

# Makes sure of a Rust toolchain: the one that is there, else rustup's. Distributions' own are often too old.
need_rust() {
    # shellcheck disable=SC1091
    [ ! -f "$HOME/.cargo/env" ] || . "$HOME/.cargo/env"
    rust_is_new_enough && return 0
    if have rustup; then
        say "Rust $RUST_NEEDED or newer is needed: running rustup update stable"
        rustup update stable >&2
        rustup default stable >&2
    else
        install_missing curl
        say "Rust $RUST_NEEDED or newer is needed: installing it for this user with the installer of rustup.rs"
        curl --proto '=https' --tlsv1.2 -sSf https://sh.rustup.rs | sh -s -- -y --profile minimal --default-toolchain stable >&2 ||
            die "the Rust installer failed" "install Rust $RUST_NEEDED or newer by hand, then start this script again"
        # shellcheck disable=SC1091
        . "$HOME/.cargo/env"
    fi
    rust_is_new_enough || die "cargo is still older than $RUST_NEEDED" "check which cargo comes first in PATH: $(command -v cargo)"
}

# Makes sure that FUSE can be used, as far as a script can.
need_fuse_device() {
    [ -e /dev/fuse ] && return 0
    say "there is no /dev/fuse: loading the kernel module"
    as_root modprobe fuse || true
    [ -e /dev/fuse ] || die "there is no /dev/fuse" "in a container, start it with --device /dev/fuse --cap-add SYS_ADMIN"
}
