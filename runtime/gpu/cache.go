package gpu

import (
	"bytes"
	"crypto/sha256"
	"os"
	"path/filepath"
)

// CacheLimit is the number of bytes from which a file of the cache is not used any more.
const CacheLimit = 256 << 20

// ReadCache returns data that [WriteCache] kept under a name. It returns nil if there is no such data,
// or if the file is not whole.
func ReadCache(name string) []byte {
	path, err := cachePath(name)
	if err != nil {
		return nil
	}
	if stat, err := os.Stat(path); err != nil || stat.Size() > CacheLimit {
		return nil
	}
	file, err := os.ReadFile(path)
	if err != nil || len(file) < sha256.Size {
		return nil
	}
	data := file[sha256.Size:]
	if sum := sha256.Sum256(data); !bytes.Equal(sum[:], file[:sha256.Size]) {
		return nil
	}
	return data
}

// WriteCache keeps data in the folder burngen of the user's cache folder, under a name that is a file
// name. Files appear as a whole. They can be deleted at any time.
func WriteCache(name string, data []byte) error {
	path, err := cachePath(name)
	if err != nil {
		return err
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return err
	}
	f, err := os.CreateTemp(filepath.Dir(path), name+".*")
	if err != nil {
		return err
	}
	sum := sha256.Sum256(data)
	_, err = f.Write(append(sum[:], data...))
	if e := f.Close(); err == nil {
		err = e
	}
	if err == nil {
		err = os.Rename(f.Name(), path)
	}
	if err != nil {
		os.Remove(f.Name())
	}
	return err
}

func cachePath(name string) (string, error) {
	folder, err := os.UserCacheDir()
	if err != nil {
		return "", err
	}
	return filepath.Join(folder, "burngen", name), nil
}
