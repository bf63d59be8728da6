"""without_wakeups.py PROGRAM ARG...: runs a program to which the kernel refuses pidfd_getfd, as it does where ptrace is
forbidden (seccomp)."""

from __future__ import annotations

import ctypes
import errno
import os
import struct
import sys

PR_SET_NO_NEW_PRIVS, PR_SET_SECCOMP, SECCOMP_MODE_FILTER = 38, 22, 2
SYS_PIDFD_GETFD = 438  # on every architecture
RET_ALLOW, RET_ERRNO = 0x7FFF0000, 0x00050000
LOAD, JUMP_IF_EQUAL, RETURN = 0x20, 0x15, 0x06  # BPF: word of seccomp_data at k; jt or jf; the verdict k


def refuse_pidfd_getfd():
    program = b"".join(
        struct.pack("HBBI", *one)
        for one in (
            (LOAD, 0, 0, 0),  # the number of the system call
            (JUMP_IF_EQUAL, 0, 1, SYS_PIDFD_GETFD),
            (RETURN, 0, 0, RET_ERRNO | errno.EPERM),
            (RETURN, 0, 0, RET_ALLOW),
        )
    )
    code = ctypes.create_string_buffer(program)
    filters = ctypes.create_string_buffer(struct.pack("HP", len(program) // 8, ctypes.addressof(code)))
    libc = ctypes.CDLL(None, use_errno=True)
    for words in ((PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0), (PR_SET_SECCOMP, SECCOMP_MODE_FILTER, filters, 0, 0)):
        if libc.prctl(*words) != 0:
            raise OSError(ctypes.get_errno(), "prctl")


if __name__ == "__main__":
    refuse_pidfd_getfd()
    os.execv(sys.argv[1], sys.argv[1:])
