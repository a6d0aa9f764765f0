//go:build unix

package dataset

import (
	"os"
	"syscall"
)

// lock locks file against other processes until it is closed, or fails at once.
func lock(file *os.File) error {
	return syscall.Flock(int(file.Fd()), syscall.LOCK_EX|syscall.LOCK_NB)
}
