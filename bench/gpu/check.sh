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
# after the other, the short ones first. The limits of a lane are 860 s together at most, and those of the parts that
# run alone 340 s.
lane_vulkan='driver-vulkan package-vulkan tensors-vulkan trainer-vulkan kernels-vulkan gradients-vulkan trials-vulkan verify-vulkan'
lane_cuda='driver-cuda package-cuda tensors-cuda trainer-cuda kernels-cuda gradients-cuda trials-cuda verify-cuda'
lane_other='ptxas learning-vulkan learning-cuda memcheck racecheck'
# lane_software lists the parts for drivers that compute on the processor, if variables name them. SwiftShader has no
# floats of 64 bits, which the gradients need.
lane_software=
[ -z "${SWIFTSHADER-}" ] || lane_software='driver-swiftshader kernels-swiftshader trials-swiftshader verify-swiftshader'
[ -z "${LAVAPIPE-}" ] || lane_software="$lane_software driver-lavapipe kernels-lavapipe gradients-lavapipe trials-lavapipe verify-lavapipe"
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
		go test ./golden/endtoend/device -count=1 -timeout 60m -run TestDevice -args -binaries "$stage/bin" || exit
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

# limited runs a command that may take as long as the part. finish ends it if the run is interrupted. A Go program that
# takes longer says where its goroutines are.
limited() {
	timeout -s QUIT -k 5 "$((limit * ${SLOWER:-1}))" "$@" &
	echo $! >"$logs/$name.pid"
	wait $!
	set -- $?
	rm "$logs/$name.pid"
	return "$1"
}

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

# sanitize runs the trials under a tool of compute-sanitizer, one after the other.
sanitize() {
	command -v compute-sanitizer >/dev/null || { echo "compute-sanitizer is not installed"; return; }
	limited compute-sanitizer --tool "$1" --report-api-errors no --error-exitcode 9 "$work/bin/gen-target-cuda.test" \
		-test.v -test.timeout "$((limit * ${SLOWER:-1} - 3))s" -test.run 'TestAgreeOnCard' -test.parallel 1 -rapid.checks=1 -ptxas=
}

# verify compares the models of the corpora with their references. Models that burngen refuses on every target
# are not failures.
verify() {
	[ -n "$corpus" ] || { echo "no corpora: neither corpus.tar.xz nor BURNGEN_CORPUS"; return; }
	limited "$work/bin/burngen" verify -exec -jobs "$jobs" -target "$1" -timeout "${LIMIT:-2m}" $(ls -d "$corpus"/onnx-* "$corpus"/models)
}

# part runs the part $1. Its limit is the time that it may take, in seconds. A driver's tests skip what needs a
# device if there is none, so they are not run then.
part() {
	target=${1#*-}
	case $target in
	swiftshader) target=vulkan && export VK_DRIVER_FILES="$SWIFTSHADER" VK_ICD_FILENAMES="$SWIFTSHADER" ;;
	lavapipe) target=vulkan && export VK_DRIVER_FILES="$LAVAPIPE" VK_ICD_FILENAMES="$LAVAPIPE" ;;
	esac
	case $1 in
	*-*) "$work/bin/burngen" devices | grep -q "^$target  *[0-9]" || { "$work/bin/burngen" devices | grep "^$target"; return; } ;;
	esac
	case $1 in
	driver-*) limit=60 && cd "$work" && tests "runtime-$target" ;;
	package-*) limit=60 && tests "$1" -test.skip 'RandomContexts|Loads' ;;
	tensors-* | trainer-*) limit=40 && tests "$1" ;;
	kernels-*) limit=80 && tests "gen-target-$target" -test.run Kernels -kernels ;;
	gradients-*) limit=300 && cd "$work/golden" && BURNGEN_CORPUS=$corpus tests golden -test.run "GradientsOnDevice/$target" -gradients ;;
	trials-cuda) limit=120 && tests gen-target-cuda -test.run AgreeOnCard -rapid.checks=5 ;;
	trials-*) limit=120 && tests gen-target-vulkan -test.run AgreeOnDevice -rapid.checks=5 ;;
	verify-*) limit=300 && verify "$target" ;;
	ptxas) limit=60 && assemble ;;
	learning-*) limit=180 && BURNGEN_TARGET=$target tests learning -steps 300 ;;
	memcheck | racecheck) limit=220 && sanitize "$1" ;;
	goroutines-*) limit=40 && tests "package-$target" -test.run RandomContexts -goroutines 64 -calls 100 ;;
	memory-*) limit=130 && tests "package-$target" -test.run Loads -loads 10000 -within "$((limit * ${SLOWER:-1} * 4 / 5))s" ;;
	esac
}

