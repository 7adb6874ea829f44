package onnx

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/burngen/burngen/internal/meant"
)

// Named returns the element of names that `text`, a command-line argument, refers to. `text` may
// have quotes or backquotes around the name, because messages quote names. Named returns an error
// if there is no such element. `kind` is the word for a name in the error, such as "output".
func Named(kind, text string, names []string) (string, error) {
	for _, name := range []string{text, unquoted(text)} {
		if slices.Contains(names, name) {
			return name, nil
		}
	}
	if near := meant.Suffix(unquoted(text), names, "%.80q"); near != "" {
		return "", fmt.Errorf("the model has no such %s%s", kind, near)
	}
	if len(names) == 0 || len(names) > mostNames {
		return "", fmt.Errorf("the model has no such %s", kind)
	}
	list := make([]string, len(names))
	for i, name := range names {
		list[i] = quote(name)
	}
	return "", fmt.Errorf("the model has no such %s; it has %s", kind, strings.Join(list, ", "))
}

const mostNames = 8

func unquoted(text string) string {
	if len(text) < 3 || text[0] != text[len(text)-1] || !strings.ContainsRune("\"'`", rune(text[0])) {
		return text
	}
	if name, err := strconv.Unquote(text); err == nil {
		return name
	}
	return text[1 : len(text)-1]
}
