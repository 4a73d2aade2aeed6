#!/bin/sh
# What only a machine with a GPU can check, in under five minutes; see README.md beside this file.
#   tests/gpu/run.sh [--programs DIR] [REPORT]
# DIR: a build tree or a folder made by bundle.sh. Without it the tree is configured and built here.
set -u
cd "$(dirname "$0")/../.." || exit 2
programs= report=gpu-report.txt
while [ $# -gt 0 ]; do
    case "$1" in
    --programs) programs=$2; shift 2 ;;
    -*) echo "usage: tests/gpu/run.sh [--programs DIR] [REPORT]" >&2; exit 2 ;;
    *) report=$1; shift ;;
    esac
done
failed=0
say() { printf '%s\n' "$*" | tee -a "$report"; }
# step SECONDS TITLE COMMAND…: runs with a limit; what it prints goes into the report.
step() {
    limit=$1 title=$2
    shift 2
    say "" "== $title"
    begin=$(date +%s)
    timeout "$limit" "$@" >step.log 2>&1
    code=$?
    tail -n 200 step.log | tee -a "$report"
    say "-- exit $code after $(($(date +%s) - begin)) s"
    [ $code -eq 0 ] || failed=1
    return $code
}
: >"$report"
say "Gatherscope on a GPU machine, $(date -u +%Y-%m-%dT%H:%M:%SZ)"
if command -v nvidia-smi >/dev/null; then
    nvidia-smi --query-gpu=name,driver_version,memory.total,clocks.sm,clocks.max.sm --format=csv | tee -a "$report"
    gpus=$(nvidia-smi -L | grep -c '^GPU')
else
    say "nvidia-smi: missing (the driver's tools)"
    gpus=1
fi

if [ -z "$programs" ]; then
    missing=
    for tool in cmake ninja c++ mpirun; do
        command -v $tool >/dev/null || missing="$missing $tool"
    done
    if [ -n "$missing" ]; then
        say "Cannot build here, missing:$missing" "Build elsewhere, run tests/gpu/bundle.sh and give --programs."
        exit 2
    fi
    programs=build/gpu
    step 900 "configure" cmake -S . -B $programs -G Ninja -DCMAKE_BUILD_TYPE=Release -DGATHERSCOPE_CUDA=ON \
        -DGATHERSCOPE_GUI=OFF -DGATHERSCOPE_BENCH=OFF || exit 2
    step 1800 "build" cmake --build $programs --target gpu_check gatherscope-rank gatherscope-cli || exit 2
fi
[ -d "$programs/lib" ] && LD_LIBRARY_PATH="$programs/lib:${LD_LIBRARY_PATH:-}"
for cuda in /usr/local/cuda/lib64 /usr/local/cuda/lib /usr/local/cuda/targets/x86_64-linux/lib; do
    [ -d $cuda ] && LD_LIBRARY_PATH="${LD_LIBRARY_PATH:-}:$cuda"
done
export LD_LIBRARY_PATH
find_program() { find "$programs" -name "$1" -type f -perm -u+x 2>/dev/null | head -n 1; }
check=$(find_program gpu_check) rank=$(find_program gatherscope-rank) cli=$(find_program gatherscope-cli)
for program in "$check" "$rank" "$cli"; do
    [ -n "$program" ] && ldd "$program" | grep 'not found' | tee -a "$report"
done

[ -n "$rank" ] && step 30 "devices" "$rank" --probe
samples="samples/mlp4_fsdp8_joint.json.gz samples/lm3_ac_fsdp8_joint.json.gz"
if [ -n "$check" ]; then
    # shellcheck disable=SC2086
    step 150 "products, kernels, collectives" "$check" $samples samples/llama3_8b_fsdp64_joint.json.gz
else
    say "gpu_check: not built"
    failed=1
fi
if [ -n "$rank" ] && [ -n "$cli" ] && command -v mpirun >/dev/null; then
    for file in $samples; do
        step 60 "profile of $file on $gpus rank(s)" "$cli" profile "$file" --backend cuda --ranks "$gpus" \
            --json "profile-$(basename "$file" .json.gz).json"
    done
else
    say "" "NOT RUN: profile of the samples (gatherscope-rank, gatherscope-cli or mpirun is missing)"
fi
rm -f step.log
say "" "$([ $failed -eq 0 ] && echo 'all held' || echo 'SOMETHING FAILED')"
exit $failed
