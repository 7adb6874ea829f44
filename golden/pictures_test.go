package golden

import (
	"regexp"
	"strings"
	"testing"
)

// arenaOffset matches a call that takes a buffer from the arena, up to the offset or the first operand of min in it.
var arenaOffset = regexp.MustCompile(`rt\.View\[\w+\]\(call\.Arena, [^,]*,`)

// constantOffset matches a definition of an offset in a plan.
var constantOffset = regexp.MustCompile(`(?m)^\t\w+Off +=`)

// TestArenasHavePictures asserts that every committed generated package that has buffers shows where they are,
// and that no offset is the smaller of two numbers: scratch takes the most that it may need.
func TestArenasHavePictures(t *testing.T) {
	views := 0
	for name, files := range committed(t) {
		code := files["model.go"] + files["weights.go"] + files["backward.go"]
		offsets := arenaOffset.FindAllString(code, -1)
		views += len(offsets)
		for _, offset := range offsets {
			if strings.Contains(offset, "min(") {
				t.Errorf("%s: %s", name, offset)
			}
		}
		if (len(offsets) > 0 || constantOffset.MatchString(files["plan.go"])) && !pictureRow.MatchString(files["plan.go"]) {
			t.Errorf("%s: plan.go has no picture", name)
		}
	}
	if views == 0 {
		t.Error("nothing is taken from an arena")
	}
}
