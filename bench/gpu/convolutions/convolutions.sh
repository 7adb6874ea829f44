#!/bin/sh
# Compares convolutions with PyTorch's on the first NVIDIA card, which must have capability 9.0.
#
#   bench/gpu/convolutions/convolutions.sh build DIR   writes the programs into DIR; needs Go
#   DIR/convolutions.sh run DIR                        measures, and writes DIR/RESULTS-CONVOLUTIONS.md; needs Python with PyTorch
set -u

# The layers of ResNet-50 after the first one: extents of an image, channels, kernel and stride.
layers='56x56x64:64:1:1 56x56x64:64:3:1 56x56x64:256:1:1:res 56x56x256:64:1:1 56x56x256:128:1:1 56x56x128:128:3:2 28x28x128:512:1:1:res
56x56x256:512:1:2 28x28x512:128:1:1 28x28x128:128:3:1 28x28x512:256:1:1 28x28x256:256:3:2 14x14x256:1024:1:1:res 28x28x512:1024:1:2
14x14x1024:256:1:1 14x14x256:256:3:1 14x14x1024:512:1:1 14x14x512:512:3:2 7x7x512:2048:1:1:res 14x14x1024:2048:1:2 7x7x2048:512:1:1 7x7x512:512:3:1'
# Extents that are not multiples of those of tiles.
odd='3x15x13x40:72:3:2 2x9x10x96:136:1:2 2x9x10x96:64:5:1:f16 5x7x7x64:64:3:1:res'

case ${1-} in
build)
	mkdir -p "$2" && dir=$(cd "$2" && pwd) || exit
	here=$(cd "$(dirname "$0")" && pwd)
	cd "$here/../.." && CGO_ENABLED=0 go build -trimpath -ldflags='-s -w' -o "$dir/convolutions" ./gpu/convolutions || exit
	cp "$here/convolutions.sh" "$here/torch_side.py" "$dir"
	;;
run)
	cd "$2" || exit
	{
		printf '# Convolutions and PyTorch\n\n%s, PyTorch %s.\n\n```\n' "$(date -u '+%Y-%m-%d')" "$(python3 -c 'import torch; print(torch.__version__)')"
		./convolutions $odd
		for images in 32 256; do
			for l in $layers; do echo "${images}x$l"; done | xargs ./convolutions -python python3
		done
		printf '```\n'
	} >RESULTS-CONVOLUTIONS.md
	;;
*)
	echo "usage: convolutions.sh build DIR | run DIR" >&2
	exit 2
	;;
esac
