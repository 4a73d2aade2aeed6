#!/bin/sh
# Collects the programs that run.sh needs with the libraries that a bare GPU machine lacks (not CUDA's own, which its
# image has, and not the system's C library).
#   tests/gpu/bundle.sh BUILD_DIR OUT_DIR
set -eu
build=$1 out=$2
mkdir -p "$out/lib"
for name in gpu_check gatherscope-rank gatherscope-cli; do
    program=$(find "$build" -name $name -type f -perm -u+x | head -n 1)
    [ -n "$program" ] || { echo "not built: $name" >&2; continue; }
    cp "$program" "$out/"
    ldd "$program" | awk '$3 ~ /^\// { print $3 }' |
        grep -Ev '/(ld-linux|libc|libm|libdl|libpthread|librt|libstdc\+\+|libgcc_s)[-.]|/libcu|/libnvrtc|/libnvJit' |
        xargs -r cp -Lt "$out/lib"
done
du -sh "$out"
