package op

import (
	"fmt"
	"regexp"
	"regexp/syntax"

	"github.com/burngen/burngen/ir"
)

// RegexFullMatch returns a bool for each string of its operand: whether the whole string matches Pattern (ONNX
// RegexFullMatch, from opset 20). Pattern is a regular expression in RE2 syntax.
type RegexFullMatch struct {
	elementwise
	Pattern string
}

// maxPattern is the maximum of [patternSize] for a pattern. It limits the memory and the time that matching takes.
const maxPattern = 1 << 14

// patternSize returns the number of operators, characters and ranges of a pattern, after its repetitions are
// expanded. It returns maxPattern+1 if the number is above maxPattern.
func patternSize(re *syntax.Regexp) int {
	n := 1 + len(re.Rune)
	for _, sub := range re.Sub {
		n = min(n+patternSize(sub), maxPattern+1)
	}
	if re.Op == syntax.OpRepeat {
		n *= max(1, re.Min, re.Max)
	}
	return min(n, maxPattern+1)
}

func (op RegexFullMatch) whole() (*regexp.Regexp, error) {
	if len(op.Pattern) > maxPattern {
		return nil, fmt.Errorf("a pattern of %d bytes, at most %d expected", len(op.Pattern), maxPattern)
	}
	parsed, err := syntax.Parse(op.Pattern, syntax.Perl)
	if err != nil {
		return nil, fmt.Errorf("pattern %q: %w", op.Pattern, err)
	}
	if patternSize(parsed) > maxPattern {
		return nil, fmt.Errorf("a pattern of more than %d operators and characters, its repetitions written out", maxPattern)
	}
	return regexp.Compile(`\A(?:` + op.Pattern + `)\z`)
}

// Infer returns bools of the operand's shape. It returns an error if the pattern is invalid or too
// large.
func (op RegexFullMatch) Infer(in []ir.Type) ([]ir.Type, error) {
	if err := CheckTensors(in, 1, 1); err != nil {
		return nil, err
	}
	if err := checkDomain(in, texts{}); err != nil {
		return nil, err
	}
	if _, err := op.whole(); err != nil {
		return nil, err
	}
	return []ir.Type{in[0].With(ir.Bool)}, nil
}

// Eval returns a bool for each string: whether the whole string matches Pattern.
func (op RegexFullMatch) Eval(in []*ir.Tensor) ([]*ir.Tensor, error) {
	whole, err := op.whole()
	if err != nil {
		return nil, err
	}
	y := ir.NewTensor(ir.Bool, in[0].Shape...)
	for i := range y.Len() {
		y.SetBool(i, whole.MatchString(in[0].Text(i)))
	}
	return []*ir.Tensor{y}, nil
}

func importRegexFullMatch(c ir.Importer) ([]*ir.Value, error) {
	return []*ir.Value{c.Builder().Node(RegexFullMatch{Pattern: c.Text("pattern", "")}, c.Arg(0))}, nil
}
