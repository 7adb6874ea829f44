package dim

// Consts returns the numbers n as constant extents.
func Consts(n ...int) []Dim {
	d := make([]Dim, len(n))
	for i, v := range n {
		d[i] = Const(v)
	}
	return d
}

// Ints returns the values of constant extents. ok is false if one is symbolic.
func Ints(dims []Dim) (n []int, ok bool) {
	n = make([]int, len(dims))
	for i, d := range dims {
		if n[i], ok = d.Int(); !ok {
			return nil, false
		}
	}
	return n, true
}

// Product returns the product of dims, or 1 without arguments.
func Product(dims ...Dim) Dim {
	p := Const(1)
	for _, d := range dims {
		p = p.Mul(d)
	}
	return p
}
