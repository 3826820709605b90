#!/usr/bin/env bash
# Every check a change must pass, from a fresh Debian 12 on: installs, builds, runs all layers, prints a summary.
# usage: tests/run.sh [--full]
#   --full  adds the tsan and clang presets with the fuzzers, and clang-tidy on tests/
# CI=true forbids skips. Ends non-zero if anything failed. What the layers are: docs/testing.md.
set -euo pipefail
# shellcheck source-path=SCRIPTDIR source=../bench/setup.sh
source "$(dirname "${BASH_SOURCE[0]}")/../bench/setup.sh"

# Layers that run under every preset, and those that a second compiler or sanitizer adds nothing to.
readonly all_presets_layers=(unit component conformance cli)
readonly once_layers=(architecture schema install mpi)
# Takes minutes on one processor, while the next preset is built on the others; its clock counts instructions.
readonly background_layer=guest

full=0
case ${1:-} in
  "") ;;
  --full) full=1 ;;
  *) die "unknown option $1; usage: tests/run.sh [--full]" ;;
esac
readonly full

[[ ${CI:-} != true ]] || export MTUSCOPE_FORBID_SKIPS=1

summary=() # one line per step, printed at the end
failed_steps=0
passed=0
failed=0
skipped=0

# Records how a step ended: name, seconds, 0 or not, and a remark.
note() {
  local name=$1 seconds=$2 status=$3 remark=${4:-} verdict=ok
  if ((status != 0)); then
    verdict=FAILED
    failed_steps=$((failed_steps + 1))
  fi
  summary+=("$(printf '%-22s %-6s %5d s  %s' "$name" "$verdict" "$seconds" "$remark")")
  printf -- '-- %s: %s, %d s %s\n' "$name" "$verdict" "$seconds" "$remark"
}

# Runs a command as the step `name`; its failure is recorded and does not end the script.
step() {
  local name=$1 start=$SECONDS status=0
  shift
  printf -- '-- %s ...\n' "$name"
  "$@" || status=$?
  note "$name" $((SECONDS - start)) "$status"
  return "$status"
}

# Prints an attribute of the root element of a JUnit file.
junit_count() {
  sed -n "s/^[[:space:]]*$2=\"\([0-9]*\)\".*/\1/p" "$1" | head -n 1
}

declare -A layer_pid layer_start # by preset/layer

# Starts one layer (a CTest label) of a preset; what follows the two is put before the command.
start_layer() {
  local preset=$1 layer=$2 junit
  shift 2
  junit=$source_root/build/$preset/junit-$layer.xml
  rm -f "$junit"
  printf -- '-- %s/%s ...\n' "$preset" "$layer"
  (cd "$source_root" && "$@" ctest --preset "$preset" -L "^$layer\$" -j "$(nproc)" --output-junit "$junit" --quiet) &
  layer_pid[$preset/$layer]=$!
  layer_start[$preset/$layer]=$SECONDS
}

# Waits for a layer that was started and adds its counts to the totals.
finish_layer() {
  local preset=$1 layer=$2 status=0 tests failures skips junit
  local start=${layer_start[$preset/$layer]}
  wait "${layer_pid[$preset/$layer]}" || status=$?
  junit=$source_root/build/$preset/junit-$layer.xml
  if [[ ! -s $junit ]]; then
    note "$preset/$layer" $((SECONDS - start)) 1 "no test ran"
    return
  fi
  tests=$(junit_count "$junit" tests)
  failures=$(junit_count "$junit" failures)
  skips=$(junit_count "$junit" skipped)
  passed=$((passed + tests - failures - skips))
  failed=$((failed + failures))
  skipped=$((skipped + skips))
  if ((skips > 0)) && [[ ${MTUSCOPE_FORBID_SKIPS:-0} == 1 ]]; then
    status=1
  fi
  if ((status != 0)); then
    print_bad_tests "$junit"
  fi
  note "$preset/$layer" $((SECONDS - start)) "$status" "$tests tests, $failures failed, $skips skipped"
}

# Names the tests of a JUnit file that failed or were skipped, with their output.
print_bad_tests() {
  python3 - "$1" <<'PY'
import sys, xml.etree.ElementTree as tree
for case in tree.parse(sys.argv[1]).getroot().iter("testcase"):
    if case.get("status") != "run":
        print(f"\n### {case.get('name')}: {case.get('status')}\n{case.findtext('system-out') or ''}")
PY
}

# A test that carries no known label would never be run by the layers.
every_test_has_a_layer() {
  local labels count
  labels=$(IFS='|'; printf '%s' "${all_presets_layers[*]}|${once_layers[*]}|$background_layer")
  count=$(cd "$source_root" && ctest --test-dir build/release -N -LE "^($labels)\$" | sed -n 's/^Total Tests: //p')
  [[ $count == 0 ]] || { printf '%s tests belong to no layer: ctest -N -LE ...\n' "$count" >&2; return 1; }
}

# Runs one layer of a preset.
run_layer() {
  start_layer "$@"
  finish_layer "$1" "$2"
}

# Builds a preset and runs the named layers; fails if there is no build.
run_preset() {
  local preset=$1 layer
  shift
  step "$preset/build" build_preset "$preset" || return 1
  for layer in "$@"; do
    run_layer "$preset" "$layer"
  done
}

# g++ 12's ThreadSanitizer cannot map its shadow memory where the kernel randomises 32 address bits; the build runs the
# test programs too, to list their tests.
run_tsan() {
  local layer
  local -a fixed_addresses=(setarch "$(uname -m)" -R)
  "${fixed_addresses[@]}" true 2>/dev/null || fixed_addresses=()
  step tsan/build "${fixed_addresses[@]}" bash -c "source '$source_root/bench/setup.sh' && build_preset tsan" || return 0
  for layer in "${all_presets_layers[@]}"; do
    run_layer tsan "$layer" "${fixed_addresses[@]}"
  done
}

prepare() {
  install_packages build test guest lint && know_kernel_package
}

check_format() {
  find "$source_root"/{lib,bench,tests} \( -name '*.cpp' -o -name '*.hpp' \) -print0 |
    xargs -0 clang-format --dry-run --Werror
}

tidy() {
  python3 "$source_root/tests/lint/tidy.py" --build-dir "$source_root/build/release" "$@"
}

print_summary() {
  printf '\n%s\n' "${summary[@]}"
  printf '%d passed, %d failed, %d skipped; %d of %d steps failed; %d min %02d s\n' "$passed" "$failed" "$skipped" \
    "$failed_steps" "${#summary[@]}" $((SECONDS / 60)) $((SECONDS % 60))
}

main() {
  step packages prepare || { print_summary; exit 1; }
  step format check_format || true
  local built=0
  run_preset release "${all_presets_layers[@]}" "${once_layers[@]}" && built=1
  ((!built)) || start_layer release "$background_layer"
  step layers every_test_has_a_layer || true
  step headers build_preset release --target all_verify_interface_header_sets || true
  run_preset asan "${all_presets_layers[@]}" || true
  if ((full)); then
    run_tsan
    run_preset clang "${all_presets_layers[@]}" fuzz || true
    step tidy tidy --all || true
  else
    step tidy tidy || true
  fi
  ((!built)) || finish_layer release "$background_layer"
  print_summary
  ((failed_steps == 0))
}

main
