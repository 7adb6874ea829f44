package dim

import (
	"strconv"
	"strings"
)

// String returns the text of d, such as N, 2*S+1 or floor((H+1)/2), which [Parse] reads. A poisoned
// Dim prints a single word, such as overflow.
func (d Dim) String() string {
	if d.Overflow() {
		return faults[d.p.fault].word
	}
	return fold(d, printer{}).text
}

type phrase struct {
	text string
	kind binding
}

type binding uint8

const (
	sumPhrase binding = iota
	productPhrase
	factorPhrase
)

func (p phrase) as(kind binding) string {
	if p.kind < kind {
		return "(" + p.text + ")"
	}
	return p.text
}

type printer struct{}

func (printer) Sym(name string) phrase { return phrase{name, factorPhrase} }

func (printer) Const(n int64) phrase {
	return phrase{strconv.FormatInt(n, 10), factorPhrase}
}

func (printer) Add(a, b phrase) phrase { return phrase{a.text + "+" + b.text, sumPhrase} }

func (printer) Sub(a, b phrase) phrase {
	return phrase{a.text + "-" + b.as(productPhrase), sumPhrase}
}

func (printer) Mul(a, b phrase) phrase {
	if a.text == "-1" {
		return phrase{"-" + b.as(factorPhrase), productPhrase}
	}
	return phrase{a.as(productPhrase) + "*" + b.as(factorPhrase), productPhrase}
}

func (printer) FloorDiv(a, b phrase) phrase {
	return phrase{"floor(" + a.as(productPhrase) + "/" + b.as(factorPhrase) + ")", factorPhrase}
}

func (printer) Min(args ...phrase) phrase { return callPhrase("min", args) }
func (printer) Max(args ...phrase) phrase { return callPhrase("max", args) }

func callPhrase(name string, args []phrase) phrase {
	texts := make([]string, len(args))
	for i, a := range args {
		texts[i] = a.text
	}
	return phrase{name + "(" + strings.Join(texts, ",") + ")", factorPhrase}
}
