// Package file reads whole files that a user names, and tells formats by their first bytes.
package file
