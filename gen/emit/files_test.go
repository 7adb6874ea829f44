package emit

import "testing"

func TestGrouped(t *testing.T) {
	standard := []string{"context", "math"}
	for _, c := range []struct{ name, imports, want string }{
		{"both", "\t\"a.com/x\"\n\t\"context\"\n\ty \"b.com/y\"\n\t\"math\"", "\t\"context\"\n\t\"math\"\n\n\t\"a.com/x\"\n\ty \"b.com/y\""},
		{"standard only", "\t\"context\"\n\t\"math\"", "\t\"context\"\n\t\"math\""},
		{"others only", "\t\"a.com/x\"\n\t\"a.com/math\"", "\t\"a.com/x\"\n\t\"a.com/math\""},
		{"renamed", "\t\"a.com/x\"\n\t_ \"math\"", "\t_ \"math\"\n\n\t\"a.com/x\""},
	} {
		before, after := "package p\n\nimport (\n", "\n)\n\nvar x = \"import (\"\n"
		if got := string(grouped([]byte(before+c.imports+after), standard)); got != before+c.want+after {
			t.Errorf("%s:\n%s", c.name, got)
		}
	}
	for _, text := range []string{"package p\n", "package p\n\nimport \"math\"\n", "package p\n\nimport (\n"} {
		if got := string(grouped([]byte(text), standard)); got != text {
			t.Errorf("%q becomes %q", text, got)
		}
	}
}
