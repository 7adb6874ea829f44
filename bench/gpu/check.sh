#!/bin/sh
# Checks burngen on the GPUs of a machine. The machine needs no Go:
#
#   bench/gpu/check.sh build DIR        writes programs and packed corpora into DIR; needs Go
#   DIR/check.sh run DIR [PART…]        runs all parts, or the parts that are named
#   DIR/check.sh parts                  lists the parts
#
# README.md beside this file says what the parts are, and which variables change them.
set -u

usage() {
	echo "usage: check.sh build DIR | run DIR [PART…] | parts" >&2
	exit 2
}

# lanes lists the parts that run at the same time as the parts of other lanes. The parts of one lane run one
# after the other.
lane_vulkan='driver-vulkan package-vulkan tensors-vulkan trainer-vulkan verify-vulkan trials-vulkan kernels-vulkan gradients-vulkan learning-vulkan'
lane_cuda='driver-cuda package-cuda tensors-cuda trainer-cuda verify-cuda trials-cuda kernels-cuda gradients-cuda learning-cuda'
lane_other='ptxas memcheck racecheck'
# alone lists the parts that run after the lanes, with the machine to themselves.
alone='goroutines-vulkan goroutines-cuda memory-vulkan memory-cuda'

# build writes the programs into $1/programs.tar.xz and the corpora into $1/corpus.tar.xz.
build() {
	mkdir -p "$1" || exit
	dir=$(cd "$1" && pwd)
	root=$(cd "$(dirname "$0")/../.." && pwd)
	stage=$(mktemp -d) || exit
	trap 'rm -rf "$stage"' EXIT
	mkdir -p "$stage/bin" "$stage/golden" "$stage/ptx"
	cd "$root" || exit
	export CGO_ENABLED=0 GOFLAGS=-trimpath
	go build -ldflags='-s -w' -o "$stage/bin/burngen" ./cmd/burngen || exit
	for package in runtime/cuda runtime/vulkan gen/target/cuda gen/target/vulkan golden; do
		go test -c -ldflags='-s -w' -o "$stage/bin/$(echo $package | tr / -).test" "./$package" || exit
	done
	# There is no device for these tests here, so that they are built and not run.
	VK_ICD_FILENAMES=/no/such/driver.json VK_DRIVER_FILES=/no/such/driver.json \
		go test ./golden/endtoend -count=1 -timeout 60m -run TestDevice -args -binaries "$stage/bin" || exit
	cp -r golden/conformance "$stage/golden/" || exit
	for file in $(git ls-files '*.ptx'); do
		cp "$file" "$stage/ptx/$(echo "$file" | tr / -)" || exit
	done
	git rev-parse HEAD >"$stage/commit"
	# The programs have much in common, which a large dictionary finds.
	tar -C "$stage" -c . | xz --lzma2=preset=2,dict=128MiB >"$dir/programs.tar.xz" || exit
	cp "$root/bench/gpu/check.sh" "$dir/"
	if [ -n "${BURNGEN_CORPUS-}" ]; then
		pack "$dir"
	fi
	ls -l "$dir"
}

