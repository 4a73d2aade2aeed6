# What packaging/run and packaging/test share. Sourced, not run.
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)

# missing_packages KIND…: Debian packages of packaging/dependencies.txt that are not installed.
missing_packages() {
    local kind name _
    while read -r kind name _; do
        [[ " $* " == *" $kind "* ]] || continue
        dpkg-query -W -f='${Status}' "$name" 2>/dev/null | grep -q 'ok installed' || echo "$name"
    done < "$root/packaging/dependencies.txt"
}

# install_missing KIND…: installs what is missing, with sudo where the user is not root.
install_missing() {
    command -v dpkg-query >/dev/null || { echo "No Debian package manager here: see packaging/dependencies.txt" >&2; return; }
    local missing
    mapfile -t missing < <(missing_packages "$@")
    [[ ${#missing[@]} -eq 0 ]] && return
    echo "Installing: ${missing[*]}" >&2
    local as_root=()
    [[ $(id -u) -eq 0 ]] || as_root=(sudo)
    "${as_root[@]}" apt-get update -qq
    "${as_root[@]}" env DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends "${missing[@]}" >/dev/null
}

# build PRESET [TARGET…]: configures and builds; quiet unless it fails.
build() {
    local preset=$1 log
    shift
    mkdir -p "$root/build"
    export CCACHE_BASEDIR=$root CCACHE_NOHASHDIR=1 # a clone in another folder finds the same objects
    log="$root/build/$preset.log"
    echo "Building ($preset)…" >&2
    if ! { (cd "$root" && cmake --preset "$preset") && cmake --build "$root/build/$preset" ${*:+--target "$@"}; } >"$log" 2>&1; then
        tail -n 60 "$log" >&2
        echo "The build failed; the whole log is $log" >&2
        return 1
    fi
    grep -A 12 'optional parts:' "$log" | grep -E '^--' >&2 || true
}
