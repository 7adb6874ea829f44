// Package file reads whole files that a user names, and recognises formats by their first bytes.
package file
