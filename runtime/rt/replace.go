package rt

import (
	"fmt"
	"os"
)

// ReplaceFile creates or replaces the file at path. The function write gets a temporary file,
// "path.PID.partial", and writes the contents to it. When the temporary file is complete and on
// disk, it is renamed to path. On error the old file stays.
func ReplaceFile(path string, write func(out *os.File) error) error {
	temporary := fmt.Sprintf("%s.%d.partial", path, os.Getpid())
	f, err := os.Create(temporary)
	if err != nil {
		return err
	}
	err = write(f)
	if err == nil {
		err = f.Sync()
	}
	if closing := f.Close(); err == nil {
		err = closing
	}
	if err == nil {
		err = os.Rename(temporary, path)
	}
	if err != nil {
		os.Remove(temporary)
	}
	return err
}
