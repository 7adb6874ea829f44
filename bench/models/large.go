package main

import "fmt"

// chain returns a model with at most `nodes` nodes. Each node reads the result of the node before it. Four nodes make
// a layer: product, bias, rectifier and norm.
func chain(nodes int) *graph {
	const width = 16
	g := &graph{opset: 17}
	g.input("x", 1, 4, width)
	x := "x"
	for i := 0; i+4 <= nodes; i += 4 {
		at := fmt.Sprintf("layer%d", i/4)
		x = g.dense(at, x, width, width)
		x = g.norm(at+".norm", g.node("Relu", at+".relu", []string{x}), width)
	}
	g.output(x, 1, 4, width)
	return g
}

// web returns a model with the given number of nodes on 8×8 matrices. Each node reads the oldest value without a
// reader. Nodes with two operands also read an earlier value, drawn pseudo-randomly. A Concat joins the values that no
// node has read.
func web(nodes int) *graph {
	const side = 8
	g := &graph{opset: 17}
	g.input("x", side, side)
	all, unread := []string{"x"}, []string{"x"}
	draws := uint32(0)
	below := func(n int) int {
		draws++
		return int(uniform(draws, 1, 0, float64(n)))
	}
	// oldest returns the oldest value that no node reads yet, or any value if all are read.
	oldest := func() string {
		if len(unread) == 0 {
			return all[below(len(all))]
		}
		x := unread[0]
		unread = unread[1:]
		return x
	}
	for i := range nodes - 1 {
		name := fmt.Sprintf("n%d", i)
		x, y := oldest(), all[below(len(all))]
		switch below(8) {
		case 0:
			g.node("Add", name, []string{x, y})
		case 1:
			g.node("Sub", name, []string{y, x})
		case 2:
			g.node("Sigmoid", name, []string{x})
		case 3:
			g.node("Softmax", name, []string{x}, attr{"axis", -1})
		case 4:
			g.node("Transpose", name, []string{x}, attr{"perm", []int{1, 0}})
		case 5:
			g.node("MatMul", name, []string{x, g.weight(name+".weight", -spread(side), spread(side), side, side)})
		case 6:
			g.node("Max", name, []string{x, y})
		default:
			g.node("Tanh", name, []string{x})
		}
		all, unread = append(all, name), append(unread, name)
	}
	g.node("Concat", "y", unread, attr{"axis", 0})
	g.output("y", side*len(unread), side)
	return g
}
