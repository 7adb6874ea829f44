package cpu

// grid describes matrix products that workers share. There is one product for each image. The
// result of a product is divided into lines, each with its own inputs, and into strips of columns,
// each with its own weights. An element depends on the inputs of its line and on the weights of its
// strip.
type grid struct {
	images, strips, lines int
	weights, inputs       int64 // elements of all strips, and of the lines of all images
	work                  int64 // multiply-adds
}

// Elements that a core reads in a nanosecond, estimated.
const (
	nearSpeed = 8 // from its second-level cache
	farSpeed  = 4 // from a cache that cores share, or that another core has written to
)

// divide chooses how to divide the products into `parts` parts. It returns two numbers with the
// product `parts`: the number of groups of strips, and the number of groups of lines of all images.
// A part computes one group of strips for one group of lines: it reads the weights of these strips
// and the inputs of these lines. Parts with the same strips are adjacent.
//
// If there are more groups of strips, there are fewer groups of lines. A part then reads fewer
// weights and more inputs. divide chooses the numbers for which a worker is estimated to take least
// time. This is the time to compute the worker's parts, to read their operands once at farSpeed,
// and to read the operands of each part at nearSpeed.
func (g *grid) divide(parts int) (strips, lines int) {
	each := min(partsEach, parts) // parts of a worker
	units := int64(g.strips) * int64(g.images) * int64(g.lines)
	least := int64(-1)
	for s := 1; s <= min(parts, g.strips); s++ {
		if parts%s != 0 {
			continue
		}
		l := parts / s
		across := max(1, l/each) // workers that share a group of strips
		part := int64(ceil(g.strips, s)) * int64(ceil(g.images*g.lines, l))
		time := nanoseconds(g.work/units*part, 0) +
			int64(each)*(g.inputs/int64(l)+g.weights/int64(s))/nearSpeed +
			(g.inputs/int64(across)+g.weights/int64(max(1, parts/each/across)))/farSpeed
		if least < 0 || time < least {
			least, strips, lines = time, s, l
		}
	}
	return strips, lines
}

// portion calls `area` for each region of part i of `parts`. A region is lines [l0, l1) of strips
// [s0, s1) of one image.
func (g *grid) portion(i, parts int, area func(image, l0, l1, s0, s1 int)) {
	groups, across := g.divide(parts)
	s0, s1 := portion(g.strips, i/across, groups)
	from, to := portion(g.images*g.lines, i%across, across)
	for from < to {
		image := from / g.lines
		first := image * g.lines
		end := min(to, first+g.lines)
		area(image, from-first, end-first, s0, s1)
		from = end
	}
}
