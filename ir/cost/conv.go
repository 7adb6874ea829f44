package cost

// Conv is a convolution of kernel 3×3, stride 1 and pads of 1, in blocks of 16 channels.
type Conv struct {
	N, InC, OutC int
	OutH, OutW   int
	Group        int
}

// Gains below which a way that takes more memory for its weights is not worth it.
const (
	worthWinograd = 0.9  // against the direct way
	worthTile     = 0.95 // of a larger tile against a smaller one
)

// Tile is the tile of the minimal filtering F(tile,3) to compute the convolution with: 4, 2,
// or 0 where the direct way is as good.
func (m *Model) Tile(c Conv) int {
	best, at := 0, c.Direct
	for _, way := range []struct {
		tile  int
		worth float64
	}{{2, worthWinograd}, {4, worthTile}} {
		worth := way.worth
		if best == 0 {
			worth = worthWinograd
		}
		if time := func(k Machine) float64 { return c.Winograd(k, way.tile) }; m.Ratio(time, at) < worth {
			best, at = way.tile, time
		}
	}
	return best
}

// Pixels is a convolution of kernel 1×1 and stride 1 of so many pixels of each image.
type Pixels struct{ N, InC, OutC, HW int }

// What the product of planar pixels takes longer than that of blocked ones: their channels
// lie apart, in pages of their own where a plane has more than one.
const (
	nearChannels = 0.03
	farChannels  = 0.12
	pagePixels   = 1024
)

// PlanarPixels reports whether it takes less time to read planar pixels than to block them
// for this convolution alone.
func (m *Model) PlanarPixels(p Pixels) bool { return m.Ratio(p.apart, p.blocking) < 1 }

// apart estimates the nanoseconds that the product of planar pixels takes longer.
func (p Pixels) apart(m Machine) float64 {
	share := nearChannels
	if p.HW > pagePixels {
		share = farChannels
	}
	products := float64(p.N*p.HW) * float64(p.InC) * float64(p.OutC)
	return share * products / m.MultiplyAdds
}

// blocking estimates the nanoseconds of moving planes to blocks.
func (p Pixels) blocking(m Machine) float64 { return m.blocking(float64(p.N * p.InC * p.HW)) }

// Direct estimates the nanoseconds of the direct way on a machine, which leaves out the
// weights that lie on padding.
func (c Conv) Direct(m Machine) float64 {
	pairs := c.pairs() * 9
	inside := float64((3*c.OutH-2)*(3*c.OutW-2)) / float64(9*c.OutH*c.OutW)
	return products(m, inside*pairs, c.N*c.OutH*c.OutW, c.OutW)
}

// Winograd estimates the nanoseconds of F(tile,3) on a machine: the products of its factors
// and the transforms.
func (c Conv) Winograd(m Machine, tile int) float64 {
	points := float64((tile + 2) * (tile + 2))
	tiles := c.N * ceil(c.OutH, tile) * ceil(c.OutW, tile)
	blocks := float64(ceil(c.InC, 16) + ceil(c.OutC, 16))
	return products(m, c.pairs()*points, tiles, tiles) + 64*points*blocks*float64(tiles)/m.Move
}

// pairs is the number of pairs of an input and an output channel, in whole blocks.
func (c Conv) pairs() float64 {
	group := max(1, c.Group)
	return float64(16*ceil(c.InC/group, 16)) * float64(16*ceil(c.OutC, 16))
}

// products estimates the nanoseconds of so many weights by a number of pixels each, in tiles
// of rows of pixels: the multiply-adds, for which the weights are read the more often the
// fewer rows a tile has, or the weights' way into the core, whichever takes longer. The
// kernels fetch weights while they compute.
func products(m Machine, weights float64, pixels, rows int) float64 {
	high := float64(rows) / float64(ceil(rows, m.Rows))
	return max(weights*float64(pixels)/m.MultiplyAdds*(1+1/high), 4*weights/m.Stream)
}

func ceil(a, b int) int { return (a + b - 1) / b }