# pack writes the tests of operators, and models in the order of their size up to MODELS_MB.
pack() {
	room=$((${MODELS_MB:-30} * 1024))
	(cd "$BURNGEN_CORPUS" && {
		ls -d onnx-* 2>/dev/null
		du -sk models/* 2>/dev/null | sort -n | while read -r size model; do
			room=$((room - size))
			[ $room -ge 0 ] && echo "$model" || echo "not packed: $model, $size kB" >&2
		done
	}) >"$stage/list"
	tar -C "$BURNGEN_CORPUS" -c -T "$stage/list" | xz -2 >"$1/corpus.tar.xz" || exit
}

# unpack unpacks an archive into the folder $2. Not all machines have xz.
unpack() {
	if command -v xz >/dev/null; then
		xz -dc "$1" | tar -C "$2" -x
	else
		python3 -c 'import sys, tarfile; tarfile.open(sys.argv[1]).extractall(sys.argv[2])' "$1" "$2"
	fi
}

# limited runs a command that may take as long as the part.
limited() { timeout -k 5 "$((limit * ${SLOWER:-1}))" "$@"; }

# tests runs a program of tests.
tests() {
	program=$1
	shift
	limited "$work/bin/$program.test" -test.v -test.timeout "$((limit * ${SLOWER:-1} - 3))s" "$@"
}

# assemble assembles the kernels in files for two generations of cards.
assemble() {
	command -v ptxas >/dev/null || { echo "ptxas is not installed"; return; }
	passed=0 failed=0
	for file in "$work"/ptx/*; do
		for arch in sm_80 sm_90; do
			if ! said=$(ptxas -v -arch=$arch -o "$logs/kernel.cubin" "$file" 2>&1); then
				echo "FAIL $arch $file: $said"
				failed=$((failed + 1))
			elif echo "$said" | grep spill | grep -qv ' 0 bytes spill stores, 0 bytes spill loads'; then
				echo "FAIL $arch $file spills registers: $(echo "$said" | grep spill | sort | uniq -c)"
				failed=$((failed + 1))
			else
				passed=$((passed + 1))
			fi
		done
	done
	echo "$passed passed, $failed failed, 0 refused"
	[ $failed -eq 0 ]
}

# sanitize runs the trials under a tool of compute-sanitizer.
sanitize() {
	command -v compute-sanitizer >/dev/null || { echo "compute-sanitizer is not installed"; return; }
	limited compute-sanitizer --tool "$1" --report-api-errors no --error-exitcode 9 "$work/bin/gen-target-cuda.test" \
		-test.v -test.timeout "$((limit * ${SLOWER:-1} - 3))s" -test.run 'TestAgreeOnCard' -rapid.checks=1 -ptxas=
}

# verify compares the models of the corpora with their references. Models that burngen refuses on every target
# are not failures.
verify() {
	[ -n "$corpus" ] || { echo "no corpora: neither corpus.tar.xz nor BURNGEN_CORPUS"; return; }
	limited "$work/bin/burngen" verify -exec -target "$1" -timeout "${LIMIT:-1m}" $(ls -d "$corpus"/onnx-* "$corpus"/models)
}

# part runs the part $1. Its limit is the time that it may take, in seconds. A driver's tests skip what needs a
# device if there is none, so they are not run then.
part() {
	target=${1#*-}
	case $1 in
	*-*) "$work/bin/burngen" devices | grep -q "^$target  *[0-9]" || { "$work/bin/burngen" devices | grep "^$target"; return; } ;;
	esac
	case $1 in
	driver-*) limit=100 && cd "$work" && tests "runtime-$target" ;;
	package-*) limit=60 && tests "$1" -test.skip 'RandomContexts|Loads' ;;
	tensors-* | trainer-*) limit=60 && tests "$1" ;;
	verify-*) limit=180 && verify "$target" ;;
	trials-vulkan) limit=180 && tests gen-target-vulkan -test.run AgreeOnDevice -rapid.checks=5 ;;
	trials-cuda) limit=180 && tests gen-target-cuda -test.run AgreeOnCard -rapid.checks=5 ;;
	kernels-*) limit=100 && tests "gen-target-$target" -test.run Kernels -kernels ;;
	gradients-*) limit=180 && cd "$work/golden" && BURNGEN_CORPUS=$corpus tests golden -test.run "GradientsOnDevice/$target" -gradients ;;
	ptxas) limit=60 && assemble ;;
	memcheck | racecheck) limit=300 && sanitize "$1" ;;
	learning-*) limit=180 && BURNGEN_TARGET=$target tests learning -steps 300 ;;
	goroutines-*) limit=60 && tests "package-$target" -test.run RandomContexts -goroutines 64 -calls 100 ;;
	memory-*) limit=180 && tests "package-$target" -test.run Loads -loads 10000 ;;
	esac
}

# count prints how many checks of a log passed, failed and were refused.
count() {
	if sum=$(grep -E '^[0-9]+ passed, [0-9]+ failed, [0-9]+ refused' "$1"); then
		echo "$sum" | tail -n 1 | sed 's/ passed, / /; s/ failed, / /; s/ refused.*//'
	else
		echo "$(grep -cE '^ *--- PASS' "$1") $(grep -cE '^ *--- FAIL' "$1") $(grep -cE '^ *--- SKIP' "$1")"
	fi
}

# step runs a part and writes its row and its failures. A part in which nothing passed is refused.
step() {
	name=$1 log=$logs/$1.log begin=$(date +%s)
	(part "$name") >"$log" 2>&1
	code=$? seconds=$(($(date +%s) - begin))
	counts=$(count "$log")
	result=passed
	if [ $code -ne 0 ]; then
		result=FAILED
	elif [ "${counts%% *}" = 0 ]; then
		result=refused
	fi
	echo "| $name | $result | $(echo "$counts" | sed 's/ / | /g') | $seconds | $code | $(tail -n 1 "$log" | cut -c 1-150 | tr '|' '/') |" >"$logs/$name.row"
	[ $result = passed ] || touch "$logs/$name.bad"
	if [ $result != passed ] || [ "${counts##* }" != 0 ]; then
		{
			printf '\n### %s: %s\n\n```\n' "$name" "$result"
			grep -nE -A 3 'FAIL|panic|fatal|SKIP|REFUSED|no usable|========= (Error|ERROR|Invalid)' "$log" | cut -c 1-600 | head -n 120
			printf '…\n'
			tail -n 8 "$log" | cut -c 1-600
			printf '```\n'
		} >"$logs/$name.failures"
	fi
	echo "$name: $result, $seconds s" >&2
}

# steps runs those parts of a list that are wanted.
steps() {
	for p; do
		case " $wanted " in *" $p "*) step "$p" ;; esac
	done
}

# run runs parts in the folder $1 and writes RESULTS-CHECK.md there.
run() {
	dir=$(cd "$1" && pwd) || exit
	shift
	all="$lane_vulkan $lane_cuda $lane_other $alone"
	wanted=${*:-$all}
	for p in $wanted; do
		case " $all " in *" $p "*) ;; *) echo "check.sh: no part $p" >&2 && exit 2 ;; esac
	done
	work=$(mktemp -d) || exit
	logs=$dir/logs results=$dir/RESULTS-CHECK.md corpus=${BURNGEN_CORPUS-}
	trap 'rm -rf "$work"' EXIT
	rm -rf "$logs" && mkdir -p "$logs" || exit
	unpack "$dir/programs.tar.xz" "$work" || exit
	if [ -z "$corpus" ] && [ -f "$dir/corpus.tar.xz" ]; then
		corpus=$work/corpus
		mkdir "$corpus" && unpack "$dir/corpus.tar.xz" "$corpus" || exit
	fi
	begin=$(date +%s)
	if [ "${LANES:-3}" = 1 ]; then
		steps $lane_vulkan $lane_cuda $lane_other
	else
		steps $lane_vulkan &
		steps $lane_cuda &
		steps $lane_other &
		wait
	fi
	steps $alone
	{
		printf '# What check.sh saw\n\nCommit %s, %s, %s, %s s.\n\n```\n' "$(cat "$work/commit")" "$(date -u '+%Y-%m-%d %H:%M')" "$(uname -sm)" $(($(date +%s) - begin))
		"$work/bin/burngen" version 2>&1
		"$work/bin/burngen" devices 2>&1
		command -v nvidia-smi >/dev/null && nvidia-smi --query-gpu=name,driver_version,memory.total --format=csv,noheader
		printf '```\n\n| part | result | passed | failed | refused | seconds | exit code | last line |\n|---|---|---|---|---|---|---|---|\n'
		for p in $wanted; do cat "$logs/$p.row"; done
		if ls "$logs"/*.failures >/dev/null 2>&1; then
			printf '\n## Failures and refusals\n'
			for p in $wanted; do
				[ -f "$logs/$p.failures" ] && cat "$logs/$p.failures"
			done
		fi
	} >"$results"
	echo "wrote $results" >&2
	! ls "$logs"/*.bad >/dev/null 2>&1
}

case ${1-} in
build) [ $# -eq 2 ] || usage && build "$2" ;;
run) [ $# -ge 2 ] || usage && shift && run "$@" ;;
parts) printf '%s\n' $lane_vulkan $lane_cuda $lane_other $alone ;;
*) usage ;;
esac
