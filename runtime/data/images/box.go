package images

// Box is a rectangle in a picture, in pixels from the upper left corner. Pixel (i, j) covers the
// square from (i, j) to (i+1, j+1).
type Box struct {
	X0, Y0, X1, Y1 float64 // X0 ≤ X1 and Y0 ≤ Y1
	Class          int
	Crowd          bool // a group of objects, which detection does not count one by one
}

// Area returns the area of the box in square pixels.
func (b Box) Area() float64 { return (b.X1 - b.X0) * (b.Y1 - b.Y0) }

// carry transforms boxes to the coordinates of a new picture, which has width × height pixels. It
// stores them in dst, from its beginning, and returns them. m maps points of the new picture to
// points of the old one. A box becomes the bounding box of its transformed corners, clipped to the
// picture. Boxes without area are dropped. dst may share the memory of boxes.
func carry(dst, boxes []Box, m affine, width, height int) []Box {
	back, ok := m.inverse()
	dst = dst[:0]
	for _, b := range boxes {
		if !ok {
			continue
		}
		x0, y0 := back.at(b.X0, b.Y0)
		x1, y1 := x0, y0
		for _, corner := range [3][2]float64{{b.X1, b.Y0}, {b.X0, b.Y1}, {b.X1, b.Y1}} {
			x, y := back.at(corner[0], corner[1])
			x0, y0, x1, y1 = min(x0, x), min(y0, y), max(x1, x), max(y1, y)
		}
		b.X0, b.Y0 = max(0, x0), max(0, y0)
		b.X1, b.Y1 = min(float64(width), x1), min(float64(height), y1)
		if b.X0 < b.X1 && b.Y0 < b.Y1 {
			dst = append(dst, b)
		}
	}
	return dst
}
