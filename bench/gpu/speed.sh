#!/bin/sh
# Measures burngen and PyTorch on the GPU of a machine, side by side. The machine needs no Go:
#
#   bench/gpu/speed.sh build DIR        writes the programs into DIR; needs Go
#   DIR/speed.sh run DIR                measures, and writes DIR/RESULTS-SPEED.md
#
# README.md beside this file says what is measured.
set -u

models=${MODELS:-resnet50 squeezenet minilm-s128 digits}
targets='cuda:f32 cuda:bf16 vulkan:f32'

# batches prints the batches of a model.
batches() {
	case $1 in
	squeezenet | digits) echo 64 ;;
	minilm-s128) echo 1 32 ;;
	*) echo 1 64 ;;
	esac
}

build() {
	mkdir -p "$1" || exit
	dir=$(cd "$1" && pwd)
	root=$(cd "$(dirname "$0")/../.." && pwd)
	stage=$(mktemp -d) || exit
	trap 'rm -rf "$stage"' EXIT
	mkdir "$stage/programs" && cd "$root" || exit
	export CGO_ENABLED=0 GOFLAGS=-trimpath
	go build -ldflags='-s -w' -o "$stage/burngen" ./cmd/burngen || exit
	(cd bench && go build -ldflags='-s -w' -o "$stage/models" ./models) || exit
	for model in resnet50 squeezenet; do
		light=onnx-light/light_$model
		mkdir -p "$stage/corpus/$light" && cp "${BURNGEN_CORPUS:-../shared/corpus}/$light/model.onnx" "$stage/corpus/$light/" || exit
	done
	cp examples/digits/digits.onnx "$stage/" && git rev-parse HEAD >"$stage/commit" || exit
	write "$stage"
	for model in $models; do
		for t in $targets; do
			"$stage/burngen" bench "$stage/onnx/$model-n/model.onnx" -target "${t%:*}" -precision "${t#*:}" \
				-build "$stage/programs/$model-${t%:*}-${t#*:}" || exit
		done
	done
	rm -rf "$stage/onnx"
	# The programs have much in common, which a large dictionary finds.
	tar -C "$stage" -c . | xz --lzma2=preset=2,dict=128MiB >"$dir/speed.tar.xz" || exit
	cp "$root/bench/gpu/speed.sh" "$root/bench/gpu/torch_side.py" "$dir/"
	ls -l "$dir"
}

# write writes the models, with random weights, into the folder onnx of $1.
write() {
	for model in $models; do
		if [ "$model" = digits ]; then
			mkdir -p "$1/onnx/digits-n" && cp "$1/digits.onnx" "$1/onnx/digits-n/model.onnx" || exit
		else
			"$1/models" -o "$1/onnx" -corpus "$1/corpus" "$model-n" || exit
		fi
	done
}

# milliseconds prints, in µs, the number that begins the line with $1 in the text $2, or -.
milliseconds() {
	awk -v what="$1" 'index($0, " ms  " what) { printf "%.0f", $1 * 1000; seen = 1; exit } END { if (!seen) printf "-" }' "$2"
}

# ours measures burngen. It prints a row, and keeps the table of kernels.
ours() {
	text=$logs/$1-$2-$3-$4.txt
	timeout 60 "$work/burngen" bench "$work/onnx/$1-n/model.onnx" -extent "N=$2" -target "$3" -precision "$4" -time "$time" -top 12 \
		-program "$work/programs/$1-$3-$4" >"$text" 2>&1
	echo "| $1 | $2 | $4 | burngen, $3 | $(milliseconds 'a call from' "$text") | $(milliseconds 'the launches of' "$text") |"
}

# theirs measures PyTorch. It prints a row.
theirs() {
	echo "$1 $2 $3 $4" >&3
	read -r call device why <&4 || call=- device=-
	[ -z "$why" ] || echo "$1 $2 $3 $4: $why" >>"$logs/torch.txt"
	echo "| $1 | $2 | $3 | PyTorch, $4 | $call | $device |"
}

run() {
	dir=$(cd "$1" && pwd) || exit
	work=$(mktemp -d) || exit
	logs=$dir/logs results=$dir/RESULTS-SPEED.md time=${TIME:-300ms} start=$(date +%s)
	trap 'rm -rf "$work"' EXIT
	rm -rf "$logs" && mkdir -p "$logs" || exit
	if command -v xz >/dev/null; then
		xz -dc "$dir/speed.tar.xz" | tar -C "$work" -x
	else
		python3 -c 'import sys, tarfile; tarfile.open(sys.argv[1]).extractall(sys.argv[2])' "$dir/speed.tar.xz" "$work"
	fi
	write "$work"
	mkfifo "$work/ask" "$work/answer" || exit
	python3 "$dir/torch_side.py" <"$work/ask" >"$work/answer" 2>"$logs/torch_side.txt" &
	exec 3>"$work/ask" 4<"$work/answer"
	{
		printf '# What speed.sh measured\n\nCommit %s, %s, %s.\n\n```\n' "$(cat "$work/commit")" "$(date -u '+%Y-%m-%d %H:%M')" "$(uname -sm)"
		"$work/burngen" devices 2>&1
		nvidia-smi --query-gpu=name,driver_version,clocks.max.sm,power.limit --format=csv,noheader 2>&1
		python3 -c 'import torch; print("PyTorch", torch.__version__)' 2>&1
		printf '```\n\nTimes are medians in µs: of a call, from arrays of the host to arrays of the host, and of its work on the device.\n\n'
		printf '| model | batch | precision | side | call | device |\n|---|---|---|---|---|---|\n'
	} >"$results"
	for model in $models; do
		for n in $(batches "$model"); do
			how=eager
			[ "$n" = 1 ] || how=${HOW:-compile}
			for precision in f32 bf16; do
				theirs "$model" "$n" $precision $how
				ours "$model" "$n" cuda $precision
			done
			ours "$model" "$n" vulkan f32
		done
	done >>"$results"
	exec 3>&- 4<&-
	{
		printf '\nThe whole run took %s s. The slowest kernels of each call:\n' $(($(date +%s) - start))
		for text in "$logs"/*-cuda-*.txt "$logs"/*-vulkan-*.txt; do
			printf '\n### %s\n\n```\n%s\n```\n' "$(basename "$text" .txt)" "$(cut -c 1-160 "$text")"
		done
	} >>"$results"
	echo "wrote $results" >&2
}

case ${1-} in
build) build "${2:?usage: speed.sh build DIR}" ;;
run) run "${2:?usage: speed.sh run DIR}" ;;
*) echo "usage: speed.sh build DIR | run DIR" >&2 && exit 2 ;;
esac
