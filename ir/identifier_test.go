package ir

import (
	"strings"
	"testing"
)

func TestIdentifiers(t *testing.T) {
	for text, want := range map[string]string{
		"/layer1/conv2/Conv":  "layer1Conv2Conv",
		"layers.0.norm1.bias": "layers0Norm1Bias",
		"FC1":                 "fc1",
		"HTTPPort":            "httpPort",
		"0.weight":            "x0Weight",
		"":                    "x",
		"ünïcödé":             "ncd",
		"*/":                  "x",
		"type":                "type",
	} {
		if got := Unexported(text); got != want {
			t.Errorf("Unexported(%q) is %q, want %q", text, got, want)
		}
	}
	if got := Exported("layers.0"); got != "Layers0" {
		t.Errorf("Exported gives %q", got)
	}
	if got := Exported("1"); got != "X1" {
		t.Errorf("Exported gives %q", got)
	}
	if got := Unexported(strings.Repeat("ab/", 10_000)); len(got) != MaxIdentifier {
		t.Errorf("%d bytes, want %d", len(got), MaxIdentifier)
	}
}

func TestIsIdentifier(t *testing.T) {
	for text, want := range map[string]bool{
		"a": true, "a_b": true, "A1": true, "_": true,
		"": false, "1a": false, "a.b": false, "func": false, "é": false,
	} {
		if got := IsIdentifier(text); got != want {
			t.Errorf("IsIdentifier(%q) is %v", text, got)
		}
	}
}
