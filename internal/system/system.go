// Package system is what operating systems do differently: locks, files that are open while others replace them,
// folders on the disk, and processes. Windows locks no folders, and there no child inherits a lock; WebAssembly has no
// locks and no processes.
package system

import "syscall"

// ErrLocked is that another process has the lock.
const ErrLocked = syscall.EAGAIN // which flock calls EWOULDBLOCK
