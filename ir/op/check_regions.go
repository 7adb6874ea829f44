package op

import (
	"fmt"

	"github.com/burngen/burngen/ir"
	"github.com/burngen/burngen/ir/dim"
)

// CheckRegions returns its operand, regions of images as [MaxRoiPool] has them, [R,5] of floats. It
// checks at run time that the first number of each is the index of one of Images images.
type CheckRegions struct{ Images dim.Dim }

// Infer returns the operand's type.
func (op CheckRegions) Infer(in []ir.Type) ([]ir.Type, error) {
	if err := CheckTensors(in, 1, 1); err != nil {
		return nil, err
	}
	if err := checkDomain(in, floats{}); err != nil {
		return nil, err
	}
	if in[0].Rank() != 2 {
		return nil, fmt.Errorf("regions %s, rank 2 expected", in[0])
	}
	return in[:1], Same(in[0].Shape[1], dim.Const(5), "numbers of a region")
}

// Eval compares the indices.
func (op CheckRegions) Eval(in []*ir.Tensor) ([]*ir.Tensor, error) {
	images, ok := op.Images.Int()
	if !ok {
		return nil, fmt.Errorf("%s images", op.Images)
	}
	return in[:1], checkRegions(in[0], images)
}

// checkRegions returns an error if the image of a region is not one of so many.
func checkRegions(regions *ir.Tensor, images int) error {
	for r := range regions.Shape[0] {
		if image := regions.Float(5 * r); !(image >= 0 && image < float64(images)) {
			return fmt.Errorf("region %d: image %v of %d", r, image, images)
		}
	}
	return nil
}

// Overwrites allows the result to reuse the memory of the operand.
func (CheckRegions) Overwrites() []int { return []int{0} }

// Lower computes narrow floats in f32.
func (op CheckRegions) Lower(b *ir.Builder, n *ir.Node) []*ir.Value { return lowerNarrow(b, n) }
