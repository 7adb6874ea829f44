#!/bin/sh
# Measures transformers on the first NVIDIA card, and the same in PyTorch.
#
#   bench/gpu/networks/networks.sh build DIR   writes the program into DIR; needs Go
#   DIR/networks.sh run DIR                    measures, and writes DIR/RESULTS-NETWORKS.md; needs Python with PyTorch
#
# NETWORKS names some of the networks. DIR may be copied to a machine with a card. RESULTS says what is measured.
set -u

networks=${NETWORKS:-minilm bert block block-step gpt2-step}

case ${1-} in
build)
	mkdir -p "$2" && dir=$(cd "$2" && pwd) || exit
	here=$(cd "$(dirname "$0")" && pwd)
	cd "$here/../.." && export CGO_ENABLED=0 GOFLAGS=-trimpath || exit
	gen() {
		out=$1 model=$2
		shift 2
		go tool burngen gen "$model" "$@" -o "gpu/networks/$out" -target cuda -precision bf16 || exit
	}
	gen minilm ./gpu/networks/encoder -set Tokens=128 -set Width=384 -set Heads=12 -set Layers=6 -set Causal=false -dim N=1
	gen bert ./gpu/networks/encoder -set Tokens=128 -set Width=768 -set Heads=12 -set Layers=12 -set Causal=false -dim N=1
	gen block ./gpu/networks/encoder -train -set Tokens=2048 -set Width=4096 -set Heads=32 -set Layers=1 -set Causal=true -dim N=4
	gen gpt2 ../examples/text/model -train -set Vocabulary=50304 -set Context=1024 -set Width=768 -set Heads=12 -set Blocks=12 -set Dropout=0 -dim N=16
	go build -tags networks -ldflags='-s -w' -o "$dir" ./gpu/networks || exit
	cp "$here/networks.sh" "$here/torch_side.py" "$dir"
	;;
run)
	cd "$2" || exit
	{
		printf '# Transformers, and PyTorch\n\n%s, PyTorch %s, %s.\n\n```\n' "$(date -u '+%Y-%m-%d')" "$(python3 -c 'import torch; print(torch.__version__)')" \
			"$(nvidia-smi --query-gpu=name,driver_version --format=csv,noheader)"
		for n in $networks; do
			./networks "$n" 2>&1
			python3 torch_side.py "$n" 2>/dev/null
		done
		printf '```\n'
	} >RESULTS-NETWORKS.md
	;;
*)
	echo "usage: networks.sh build DIR | run DIR" >&2
	exit 2
	;;
esac
