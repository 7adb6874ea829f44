#!/bin/sh
# Checks burngen on the GPUs of this machine: lists the devices, runs the tests of the drivers and of the
# kernels, and compares models with their references on each device. Writes what it saw to
# RESULTS-CHECK.md beside this file. It goes on after a failure, and exits with 1 if anything failed.
#
#   bench/gpu/check.sh [TARGET…]     the targets are cuda and vulkan, if none is named
#
# BURNGEN_CORPUS is the folder of the test corpora. Without it, no models are compared. Programs in
# bench/gpu/bin are used as they are; without them, they are built, for which Go is needed. To check a
# machine without Go, run "bench/gpu/check.sh build" elsewhere and copy the repository's folder.
# LIMIT is the time for one model, 2m if it is empty.
set -u
here=$(cd "$(dirname "$0")" && pwd)
root=$(cd "$here/../.." && pwd)
bin=$here/bin
results=$here/RESULTS-CHECK.md
logs=$(mktemp -d)
trap 'rm -rf "$logs"' EXIT
failed=0

# build makes the program $1 of the package $2 by a command of go, unless it is there.
build() {
	name=$1 package=$2
	shift 2
	[ -x "$bin/$name" ] && return
	mkdir -p "$bin"
	(cd "$root" && CGO_ENABLED=0 go "$@" -o "$bin/$name" "$package") || {
		echo "check.sh: $name cannot be built" >&2
		exit 1
	}
}

build burngen ./cmd/burngen build
build cuda.test ./runtime/cuda test -c
build vulkan.test ./runtime/vulkan test -c
build gpu.test ./gen/target/gpu test -c
[ "${1-}" = build ] && exit
[ $# -eq 0 ] && set -- cuda vulkan

say() { printf '%s\n' "$*" >>"$results"; }

# step runs the rest of the line in the folder $2, and adds a row with the last lines that it printed.
step() {
	title=$1 folder=$2
	shift 2
	log=$logs/log
	echo "$title …" >&2
	begin=$(date +%s)
	(cd "$folder" && "$@") >"$log" 2>&1
	code=$?
	seconds=$(($(date +%s) - begin))
	what=passed
	if [ $code -ne 0 ]; then
		what="FAILED ($code)"
		failed=1
	fi
	last=$(tail -n 1 "$log" | tr '|' '/')
	say "| $title | $what | $seconds s | $last |"
	if [ $code -ne 0 ]; then
		{
			printf '\n### %s\n\n```\n' "$title"
			grep -E 'FAIL|panic|fatal|cannot|no usable' "$log" | head -n 50
			printf '…\n'
			tail -n 10 "$log"
			printf '```\n'
		} >>"$logs/failures"
	fi
}

cat >"$results" <<TEXT
# What check.sh saw

Written by [check.sh](check.sh) on $(date -u +%Y-%m-%d), $(uname -sm).

\`\`\`
$("$bin/burngen" version 2>&1)
$("$bin/burngen" devices 2>&1)
\`\`\`

| check | result | time | last line |
|---|---|---|---|
TEXT

step "kernels, interpreted" "$root/gen/target/gpu" "$bin/gpu.test"
for target; do
	# A driver's tests skip what needs a device if there is none. That must not count as passed.
	if "$bin/burngen" devices 2>&1 | grep -q "^$target  *[0-9]"; then
		step "$target: tests of the driver" "$root/runtime/$target" "$bin/$target.test"
	else
		step "$target: there is a device" "$root" sh -c "\"$bin/burngen\" devices | grep '^$target'; exit 1"
		continue
	fi
	if [ -z "${BURNGEN_CORPUS-}" ]; then
		say "| $target: models | not run | | BURNGEN_CORPUS is not set |"
		continue
	fi
	for folder in "$BURNGEN_CORPUS"/onnx-* "$BURNGEN_CORPUS"/models; do
		[ -d "$folder" ] || continue
		step "$target: $(basename "$folder")" "$root" "$bin/burngen" verify -exec -target "$target" -timeout "${LIMIT:-2m}" "$folder"
	done
done
if [ -s "$logs/failures" ]; then
	say
	say "## Failures"
	cat "$logs/failures" >>"$results"
fi
echo "wrote $results" >&2
exit $failed
