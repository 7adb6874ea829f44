#!/bin/sh
# Compares products of matrices with PyTorch's on the first NVIDIA card, which must have capability 9.0.
#
#   bench/gpu/products/products.sh build DIR   writes the programs into DIR; needs Go
#   DIR/products.sh run DIR                    checks and measures, and writes DIR/RESULTS-PRODUCTS.md; needs Python with PyTorch
set -u

extents='8192x8192x8192 4096x4096x4096 8192x4096x4096 8192x16384x4096 8192x4096x16384 16384x4096x4096 2048x4096x4096
1024x1024x1024 512x1024x1024 128x4096x4096 64x14336x4096 784x512x128'
shapes=
for e in $extents; do
	for form in nt nn tn tt; do shapes="$shapes $e:bf16:$form"; done
done
shapes="$shapes 196x1024x256:nt 196x1024x256:nn 8192x8192x8192:f16:nn 4096x4096x4096:f16:nt 4096x4096x4096:f32:nt 8192x8192x8192:f32:nt"
for e in 8192x16384x4096 4096x4096x4096 1024x1024x1024 128x4096x4096; do shapes="$shapes $e:nt:gelu"; done

case ${1-} in
build)
	mkdir -p "$2" && dir=$(cd "$2" && pwd) || exit
	here=$(cd "$(dirname "$0")" && pwd)
	cd "$here/../.." && CGO_ENABLED=0 go build -trimpath -ldflags='-s -w' -o "$dir/products" ./gpu/products || exit
	cp "$here/products.sh" "$here/torch_side.py" "$dir"
	;;
run)
	cd "$2" || exit
	{
		printf '# Products of matrices and PyTorch\n\n%s, PyTorch %s.\n\n```\n' "$(date -u '+%Y-%m-%d')" "$(python3 -c 'import torch; print(torch.__version__)')"
		./products -check | tail -n 1
		./products -rounds 3 -python python3 $shapes
		printf '```\n'
	} >RESULTS-PRODUCTS.md
	;;
*)
	echo "usage: products.sh build DIR | run DIR" >&2
	exit 2
	;;
esac
