package emit

import (
	"bytes"
	"go/ast"
	"go/format"
	"go/parser"
	"go/token"
	"slices"
)

// maxColumn is the greatest length of a line of code, with tabs of four columns. Comments, and lines
// without a list that can be broken, may be longer.
const maxColumn = 140

// wrapped breaks the lists in lines that are too long: arguments, elements and parameters. If a line is too long, it
// parses file, and returns an error if file is not Go.
func wrapped(file []byte) ([]byte, error) {
	for {
		if !slices.ContainsFunc(bytes.Split(file, []byte("\n")), tooLong) {
			return file, nil
		}
		breaks, err := breaksOf(file)
		if err != nil || len(breaks) == 0 {
			return file, err
		}
		slices.Sort(breaks)
		var broken []byte
		from := 0
		for _, at := range slices.Compact(breaks) {
			broken = append(append(broken, file[from:at]...), '\n')
			from = at
		}
		if file, err = format.Source(append(broken, file[from:]...)); err != nil {
			return nil, err
		}
	}
}

func tooLong(line []byte) bool {
	return columns(line) > maxColumn && !bytes.HasPrefix(bytes.TrimLeft(line, "\t"), []byte("//"))
}

func columns(line []byte) int { return len(line) + 3*bytes.Count(line, []byte("\t")) }

// breaksOf returns the offsets in file at which too long lines are broken. It breaks a line before elements of the
// line's outermost list. It chooses the elements so that the text before each break fits, if possible.
func breaksOf(file []byte) ([]int, error) {
	files := token.NewFileSet()
	parsed, err := parser.ParseFile(files, "", file, parser.SkipObjectResolution)
	if err != nil {
		return nil, err
	}
	base := files.File(parsed.Pos())
	done := map[int]bool{} // lines
	var breaks []int
	ast.Inspect(parsed, func(n ast.Node) bool {
		list := listOf(n)
		if len(list) == 0 {
			return true
		}
		for len(list) > 0 {
			line := base.Line(list[0].Pos())
			same := slices.IndexFunc(list, func(e ast.Node) bool { return base.Line(e.Pos()) != line })
			if same < 0 {
				same = len(list)
			}
			if !done[line] {
				if at := breakLine(file, base, line, list[:same]); len(at) > 0 {
					breaks, done[line] = append(breaks, at...), true
				}
			}
			list = list[same:]
		}
		return true
	})
	return breaks, nil
}

// listOf returns the parts of n that may be put on lines of their own: the arguments of a call, the
// elements of a literal, the parameters of a function, or the names of a field. It returns nil for
// other nodes.
func listOf(n ast.Node) []ast.Node {
	var out []ast.Node
	add := func(list []ast.Expr) {
		for _, e := range list {
			out = append(out, e)
		}
	}
	switch n := n.(type) {
	case *ast.CallExpr:
		add(n.Args)
	case *ast.CompositeLit:
		add(n.Elts)
	case *ast.FuncType:
		for _, f := range n.Params.List {
			out = append(out, f)
		}
	case *ast.Field:
		for _, name := range n.Names {
			out = append(out, name)
		}
	}
	return out
}

// breakLine returns the offsets in file at which a line is broken, before some of the elements of
// list. It returns nil if the line is not too long.
func breakLine(file []byte, base *token.File, line int, list []ast.Node) []int {
	begin := base.Offset(base.LineStart(line))
	end := len(file)
	if n := bytes.IndexByte(file[begin:], '\n'); n >= 0 {
		end = begin + n
	}
	if !tooLong(file[begin:end]) {
		return nil
	}
	indent := 0
	for file[begin+indent] == '\t' {
		indent++
	}
	var out []int
	from, first := begin, 0 // of the line that an element would be on
	for i, e := range list {
		to := base.Offset(e.End()) + 1
		if i == len(list)-1 && to <= end {
			to = end
		}
		room := maxColumn
		if from != begin {
			room -= 4 * (indent + 1)
		} else {
			room -= 3 * indent
		}
		if i > first && to-from > room {
			from, first = base.Offset(e.Pos()), i
			out = append(out, from)
		}
	}
	return out
}
