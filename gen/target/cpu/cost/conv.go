package cost

// Conv is a 3×3 convolution with stride 1 and padding 1, in blocks of 16 channels.
type Conv struct {
	N, InC, OutC int
	OutH, OutW   int
	Group        int
}

// An algorithm with larger weights is chosen only if its time, relative to the other algorithm's time, is below these
// limits.
const (
	worthWinograd = 0.9  // the Winograd algorithm relative to the direct one
	worthTile     = 0.95 // a larger tile relative to a smaller one
)

// Tile returns the tile of the Winograd algorithm F(tile,3) for the convolution: 4 or 2, or 0 for
// the direct algorithm. An algorithm with larger weights is chosen only if it is faster by the
// margin worthWinograd or worthTile.
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

// Pixels is a 1×1 convolution with stride 1 of N images with HW pixels each.
type Pixels struct{ N, InC, OutC, HW int }

// These are the additional times of a product that reads planar pixels, relative to a product of
// blocked pixels. The channels of a planar pixel are far apart in memory. They are in separate pages
// if a plane has more than pagePixels pixels.
const (
	nearChannels = 0.03
	farChannels  = 0.12
	pagePixels   = 1024
)

const (
	// rowProducts is the additional time of a product of weights and whole planes, relative to a
	// product of blocked pixels.
	rowProducts = 0.03
	// reachRows is the additional time for reading and writing whole planes, relative to the time to
	// convert them to blocks.
	reachRows = 0.5
)

// PlanarPixels reports whether it is faster to read planar pixels than to convert the input to blocks first.
func (m *Model) PlanarPixels(p Pixels) bool { return m.Ratio(p.apart, p.blocking) < 1 }

// PlanarProduct reports whether it is faster to multiply whole planes by the weights than to compute in blocks. Input
// and output are planar.
func (m *Model) PlanarProduct(p Pixels) bool { return m.Ratio(p.rows, p.blocked) < 1 }

// products estimates the nanoseconds of the products of N·HW pixels with `in` input channels and `out`
// output channels.
func (p Pixels) products(m Machine, in, out int) float64 {
	return float64(p.N*p.HW) * float64(in) * float64(out) / m.MultiplyAdds
}

// apart estimates how much slower a product of planar pixels is than a product of blocked pixels, in nanoseconds. The
// channels of a planar pixel are not adjacent.
func (p Pixels) apart(m Machine) float64 {
	share := nearChannels
	if p.HW > pagePixels {
		share = farChannels
	}
	return share * p.products(m, p.InC, p.OutC)
}

// blocking estimates the nanoseconds of converting planes to blocks.
func (p Pixels) blocking(m Machine) float64 { return m.blocking(float64(p.N * p.InC * p.HW)) }

// rows estimates the nanoseconds of multiplying whole planes by the weights.
func (p Pixels) rows(m Machine) float64 {
	return (1+rowProducts)*p.products(m, p.InC, p.OutC) + reachRows*m.blocking(float64(p.N*p.HW*(p.InC+p.OutC)))
}

// blocked estimates the nanoseconds of the products in blocks and of converting the results to
// planes.
func (p Pixels) blocked(m Machine) float64 {
	products := p.products(m, p.InC, 16*ceil(p.OutC, 16))
	return products + min(p.apart(m), p.blocking(m)) + m.blocking(float64(p.N*p.HW*p.OutC))
}

// Direct estimates the nanoseconds of the direct algorithm, which skips products with padding.
func (c Conv) Direct(m Machine) float64 {
	pairs := c.pairs() * 9
	inside := float64((3*c.OutH-2)*(3*c.OutW-2)) / float64(9*c.OutH*c.OutW)
	return products(m, inside*pairs, c.N*c.OutH*c.OutW, c.OutW)
}

// Winograd estimates the nanoseconds of F(tile,3): the products and the transforms.
func (c Conv) Winograd(m Machine, tile int) float64 {
	points := float64((tile + 2) * (tile + 2))
	tiles := c.N * ceil(c.OutH, tile) * ceil(c.OutW, tile)
	blocks := float64(ceil(c.InC, 16) + ceil(c.OutC, 16))
	return products(m, c.pairs()*points, tiles, tiles) + 64*points*blocks*float64(tiles)/m.Move
}

// pairs returns the number of weights for one position in the window: the input channels of a group times all output
// channels, each rounded up to a multiple of 16.
func (c Conv) pairs() float64 {
	group := max(1, c.Group)
	return float64(16*ceil(c.InC/group, 16)) * float64(16*ceil(c.OutC, 16))
}

// products estimates the nanoseconds of multiplying pixels by weights. weights is the number of
// weights. Kernels divide each run of `rows` pixels into tiles of at most m.Rows pixels, and
// prefetch weights while they compute. The estimate is therefore the larger of two times. The first
// is the time of the multiply-adds, which is longer for small tiles, because each tile reads all
// weights. The second is the time to transfer the weights into the core.
func products(m Machine, weights float64, pixels, rows int) float64 {
	high := float64(rows) / float64(ceil(rows, m.Rows))
	return max(weights*float64(pixels)/m.MultiplyAdds*(1+1/high), 4*weights/m.Stream)
}

func ceil(a, b int) int { return (a + b - 1) / b }
