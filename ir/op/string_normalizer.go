package op

import (
	"fmt"

	"github.com/burngen/burngen/ir"
	"github.com/burngen/burngen/ir/dim"
)

func importStringNormalizer(c ir.Importer) ([]*ir.Value, error) {
	b, x := c.Builder(), c.Arg(0)
	c.Text("locale", "")
	rank := x.Type.Rank()
	if rank != 1 && rank != 2 {
		return nil, fmt.Errorf("%s, rank 1 or 2 expected", x.Type)
	}
	if rows, ok := x.Type.Shape[0].Int(); ok && rank == 2 && rows != 1 {
		return nil, fmt.Errorf("%s has %d rows, one expected", x.Type, rows)
	}
	y := ReshapeTo(b, x, x.Type.Shape[rank-1])
	if words := c.Texts("stopwords", nil); len(words) > 0 {
		op := RemoveStopwords{CaseSensitive: c.Int("is_case_sensitive", 0) != 0, Count: b.Symbol("words")}
		y = b.Node(op, y, b.Const(textTensor(words)))
	} else {
		c.Int("is_case_sensitive", 0)
	}
	switch action := c.Text("case_change_action", "NONE"); action {
	case "NONE":
	case "LOWER", "UPPER":
		y = b.Node(ChangeCase{Upper: action == "UPPER"}, y)
	default:
		return nil, fmt.Errorf("unknown case_change_action %q", action)
	}
	if rank == 2 {
		y = ReshapeTo(b, y, dim.Const(1), y.Type.Shape[0])
	}
	return []*ir.Value{y}, nil
}