# count prints how many checks of a log passed, failed and were refused: what its last summary says, or so far.
count() {
	awk '
		/^[0-9]+ passed, [0-9]+ failed, [0-9]+ refused/ { sum = $1 " " $3 " " $5 }
		/^ *--- PASS/ || /^PASS ./ { passed++ }
		/^ *--- FAIL/ || /^FAIL ./ { failed++ }
		/^ *--- SKIP/ || /^REFUSED ./ { refused++ }
		END { print sum == "" ? passed + 0 " " failed + 0 " " refused + 0 : sum }
	' "$1"
}

# failures prints the lines of a log that say what failed, and why. A test that failed or was skipped comes with what
# it wrote: tests write before their result.
failures() {
	awk '
		/^=== (RUN|CONT|NAME|PAUSE) / { test = $3; next }
		/^ *--- (FAIL|SKIP): / { print; printf "%s", said[$3]; next }
		/^ *--- PASS: / { next }
		/^    +[A-Za-z0-9_]+\.go:[0-9]+: / { wrote = 1 }
		/^    / { if (wrote && ++lines[test] <= 12) said[test] = said[test] "    " substr($0, 1, 600) "\n"; next }
		{ wrote = 0 }
		/FAIL ./ || /^REFUSED / || /panic|fatal|no usable|========= (Error|ERROR|Invalid)/ { print }
	' "$1" | cut -c 1-600 | head -n 400
}

# row prints the row of a part. $2 is its result, $3 the seconds, $4 the exit code.
row() {
	echo "| $1 | $2 | $(count "$logs/$1.log" | sed 's/ / | /g') | $3 | $4 | $(tail -n 1 "$logs/$1.log" | cut -c 1-150 | tr '|' '/') |"
}

# step runs a part and keeps its row and its failures. A part in which nothing passed is refused.
step() {
	name=$1 log=$logs/$1.log begin=$(date +%s)
	: >"$log" && echo "$begin" >"$logs/$name.begun" && report
	(part "$name") >"$log" 2>&1 &
	wait $! # which a signal interrupts
	code=$? seconds=$(($(date +%s) - begin))
	counts=$(count "$log")
	result=passed
	if [ $code -ne 0 ]; then
		result=FAILED
	elif [ "${counts%% *}" = 0 ]; then
		result=refused
	fi
	[ $result = passed ] || touch "$logs/$name.bad"
	if [ $result != passed ] || [ "${counts##* }" != 0 ]; then
		{
			printf '\n### %s: %s\n\n```\n' "$name" "$result"
			failures "$log"
			printf '…\n'
			tail -n 8 "$log" | cut -c 1-600
			printf '```\n'
		} >"$logs/$name.failures"
	fi
	row "$name" $result $seconds $code >"$logs/$name.new" && mv "$logs/$name.new" "$logs/$name.row"
	report
	echo "$name: $result, $seconds s" >&2
}

# steps runs those parts of a list that are wanted.
steps() {
	for p; do
		case " $wanted " in *" $p "*) step "$p" ;; esac
	done
}

