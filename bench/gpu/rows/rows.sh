#!/bin/sh
# Compares kernels that memory limits with torch.compile on the first NVIDIA card.
#
#   bench/gpu/rows/rows.sh build DIR   writes the programs into DIR; needs Go
#   DIR/rows.sh run DIR                checks and measures, and writes DIR/RESULTS-ROWS.md; needs Python with PyTorch
set -u

cases='gelu_chain:8192x8192:bf16 gelu_chain:8192x8192:f32
layer_norm:8192x4096:bf16 layer_norm:8192x4096:f32 layer_norm:8192x4096:bf16:backward layer_norm:8192x4096:f32:backward
rms_norm:8192x4096:bf16 rms_norm:8192x4096:bf16:backward
softmax:8192x4096:bf16 softmax:8192x4096:f32 softmax:8192x4096:bf16:backward
cross_entropy:8192x50257:bf16 cross_entropy:8192x50257:bf16:backward cross_entropy:8192x50257:f32:backward
sum_rows:8192x4096:bf16 sum_columns:8192x4096:bf16 sum_columns:8192x4096:f32
transpose:8192x8192:bf16 transpose:8192x8192:f32 embedding:8192x1024:bf16:backward
decode:1x4096x4096:bf16 decode:1x4096x14336:bf16 decode:8x4096x4096:bf16 decode:1x4096x4096:f32'

case ${1-} in
build)
	mkdir -p "$2" && dir=$(cd "$2" && pwd) || exit
	here=$(cd "$(dirname "$0")" && pwd)
	cd "$here/../.." && export CGO_ENABLED=0 GOFLAGS=-trimpath || exit
	go tool burngen gen ./gpu/rows/mlp/model -o gpu/rows/mlp/one -dim N=1 -target cuda || exit
	go build -tags mlp -ldflags='-s -w' -o "$dir" ./gpu/rows ./gpu/rows/mlp || exit
	cp "$here/rows.sh" "$here/torch_side.py" "$dir"
	;;
run)
	cd "$2" || exit
	{
		printf '# Kernels that memory limits, and PyTorch\n\n%s, PyTorch %s.\n\n```\n' "$(date -u '+%Y-%m-%d')" "$(python3 -c 'import torch; print(torch.__version__)')"
		./mlp
		./rows -python python3 $cases
		printf '```\n'
	} >RESULTS-ROWS.md
	;;
*)
	echo "usage: rows.sh build DIR | run DIR" >&2
	exit 2
	;;
esac
