//go:build !unix

package images

import "time"

// processorTime is not known.
func processorTime() time.Duration { return 0 }
