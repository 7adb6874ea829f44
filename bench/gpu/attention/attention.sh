#!/bin/sh
# Compares attention with PyTorch's back ends on the first NVIDIA card, which must have capability 9.0.
#
#   bench/gpu/attention/attention.sh build DIR   writes the programs into DIR; needs Go
#   DIR/attention.sh run DIR                     checks and measures, and writes DIR/RESULTS-ATTENTION.md; needs Python with PyTorch
set -u

shapes='8x32x1024x128 4x32x2048x128 4x32x4096x128 2x32x8192x128 1x16x16384x128
8x32x1024x128:causal 4x32x2048x128:causal 4x32x4096x128:causal 2x32x8192x128:causal 1x16x16384x128:causal
8x32x1024x64 4x32x2048x64 4x32x4096x64 2x32x8192x64 1x16x16384x64
8x32x1024x64:causal 4x32x2048x64:causal 4x32x4096x64:causal 2x32x8192x64:causal 1x16x16384x64:causal
4x32x2048x128:f16 4x32x4096x64:f16:causal 4x32x4096x128:causal:g8 4x32x4096x64:g8 1x32x1024x128:causal 1x16x1024x64
1x3x1000x64:causal 2x4x333x128:g2 1x5x700x64:f16 1x3x1000x128:causal:warps
4x32x2048x128:warps 4x32x2048x64:causal:warps
16x12x1024x64:causal:grad 8x32x1024x128:causal:grad 4x32x4096x64:causal:grad 4x32x4096x64:grad 4x32x4096x128:causal:grad 4x32x4096x128:grad
1x16x16384x64:causal:grad 1x16x16384x128:causal:grad 1x4x200x64:g2:f16:grad 1x3x300x128:causal:warps:grad'

case ${1-} in
build)
	mkdir -p "$2" && dir=$(cd "$2" && pwd) || exit
	here=$(cd "$(dirname "$0")" && pwd)
	cd "$here/../.." && CGO_ENABLED=0 go build -trimpath -ldflags='-s -w' -o "$dir/attention" ./gpu/attention || exit
	cp "$here/attention.sh" "$here/torch_side.py" "$dir"
	;;
run)
	cd "$2" || exit
	{
		printf '# Attention and PyTorch\n\n%s, PyTorch %s.\n\n```\n' "$(date -u '+%Y-%m-%d')" "$(python3 -c 'import torch; print(torch.__version__)')"
		./attention -python python3 $shapes
		printf '```\n'
	} >RESULTS-ATTENTION.md
	;;
*)
	echo "usage: attention.sh build DIR | run DIR" >&2
	exit 2
	;;
esac
