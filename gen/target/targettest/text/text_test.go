package text_test

import (
	"testing"

	"github.com/burngen/burngen/gen/target/targettest"
	"github.com/burngen/burngen/gen/target/targettest/text"
)

func TestAgree(t *testing.T) { targettest.Agree(t, text.Target{}) }