# report writes the results so far, whole: an interrupted run leaves them. Lanes take turns.
report() {
	while ! mkdir "$logs/turn" 2>/dev/null; do sleep 0.1; done
	{
		printf '# What check.sh saw\n\nCommit %s, %s, %s, %s s.\n\n' "$(cat "$work/commit")" "$(date -u '+%Y-%m-%d %H:%M')" "$(uname -sm)" $(($(date +%s) - start))
		cat "$logs/devices"
		printf '\n| part | result | passed | failed | refused | seconds | exit code | last line |\n|---|---|---|---|---|---|---|---|\n'
		for p in $wanted; do
			if [ -f "$logs/$p.row" ]; then
				cat "$logs/$p.row"
			elif [ -f "$logs/$p.begun" ]; then
				row "$p" 'not finished' $(($(date +%s) - $(cat "$logs/$p.begun"))) ''
			else
				echo "| $p | not run | | | | | | |"
			fi
		done
		if ls "$logs"/*.failures >/dev/null 2>&1; then
			printf '\n## Failures and refusals\n'
			for p in $wanted; do
				[ -f "$logs/$p.failures" ] && cat "$logs/$p.failures"
			done
		fi
	} >"$results.new"
	mv "$results.new" "$results"
	rmdir "$logs/turn"
}

# finish ends a run that was interrupted.
finish() {
	trap - INT TERM
	kill $lanes $(cat "$logs"/*.pid 2>/dev/null) 2>/dev/null
	rmdir "$logs/turn" 2>/dev/null
	report
	exit 1
}

# run runs parts in the folder $1 and writes RESULTS-CHECK.md there.
run() {
	dir=$(cd "$1" && pwd) || exit
	shift
	all="$lane_vulkan $lane_cuda $lane_other $lane_software $alone"
	wanted=${*:-$all}
	for p in $wanted; do
		case " $all " in *" $p "*) ;; *) echo "check.sh: no part $p" >&2 && exit 2 ;; esac
	done
	work=$(mktemp -d) || exit
	logs=$dir/logs results=$dir/RESULTS-CHECK.md corpus=${BURNGEN_CORPUS-} jobs=${JOBS:-$(getconf _NPROCESSORS_ONLN)} start=$(date +%s)
	trap 'rm -rf "$work"' EXIT
	trap 'exit 1' INT TERM
	rm -rf "$logs" && mkdir -p "$logs" || exit
	unpack "$dir/programs.tar.xz" "$work" || exit
	if [ -z "$corpus" ] && [ -f "$dir/corpus.tar.xz" ]; then
		corpus=$work/corpus
		mkdir "$corpus" && unpack "$dir/corpus.tar.xz" "$corpus" || exit
	fi
	{
		printf '```\n'
		"$work/bin/burngen" version 2>&1
		"$work/bin/burngen" devices 2>&1
		for file in ${SWIFTSHADER-} ${LAVAPIPE-}; do
			VK_DRIVER_FILES=$file VK_ICD_FILENAMES=$file "$work/bin/burngen" devices 2>&1 | grep '^vulkan'
		done
		command -v nvidia-smi >/dev/null && nvidia-smi --query-gpu=name,driver_version,memory.total --format=csv,noheader
		printf '```\n'
	} >"$logs/devices"
	report
	lanes=
	trap finish INT TERM
	if [ "${LANES:-3}" = 1 ]; then
		steps $lane_vulkan $lane_cuda $lane_other $lane_software
	else
		steps $lane_vulkan &
		lanes="$lanes $!"
		steps $lane_cuda &
		lanes="$lanes $!"
		steps $lane_other &
		lanes="$lanes $!"
		steps $lane_software &
		lanes="$lanes $!"
		wait
	fi
	steps $alone
	report
	echo "wrote $results" >&2
	! ls "$logs"/*.bad >/dev/null 2>&1
}

case ${1-} in
build) [ $# -eq 2 ] || usage && build "$2" ;;
run) [ $# -ge 2 ] || usage && shift && run "$@" ;;
parts) printf '%s\n' $lane_vulkan $lane_cuda $lane_other $lane_software $alone ;;
*) usage ;;
esac
